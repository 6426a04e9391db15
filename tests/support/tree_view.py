"""A tree of VS Code's side bar as a user sees it: rows, their buttons and menus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.screen import STAYS, TIMEOUT, Screen, failed

if TYPE_CHECKING:
    from playwright.sync_api import Locator

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

_SPOKEN = """
([header, part]) => [...document.querySelectorAll(".pane")]
  .filter((pane) => pane.querySelector(".pane-header").getAttribute("aria-label").startsWith(header))
  .flatMap((pane) => [...pane.querySelectorAll(".monaco-list-row")])
  .filter((row) => row.innerText.replaceAll(/\\s+/g, " ").toLowerCase().includes(part.toLowerCase()))
  .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
  .map((row) => row.getAttribute("aria-label"))[0] ?? ""
"""


class TreeView:
    """One view, by its title. Rows are named by a part of what they say."""

    def __init__(self, screen: Screen, title: str) -> None:
        self._screen = screen
        self._title = title

    def rows(self) -> list[str]:
        """Return what the rows say that are on the screen, from top to bottom."""
        rows: list[str] = self._screen.page.evaluate(_ROWS, self._title)
        return rows

    def wait_for(self, *parts: str) -> list[str]:
        """Waits until each part is in some row, in that order; returns all rows."""
        rows: list[str] = []

        def are_there() -> bool:
            rows[:] = self.rows()
            return _in_order(rows, parts)

        self._screen.wait_for(f"the rows {parts} of {self._title}", are_there, lambda: rows)
        return rows

    def wait_for_moves(self, part: str, times: int) -> list[str]:
        """Waits until the first such row has said so many different things; returns them."""
        said: list[str] = []

        def moves() -> bool:
            now = next((row for row in self.rows() if part in row), "")
            if now and now not in said:
                said.append(now)
            return len(said) >= times

        self._screen.wait_for(f"{times} states of the row {part}", moves, lambda: said)
        return said

    def wait_until_gone(self, part: str) -> None:
        """Waits until no row says it any more."""
        self._screen.wait_for(
            f"the end of {part}", lambda: not any(part in row for row in self.rows()), self.rows
        )

    def wait_for_focus(self, part: str) -> None:
        """Waits until the keyboard is at a row that says it; views that fetch what they show take it then."""
        row = self._pane().locator(".monaco-list:focus .monaco-list-row.focused", has_text=part)
        row.wait_for(timeout=TIMEOUT)

    def click(self, part: str) -> None:
        """Opens what the first such row stands for."""
        self._screen.click(f"the row {part}", self._row(part), self.rows)

    def has_focus(self) -> bool:
        """Return whether keys that are pressed go to the rows."""
        return self._pane().locator(".monaco-list:focus").count() > 0

    def unfold(self, part: str) -> None:
        """Shows what is below the first such row."""
        row = self._row(part)
        unfolded = self._pane().locator('.monaco-list-row[aria-expanded="true"]', has_text=part)
        self._screen.act(
            f"what is below {part}",
            lambda: row.locator(".monaco-tl-twistie").click(timeout=STAYS),
            lambda: unfolded.count() > 0,
            self.rows,
        )

    def press(self, part: str, button: str) -> None:
        """Presses a button that the first such row shows under the mouse."""
        self._screen.wait_for(
            f"a click on {button} of {part}", lambda: self._presses(part, button), self.rows
        )

    def choose(self, part: str, *, also: str = "", entry: str) -> None:
        """Takes an entry of the menu of such a row, or of two rows that are selected."""
        self._screen.wait_for(
            f"the choice of {entry}", lambda: self._chooses(part, also, entry), self.rows
        )

    def entries(self, part: str, expected: str) -> list[str]:
        """Return what the menu of the first such row offers, as soon as that is among it."""
        found: list[str] = []

        def shows() -> bool:
            try:
                self._row(part).click(button="right", timeout=STAYS)
            except failed():
                return False
            items = self._screen.page.locator(".monaco-menu .action-label")
            self._screen.comes(lambda: items.count() > 0)
            found[:] = [text for text in items.all_inner_texts() if text]
            self._screen.page.keyboard.press("Escape")
            return expected in found

        self._screen.wait_for(f"{expected} in the menu of {part}", shows, lambda: found)
        return found

    def wait_for_message(self, part: str) -> None:
        """Waits until what stands above the rows says it."""
        above = self._pane().locator(".message")
        self._wait_for_words(part, above)

    def wait_for_welcome(self, part: str) -> None:
        """Waits until what stands in place of the rows says it."""
        self._wait_for_words(part, self._pane().locator(".welcome-view-content"))

    def press_button(self, title: str) -> None:
        """Presses a button of what stands in place of the rows."""
        button = self._pane().locator(".welcome-view-content .monaco-button", has_text=title)
        self._screen.click(f"the button {title}", button)

    def wait_until_spoken(self, part: str, beginning: str) -> None:
        """Waits until a screen reader says something of the first such row that begins so."""
        self._screen.wait_for(
            f"the words {beginning} of {part}",
            lambda: self._spoken(part).startswith(beginning),
            lambda: [self._spoken(part), *self.rows()],
        )

    def press_until_spoken(self, part: str, button: str, beginning: str) -> None:
        """Presses a button of a row, and again if the row was just being drawn anew, until it had that effect."""
        self._screen.act(
            f"the words {beginning} of {part}",
            lambda: self._presses(part, button),
            lambda: self._spoken(part).startswith(beginning),
            lambda: [self._spoken(part), *self.rows()],
        )

    def _spoken(self, part: str) -> str:
        words: str = self._screen.page.evaluate(_SPOKEN, [self._title, part])
        return words

    def _wait_for_words(self, part: str, place: Locator) -> None:
        self._screen.wait_for(
            f"the words {part} in {self._title}",
            lambda: any(part in text for text in place.all_inner_texts()),
            place.all_inner_texts,
        )

    def _chooses(self, part: str, also: str, entry: str) -> bool:
        """Opens the menu and takes an entry of it, unless the menu closes before.

        It does when the focus goes elsewhere, such as to a document that was opened by a click on a row.
        """
        choice = self._screen.page.locator(".monaco-menu .action-item", has_text=entry).first
        try:
            if also:
                self._row(part).click(timeout=STAYS)
                self._row(also).click(modifiers=["Control"], timeout=STAYS)
            self._row(also or part).click(button="right", timeout=STAYS)
            choice.wait_for(timeout=STAYS)
            self._screen.page.wait_for_timeout(_UNTIL_MENUS_LISTEN)
            choice.click(timeout=STAYS)
        except failed():
            return False
        return self._screen.comes(lambda: not choice.is_visible())

    def _presses(self, part: str, button: str) -> bool:
        """Presses a button of the row, which shows it now that the mouse is there."""
        row = self._row(part)
        try:
            row.hover(timeout=STAYS)
        except failed():
            return False
        return self._screen.reaches(row.locator(f'.action-label[aria-label^="{button}"]'))

    def _row(self, part: str) -> Locator:
        return self._pane().locator(".monaco-list-row", has_text=part).first

    def _pane(self) -> Locator:
        header = self._screen.page.locator(f'.pane-header[aria-label^="{self._title}"]')
        return self._screen.page.locator(".pane").filter(has=header)


def _in_order(rows: list[str], parts: tuple[str, ...]) -> bool:
    remaining = iter(rows)
    return all(any(part in row for row in remaining) for part in parts)
