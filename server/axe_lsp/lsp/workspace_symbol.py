"""`workspace/symbol`: agents of the whole workspace by name."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.features.workspace_symbol import workspace_symbols
from axe_lsp.lsp.positions import Locations
from axe_lsp.lsp.session import Session
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Place, Scope

AGENT_KIND = types.SymbolKind.Class
"""The kind of agents, among symbols and in the call hierarchy."""

_RESOLVABLE = "workspace.symbol.resolveSupport.properties"


def register(session: Session) -> None:
    @session.feature(types.WORKSPACE_SYMBOL, {"resolveProvider": True})
    def on_workspace_symbol(
        params: types.WorkspaceSymbolParams,
    ) -> list[types.WorkspaceSymbol] | list[types.SymbolInformation]:
        found = workspace_symbols(session.view.snapshot, params.query)
        properties = session.client.capability(_RESOLVABLE)
        if isinstance(properties, list) and "location.range" in properties:
            return [_without_range(session, each) for each in found]
        locations = Locations(session)
        return [_with_range(session, each, locations) for each in found]

    @session.feature(types.WORKSPACE_SYMBOL_RESOLVE)
    def on_resolve(symbol: types.WorkspaceSymbol) -> types.WorkspaceSymbol:
        agent = session.view.snapshot.file(canonical(symbol.location.uri))
        if agent is not None:
            symbol.location = Locations(session).location(agent.uri, agent.start)
        return symbol


def _without_range(session: Session, agent: AgentFile) -> types.WorkspaceSymbol:
    """Return a symbol without its range, for clients that resolve the chosen one: no file has to be read."""
    return types.WorkspaceSymbol(
        location=types.LocationUriOnly(session.opened.name(agent.uri)),
        name=agent.called,
        kind=AGENT_KIND,
        container_name=_container(session, agent.place),
    )


def _with_range(
    session: Session, agent: AgentFile, locations: Locations
) -> types.SymbolInformation:
    return types.SymbolInformation(
        location=locations.location(agent.uri, agent.start),
        name=agent.called,
        kind=AGENT_KIND,
        container_name=_container(session, agent.place),
    )


def _container(session: Session, place: Place) -> str:
    """Return the container of an agent: `user`, or its folder in the workspace."""
    if place.scope is Scope.USER:
        return "user"
    folder = path_of(place.folder)
    return _in_workspace(session, folder) if folder is not None else place.folder


def _in_workspace(session: Session, folder: Path) -> str:
    """Return a folder relative to its root; with several roots, with the name of the root."""
    roots = session.view.roots
    for root in roots:
        if root in folder.parents:
            shown = folder.relative_to(root if len(roots) == 1 else root.parent)
            return shown.as_posix()
    return folder.as_posix()
