"""Sub-agents below the depth at which the calls end."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.edit import TextChange
from axe_lsp.features.finding import Finding, Severity, calls_along
from axe_lsp.features.fix import Case, Fix, remove_item, set_key
from axe_lsp.features.rule import Rule, Subject, once_complete
from axe_lsp.workspace.agent_file import MAX_MAX_DEPTH, SUB_AGENTS, AgentFile
from axe_lsp.workspace.graph import too_deep
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if not snapshot.is_settled(file.place) or not file.sub_agents:
        return
    way = too_deep(snapshot, file)
    if not way:
        return
    root = way[0]
    shown = " → ".join(each.place.stem for each in way)
    related = calls_along(way)
    for reference in file.references:
        if reference.key == SUB_AGENTS:
            message = (
                f"{quoted(reference.name)} can't be called from here: {shown} is as deep as "
                f"{root.place.stem} lets calls go (max_depth {root.depth_limit})"
            )
            yield RULE.finding(reference.range, message, related=related)


_MAX_DEPTH = ("sub_agents_config", "max_depth")


def fixes(case: Case) -> Iterator[Fix]:
    """Offer to raise the limit of the root agent, or to remove the agent that is too deep."""
    yield from _raise_limit(case)
    yield from remove_item(case)


def _raise_limit(case: Case) -> Iterator[Fix]:
    """Yield the change of another file: the agents on the way down are as many as the calls to get here."""
    way = too_deep(case.snapshot, case.file)
    if not way or len(way) > MAX_MAX_DEPTH:
        return
    root, depth = way[0], len(way)
    lookup = Lookup(Parse(case.context.text_of(root.uri)))
    splice = set_key(lookup, _MAX_DEPTH, str(depth))
    if splice is not None:
        title = f"Raise `max_depth` of {root.place.stem} to {depth}"
        yield Fix(title, (TextChange(root.uri, *splice),), preferred=True)


RULE = Rule(
    code="unreachable-depth",
    severity=Severity.WARNING,
    summary="A sub-agent so deep that it can never be called.",
    is_failure=True,
    documentation="""
The `max_depth` of the root agent (default 3, at most 5) limits the depth of calls. This agent is
called by others, and on every path it is already at that limit: its model never gets the tool that
calls the agents in its list. The message shows the shortest path. Raise `max_depth` in the root
agent, or list the agent in one that is higher. Agents that no other agent calls count as roots.
Running this agent directly would work.
""",
    check=check,
    fixes=fixes,
    about=Subject.REFERENCES,
    is_settled=once_complete,
)
