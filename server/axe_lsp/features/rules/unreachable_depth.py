"""Sub-agents below the depth at which the calls end."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text import quoted
from axe_lsp.features.rule import Finding, Rule, Severity, Subject, once_complete
from axe_lsp.features.shown_calls import calls_along
from axe_lsp.workspace.agent_file import SUB_AGENTS, AgentFile
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
            yield Finding(RULE.code, RULE.severity, reference.range, message, related)


RULE = Rule(
    code="unreachable-depth",
    severity=Severity.WARNING,
    summary="A sub-agent so deep that it can never be called.",
    documentation="""
The agent that is run decides with its `max_depth` (3 unless it says otherwise, 5 at the most) how deep calls
may nest below it. This agent is called by others, and however it is reached, it stands at that depth already: its
model never gets the tool with which it could call the agents in its list. The message shows the shortest way
down. Raise `max_depth` in the agent at the top, or list the agent further up.

Agents that no other agent calls are taken for those that are run. Running this agent by itself would work.
""",
    check=check,
    about=Subject.REFERENCES,
    is_settled=once_complete,
)
