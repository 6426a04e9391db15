"""Keys and agents in a few lines of Markdown, the same in hover and in completion."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema import KeySpec
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Scope


def key_markdown(spec: KeySpec) -> str:
    """What a key means: type, default, rule, since when."""
    return "\n\n".join((f"**`{spec.dotted}`** · {spec.type.value}", spec.doc, *_facts(spec)))


def _facts(spec: KeySpec) -> Iterator[str]:
    facts = []
    if spec.required:
        facts.append("Required.")
    if spec.default is not None:
        facts.append(f"Default: `{spec.default}`.")
    if spec.choices:
        facts.append("One of " + ", ".join(f"`{choice}`" for choice in spec.choices) + ".")
    if spec.minimum is not None and spec.maximum is not None:
        facts.append(f"From {spec.minimum} to {spec.maximum}.")
    elif spec.minimum is not None:
        facts.append("Not negative.")
    if facts:
        yield " ".join(facts)
    if spec.is_extension:
        yield "*An extension of axe-lsp: axe loads the file and ignores this key.*"
    elif spec.since != "axe 0.1":
        yield f"*Since {spec.since}.*"


def agent_markdown(agent: AgentFile) -> str:
    """The card of an agent."""
    lines = [f"**{agent.place.stem}** · {_SCOPES[agent.place.scope]}"]
    if agent.description:
        lines.append(agent.description)
    facts = []
    if agent.model is not None:
        facts.append(f"- model: `{agent.model.value}`")
    if agent.sub_agents:
        facts.append("- may call: " + ", ".join(f"`{name}`" for name in agent.sub_agents))
    if any(problem.fatal for problem in agent.problems):
        facts.append("- ⚠ has errors: calling it will fail")
    return "\n\n".join([*lines, "\n".join(facts)]).rstrip()


_SCOPES = {
    Scope.WORKSPACE: "agent of this workspace",
    Scope.USER: "agent of the user",
    Scope.LOOSE: "agent file",
}
