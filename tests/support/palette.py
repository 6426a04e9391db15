"""The command palette of VS Code as a user meets it: it closes when something else takes the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.browser import WaitFor, too_late

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_STAYS = 5000
"""Milliseconds after which a palette that has not answered is opened again, as a person would."""

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


class Palette:
    """The commands of one window."""

    def __init__(self, page: Page, wait_for: WaitFor) -> None:
        self._page = page
        self._wait_for = wait_for

    def run(self, title: str) -> None:
        """Picks a command as soon as it is offered."""
        self._wait_for(f"the command {title}", lambda: self._is_run(title))

    def offers(self, title: str) -> bool:
        """Whether a command is found."""
        found: list[str] = []

        def answers() -> bool:
            found[:] = self._found(title)
            return bool(found)

        self._wait_for(f"what the palette finds for {title}", answers)
        self._close()
        return title in found

    def _is_run(self, title: str) -> bool:
        if title in self._found(title) and self._takes(title):
            return True
        self._close()  # A palette that is open never offers what can be done only since then.
        return False

    def _close(self) -> None:
        self._page.keyboard.press("Escape")

    def _found(self, title: str) -> list[str]:
        """What the palette finds for a title: nothing, if it has been closed meanwhile."""
        self._page.keyboard.press("F1")
        value = f">{title}"
        try:
            self._box().fill(value, timeout=_STAYS)
            answer = self._page.wait_for_function(
                f"(value) => (found => found.length && found)(({_FOUND})(value))",
                arg=value,
                timeout=_STAYS,
            )
        except too_late():
            return []
        found: list[str] = answer.json_value()
        return found

    def _takes(self, title: str) -> bool:
        label = self._page.locator(".quick-input-list .label-name").get_by_text(title, exact=True)
        try:
            label.click(timeout=_STAYS)
        except too_late():
            return False
        return True

    def _box(self) -> Locator:
        return self._page.locator(".quick-input-box input")
