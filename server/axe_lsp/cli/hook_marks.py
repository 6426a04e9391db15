"""What a session of a coding agent has seen of the agent files: their times and sizes at its last event."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.plain_text import short_digest

Stamps = dict[Path, tuple[int, int]]

_KEPT = 7 * 86_400
"""Seconds after which marks are deleted."""


class Marks(Struct, frozen=True):
    """The file with the stamps of one session in one folder."""

    file: Path

    @classmethod
    def of(cls, session: str, folder: Path, environment: Environment) -> Marks:
        """Return the marks of a session. Its id comes from another program, so it is no part of a path."""
        name = short_digest(f"{session}\0{folder}")
        return cls(state_folder(environment) / "hooks" / f"{name}.json")

    def read(self) -> Stamps | None:
        """Return the stamps, None if there are none that can be read."""
        try:
            stored = msgspec.json.decode(self.file.read_bytes(), type=dict[str, tuple[int, int]])
        except (OSError, ValueError):
            return None
        return {Path(path): stamp for path, stamp in stored.items()}

    def write(self, stamps: Stamps) -> None:
        """Replace the stamps, and delete those of old sessions. A state folder that can't be written leaves things as they are."""
        content = msgspec.json.encode(
            {str(path): stamp for path, stamp in stamps.items() if _is_text(path)}
        )
        unfinished = self.file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._delete_old()
            unfinished.touch(0o600)
            unfinished.write_bytes(content)
            unfinished.replace(self.file)

    def _delete_old(self) -> None:
        limit = time.time() - _KEPT
        for path in self.file.parent.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < limit:
                    path.unlink()


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
