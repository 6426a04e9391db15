"""Executors, the processes that execute runs, as other processes of their user find them: sockets in a private folder."""
