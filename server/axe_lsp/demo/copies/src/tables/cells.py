"""Cells: rows of text, and sums of numbers."""


def rows(text):
    """The cells of each line."""
    lines = text.split("\n")
    return [line.split(",") for line in lines]


def column(table, number):
    """The cells of a column, which is counted from 0."""
    return [row[number] for row in table]


def total(cells):
    """The sum of numbers."""
    return sum(float(cell) for cell in cells)
