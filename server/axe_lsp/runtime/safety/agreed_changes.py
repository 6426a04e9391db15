"""Changes in a copy that the user has seen and agreed to one by one, and is not asked about again.

A file is such a change as long as each of its states since the first one was made by a call that somebody was asked
about (`tools/watched_call.py`), and is what they were shown as a whole. What a rule has allowed, or a command has
changed, nobody has seen.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class _Seen(Struct, frozen=True):
    """The first state of a file that the user has seen, and the last one that the user has agreed to."""

    first: str
    last: str


class AgreedChanges:
    """Those of one copy, by the path of the file in it."""

    def __init__(self) -> None:
        self._files: dict[Path, _Seen] = {}

    def add(self, path: Path, before: str, after: str) -> None:
        """Somebody has agreed to a change of a file from one state to another."""
        known = self._files.get(path)
        first = known.first if known is not None and known.last == before else before
        self._files[path] = _Seen(first, after)

    def has(self, path: Path, now: bytes | None, then: bytes | None) -> bool:
        """Whether the user has seen all changes from one content of the file to the other. None is no file."""
        return self._files.get(path) == _Seen(digest_of_content(now), digest_of_content(then))


NO_FILE = "no file"


def digest_of_content(content: bytes | None) -> str:
    """The name of a state of a file. None is no file."""
    from hashlib import sha256

    return NO_FILE if content is None else sha256(content).hexdigest()
