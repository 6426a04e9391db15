"""From text to seconds."""

import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}

_PART = re.compile(r"(\d+)\s*([dhms])")


def parse(text: str, strict: bool = True) -> int:
    """The seconds in a duration such as `1h 30m`."""
    parts = _PART.findall(text)
    if not parts:
        raise ValueError(f"no duration in {text!r}")
    return sum(int(number) * UNITS[unit] for number, unit in parts)
