"""Work-done progress, without tokens that are kept for ever."""

from __future__ import annotations

import pygls.progress
from lsprotocol.types import ProgressToken, WorkDoneProgressEnd


class Progress(pygls.progress.Progress):
    """As in pygls: `begin`, `report`, `end`, `create`; `tokens[token]` is cancelled by the client."""

    def end(self, token: ProgressToken, value: WorkDoneProgressEnd) -> None:
        """Report the end, and forget the token (pygls #607)."""
        super().end(token, value)
        self.tokens.pop(token, None)
