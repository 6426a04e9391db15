"""Lifetimes of runs: the process that executes them, and its supervisor. No LSP, no editor."""
