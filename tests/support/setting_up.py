"""What a new user meets in VS Code: questions for files and folders, the walkthrough, the extension's own page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from support.browser import WaitFor, too_late

if TYPE_CHECKING:
    from playwright.sync_api import Page

_STAYS = 5000
"""Milliseconds after which a question that was answered is still there because the answer was lost."""

_DONE = '.getting-started-step:has([role="checkbox"][aria-checked="true"]) .step-title'


class SettingUp:
    """The first steps in one window."""

    def __init__(self, page: Page, wait_for: WaitFor) -> None:
        self._page = page
        self._wait_for = wait_for

    def pick(self, label: str) -> None:
        """Takes the item with that label of the list that is offered."""
        row = self._page.locator(".quick-input-list .monaco-list-row", has_text=label)
        row.click(timeout=12 * _STAYS)

    def give(self, path: Path) -> None:
        """Answers the question for a file or a folder, which code-server asks in the window itself."""
        box = self._page.locator(".quick-input-box input")
        self._wait_for("a question for a path", lambda: box.input_value().startswith("/"))
        self._wait_for(f"the answer {path}", lambda: self._takes(path))

    def steps_done(self) -> list[str]:
        """The steps of the walkthrough that are ticked off."""
        return self._page.locator(_DONE).all_inner_texts()

    def show_extension(self, name: str) -> None:
        """Opens the page of an extension that is installed."""
        self._page.keyboard.press("Control+Shift+x")
        item = self._page.locator(".extension-list-item", has_text=name)
        item.first.click(timeout=12 * _STAYS)

    def _takes(self, path: Path) -> bool:
        """Types a path, lets the list below it follow, and waits until the question is gone."""
        box = self._page.locator(".quick-input-box input")
        ready = self._page.locator(
            ".quick-input-widget:not(:has(.monaco-progress-container.active))"
        )
        try:
            box.fill(str(path), timeout=_STAYS)
            self._page.wait_for_timeout(500)
            ready.wait_for(timeout=_STAYS)
            box.press("Enter", timeout=_STAYS)
            box.wait_for(state="hidden", timeout=_STAYS)
        except too_late():
            return not box.is_visible()
        return True
