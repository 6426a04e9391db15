"""The open documents of a client that are agent files or config.toml, with the client's spelling of their URIs."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.daemon.uris import canonical
from axe_lsp.rpc.documents import Document, Documents
from axe_lsp.workspace.places import Places

LANGUAGE_ID = "axe-agent"
"""A document with this language id is an agent file in any folder, even if it was never saved."""

_SERVED = ("file:", "untitled:")
"""Documents of other schemes, such as `git:` and `fugitive:`, are old states of files."""


class OpenAgents:
    """The open documents by our URIs. A client may spell a URI otherwise, and gets its own back.

    Of several spellings that it has opened, that of the last edit.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._names: dict[str, list[str]] = {}

    def add(self, document: Document, places: Places) -> str | None:
        """Our URI of a document that was opened, or None if it is no agent file."""
        if not self._is_agent(document, places):
            return None
        uri = canonical(document.uri)
        self._names.setdefault(uri, [document.uri])
        return uri

    def turn_to(self, uri: str, name: str) -> str | None:
        """Use this spelling of a URI from now on; returns the one before if it was another."""
        names = self._names[uri]
        before = names[-1]
        if before == name:
            return None
        self._names[uri] = [*(each for each in names if each != name), name]
        return before

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
        if uri not in self._names:
            return None
        names = [each for each in self._names.pop(uri) if each != name]
        if names:
            self._names[uri] = names
        return uri

    def uri(self, name: str) -> str | None:
        """Our URI of an open agent file."""
        uri = canonical(name)
        return uri if uri in self._names else None

    def document(self, uri: str) -> Document | None:
        """The open document at our URI."""
        names = self._names.get(uri)
        return self._documents.get(names[-1]) if names is not None else None

    def name(self, uri: str) -> str:
        """The client's spelling of our URI; the same if the file is not open."""
        return self._names[uri][-1] if uri in self._names else uri

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @staticmethod
    def _is_agent(document: Document, places: Places) -> bool:
        uri = canonical(document.uri)
        is_called_so = document.language_id == LANGUAGE_ID and uri.startswith(_SERVED)
        return is_called_so or places.is_ours(uri)
