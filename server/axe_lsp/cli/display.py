"""Shows on a stream, usually standard error, how a run is getting on: in place or line by line."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TextIO

from axe_lsp.cli.progress import Line, Progress, Span, Style
from axe_lsp.cli.streams import Display, obeys_escapes
from axe_lsp.cli.text_width import cells
from axe_lsp.runtime.events import Event

INTERVAL = 0.1
"""Seconds between two pictures. What comes and goes in between is not worth a flicker."""

_USUAL_SIZE = os.terminal_size((80, 24))


def open_display(stream: TextIO, environment: Mapping[str, str]) -> Display:
    """Return a display that updates its lines in place, or a plain one where the stream can't do this."""
    if stream.isatty() and obeys_escapes(stream, environment):
        return LiveDisplay(stream, coloured=not environment.get("NO_COLOR"))
    return PlainDisplay(stream)


class LiveDisplay(Display):
    """One line per running child, updated in place. Needs a running event loop, and owns a timer."""

    def __init__(self, stream: TextIO, coloured: bool = True) -> None:
        super().__init__(stream)
        self._progress = Progress()
        self._region = LiveRegion(stream, coloured)
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._ends_later = False

    def event(self, event: Event) -> None:
        """Take an event into the next frame."""
        if self._closed:
            return
        self._progress.event(event, time.monotonic())
        if self._timer is None and not self._pauses:
            self._wait()

    def status(self) -> str:
        """Return the line of the root run."""
        width, _ = self._size()
        lines = self._progress.root_line(time.monotonic(), width - 1)
        return "".join(span.text for line in lines for span in line)

    def _print(self, text: str) -> None:
        """Print a text above the lines that change."""
        self._draw([(Span(text),)], is_live=not self._closed)

    def _hide(self) -> None:
        """Take the lines away that change, and leave the cursor where they began."""
        self._stop()
        if not self._closed:
            self._draw(is_live=False)

    def _show(self) -> None:
        if not self._closed:
            self._draw()
            self._wait()
        elif self._ends_later:
            self._end()

    def close(self) -> None:
        """Leave what has ended, take away the rest."""
        if self._closed:
            return
        self._closed = True
        self._stop()
        self._ends_later = self._pauses > 0
        if not self._ends_later:
            self._end()

    def _end(self) -> None:
        self._ends_later = False
        self._draw([()] if self._progress.has_children else [], is_live=False)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._tick)

    def _tick(self) -> None:
        self._draw()
        self._wait()

    def _draw(self, said: Sequence[Line] = (), *, is_live: bool = True) -> None:
        width, height = self._size()
        # The last column stays free, as terminals differ in what they do there; the last row is
        # the cursor's.
        frame = self._progress.frame(time.monotonic(), width - 1, height - 1)
        self._region.draw([*frame.settled, *said], frame.live if is_live else (), width)

    def _size(self) -> os.terminal_size:
        """Return the window as it is now; it may have changed, and some terminals do not tell."""
        with suppress(OSError):
            size = os.get_terminal_size(self._stream.fileno())
            if size.columns > 1 and size.lines > 1:
                return size
        return _USUAL_SIZE


class PlainDisplay(Display):
    """A line when a child begins and one when it ends, for logs and simple terminals."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._progress = Progress()

    def event(self, event: Event) -> None:
        """Print the line of an event, if it has one."""
        line = self._progress.event(event, time.monotonic())
        if line:
            self.say("".join(span.text for span in line))

    def close(self) -> None:
        """Print a free line, if there is anything above it."""
        if self._progress.has_children:
            self.say("")


_ERASE_LINE = "\x1b[K"
_ERASE_BELOW = "\x1b[J"


class LiveRegion:
    """The last lines of a terminal, drawn again and again in place.

    The cursor rests below them, at the start of a line, and is never hidden: whatever ends the process,
    the terminal is in order, and an echoed `^C` does no harm.
    """

    def __init__(self, stream: TextIO, coloured: bool) -> None:
        self._stream = stream
        self._coloured = coloured
        self._drawn: list[int] = []

    def draw(self, settled: Sequence[Line], live: Sequence[Line], width: int) -> None:
        """Write the settled lines, which stay, and below them the live ones, which do not.

        All in one write, and lines that are there are written over rather than erased: nothing
        flickers. Live lines have to be narrower than `width`.
        """
        up = self._rows(width)
        parts = [f"\r\x1b[{up}A" if up else "\r"]
        if settled:  # Long ones wrap, and erasing to the end of a full row would eat its last cell.
            parts.append(_ERASE_BELOW)
        parts += [f"{self._shown(line)}\n" for line in settled]
        parts += [f"{self._shown(line)}{_ERASE_LINE}\n" for line in live]
        parts.append(_ERASE_BELOW)
        self._drawn = [sum(cells(span.text) for span in line) for line in live]
        # The terminal may be gone, which is no reason to give up the run.
        with suppress(OSError):
            self._stream.write("".join(parts))
            self._stream.flush()

    def _rows(self, width: int) -> int:
        """Return how many rows the live lines take: more than before if the window has become narrower."""
        return sum(max(1, -(-drawn // width)) for drawn in self._drawn)

    def _shown(self, line: Line) -> str:
        return "".join(self._painted(text, style) for text, style in line)

    def _painted(self, text: str, style: Style) -> str:
        is_styled = style.value and text and self._coloured
        return f"\x1b[{style.value}m{text}\x1b[0m" if is_styled else text
