"""A window of VS Code in a browser: what stands in it, waiting for that, and pressing until it has helped.

On a busy machine a click is lost with the row that is just being drawn anew, a key with a focus that was taken away, and a
menu closes under the mouse. So whatever a test does is done again, as a user would, until its effect can be seen. Knows
nothing of the parts of the workbench.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TIMEOUT = 120_000
"""Milliseconds. Generous, because the machine may be busy; only a failing test waits that long."""

STAYS = 5000
"""Milliseconds after which something is done again that has had no effect, as a person would."""

_POLL = 50

_LONGEST = 6000
"""Characters of one frame or log that are told: more than a window has, unless something is wrong with it."""

# What elements say, from top to bottom; the workbench draws rows in any order and then places them.
_TEXTS = """
(selector) => [...document.querySelectorAll(selector)]
  .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
  .map((element) => element.innerText.replaceAll('\\u00a0', ' '))
"""

_LISTEN = """
(element) => {
  window.wasReached = false;
  element.addEventListener("click", () => (window.wasReached = true), { capture: true, once: true });
}
"""

# A window that was loaded anew by the click knows nothing of it.
_WAS_REACHED = "() => window.wasReached !== false"

# A frame without a size is no page that is shown.
_WORDS = "() => (innerWidth && innerHeight ? document.body.innerText : '')"

_FOCUSED = "() => document.activeElement?.outerHTML.replace(/(?<=>)[^]*/, '')"


class Screen:
    """One window. Pictures of it go to `scratch`."""

    def __init__(self, page: Page, scratch: Path) -> None:
        self.page = page
        self._scratch = scratch

    def texts(self, selector: str) -> list[str]:
        """Return what the elements say, from top to bottom."""
        texts: list[str] = self.page.evaluate(_TEXTS, selector)
        return texts

    def wait_for(
        self,
        what: str,
        condition: Callable[[], bool],
        seen: Callable[[], object] | None = None,
        timeout: int = TIMEOUT,
    ) -> None:
        """Waits for what the text says, until it is so; `seen` is what there was instead."""
        if not self.comes(condition, timeout):
            picture = self.picture("waited-in-vain")
            instead = f"; seen last: {seen()!r}" if seen else ""
            raise AssertionError(f"waited in vain for {what}{instead}; see {picture}")

    def comes(self, condition: Callable[[], bool], within: int = STAYS) -> bool:
        """Return whether it becomes so in that time."""
        end = time.monotonic() + within / 1000
        while not condition():
            if time.monotonic() > end:
                return False
            self.page.wait_for_timeout(_POLL)
        return True

    def act(
        self,
        what: str,
        action: Callable[[], object],
        has_helped: Callable[[], bool],
        seen: Callable[[], object] | None = None,
    ) -> None:
        """Does something once, and again whenever it has not helped for a while.

        A question that has closed by itself has not been answered: without having been done nothing has helped.
        """
        is_done = False

        def helps() -> bool:
            nonlocal is_done
            with contextlib.suppress(failed()):
                action()
                is_done = True
            return is_done and self.comes(has_helped)

        self.wait_for(what, helps, seen)

    def click(self, what: str, target: Locator, seen: Callable[[], object] | None = None) -> None:
        """Clicks once, on something whose clicks may count: again only if the click has not reached it."""
        self.wait_for(f"a click on {what}", lambda: self.reaches(target), seen)

    def reaches(self, target: Locator) -> bool:
        """Clicks; whether that has reached what is clicked on, rather than what was drawn in its place."""
        try:
            element = target.element_handle(timeout=STAYS)
            element.evaluate(_LISTEN)
            element.click(timeout=STAYS)
            reached: bool = self.page.evaluate(_WAS_REACHED)
        except failed():
            return False
        return reached

    def picture(self, name: str) -> Path:
        """Return a picture of the window, to look at when a test has failed."""
        path = self._scratch / f"vscode-{name}.png"
        self.page.screenshot(path=path)
        return path

    def describe(self) -> str:
        """Return all that the window says, in words: pictures do not outlast the machine of a continuous integration."""
        told = [f"The focus is at {self.page.evaluate(_FOCUSED)}"]
        for frame in self.page.frames:
            with contextlib.suppress(failed()):  # It has just been closed.
                text = frame.evaluate(_WORDS).strip()[:_LONGEST]
                told += (
                    [f"--- The {'webview' if frame.parent_frame else 'window'} says\n{text}"]
                    if text
                    else []
                )
        return "\n".join(told)


def failed() -> type[Exception]:
    """Return what the browser raises when something can't be done in time; imported late, for it is not in the dev extras."""
    from playwright.sync_api import Error  # noqa: PLC0415

    return Error


def has_each(texts: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether each part is in some text."""
    return all(any(part in text for text in texts) for part in parts)


def has_all(texts: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether one of the texts has all parts."""
    return any(all(part in text for part in parts) for text in texts)
