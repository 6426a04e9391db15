"""One client's session: what it opens, what it is told."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import chain
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp import __version__
from axe_lsp.agentfile.text import quoted
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.lsp import (
    action_features,
    agent_folders,
    call_hierarchy,
    completion,
    delegation_graph,
    document_link,
    document_symbol,
    formatting,
    from_proto,
    hover,
    inlay_hint,
    pull_diagnostics,
    references,
    rename,
    semantic_tokens,
    workspace_symbol,
)
from axe_lsp.lsp.agents_changed import AgentNews
from axe_lsp.lsp.code_lens import CodeLenses
from axe_lsp.lsp.open_agents import OpenAgents
from axe_lsp.lsp.publish_diagnostics import Publisher
from axe_lsp.lsp.reading_progress import tell_of_reading
from axe_lsp.lsp.related_information import RelatedPlaces
from axe_lsp.lsp.runs import commands, run_requests
from axe_lsp.lsp.watched_files import Watching
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.documents import Document, Documents
from axe_lsp.rpc.json_rpc import JsonObject
from axe_lsp.rpc.language_server import LanguageServer
from axe_lsp.runtime.safety.allowances import rule_fault
from axe_lsp.settings import read_settings
from axe_lsp.workspace.workspace import Update

_log = logging.getLogger(__name__)


class AxeServer(LanguageServer):
    """The server of one connection, with its own view of the files, on the daemon that all share."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__("axe-lsp", __version__)
        self.daemon = daemon
        self.view = daemon.open_view()
        self.documents = Documents()
        self.opened = OpenAgents(self.documents)
        self.related_places = RelatedPlaces(self)
        self.publisher = Publisher(self)
        self.watching = Watching(self)
        self.lenses = CodeLenses(self)
        self.agent_news = AgentNews(self)
        self.subscriptions: dict[str | None, list[Callable[[], None]]] = {}
        """What ends each subscription, by the id of the root run; under None those to all runs."""
        self.own_runs: set[str] = set()
        """The runs under way that this client has started, or that wait."""
        self._stop_listening: Callable[[], None] = lambda: None
        self._editing: str | None = None
        self._facts = self.view.snapshot.facts
        self._register()

    def initialize(self, client: Client) -> JsonObject:
        """Learn the client's folders and settings. The disk is read once it is ready."""
        self._put_in_force(client.options)
        capabilities = super().initialize(client)
        pull_diagnostics.announce(capabilities, client)
        rename.announce(capabilities, client)
        action_features.announce(capabilities, client)
        return capabilities

    async def release(self) -> None:
        """Forget what the client had open, and end what is done for it in the background."""
        self._stop_listening()
        for end in chain.from_iterable(self.subscriptions.values()):
            end()
        await self.daemon.close_view(self.view)

    def _register(self) -> None:
        handlers: dict[str, Callable[[Any], None]] = {
            types.INITIALIZED: self._initialized,
            types.TEXT_DOCUMENT_DID_OPEN: self._did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._did_change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._did_close,
            types.TEXT_DOCUMENT_DID_SAVE: self._did_save,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._did_change_configuration,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._did_change_folders,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._did_change_watched_files,
        }
        for method, handler in handlers.items():
            self.feature(method)(handler)
        hover.register(self)
        completion.register(self)
        pull_diagnostics.register(self)
        document_symbol.register(self)
        semantic_tokens.register(self)
        formatting.register(self)
        document_link.register(self)
        inlay_hint.register(self)
        references.register(self)
        rename.register(self)
        call_hierarchy.register(self)
        action_features.register(self)
        workspace_symbol.register(self)
        delegation_graph.register(self)
        agent_folders.register(self)
        run_requests.register(self)
        commands.register(self)

    # -- the session

    def _initialized(self, _: types.InitializedParams) -> None:
        self._stop_listening = self.view.listen(self._on_update)
        roots = (path_of(canonical(uri)) for uri in self.client.folders)
        self.view.add_roots(root for root in roots if root is not None)
        self.start(self.watching.begin(), name="registering for changes on the disk")
        self.start(self._fetch_settings(), name="fetching settings")
        self.start(tell_of_reading(self), name="telling of reading")

    async def _fetch_settings(self) -> None:
        if self.client.supports("workspace.configuration"):
            section = types.ConfigurationItem(section="axe")
            params = types.ConfigurationParams([section])
            try:
                answer = await self.request(types.WORKSPACE_CONFIGURATION, params)
            except JsonRpcException as error:
                _log.warning("the client keeps its settings to itself: %s", error.message)
                return
            if answer and answer[0] is not None:
                self._configure(answer[0])

    def _did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        if isinstance(params.settings, dict) and params.settings.get("axe") is not None:
            self._configure(params.settings["axe"])
        else:
            self.start(self._fetch_settings(), name="fetching settings")

    def _configure(self, section: Any) -> None:
        if self._put_in_force(section):
            self._follow_places()
            inlay_hint.refresh(self)

    def _put_in_force(self, section: Any) -> bool:
        """Use the client's settings; whether they are others than before."""
        settings, complaints = read_settings(section)
        complaints += from_proto.unknown_codes(settings.diagnostics)
        for rule in settings.tools_allow:
            if fault := rule_fault(rule):
                complaints.append(f"{quoted(rule)} in axe.tools.allow {fault}; it has no effect")
        for complaint in complaints:
            _log.warning("%s", complaint)
            message = types.ShowMessageParams(types.MessageType.Warning, complaint)
            self.notify(types.WINDOW_SHOW_MESSAGE, message)
        if settings == self.view.settings:
            return False
        self.view.configure(settings)
        self.daemon.settings_have_changed()
        return True

    def _did_change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        removed = (path_of(canonical(each.uri)) for each in params.event.removed)
        self.view.remove_roots([root for root in removed if root is not None])
        added = (path_of(canonical(each.uri)) for each in params.event.added)
        self.view.add_roots(root for root in added if root is not None)
        self._follow_places()

    def _follow_places(self) -> None:
        """Other folders may count than before, and what is said of files may be something else."""
        for document in self.opened.misplaced(self.view.snapshot.places):
            if self.opened.uri(document.uri) is None:
                self._take(document)
            else:
                self._drop(document)
        self.start(self.watching.extend(), name="registering for changes in further folders")
        self.publisher.publish_all()

    # -- documents

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._take(self.documents.open(params))

    def _take(self, document: Document) -> None:
        uri = self.opened.add(document, self.view.snapshot.places)
        if uri is not None:
            self._edit(uri, document)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self.documents.change(params, self.position_encoding)
        uri = self.opened.uri(document.uri)
        if uri is not None:
            self._edit(uri, document)

    def _edit(self, uri: str, document: Document) -> None:
        other_name = self.opened.turn_to(uri, document.uri)
        if other_name is not None:
            self.publisher.forget(uri, other_name)
        self._editing = uri
        try:
            self.view.edit(uri, document.text)
        finally:
            self._editing = None
        self.publisher.publish_edited(uri)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._drop(self.documents.close(params))

    def _drop(self, document: Document) -> None:
        uri = self.opened.remove(document.uri)
        if uri is None:
            return
        self.publisher.forget(uri, document.uri)
        other = self.opened.document(uri)
        if other is not None:  # The client has opened the file by another spelling as well.
            self._edit(uri, other)
        else:
            self.view.close_buffer(uri)

    def _did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """The disk has changed, whether or not somebody watches it."""
        if self.opened.uri(params.text_document.uri) is not None:
            self.view.changed_on_disk([canonical(params.text_document.uri)])

    def _did_change_watched_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        self.view.changed_on_disk(canonical(change.uri) for change in params.changes)

    def _on_update(self, update: Update) -> None:
        """Some file has changed, through the client or on the disk."""
        self.related_places.follow(update.affected)
        others = (uri for uri in update.affected if uri != self._editing)
        self.publisher.publish_later(others, update.deeper, update.rewired)
        self.lenses.follow(update)
        self.agent_news.follow(update)
        if update.snapshot.facts is not self._facts:
            self._facts = update.snapshot.facts
            inlay_hint.refresh(self)
