"""Tables from lines of text."""

from tables.cells import column, rows, total

__all__ = ["column", "rows", "total"]
