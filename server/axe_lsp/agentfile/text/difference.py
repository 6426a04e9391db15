"""The differences of a text from an earlier one, in whole lines."""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """The lines from `start` to `end` stand where those from `start` to `old_end` stood before.

    Lines end at a line feed here, wherever else they may end: nothing that stands beside one belongs
    together with something on its other side.
    """

    start: int
    old_end: int
    end: int

    @property
    def shift(self) -> int:
        """How far everything behind has moved."""
        return self.end - self.old_end


def difference(old: str, new: str) -> Difference:
    """The lines that have changed; none of them is missing, and few are too many."""
    start = new.rfind("\n", 0, _common_beginning(old, new)) + 1
    common = _common_end(old[start:], new[start:])
    end, old_end = len(new) - common, len(old) - common
    if not (_begins_line(new, end, start) and _begins_line(old, old_end, start)):
        end = new.find("\n", end) + 1 or len(new)
    return Difference(start, end - len(new) + len(old), end)


def _begins_line(text: str, offset: int, start: int) -> bool:
    return offset == start or text[offset - 1] == "\n"


def _common_beginning(old: str, new: str) -> int:
    """How many characters are the same. Halves are compared, which is many times faster than a loop."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(old: str, new: str) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low
