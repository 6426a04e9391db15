"""The run host: the child process that makes runs."""
