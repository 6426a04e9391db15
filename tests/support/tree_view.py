"""A tree of VS Code's side bar as a user sees it: rows, their buttons and menus."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from support.browser import UNTIL_PRESSED_AGAIN, WaitFor, too_late

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_ROWS = """
(header) => [...document.querySelectorAll(".pane")]
  .filter((pane) => pane.querySelector(".pane-header").getAttribute("aria-label").startsWith(header))
  .flatMap((pane) => [...pane.querySelectorAll(".monaco-list-row")])
  .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
  .map((row) => [...row.querySelectorAll(".label-name, .label-description")])
  .map((parts) => parts.map((part) => part.innerText.replaceAll("\\n", " ").trim()).join(" "))
"""

_UNTIL_MENUS_LISTEN = 200
"""Milliseconds. Menus of VS Code ignore the mouse at first, so that the click that opens one takes nothing."""

_MENU_STAYS = 5000
"""Milliseconds after which a menu that can't be used is not there any more."""


class TreeView:
    """One view, by its title. Rows are named by a part of what they say."""

    def __init__(self, page: Page, wait_for: WaitFor, title: str, timeout: int) -> None:
        self._page = page
        self._wait_for = wait_for
        self._title = title
        self._timeout = timeout

    def rows(self) -> list[str]:
        """What the rows say that are on the screen, from top to bottom."""
        rows: list[str] = self._page.evaluate(_ROWS, self._title)
        return rows

    def wait_for(self, *parts: str) -> list[str]:
        """Waits until each part is in some row, in that order; returns all rows."""
        self._wait_for(f"the rows {parts} of {self._title}", lambda: _in_order(self.rows(), parts))
        return self.rows()

    def wait_until_gone(self, part: str) -> None:
        """Waits until no row says it any more."""
        self._wait_for(f"the end of {part}", lambda: not any(part in row for row in self.rows()))

    def wait_for_focus(self, part: str) -> None:
        """Waits until the keyboard is at a row that says it; views that fetch what they show take it then."""
        row = self._pane().locator(".monaco-list:focus .monaco-list-row.focused", has_text=part)
        row.wait_for(timeout=self._timeout)

    def click(self, part: str) -> None:
        """Opens what the first such row stands for."""
        self._row(part).click(timeout=self._timeout)

    def has_focus(self) -> bool:
        """Whether keys that are pressed go to the rows."""
        return self._pane().locator(".monaco-list:focus").count() > 0

    def unfold(self, part: str) -> None:
        """Shows what is below the first such row."""
        self._row(part).locator(".monaco-tl-twistie").click(timeout=self._timeout)

    def press(self, part: str, button: str) -> None:
        """Presses a button that the first such row shows under the mouse."""
        self._button(part, button).click(timeout=self._timeout)

    def choose(self, part: str, *, also: str = "", entry: str) -> None:
        """Takes an entry of the menu of such a row, or of two rows that are selected."""
        row = self._row(part)
        if also:
            row.click(timeout=self._timeout)
            row = self._row(also)
            row.click(modifiers=["Control"], timeout=self._timeout)
        self._wait_for(f"the choice of {entry}", lambda: self._chooses(row, entry))

    def entries(self, part: str) -> list[str]:
        """What the menu of the first such row offers."""
        found: list[str] = []

        def shows() -> bool:
            self._row(part).click(button="right", timeout=self._timeout)
            items = self._page.locator(".monaco-menu .action-label")
            found[:] = [text for text in items.all_inner_texts() if text]
            return bool(found)

        self._wait_for(f"the menu of {part}", shows)
        self._page.keyboard.press("Escape")
        return found

    def message(self) -> str:
        """What stands above the rows."""
        return self._pane().locator(".message").inner_text(timeout=self._timeout)

    def welcome(self) -> str:
        """What stands in place of the rows."""
        return self._pane().locator(".welcome-view-content").inner_text(timeout=self._timeout)

    def press_button(self, title: str) -> None:
        """Presses a button of what stands in place of the rows."""
        button = self._pane().locator(".welcome-view-content .monaco-button", has_text=title)
        button.click(timeout=self._timeout)

    def wait_until_spoken(self, part: str, beginning: str) -> None:
        """Waits until a screen reader says something of the first such row that begins so."""
        self._wait_for(f"the words {beginning} of {part}", lambda: self._speaks(part, beginning))

    def press_until_spoken(self, part: str, button: str, beginning: str) -> None:
        """Presses a button of a row, and again if the row was just being drawn anew, until it had that effect."""

        def has_effect() -> bool:
            if not self._speaks(part, beginning):
                with contextlib.suppress(too_late()):
                    self._button(part, button).click(timeout=UNTIL_PRESSED_AGAIN)
                self._page.wait_for_timeout(UNTIL_PRESSED_AGAIN)
            return self._speaks(part, beginning)

        self._wait_for(f"the words {beginning} of {part}", has_effect)

    def _speaks(self, part: str, beginning: str) -> bool:
        return (self._row(part).get_attribute("aria-label") or "").startswith(beginning)

    def _chooses(self, row: Locator, entry: str) -> bool:
        """Opens the menu of a row and takes an entry of it, unless the menu closes before.

        It does when the focus goes elsewhere, such as to a document that was opened by a click on a row.
        """
        row.click(button="right", timeout=self._timeout)
        choice = self._page.locator(".monaco-menu .action-item", has_text=entry).first
        try:
            choice.wait_for(timeout=_MENU_STAYS)
            self._page.wait_for_timeout(_UNTIL_MENUS_LISTEN)
            choice.click(timeout=_MENU_STAYS)
        except too_late():
            return False
        return True

    def _button(self, part: str, button: str) -> Locator:
        """The button of a row, which shows it now that the mouse is there."""
        row = self._row(part)
        row.hover(timeout=self._timeout)
        return row.locator(f'.action-label[aria-label^="{button}"]')

    def _row(self, part: str) -> Locator:
        return self._pane().locator(".monaco-list-row", has_text=part).first

    def _pane(self) -> Locator:
        header = self._page.locator(f'.pane-header[aria-label^="{self._title}"]')
        return self._page.locator(".pane").filter(has=header)


def _in_order(rows: list[str], parts: tuple[str, ...]) -> bool:
    remaining = iter(rows)
    return all(any(part in row for row in remaining) for part in parts)
