"""What the parts of the workbench that a test drives have in common."""

from __future__ import annotations

from collections.abc import Callable

WaitFor = Callable[[str, Callable[[], bool]], None]
"""Waits for what the text says, until it is so."""

UNTIL_PRESSED_AGAIN = 1000
"""Milliseconds after which something is pressed again that was not taken, the workbench being busy."""


def too_late() -> type[Exception]:
    """What the browser raises when a deadline of its own passes; imported late, for it is not in the dev extras."""
    from playwright.sync_api import TimeoutError as TooLate  # noqa: PLC0415

    return TooLate
