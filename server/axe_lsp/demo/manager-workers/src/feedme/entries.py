"""Entries: a date and a title on each line."""


def parse(text):
    """The entries of a feed as (date, title)."""
    return [tuple(line.split(" ", 1)) for line in text.splitlines() if line.strip()]


def newest(entries):
    """The title of the newest entry."""
    return sorted(entries)[-1][1]


def unique(entries):
    """The entries without those that occur again."""
    found = []
    for entry in entries:
        if entry not in found:
            found.append(entry)
    return found
