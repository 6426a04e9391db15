"""Which of a client's open documents are agent files or config.toml, and under which name the client knows them."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.daemon.uris import canonical
from axe_lsp.lsp.documents import Document, Documents
from axe_lsp.workspace.places import Places

LANGUAGE_ID = "axe-agent"
"""A document with this language id is an agent file wherever it lies, even if it lies nowhere."""


class OpenAgents:
    """The open documents by our URIs. A client may spell a URI otherwise, and gets its own back."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._names: dict[str, str] = {}

    def add(self, document: Document, places: Places) -> str | None:
        """Our URI of a document that was opened, or None if it is no agent file."""
        if not self._is_agent(document, places):
            return None
        uri = canonical(document.uri)
        self._names[uri] = document.uri
        return uri

    def misplaced(self, places: Places) -> list[Document]:
        """The open documents that have become agent files, or have ceased to be."""
        return [
            document
            for document in self._documents
            if self._is_agent(document, places) != (self.uri(document.uri) is not None)
        ]

    def remove(self, name: str) -> str | None:
        """Our URI of a document that was closed, if it was an agent file."""
        uri = canonical(name)
        return uri if self._names.pop(uri, None) is not None else None

    def uri(self, name: str) -> str | None:
        """Our URI of an open agent file."""
        uri = canonical(name)
        return uri if uri in self._names else None

    def document(self, uri: str) -> Document | None:
        """The open document at our URI."""
        name = self._names.get(uri)
        return self._documents.get(name) if name is not None else None

    def name(self, uri: str) -> str:
        """Our URI of any file as the client spells it, if it has."""
        return self._names.get(uri, uri)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @staticmethod
    def _is_agent(document: Document, places: Places) -> bool:
        return document.language_id == LANGUAGE_ID or places.is_ours(canonical(document.uri))
