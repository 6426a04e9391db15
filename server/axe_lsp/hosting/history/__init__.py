"""What runs did, kept in a file that all processes share. No run waits for it, and none fails with it."""
