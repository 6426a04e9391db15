"""`textDocument/inlayHint`: values that apply although the file does not state them."""

from __future__ import annotations

from contextlib import suppress

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.inlay_hint import InlayHint, inlay_hints, outside_hints
from axe_lsp.lsp.positions import OpenFile, open_file
from axe_lsp.lsp.session import Session
from axe_lsp.workspace.workspace import Update


class InlayHints:
    """One client's hints; none if the setting `axe.inlayHints` is off."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._facts = session.view.snapshot.facts
        session.feature(types.TEXT_DOCUMENT_INLAY_HINT, {"resolveProvider": False})(self._answer)

    def follow(self, update: Update) -> None:
        """Have the client ask again if facts from outside the files have changed."""
        if update.snapshot.facts is not self._facts:
            self._facts = update.snapshot.facts
            self.refresh()

    def refresh(self) -> None:
        """Have the client ask again, if it can be told to."""
        if self._session.client.supports("workspace.inlayHint.refreshSupport"):
            self._session.start(self._refresh(), name="refreshing inlay hints")

    def _answer(self, params: types.InlayHintParams) -> list[types.InlayHint] | None:
        session = self._session
        opened = open_file(session, params.text_document)
        if opened is None or not session.view.settings.inlay_hints:
            return None
        file, within = opened.file, opened.text_range(params.range)
        found = [*inlay_hints(file, within), *outside_hints(session.view.snapshot, file, within)]
        return [_hint(each, opened) for each in found]

    async def _refresh(self) -> None:
        # A client that refuses shows old hints until the next edit.
        with suppress(JsonRpcException):
            await self._session.request(types.WORKSPACE_INLAY_HINT_REFRESH)


def _hint(hint: InlayHint, opened: OpenFile) -> types.InlayHint:
    place = opened.range(TextRange(hint.place, hint.place))
    return types.InlayHint(
        position=types.Position(*opened.lines.position(hint.offset, opened.encoding)),
        label=hint.label,
        text_edits=[types.TextEdit(place, hint.text)] if hint.text else None,
        tooltip=types.MarkupContent(types.MarkupKind.Markdown, hint.tooltip),
        padding_left=True,
    )
