"""Restoring a run from its steps, so that another process can continue it."""
