"""Questions that all agents together answer: who names one, what is called like this, the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from benchmarks.agents import Workspace, position_behind
from benchmarks.client import Client, Json
from benchmarks.results import Row, Table
from benchmarks.timing import in_rounds, timed
from benchmarks.workspaces import Workspaces, indexed

_NAME = 'name = "'


def measure(found: Workspaces, rounds: int) -> Table:
    """Ask a server for each workspace, in turn."""
    table = Table(
        title="Questions by size of the workspace",
        note="The workspaces are those of the table of keystrokes. A tenth of all agents call the helper, "
        "and one agent calls the team lead. References and rename of the helper read, or change, all "
        "files that name it. The time ends when the client has parsed the answer.",
        unit="ms",
        contenders=list(found),
        ratios=[],
    )
    with ExitStack() as stack:
        clients = {title: stack.enter_context(indexed(each)) for title, each in found.items()}
        for title, each in found.items():
            for name in (each.helper, each.team_lead):
                clients[title].open(each.uri(name), each.text(name))
        for what, (method, params_in) in _QUESTIONS.items():
            asks = {
                title: _ask(client, method, params_in(found[title]))
                for title, client in clients.items()
            }
            table.rows.append(Row(what, in_rounds(asks, rounds)))
    return table


def _ask(client: Client, method: str, params: Json) -> Callable[[], float]:
    def ask() -> None:
        answer = client.request(method, params)
        assert answer, f"no answer to {method}"

    return lambda: timed(ask)


def _at(workspace: Workspace, name: str) -> Json:
    """Return the place of an agent's own name."""
    position = position_behind(workspace.text(name), _NAME)
    return {"textDocument": {"uri": workspace.uri(name)}, "position": position}


def _references(workspace: Workspace, name: str) -> Json:
    return {**_at(workspace, name), "context": {"includeDeclaration": True}}


def _rename(workspace: Workspace, name: str) -> Json:
    return {**_at(workspace, name), "newName": "another"}


_QUESTIONS: Mapping[str, tuple[str, Callable[[Workspace], Json]]] = {
    "references of the team lead": (
        "textDocument/references",
        lambda each: _references(each, each.team_lead),
    ),
    "references of the helper": (
        "textDocument/references",
        lambda each: _references(each, each.helper),
    ),
    "rename of the team lead": ("textDocument/rename", lambda each: _rename(each, each.team_lead)),
    "rename of the helper": ("textDocument/rename", lambda each: _rename(each, each.helper)),
    "workspace symbols, `agnt0`": ("workspace/symbol", lambda _: {"query": "agnt0"}),
    "workspace symbols, empty query": ("workspace/symbol", lambda _: {"query": ""}),
    "`axe/graph`, all of it": ("axe/graph", lambda _: {}),
    "`axe/graph` around the team lead": (
        "axe/graph",
        lambda each: {"uri": each.uri(each.team_lead)},
    ),
}
