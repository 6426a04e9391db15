"""The history of runs, in a file that all processes share. No run waits for it, and none fails with it."""
