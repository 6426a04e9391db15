"""What VS Code asks and tells: input boxes, lists, dialogs and notifications, which may come late and close by themselves."""

from __future__ import annotations

from support.screen import STAYS, Screen, has_all, has_each


class Questions:
    """What one window wants to know of its user."""

    _screen: Screen

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

    def wait_for_dialog(self, message: str) -> None:
        """Waits for the modal dialog that begins so."""
        dialog = self._screen.page.locator(".monaco-dialog-box", has_text=message)
        self._screen.wait_for(f"the dialog {message}", dialog.is_visible)

    def answer_dialog(self, message: str, button: str) -> str:
        """Presses a button of the modal dialog that begins so; returns all that it says."""
        self.wait_for_dialog(message)
        dialog = self._screen.page.locator(".monaco-dialog-box", has_text=message)
        said: str = dialog.inner_text()
        chosen = dialog.locator(".monaco-button", has_text=button).first
        self._screen.act(
            f"the end of the dialog {message}",
            lambda: chosen.click(timeout=STAYS),
            lambda: not dialog.is_visible(),
        )
        return said

    def wait_for_message(self, *parts: str) -> None:
        """Waits for a notification that says all `parts`."""
        toasts = ".notifications-toasts .notification-list-item"
        self._screen.wait_for(
            f"the message {parts}",
            lambda: has_all(self._screen.texts(toasts), parts),
            lambda: self._screen.texts(toasts),
        )

    def answer_message(self, part: str, button: str) -> None:
        """Presses a button of the notification that says `part`."""
        toast = self._screen.page.locator(
            ".notifications-toasts .notification-list-item", has_text=part
        ).first
        chosen = toast.locator(".monaco-button", has_text=button).first
        self._screen.act(
            f"the end of the message {part}",
            lambda: chosen.click(timeout=STAYS),
            lambda: not toast.is_visible(),
        )
