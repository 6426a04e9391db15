"""Logs of past runs, which agents read again: where they lie, what is in them, what they say."""
