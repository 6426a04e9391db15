"""Notes for other programs."""

from notes.store import load


def export(paths, target):
    """All notes in one file."""
    with open(target, "w") as file:
        for path in paths:
            file.write(load(path))


def copy(path, target):
    """A note as it is."""
    with open(path, "rb") as source, open(target, "wb") as file:
        file.write(source.read())
