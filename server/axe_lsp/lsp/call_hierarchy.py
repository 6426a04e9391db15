"""`textDocument/prepareCallHierarchy` and `callHierarchy/*`: which agents call which."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.daemon.uris import canonical
from axe_lsp.features.call_hierarchy import hierarchy_of, incoming_calls, outgoing_calls
from axe_lsp.lsp.positions import Locations, position_of
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.workspace_symbol import AGENT_KIND
from axe_lsp.workspace.agent_file import AgentFile


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    def on_prepare_call_hierarchy(
        params: types.CallHierarchyPrepareParams,
    ) -> list[types.CallHierarchyItem] | None:
        place = position_of(session, params)
        if place is None:
            return None
        agent = hierarchy_of(session.view.snapshot, place.file, place.offset)
        return [_item(session, agent, Locations(session))] if agent is not None else None

    @session.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    def on_incoming_calls(
        params: types.CallHierarchyIncomingCallsParams,
    ) -> list[types.CallHierarchyIncomingCall] | None:
        agent, locations = _agent_of(session, params.item), Locations(session)
        if agent is None:
            return None
        return [
            types.CallHierarchyIncomingCall(
                _item(session, call.agent, locations),
                [locations.range(call.agent.uri, name) for name in call.names],
            )
            for call in incoming_calls(session.view.snapshot, agent)
        ]

    @session.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    def on_outgoing_calls(
        params: types.CallHierarchyOutgoingCallsParams,
    ) -> list[types.CallHierarchyOutgoingCall] | None:
        agent, locations = _agent_of(session, params.item), Locations(session)
        if agent is None:
            return None
        return [
            types.CallHierarchyOutgoingCall(
                _item(session, call.agent, locations),
                [locations.range(agent.uri, name) for name in call.names],
            )
            for call in outgoing_calls(session.view.snapshot, agent)
        ]


def _agent_of(session: Session, item: types.CallHierarchyItem) -> AgentFile | None:
    return session.view.snapshot.file(canonical(item.uri))


def _item(session: Session, agent: AgentFile, locations: Locations) -> types.CallHierarchyItem:
    """Return the item of an agent: its range is the whole file, its selection range the name."""
    whole = TextRange(0, len(locations.text_of(agent.uri)))
    return types.CallHierarchyItem(
        name=agent.called,
        kind=AGENT_KIND,
        uri=session.opened.name(agent.uri),
        range=locations.range(agent.uri, whole),
        selection_range=locations.range(agent.uri, agent.start),
        detail=agent.description or None,
    )
