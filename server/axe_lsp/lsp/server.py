"""The server of one connection: connects the handlers of LSP's methods with each other, and knows the workspace folders.

Handlers that only answer are functions of a `Session`. Those that also follow changes are objects here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lsprotocol import types

from axe_lsp import __version__
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.lsp import (
    agent_folders,
    agent_list,
    call_hierarchy,
    completion,
    definition,
    delegation_graph,
    document_link,
    document_symbol,
    file_operations,
    folding_range,
    formatting,
    hover,
    late_handlers,
    references,
    rename,
    selection_range,
    semantic_tokens,
    workspace_symbol,
)
from axe_lsp.lsp.agent_list import AgentsChanged
from axe_lsp.lsp.code_lens import CodeLenses
from axe_lsp.lsp.configuration import Configuration
from axe_lsp.lsp.inlay_hint import InlayHints
from axe_lsp.lsp.publish_diagnostics import Publisher
from axe_lsp.lsp.reading_progress import report_reading
from axe_lsp.lsp.runs.outliving import begin_adopting
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.text_document_content import TextDocumentContents
from axe_lsp.lsp.text_document_sync import TextDocumentSync
from axe_lsp.lsp.watched_files import WatchedFiles
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.language_server import LanguageServer
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.workspace import Update

_STATELESS = (
    agent_folders,
    agent_list,
    call_hierarchy,
    completion,
    definition,
    delegation_graph,
    document_link,
    document_symbol,
    file_operations,
    folding_range,
    formatting,
    hover,
    late_handlers,
    references,
    rename,
    selection_range,
    semantic_tokens,
    workspace_symbol,
)


class AxeServer(LanguageServer):
    """The server of one connection, with its own view of the files, on the daemon that all share."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__("axe-lsp", __version__)
        self.session = session = Session(self, daemon)
        for module in _STATELESS:
            module.register(session)
        self._publisher = Publisher(session)
        self._documents = TextDocumentSync(session, self._publisher)
        self._configuration = Configuration(session, self._settings_changed)
        self._watched_files = WatchedFiles(session, self._severities_changed)
        self._lenses = CodeLenses(session)
        session.test_results.listeners.append(lambda uri: self._publisher.publish_later([uri]))
        self._hints = InlayHints(session)
        self._agents_changed = AgentsChanged(session)
        self._texts = TextDocumentContents(session)
        self._stop_listening: Callable[[], None] = lambda: None
        session.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(self._folders_changed)
        session.feature(types.INITIALIZED)(self._initialized)

    def initialize(self, client: Client) -> JsonObject:
        """Apply the client's settings. The disk is read once the client is ready."""
        self._configuration.apply(client.options)
        return super().initialize(client)

    async def release(self) -> None:
        """Forget the client's documents, and end its background tasks."""
        self._stop_listening()
        await self.session.end()

    def _initialized(self, _: types.InitializedParams) -> None:
        self._stop_listening = self.session.view.listen(self._files_changed)
        self.session.view.add_roots(_paths(self.session.client.folders))
        self._watched_files.begin()
        self._configuration.fetch()
        begin_adopting(self.session)
        self.session.start(report_reading(self.session), name="reporting progress of reading")

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        view, event = self.session.view, params.event
        view.remove_roots(list(_paths(each.uri for each in event.removed)))
        view.add_roots(_paths(each.uri for each in event.added))
        self._places_changed()

    def _settings_changed(self) -> None:
        begin_adopting(self.session)
        self._places_changed()
        self._hints.refresh()

    def _severities_changed(self) -> None:
        self.session.forget_severities()
        self._publisher.publish_all()

    def _places_changed(self) -> None:
        """Take note that the folders in which agents are looked for may have changed."""
        self._documents.sort_again()
        self._watched_files.extend()
        self._publisher.publish_all()

    def _files_changed(self, update: Update) -> None:
        """Take note that a file has changed, through the client or on the disk."""
        self._publisher.follow(update, self._documents.editing)
        self._lenses.follow(update)
        self._hints.follow(update)
        self._agents_changed.follow(update)
        self._texts.follow(update)


def _paths(uris: Iterable[str]) -> Iterator[Path]:
    paths = (path_of(canonical(uri)) for uri in uris)
    return (path for path in paths if path is not None)
