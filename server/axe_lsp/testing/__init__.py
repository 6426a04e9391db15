"""Tests of agents: their files, their runs from recordings, and what is expected of these."""
