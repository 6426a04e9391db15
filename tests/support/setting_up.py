"""What a new user meets in VS Code: questions for files and folders, the walkthrough, the extension's own page."""

from __future__ import annotations

from pathlib import Path

from support.screen import STAYS, Screen, failed

_DONE = '.getting-started-step:has([role="checkbox"][aria-checked="true"]) .step-title'

_SETTLES = 500
"""Milliseconds in which the window reacts to what was typed."""


class SettingUp:
    """The first steps in one window."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def pick(self, label: str) -> None:
        """Takes the item with that label of the list that is offered."""
        row = self._screen.page.locator(".quick-input-list .monaco-list-row", has_text=label)
        self._screen.act(
            f"the end of the offer {label}",
            lambda: row.click(timeout=STAYS),
            lambda: not row.is_visible(),
        )

    def give(self, path: Path) -> None:
        """Answers the question for a file or a folder, which code-server asks in the window itself."""
        asked = self._screen.page.locator(".quick-input-box input")
        self._screen.wait_for(
            "a question for a path",
            lambda: asked.is_visible() and asked.input_value(timeout=STAYS).startswith("/"),
        )
        self._screen.wait_for(f"the answer {path}", lambda: self._takes(path))

    def steps_done(self) -> list[str]:
        """Return the steps of the walkthrough that are ticked off."""
        return self._screen.page.locator(_DONE).all_inner_texts()

    def show_extension(self, name: str) -> None:
        """Opens the page of an extension that is installed."""
        item = self._screen.page.locator(".extension-list-item", has_text=name).first
        page = self._screen.page.locator(".extension-editor", has_text=name)
        self._screen.act(
            "the list of extensions",
            lambda: self._screen.page.keyboard.press("Control+Shift+x"),
            item.is_visible,
        )
        self._screen.act(
            f"the page of {name}", lambda: item.click(timeout=STAYS), page.first.is_visible
        )

    def _takes(self, path: Path) -> bool:
        """Types a path, waits until the list below it has it, and until the question is gone.

        Until the list follows, Enter takes the folder that was there before.
        """
        box = self._screen.page.locator(".quick-input-box input")
        rows = ".quick-input-list .monaco-list-row .label-name"
        ready = self._screen.page.locator(
            ".quick-input-widget:not(:has(.monaco-progress-container.active))"
        )
        try:
            box.fill(str(path), timeout=STAYS)
            self._screen.page.wait_for_timeout(_SETTLES)
            ready.wait_for(timeout=STAYS)
            if not self._screen.comes(lambda: path.name in self._screen.texts(rows)):
                return False
            box.press("Enter", timeout=STAYS)
            box.wait_for(state="hidden", timeout=STAYS)
        except failed():
            return not box.is_visible()
        return True
