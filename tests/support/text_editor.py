"""The editor of VS Code's window: its text, what is underlined in it, what stands above it and what is said of a word."""

from __future__ import annotations

from collections.abc import Sequence

from support.screen import STAYS, Screen, has_each

_LINES = ".editor-instance .view-line"


class TextEditor:
    """The text in front of one window."""

    _screen: Screen

    def hover(self, word: str, expected: str) -> None:
        """Points at a word of the editor, until what is explained there says `expected`.

        Who goes on pointing at a word of which nothing was known yet is not told more: the mouse has to come anew.
        """
        place = self._screen.page.locator(".editor-instance .view-line span", has_text=word).last
        boxes = ".monaco-hover .hover-contents"

        def point() -> None:
            self._screen.page.mouse.move(1, 1)
            place.hover(timeout=STAYS)

        self._screen.act(
            f"a hover on {word}",
            point,
            lambda: any(expected in text for text in self._screen.texts(boxes)),
            lambda: self._screen.texts(boxes),
        )

    def press_lens(self, title: str) -> None:
        """Presses a code lens."""
        self._screen.wait_for(
            f"a click on the lens {title}", lambda: self.reaches_lens(title), self.lenses
        )

    def reaches_lens(self, title: str) -> bool:
        """Clicks on a code lens once; whether the click has reached it."""
        lens = self._screen.page.locator(".codelens-decoration a", has_text=title).first
        return self._screen.reaches(lens)

    def lenses(self) -> list[str]:
        """Return what the code lenses of the editor say."""
        return self._screen.texts(".editor-instance .codelens-decoration a")

    def fix(self, word: str, title: str) -> None:
        """Takes the first quick fix of what is underlined at a word, when it is known."""
        text = self._screen.page.locator(".editor-instance .view-line span span", has_text=word)
        offers = ".action-widget .monaco-list-row"
        first = self._screen.page.locator(f"{offers}.focused", has_text=title)

        def ask() -> None:
            self._screen.page.keyboard.press("Escape")
            text.last.click(timeout=STAYS)
            self._screen.page.keyboard.press("Control+.")

        self._screen.act(
            f"the fix {title}", ask, first.is_visible, lambda: self._screen.texts(offers)
        )
        self._screen.act(
            f"the end of the offer {title}",
            lambda: self._screen.page.keyboard.press("Enter"),
            lambda: not first.is_visible(),
        )

    def press_key(self, key: str) -> None:
        """Presses a key in the editor."""
        self._focus()
        self._screen.page.keyboard.press(key)

    def go_to_end(self) -> None:
        """Puts the cursor behind the last character of the text."""
        self.press_key("Control+End")

    def type_on(self, text: str) -> None:
        """Types where the focus is, key by key, as a person does who looks at nothing else."""
        self._screen.page.keyboard.type(text, delay=10)

    def press_keys(self, *keys: str) -> None:
        """Presses keys where the focus is."""
        for key in keys:
            self._screen.page.keyboard.press(key)

    def wait_for_suggestion(self, *labels: str) -> None:
        """Waits until the list of suggestions, which nobody asked for by a key, offers all `labels`."""
        rows = ".suggest-widget.visible .monaco-list-row .label-name"
        self._screen.wait_for(
            f"the suggestions {labels}",
            lambda: has_each(self._screen.texts(rows), labels),
            lambda: self._screen.texts(rows),
        )

    def replace_text(self, text: str) -> None:
        """Puts `text` in place of what the editor contains, without saving it."""

        def write() -> None:
            self._focus()
            self._screen.page.keyboard.press("Control+a")
            self._screen.page.keyboard.insert_text(text)

        self._screen.act(
            "the new text",
            write,
            lambda: _shows(self._screen.texts(_LINES), text),
            lambda: self._screen.texts(_LINES),
        )

    def wait_for_text(self, *parts: str) -> None:
        """Waits until the editor shows all `parts`."""
        self._screen.wait_for(
            f"the text {parts}", lambda: self.shows_text(*parts), lambda: self._screen.texts(_LINES)
        )

    def shows_text(self, *parts: str) -> bool:
        """Return whether the editor shows all `parts`."""
        return has_each(self._screen.texts(_LINES), parts)

    def wait_for_diff(self, before: str, after: str) -> None:
        """Waits until two texts stand side by side, and say so."""
        sides = [
            f".monaco-diff-editor .editor.{side} .view-line" for side in ("original", "modified")
        ]
        self._screen.wait_for(
            f"the difference of {before} and {after}",
            lambda: all(
                has_each(self._screen.texts(side), [part])
                for side, part in zip(sides, (before, after), strict=True)
            ),
        )

    def focus_diff(self) -> None:
        """Clicks into the right one of the texts that stand side by side."""
        right = self._screen.page.locator(".monaco-diff-editor .editor.modified .view-lines").last
        self._screen.click("the right side", right)

    def wait_for_squiggles(self, errors: int, warnings: int) -> None:
        """Waits until so many stretches of the text are underlined."""
        self._screen.wait_for(
            f"{errors} errors and {warnings} warnings underlined",
            lambda: (
                len(self._screen.texts(".squiggly-error")) == errors
                and len(self._screen.texts(".squiggly-warning")) == warnings
            ),
            lambda: [len(self._screen.texts(f".squiggly-{kind}")) for kind in ("error", "warning")],
        )

    def _focus(self) -> None:
        """Leads to the editor, until what is typed goes there."""
        self._screen.act(
            "the focus on the editor",
            lambda: self._screen.page.keyboard.press("Control+1"),
            lambda: bool(self._screen.texts(".editor-instance :focus")),
        )


def _shows(screen: Sequence[str], text: str) -> bool:
    """Return whether the screen shows a part of the text, to its end, and nothing else but hints between the words."""
    lines = [line for line in text.splitlines() if line.strip()]
    shown = [line for line in screen if line.strip()]
    return any(_is_in(lines[-1], each) for each in shown) and all(
        any(_is_in(line, each) for line in lines) for each in shown
    )


def _is_in(line: str, shown: str) -> bool:
    remaining = iter(shown)
    return all(character in remaining for character in line)
