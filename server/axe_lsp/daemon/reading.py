"""What lies at many paths, as changes of the workspace. Thousands of files are shared with another process.

That one hands over what they say, so that there is little left to do here: a keystroke waits for less.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from axe_lsp.daemon.changes import Read, change_at
from axe_lsp.workspace.workspace import Change

if TYPE_CHECKING:
    from axe_lsp.daemon.helper import Helper

FEW = 500
"""Files for which it is not worth starting a process."""

_MEANWHILE = 600
"""Files that are read while it starts."""

_PORTION = 300
"""Files that it is asked for at a time. Of fewer each side would too often be done before the other."""

_OWN, _MOST_OWN = 150, 1200
"""Files that are read here while it is at work: at first, and if it gets little done."""

_LONG = 0.003
"""Seconds. Who waits for an answer for so long could have done more, and who doesn't, less."""


def changes(paths: Iterable[Path], read: Read) -> Iterator[Change]:
    """What lies at each path, in their order. Blocks while it is iterated."""
    rest = iter(paths)
    yield from _read_here(islice(rest, FEW), read)
    meanwhile = list(islice(rest, _MEANWHILE))
    if len(meanwhile) < _MEANWHILE or os.cpu_count() == 1:
        yield from _read_here(chain(meanwhile, rest), read)
        return
    # Imported late: most people have fewer files, and whoever starts a server waits for what it imports.
    from axe_lsp.daemon.helper import helper

    with helper() as started:
        yield from _read_here(meanwhile, read)
        yield from _read_here(rest, read) if started is None else _read_by(started, rest, read)


def _read_here(paths: Iterable[Path], read: Read) -> Iterator[Change]:
    return (change_at(path, read) for path in paths)


def _read_by(helper: Helper, paths: Iterator[Path], read: Read) -> Iterator[Change]:
    """Each does as much as it can. On a busy machine the other process may get little done."""
    share = _OWN
    asked = _ask(helper, paths, read)
    while asked:
        own = list(_read_here(islice(paths, share), read))
        started = time.monotonic()
        answer = helper.answer()
        has_waited = time.monotonic() - started > _LONG
        share = min(_MOST_OWN, share * 5 // 4 + 1) if has_waited else share * 4 // 5
        following = _ask(helper, paths, read)
        yield from helper.changes_in(answer) if answer is not None else _read_here(asked, read)
        yield from own
        asked = following


def _ask(helper: Helper, paths: Iterator[Path], read: Read) -> list[Path]:
    """Have it read some more files; which ones."""
    portion = list(islice(paths, _PORTION))
    if portion:
        helper.ask(read, portion)
    return portion
