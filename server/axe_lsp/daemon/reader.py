"""The process that tells another one of thousands of files.

It answers what `helper` asks on its standard input until that ends, which it also does when the other process is killed.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from axe_lsp.daemon.changes import Read, change_at
from axe_lsp.workspace.agent_file import read_agent_file
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.workspace import Change

Question = tuple[Read, Sequence[str]]
"""How to read, and the paths. The answer is a list of a change for each."""

_LENGTH = 4
"""Bytes that say how long a message is."""


def send(stream: IO[bytes], value: object) -> None:
    """Write a value in a piece. Raises OSError if nobody reads it any more."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "big") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """What was sent, as `value_of` reads it. None if the other side has ended, if only in the middle of it."""
    length = int.from_bytes(stream.read(_LENGTH), "big")
    data = stream.read(length)
    return data if length and len(data) == length else None


def value_of(message: bytes) -> Any:
    """The value that was sent."""
    return pickle.loads(message)  # noqa: S301 - both sides are ours


def main() -> None:
    """Answer until nobody asks any more."""
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # Whatever prints must not write into the answers.
    with suppress(OSError):  # Whoever has asked is gone.
        while question := receive(questions):
            read, paths = value_of(question)
            send(answers, [_understood(change_at(Path(path), read)) for path in paths])


def _understood(change: Change) -> Change:
    """With what the text says in its place."""
    if change.text is None:
        return change
    # Which place it is there may be settings for, which the workspace knows.
    place = Places().locate(change.uri)
    fault, where = change.fault, change.fault_at
    file = read_agent_file(place, change.text, fault=fault, fault_at=where)
    return Change(change.uri, None, file=file)
