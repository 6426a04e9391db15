"""What a run has done, step by step, so that another process can go on with it."""
