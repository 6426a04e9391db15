"""Where notes lie."""


def save(path, text):
    """Keep a note."""
    with open(path, "w") as file:
        file.write(text)


def load(path):
    """A note that was kept."""
    with open(path) as file:
        return file.read()
