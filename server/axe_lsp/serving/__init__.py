"""Shared by the servers of all protocols: the messages of JSON-RPC, standard streams, and the process."""
