"""Sub-agents with a timeout of their own, where their caller's says something else."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.splices import Splice
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, change
from axe_lsp.features.rule import Rule, Subject, once_complete
from axe_lsp.workspace.agent_file import SUB_AGENTS, AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if not snapshot.is_settled(file.place) or not (file.timeout or file.call_timeout):
        return
    for reference in file.references:
        called = snapshot.agent(reference.name, file)
        if reference.key == SUB_AGENTS and called is not None and called.timeout > 0:
            time = _which_counts(file, called.timeout)
            if time:
                message = f"{quoted(reference.name)} may take {time}"
                can_be_equal = str(called.timeout) if file.call_timeout > 0 else None
                yield RULE.finding(reference.range, message, suggestion=can_be_equal)


def _which_counts(caller: AgentFile, own: int) -> str:
    """Return the time that a called agent has, and which limit it comes from; "" if all of them agree."""
    if 0 < caller.call_timeout < own:
        return (
            f"{caller.call_timeout} seconds when it is called from here "
            f"(sub_agents_config.timeout), and not the {own} of its own timeout"
        )
    if 0 < caller.timeout < own:
        return (
            f"what is left of the {caller.timeout} seconds of this agent when it is "
            f"called from here, and not the {own} of its own timeout"
        )
    if own < caller.call_timeout:
        return (
            f"{own} seconds by its own timeout, and not the {caller.call_timeout} of "
            "sub_agents_config.timeout"
        )
    return ""


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the caller's timeout for its calls, set to that of the called agent."""
    own, value = case.finding.suggestion, case.lookup.value(("sub_agents_config", "timeout"))
    if own and value is not None:
        title = f"Set `sub_agents_config.timeout` to {own}"
        yield change(case, title, Splice(value.range, own), preferred=False)


RULE = Rule(
    code="two-timeouts",
    severity=Severity.INFORMATION,
    summary="The timeouts of a sub-agent and of its caller differ.",
    documentation="""
A called agent may have three limits: the `timeout` in its own file, `sub_agents_config.timeout` in
its caller's file, and the rest of the caller's own time. The shortest one applies; the message
names it. axe ignores a called agent's own `timeout`.
""",
    check=check,
    fixes=fixes,
    about=Subject.REFERENCES,
    is_settled=once_complete,
)
