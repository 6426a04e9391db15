"""A called agent that tests expect, and that its caller can't call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.text.nearest import Spelling, nearest_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import respell_as_suggested
from axe_lsp.features.rule import Dialects, Rule, Subject, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import last_caller
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if not snapshot.is_settled(file.place):
        return
    callable_by: dict[str, _Callable] = {}
    for reference in file.references:
        caller = last_caller(snapshot, file, reference.callers)
        if caller is None or reference.name not in snapshot.names:
            continue  # `unknown-agent` reports a name that no file defines.
        if caller.uri not in callable_by:
            callable_by[caller.uri] = _callable(caller)
        names, spelling = callable_by[caller.uri]
        if reference.name in names or reference.name in BUILT_IN_TYPES:
            continue
        similar = nearest_of(reference.name, spelling.near(reference.name))
        hint = f" Did you mean {quoted(similar)}?" if similar else ""
        yield RULE.finding(
            reference.range,
            f"{quoted(caller.place.stem)} can't call {quoted(reference.name)}: it is in neither `sub_agents` nor "
            f"`task.types`, so this expectation always fails.{hint}",
            suggestion=similar,
        )


class _Callable(NamedTuple):
    """The agents and types that an agent may call."""

    names: frozenset[str]
    spelling: Spelling


def _callable(caller: AgentFile) -> _Callable:
    names = caller.inline_types.union(each.name for each in caller.references)
    return _Callable(names, Spelling(names))


RULE = Rule(
    code="unknown-child",
    severity=Severity.WARNING,
    summary="A called agent that a test expects, and that its caller can't call.",
    is_failure=True,
    documentation="""
An agent calls the agents in its `sub_agents` and `task.types`, and the types of the tool `Task`. A
test (`axe/tests/*.toml`) that expects any other agent in `children` never passes. Only an agent that must not be called
(`times = 0`) may be any agent.
""",
    check=check,
    fixes=respell_as_suggested,
    is_for=Dialects.OTHERS,
    about=Subject.REFERENCES,
    is_settled=once_complete,
)
