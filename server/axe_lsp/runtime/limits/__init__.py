"""The use of tokens, money and time by a run, and its limits."""
