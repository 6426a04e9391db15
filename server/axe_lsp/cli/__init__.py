"""The command line: one module per subcommand, imported when it is called."""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells expect it (128 + SIGINT)."""


def end_on_interrupt() -> None:
    """Have Ctrl-C end the process at once with an exit code, unless it is ignored or handled otherwise.

    A KeyboardInterrupt during imports becomes other exceptions, and a traceback while Python starts or ends.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_DFL):
        signal.signal(signal.SIGINT, _end)


def raise_on_interrupt() -> None:
    """Have Ctrl-C raise KeyboardInterrupt again, as commands and asyncio expect."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
