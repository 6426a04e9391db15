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
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import ActionKind, CodeAction, MovedFile, NewFile
from axe_lsp.features.finding import Finding
from axe_lsp.features.fix import Context
from axe_lsp.lsp.positions import Locations, open_file
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.show_document import can_show
from axe_lsp.lsp.workspace_edit import can_apply, workspace_edit
from axe_lsp.rpc.lsp_json import to_json
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile

APPLY = "axe.applyAction"
CREATE_AGENT = "axe.createAgent"
LITERALS = "textDocument.codeAction.codeActionLiteralSupport"

_DISABLED = "textDocument.codeAction.disabledSupport"
_PREFERRED = "textDocument.codeAction.isPreferredSupport"


def code_action(session: Session, params: types.CodeActionParams) -> list[JsonObject] | None:
    """Return the actions for a selection that this client can take."""
    opened, locations = open_file(session, params.text_document), Locations(session)
    if opened is None:
        return None
    only = params.context.only
    kinds = frozenset(str(getattr(kind, "value", kind)) for kind in only) if only else None
    where = opened.text_range(params.range)
    actions = actions_at(session, opened.file, where, locations, kinds)
    offers = _Offers(session, params, locations)
    made = (offers.offer(action) for action in actions)
    return [offer for offer in made if offer is not None]


def actions_at(
    session: Session,
    file: AgentFile,
    where: TextRange,
    locations: Locations,
    kinds: frozenset[str] | None = None,
) -> Sequence[CodeAction]:
    """Return the actions for a selection in an open file."""
    snapshot = session.view.snapshot
    severities = session.severities(file.uri)
    found: dict[int, tuple[AgentFile, Sequence[Finding]]] = {}

    def diagnose(each: AgentFile) -> Sequence[Finding]:
        """Return the findings of a file, which several parts of one answer ask for."""
        if id(each) not in found:
            found[id(each)] = each, diagnostics(snapshot, each, severities)
        return found[id(each)][1]

    return code_actions(Context(snapshot, diagnose, locations.text_of), file, where, kinds)


class _Offers:
    """Actions as one client gets them in one answer: plain JSON, since there may be thousands."""

    def __init__(
        self, session: Session, params: types.CodeActionParams, locations: Locations
    ) -> None:
        self._session = session
        self._params = params
        self._locations = locations
        self._uri = canonical(params.text_document.uri)
        client = session.client
        self._knows_literals = client.capability(LITERALS) is not None
        self._knows_disabled = client.supports(_DISABLED)
        self._knows_preferred = client.supports(_PREFERRED)
        self._shown: dict[tuple[object, ...], list[JsonObject]] = {}
        """The diagnostics that the client shows, by code and range."""
        for each in params.context.diagnostics if self._knows_literals else ():
            start, end = each.range.start, each.range.end
            place = (each.code, start.line, start.character, end.line, end.character)
            self._shown.setdefault(place, []).append(to_json(each))

    def offer(self, action: CodeAction) -> JsonObject | None:
        """Return the action as LSP has it; None if neither the client nor the server could carry it out."""
        obstacle = action.disabled or _obstacle(action)
        where = self._place(action)
        if not self._knows_literals:
            return self._command(action, where) if not obstacle else None
        literal: JsonObject = {"title": action.title, "kind": action.kind.value}
        if diagnostics := self._diagnostics(action, where):
            literal["diagnostics"] = diagnostics
        if action.preferred and self._knows_preferred:
            literal["isPreferred"] = True
        if obstacle:
            literal["disabled"] = {"reason": obstacle}
            return literal if self._knows_disabled else None
        if _is_for_the_client(self._session, action):
            has_guesses = action.kind is ActionKind.QUICK_FIX
            literal["edit"] = workspace_edit(
                self._session, action.edit, self._locations, has_guesses=has_guesses
            )
            return literal
        literal["command"] = command = self._command(action, where)
        return literal if command is not None else None

    def _place(self, action: CodeAction) -> JsonObject | None:
        """Return where the finding is that the action fixes."""
        finding = action.finding
        return self._locations.json_range(self._uri, finding.range) if finding is not None else None

    def _diagnostics(self, action: CodeAction, where: JsonObject | None) -> list[JsonObject]:
        """Return the diagnostics shown by the client that the action fixes."""
        if action.finding is None or where is None:
            return []
        start, end = where["start"], where["end"]
        place = start["line"], start["character"], end["line"], end["character"]
        return self._shown.get((action.finding.code, *place), [])

    def _command(self, action: CodeAction, where: JsonObject | None) -> JsonObject | None:
        """Return the command that has the server carry the action out; the client applies edits of texts."""
        session, uri = self._session, self._params.text_document.uri
        new, places = lone_file(action), session.view.snapshot.places
        is_fix = action.kind is ActionKind.QUICK_FIX  # Of a name that no agent has yet.
        if new is not None and is_fix and places.is_agent(new.uri):
            argument: JsonObject = {"name": places.locate(new.uri).stem, "uri": uri}
            return {"title": action.title, "command": CREATE_AGENT, "arguments": [argument]}
        if action.shows and not can_show(session):
            return None
        needs_client = any(not isinstance(step, NewFile) for step in action.edit)
        if needs_client and not session.client.supports("workspace.applyEdit"):
            return None
        moves = tuple(step for step in action.edit if isinstance(step, MovedFile))
        if not can_apply(session, moves):
            return None
        argument = {
            "textDocument": {"uri": uri},
            "range": where or to_json(self._params.range),
            "title": action.title,
        }
        return {"title": action.title, "command": APPLY, "arguments": [argument]}


def _is_for_the_client(session: Session, action: CodeAction) -> bool:
    """Return whether the client gets the edit itself."""
    is_ours = action.secret is not None or lone_file(action) is not None or action.shows
    return not is_ours and can_apply(session, action.edit)


def lone_file(action: CodeAction) -> NewFile | None:
    """Return the file, if the action only creates one. The server does that for every client.

    Editors create an empty file and keep the text in a buffer that waits to be saved: until then a
    new agent would be there, and have nothing in it.
    """
    step = action.edit[0] if len(action.edit) == 1 else None
    return step if isinstance(step, NewFile) else None


def _obstacle(action: CodeAction) -> str:
    """Return the reason why a file can't be created: another one is in its place."""
    for step in action.edit:
        path = path_of(step.uri) if isinstance(step, NewFile) else None
        if path is not None and disk.exists(path):
            return f"{path} already exists"
    return ""
