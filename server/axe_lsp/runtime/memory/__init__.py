"""Logs of past runs, which agents read again: their paths, their format, and their analysis."""
