"""An agent that silently takes the place of another one."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.dialects import OPENCODE
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Related, Severity
from axe_lsp.features.fix import open_related
from axe_lsp.features.rule import Dialects, Rule, once_complete
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    layers = snapshot.layers
    key = layers.key_of(file)
    if key is None or not layers.is_whole(file):
        return
    program, name = file.schema.program, key[1]
    if name in file.place.dialect.built_in:
        message = f"the agent replaces {program}'s own agent {quoted(name)}"
        yield RULE.finding(file.start, message)
    if file.place.kind.syntax is not None:
        yield from _alike(snapshot, file, key)
    for declared in layers.declared.get(file.uri, ()):
        if file.name is not None and declared.declaration.name.strip() != name:
            message = (
                f"config.toml declares the agent as {quoted(declared.declaration.name)}; "
                f"the name in the file is used"
            )
            related = (Related(declared.settings, declared.declaration.range, "declared here"),)
            yield RULE.finding(file.start, message, related=related)
    for uri in layers.names.get(key, ()):
        other = snapshot.file(uri)
        if (
            other is None or file.place.dialect is OPENCODE
        ):  # Here the user's own agents count before a project's.
            continue
        if snapshot.is_below(other.place.layer, file.place):
            message = f"the agent takes the place of another one of the name {quoted(name)}"
            related = (Related(other.uri, other.start, "this one is hidden"),)
            yield RULE.finding(file.start, message, related=related)
            return


def _alike(snapshot: Snapshot, file: AgentFile, key: tuple[str, str]) -> Iterator[Finding]:
    """Yield a finding if another Markdown agent of the same folder has the name: the program silently uses one of them."""
    for uri in snapshot.layers.names.get(key, ()):
        other = snapshot.file(uri)
        if other is not None and uri != file.uri and other.place.layer == file.place.layer:
            message = f"another file has the name {quoted(key[1])}; {key[0]} uses one of them alone"
            related = (Related(other.uri, other.start, "the other file"),)
            yield RULE.finding(file.start, message, related=related)
            return


RULE = Rule(
    code="replaced-agent",
    severity=Severity.WARNING,
    summary="The agent silently replaces another one.",
    documentation="""
A Codex agent named `default`, `explorer` or `worker` replaces the built-in agent. An agent of a project hides
one of the user's with the same name, and one of an inner `.codex` folder hides one of an outer folder. The
`name` in a file counts more than the name under which config.toml declares the file.
""",
    is_for=Dialects.OTHERS,
    check=check,
    fixes=open_related,
    is_settled=once_complete,
)
