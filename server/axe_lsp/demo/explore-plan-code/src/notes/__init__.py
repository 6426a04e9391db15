"""Notes, a file each."""
