"""What VS Code asks and tells: input boxes, lists, dialogs and notifications, which may come late and close by themselves."""

from __future__ import annotations

from support.screen import STAYS, Screen, has_all, has_each

_MESSAGES = ".notifications-toasts .notification-list-item"


class Questions:
    """What one window wants to know of its user."""

    _screen: Screen

    def is_asked(self, title: str, within: int) -> bool:
        """Return whether the input box of that title opens in so many milliseconds."""
        question = self._screen.page.locator(".quick-input-title", has_text=title)
        return self._screen.comes(question.is_visible, within)

    def answer_question(self, title: str, answer: str) -> None:
        """Types into the input box that the extension has opened."""
        question = self._screen.page.locator(".quick-input-title", has_text=title)
        box = self._screen.page.locator(".quick-input-box input")
        self._screen.wait_for(f"the question {title}", question.is_visible)

        def give() -> None:
            box.fill(answer, timeout=STAYS)
            box.press("Enter", timeout=STAYS)

        self._screen.act(
            f"the end of the question {title}", give, lambda: not question.is_visible()
        )

    def write_in_several_lines(self, title: str, begun: str) -> None:
        """Types the beginning of a task into the input box, and presses its button for a form."""
        page = self._screen.page
        question = page.locator(".quick-input-title", has_text=title)
        self._screen.wait_for(f"the question {title}", question.is_visible)
        page.locator(".quick-input-box input").fill(begun)
        page.locator(".quick-input-titlebar").get_by_role("button", name="Several Lines").click()

    def pick(self, *parts: str) -> None:
        """Takes the first item of the list that the extension offers, which has all `parts`."""
        rows = ".quick-input-list .monaco-list-row"
        first = self._screen.page.locator(rows).first

        def is_offered() -> bool:
            return has_each(self._screen.texts(rows)[:1], parts)

        self._screen.wait_for(f"the offer {parts}", is_offered, lambda: self._screen.texts(rows))
        self._screen.act(
            f"the end of the offer {parts}",
            lambda: first.click(timeout=STAYS),
            lambda: not (first.is_visible() and is_offered()),
        )

    def agree_to_file(self, title: str) -> None:
        """Takes the file that VS Code's own dialog proposes, as soon as the dialog lets it."""
        dialog = self._screen.page.locator(".quick-input-title", has_text=title)
        box = self._screen.page.locator(".quick-input-box input")
        self._screen.wait_for(f"the dialog {title}", dialog.is_visible)
        self._screen.act(
            f"the end of the dialog {title}",
            lambda: box.press("Enter", timeout=STAYS),
            lambda: not dialog.is_visible(),
        )

    def offers(self, label: str) -> bool:
        """Return whether an item of the list that is open has that label."""
        rows = ".quick-input-list .monaco-list-row"
        return self._screen.page.locator(rows, has_text=label).first.is_visible()

    def choose(self, label: str) -> None:
        """Takes the item of that label from the list that the extension offers."""
        item = self._screen.page.locator(".quick-input-list .monaco-list-row", has_text=label).first
        self._screen.act(
            f"the choice of {label}",
            lambda: item.click(timeout=STAYS),
            lambda: not item.is_visible(),
            lambda: self._screen.texts(".quick-input-list .monaco-list-row"),
        )

    def answer_dialog(self, message: str, button: str) -> str:
        """Presses a button of the modal dialog that begins so; returns all that it says."""
        dialog = self._screen.page.locator(".monaco-dialog-box", has_text=message)
        self._screen.wait_for(f"the dialog {message}", dialog.is_visible)
        said: str = dialog.inner_text()
        chosen = dialog.locator(".monaco-button", has_text=button).first
        self._screen.act(
            f"the end of the dialog {message}",
            lambda: chosen.click(timeout=STAYS),
            lambda: not dialog.is_visible(),
        )
        return said

    def shows_dialog(self, message: str) -> bool:
        """Return whether the modal dialog that begins so is there."""
        dialog = self._screen.page.locator(".monaco-dialog-box", has_text=message)
        return dialog.is_visible()

    def wait_for_message(self, *parts: str) -> None:
        """Waits for a notification that says all `parts`."""
        self._screen.wait_for(
            f"the message {parts}",
            lambda: self.shows_message(*parts),
            lambda: self._screen.texts(_MESSAGES),
        )

    def messages(self) -> list[str]:
        """Return what the notifications say."""
        return self._screen.texts(_MESSAGES)

    def type_into_question(self, title: str, text: str) -> None:
        """Types into the input box that the extension has opened, which stays open."""
        question = self._screen.page.locator(".quick-input-title", has_text=title)
        self._screen.wait_for(f"the question {title}", question.is_visible)
        self._screen.page.locator(".quick-input-box input").fill(text)

    def shows_message(self, *parts: str) -> bool:
        """Return whether a notification says all `parts`."""
        return has_all(self._screen.texts(_MESSAGES), parts)

    def wait_until_silent(self, part: str) -> None:
        """Waits until no notification says `part` any more."""
        self._screen.wait_for(f"the end of {part}", lambda: not self.shows_message(part))

    def answer_message(self, part: str, button: str) -> None:
        """Presses a button of the notification that says `part`."""
        toast = self._screen.page.locator(_MESSAGES, has_text=part).first
        chosen = toast.get_by_role("button", name=button, exact=True)
        self._screen.act(
            f"the end of the message {part}",
            lambda: chosen.click(timeout=STAYS),
            lambda: not toast.is_visible(),
        )

    def close_message(self, part: str) -> None:
        """Takes the notification away that says `part`, without an answer."""
        toast = self._screen.page.locator(_MESSAGES, has_text=part).first

        def close() -> None:
            toast.hover(timeout=STAYS)
            toast.locator(".codicon-notifications-clear").click(timeout=STAYS)

        self._screen.act(f"the end of {part}", close, lambda: not toast.is_visible())
