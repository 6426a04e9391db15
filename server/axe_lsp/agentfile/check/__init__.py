"""What is wrong with one file by itself."""
