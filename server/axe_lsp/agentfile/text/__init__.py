"""The text of a file and its syntax: positions, the TOML tree, changes of the text."""
