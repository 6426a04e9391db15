"""The texts that clients have open. Where several have a file open, the text that was edited last counts."""

from __future__ import annotations

from collections.abc import Iterator


class Buffers:
    """Texts by the URI of their file and by who has it open, the last edited one last."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[object, str]] = {}

    def edit(self, uri: str, text: str, client: object) -> None:
        """A client has opened or changed a buffer: its text counts."""
        texts = self._texts.setdefault(uri, {})
        texts.pop(client, None)
        texts[client] = text

    def close(self, uri: str, client: object) -> str | None:
        """A client has closed its buffer; gives the text of another client, which counts again."""
        texts = self._texts.pop(uri, {})
        texts.pop(client, None)
        if texts:
            self._texts[uri] = texts
        return next(reversed(texts.values()), None)

    def texts(self) -> Iterator[tuple[str, str]]:
        """The text that counts, by file."""
        return ((uri, next(reversed(texts.values()))) for uri, texts in self._texts.items())
