"""`textDocument/codeAction`: actions with an edit that the client makes, or with a command of ours.

The command gets the title and place of the action, not its edit: the file may have changed by the
time the command comes, and an edit may hold a key, which should reach no log of an editor.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.features.action import ActionKind, CodeAction
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import MovedFile, NewFile
from axe_lsp.features.fix import Context
from axe_lsp.lsp import from_proto
from axe_lsp.lsp.positions import Locations, open_file
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.show_document import can_show
from axe_lsp.lsp.workspace_edit import can_apply, workspace_edit
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile

APPLY = "axe.applyAction"
CREATE_AGENT = "axe.createAgent"
LITERALS = "textDocument.codeAction.codeActionLiteralSupport"

_Offer = types.CodeAction | types.Command
_DISABLED = "textDocument.codeAction.disabledSupport"
_PREFERRED = "textDocument.codeAction.isPreferredSupport"


def code_action(session: Session, params: types.CodeActionParams) -> list[_Offer] | None:
    """The actions for a selection that this client can take."""
    file, locations = open_file(session, params.text_document), Locations(session)
    if file is None:
        return None
    only = params.context.only
    kinds = frozenset(str(getattr(kind, "value", kind)) for kind in only) if only else None
    encoding = session.position_encoding
    where = from_proto.text_range(params.range, locations.lines_of(file.uri), encoding)
    actions = actions_at(session, file, where, locations, kinds)
    made = (_offer(session, action, params, locations) for action in actions)
    return [offer for offer in made if offer is not None]


def actions_at(
    session: Session,
    file: AgentFile,
    where: TextRange,
    locations: Locations,
    kinds: frozenset[str] | None = None,
) -> Sequence[CodeAction]:
    """The actions for a selection in an open file."""
    snapshot = session.view.snapshot
    severities = session.severities(file.uri)
    context = Context(
        snapshot, lambda each: diagnostics(snapshot, each, severities), locations.text_of
    )
    return code_actions(context, file, where, kinds)


def _offer(
    session: Session, action: CodeAction, params: types.CodeActionParams, locations: Locations
) -> _Offer | None:
    """The action as LSP has it; None if neither the client nor the server could carry it out."""
    client = session.client
    knows_literals = client.capability(LITERALS) is not None
    obstacle = action.disabled or _obstacle(action)
    command = _command(session, action, params, locations)
    if not knows_literals:
        return command if not obstacle else None
    literal = types.CodeAction(
        action.title,
        kind=types.CodeActionKind(action.kind.value),
        diagnostics=_diagnostics(action, params, locations) or None,
        is_preferred=(action.preferred and client.supports(_PREFERRED)) or None,
    )
    if obstacle:
        literal.disabled = types.CodeActionDisabled(obstacle)
        return literal if client.supports(_DISABLED) else None
    if _is_for_the_client(session, action):
        has_guesses = action.kind is ActionKind.QUICK_FIX
        literal.edit = workspace_edit(session, action.edit, locations, has_guesses=has_guesses)
        return literal
    literal.command = command
    return literal if command is not None else None


def _is_for_the_client(session: Session, action: CodeAction) -> bool:
    """Whether the client gets the edit itself."""
    is_ours = action.secret is not None or lone_file(action) is not None or action.shows
    return not is_ours and can_apply(session, action.edit)


def lone_file(action: CodeAction) -> NewFile | None:
    """The file, if the action only creates one. The server does that for every client.

    Editors create an empty file and keep the text in a buffer that waits to be saved: until then a
    new agent would be there, and have nothing in it.
    """
    step = action.edit[0] if len(action.edit) == 1 else None
    return step if isinstance(step, NewFile) else None


def _command(
    session: Session, action: CodeAction, params: types.CodeActionParams, locations: Locations
) -> types.Command | None:
    """The command that has the server carry the action out; the client applies edits of texts."""
    uri = params.text_document.uri
    new, places = lone_file(action), session.view.snapshot.places
    is_fix = action.kind is ActionKind.QUICK_FIX  # Of a name that no agent has yet.
    if new is not None and is_fix and places.is_agent(new.uri):
        argument: JsonObject = {"name": places.locate(new.uri).stem, "uri": uri}
        return types.Command(action.title, CREATE_AGENT, arguments=[argument])
    if action.shows and not can_show(session):
        return None
    needs_client = any(not isinstance(step, NewFile) for step in action.edit)
    if needs_client and not session.client.supports("workspace.applyEdit"):
        return None
    moves = tuple(step for step in action.edit if isinstance(step, MovedFile))
    if not can_apply(session, moves):
        return None
    where = params.range
    if action.finding is not None:
        where = locations.range(canonical(uri), action.finding.range)
    argument = {"textDocument": {"uri": uri}, "range": where, "title": action.title}
    return types.Command(action.title, APPLY, arguments=[argument])


def _diagnostics(
    action: CodeAction, params: types.CodeActionParams, locations: Locations
) -> list[types.Diagnostic]:
    """The diagnostics shown by the client that the action fixes."""
    finding = action.finding
    if finding is None:
        return []
    where = locations.range(canonical(params.text_document.uri), finding.range)
    shown = params.context.diagnostics
    return [each for each in shown if each.code == finding.code and each.range == where]


def _obstacle(action: CodeAction) -> str:
    """The reason why a file can't be created: another one is in its place."""
    for step in action.edit:
        path = path_of(step.uri) if isinstance(step, NewFile) else None
        if path is not None and disk.exists(path):
            return f"{path} already exists"
    return ""
