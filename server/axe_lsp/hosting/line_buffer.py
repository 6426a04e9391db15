"""Lines of bytes, from what arrives in pieces."""

from __future__ import annotations

import math
from collections.abc import Callable

OnLine = Callable[[bytes], None]


class LineBuffer:
    """Cuts what arrives in pieces into lines; a line may be of any length, or `longest` is its end."""

    def __init__(self, on_line: OnLine, longest: float = math.inf) -> None:
        self._on_line = on_line
        self._longest = longest
        self._begun: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Hand out each line that `data` completes, without its newline."""
        first, *others = data.split(b"\n")
        self._begun.append(first)
        for piece in others:
            self._on_line(b"".join(self._begun))
            self._begun = [piece]
        if sum(map(len, self._begun)) > self._longest:
            self._on_line(b"".join(self._begun))
            self._begun = []
