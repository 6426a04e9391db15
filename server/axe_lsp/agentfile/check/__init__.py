"""The problems of one file by itself."""
