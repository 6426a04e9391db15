"""From seconds to text."""

from duro.parsing import UNITS


def render(seconds: int) -> str:
    """A duration as people write it: 5400 seconds are `1h 30m`."""
    parts = []
    for unit, size in UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts)
