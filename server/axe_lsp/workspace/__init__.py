"""Many agent files: who is called what, and who calls whom. Pure: texts are handed in."""
