"""One agent file: its text, its tree, its meaning. Pure: no disk, no network, no protocol."""
