"""The command palette of VS Code as a user meets it: it closes when something else takes the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.screen import STAYS, Screen, failed

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_SETTLED = 1500
"""Milliseconds after which a palette that has answered does not find anything more."""

# The rows of a palette that has answered; none while it is searching, or closed.
_FOUND = """
(value) => {
  const widget = document.querySelector(".quick-input-widget");
  const asked = widget && widget.querySelector(".quick-input-box input").value === value;
  if (!asked || widget.querySelector(".monaco-progress-container.active")) return [];
  return [...widget.querySelectorAll(".quick-input-list .monaco-list-row")]
    .map((row) => row.innerText.replaceAll("\\u00a0", " ").split("\\n")[0]);
}
"""


_IS_OPEN = """
(value) => {
  const input = document.querySelector(".quick-input-widget .quick-input-box input");
  return !!input && input.checkVisibility() && input.value === value;
}
"""

# Not by the keyboard: what takes the focus just then, as a page that is shown does, would get the letters.
_TYPES = """
(input, value) => {
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
"""


class Palette:
    """The commands of one window."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._seen: list[str] = []

    def run(self, title: str) -> None:
        """Picks a command as soon as it is offered."""
        self._screen.wait_for(
            f"the command {title}", lambda: self._is_run(title), lambda: self._seen
        )

    def offers(self, title: str) -> bool:
        """Return whether a command is found."""
        self._screen.wait_for(f"what the palette finds for {title}", lambda: self._answers(title))
        self._screen.comes(lambda: title in self._found(title), _SETTLED)
        self._close()
        return title in self._seen

    def _is_run(self, title: str) -> bool:
        """Opens the palette anew: one that is open never offers what can be done only since then."""
        if (
            self._answers(title)
            and self._screen.comes(lambda: title in self._found(title))
            and self._takes(title)
        ):
            return True
        self._close()
        return False

    def _answers(self, title: str) -> bool:
        """Opens the palette and asks; it finds nothing if it has been closed meanwhile."""
        self._screen.page.keyboard.press("F1")
        try:
            self._box().evaluate(_TYPES, f">{title}", timeout=STAYS)
        except failed():
            return False
        return self._screen.comes(lambda: bool(self._found(title)))

    def _found(self, title: str) -> list[str]:
        self._seen = self._screen.page.evaluate(_FOUND, f">{title}")
        return self._seen

    def _takes(self, title: str) -> bool:
        label = self._screen.page.locator(".quick-input-list .label-name")
        try:
            label.get_by_text(title, exact=True).click(timeout=STAYS)
        except failed():
            return False
        return self._screen.comes(lambda: not self._is_open(title))

    def _is_open(self, title: str) -> bool:
        try:
            is_open: bool = self._screen.page.evaluate(_IS_OPEN, f">{title}")
        except failed():
            return False  # The command has left the page.
        return is_open

    def _close(self) -> None:
        self._screen.page.keyboard.press("Escape")

    def _box(self) -> Locator:
        return self._screen.page.locator(".quick-input-box input")
