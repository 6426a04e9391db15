"""`textDocument/didOpen`, `didChange`, `didClose` and `didSave`: the texts that the client has open."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.daemon.uris import canonical
from axe_lsp.lsp.publish_diagnostics import Publisher
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.documents import Document


class TextDocumentSync:
    """Hands the text of open agent files to the view, and has their diagnostics published."""

    def __init__(self, session: Session, publisher: Publisher) -> None:
        self._session = session
        self._publisher = publisher
        self.editing: str | None = None
        """The URI of the file that is being changed at this moment."""
        session.feature(types.TEXT_DOCUMENT_DID_OPEN)(self._did_open)
        session.feature(types.TEXT_DOCUMENT_DID_CHANGE)(self._did_change)
        session.feature(types.TEXT_DOCUMENT_DID_CLOSE)(self._did_close)
        session.feature(types.TEXT_DOCUMENT_DID_SAVE)(self._did_save)

    def sort_again(self) -> None:
        """Decide again which open documents are agent files, since other folders may count."""
        opened = self._session.opened
        for document in opened.misplaced(self._session.view.snapshot.places):
            if opened.uri(document.uri) is None:
                self._add(document)
            else:
                self._remove(document)

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = self._session.documents.open(params)
        if not self._add(document):
            self._publisher.publish_foreign(document)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        session = self._session
        document = session.documents.change(params, session.position_encoding)
        uri = session.opened.uri(document.uri)
        if uri is not None:
            self._edit(uri, document)
        else:
            self._publisher.publish_foreign(document)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._remove(self._session.documents.close(params))

    def _did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Take note that the file on the disk has changed, whether or not the client watches it."""
        if self._session.opened.uri(params.text_document.uri) is not None:
            self._session.view.changed_on_disk([canonical(params.text_document.uri)])

    def _add(self, document: Document) -> bool:
        """Take an open document for an agent file if it is one; return whether it is."""
        uri = self._session.opened.add(document, self._session.view.snapshot.places)
        if uri is not None:
            self._edit(uri, document)
        return uri is not None

    def _edit(self, uri: str, document: Document) -> None:
        other_name = self._session.opened.turn_to(uri, document.uri)
        if other_name is not None:
            self._publisher.forget(uri, other_name)
        self.editing = uri
        try:
            self._session.view.edit(uri, document.text)
        finally:
            self.editing = None
        self._publisher.publish_edited(uri)

    def _remove(self, document: Document) -> None:
        uri = self._session.opened.remove(document.uri)
        if uri is None:
            return
        self._publisher.forget(uri, document.uri)
        other = self._session.opened.document(uri)
        if other is not None:  # The client has opened the file by another spelling as well.
            self._edit(uri, other)
        else:
            self._session.view.close_buffer(uri)
