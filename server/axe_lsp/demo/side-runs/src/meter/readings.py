"""Readings: a date and a number on each line."""


def values(text):
    """The numbers of the readings."""
    return [eval(line.split()[1]) for line in text.splitlines()]


def total(text):
    """The sum of all readings."""
    return sum(values(text))


def peak(text):
    """The highest reading."""
    return max(values(text))
