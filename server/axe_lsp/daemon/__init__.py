"""A client's view of the files, and the state that all connections share."""
