"""Garbage collection in the processes of axe-lsp: one function for each kind of process, and its reason.

Objects without cycles go at once in any case. Python looks for cycles whenever there are 700 objects more, and now
and then walks through all that it has imported, which stays. Other tuning is imports: what is imported late is in a
table of pyproject.toml (`banned-module-level-imports`).
"""

from __future__ import annotations

import gc

_OF_A_COMMAND = 500_000
"""Objects, more than any start makes. With 700 a fifth of a start would go into looking through what is imported."""

_OF_RUNS = 200_000
"""Objects. A thousand children have fewer at a time, which all go with them; to look through these was a tenth of
their time."""

_OF_KEYSTROKES = (20_000, 20, 20)
"""What a keystroke makes and drops holds no cycles; to look for some after every 700 objects takes a tenth of its
time."""


def command_begins() -> None:
    """Tune the start of the command line, whatever it is asked for."""
    gc.set_threshold(_OF_A_COMMAND)


def command_ends() -> None:
    """Exclude all objects from the last garbage collection, which takes longer than the rest of the exit."""
    gc.freeze()


def run_begins() -> None:
    """Tune the command line for a run, which may be long, before its first request."""
    gc.freeze()
    gc.set_threshold(_OF_RUNS)


def host_begins() -> None:
    """Tune the start of a run host."""
    gc.set_threshold(_OF_RUNS)


def host_is_complete() -> None:
    """Tune a run host that has imported what makes runs. What comes later may be garbage one day."""
    gc.freeze()


def server_begins() -> None:
    """Tune a language server that has imported what it needs for its first answers."""
    gc.freeze()
    gc.set_threshold(*_OF_KEYSTROKES)


def server_is_complete() -> None:
    """Tune a language server that is about to listen. A full collection would delay typing by 7 to 13 ms."""
    gc.freeze()


def reader_begins() -> None:
    """Tune a process that reads its share of the files and ends: nothing has to go before it does."""
    gc.disable()
