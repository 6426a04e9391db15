"""Keys with their values in force, and agents, in a few lines of Markdown: the same in hover and in completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from axe_lsp.agentfile.dialects import program_title
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.agent_types import AgentType
from axe_lsp.agentfile.schema.key_spec import FIRST_AXE, KeyPath, KeySpec, KeyType
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.models import READ_ON, SOURCES, Model, ending_of
from axe_lsp.agentfile.schema.schema_keywords import Member
from axe_lsp.agentfile.text.secrets import without_secrets
from axe_lsp.agentfile.text.tree import ValueKind
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.markdown import as_code, as_text
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import agent_meaning, mentions
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot


def key_markdown(spec: KeySpec) -> str:
    """Return the description of a key: type, default, rule, version."""
    return "\n\n".join((f"**{as_code(spec.dotted)}** · {spec.type.value}", spec.doc, *_facts(spec)))


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
    elif spec.no_effect:
        yield f"**No effect here.** {spec.no_effect}"
    elif spec.since != FIRST_AXE:
        yield f"*Since {spec.since}.*"


def model_markdown(model: Model) -> str:
    """Return the description of a model."""
    facts = [
        f"- context window: {model.context:,} tokens",
        f"- longest answer: {model.max_output:,} tokens",
        f"- price for a million tokens: {price(model.input_price)} in, {price(model.output_price)} out",
    ]
    if model.dearer_above:
        facts[-1] += f"; {dearer(model)}"
    if model.doubles:
        facts[-1] += f"; twice that from {model.doubles}"
    if model.ends:
        facts.append(f"- ⚠ {ending_line(str(model))}")
    source = f"*As read on {READ_ON} from [{model.provider}'s page]({SOURCES[model.provider]}).*"
    return "\n\n".join((f"**`{model}`** · model", "\n".join(facts), source))


def dearer(model: Model) -> str:
    """Return the effect of a long prompt on the price of a request."""
    times = f"{model.dearer_input:g} times the input price and {model.dearer_output:g} times the output price"
    return f"for prompts above {model.dearer_above:,} tokens {times}"


def ending_line(name: str) -> str:
    """Return when the provider switches a model off, and what it names in its place; "" if nobody knows of an end."""
    ending = ending_of(name)
    if ending is None:
        return ""
    provider = name.partition("/")[0]
    told = (
        f"{provider} has switched it off on" if ending.is_past else f"{provider} switches it off on"
    )
    successor = f", and names `{ending.successor}` in its place" if ending.successor else ""
    return f"{told} {ending.day}{successor}"


def model_line(model: Model) -> str:
    """Return the same in a few words."""
    size = f"{short(model.context)} context, {short(model.max_output)} out"
    costs = f"{price(model.input_price)} / {price(model.output_price)}"
    return f"{size}, {costs}" + (f", ends {model.ends}" if model.ends else "")


def short(number: int) -> str:
    """Return a number of tokens as people say it: 128K, 1.05M."""
    if number >= 1_000_000:
        return f"{number / 1_000_000:.4g}M"
    return f"{number / 1_000:.4g}K"


def price(dollars: float) -> str:
    """Return a price as price lists write it."""
    whole, _, cents = f"{dollars:.4f}".rstrip("0").partition(".")
    return f"${whole}.{cents:0<2}" if cents else f"${whole}"


def type_markdown(name: str, agent_type: AgentType) -> str:
    """Return the card of a built-in type."""
    tools = ", ".join(f"`{tool}`" for tool in agent_type.tools)
    facts = [f"- tools: {'all' if agent_type.tools == ('*',) else tools}"]
    if agent_type.read_only:
        facts.append("- can't change the workspace")
    prompt = f"> {agent_type.prompt}"
    return "\n\n".join(
        (f"**{name}** · built-in type", agent_type.description, "\n".join(facts), prompt)
    )


def agent_markdown(
    agent: AgentFile, callers: Sequence[str] = (), twins: Sequence[AgentFile] = ()
) -> str:
    """Return the card of an agent; with `callers` and `twins`, if they are worth looking for."""
    program = agent.place.dialect.program
    of = f"{program_title(program)} " if program is not None else ""
    lines = [f"**{as_text(agent.called)}** · {of}{_SCOPES[agent.place.scope]}"]
    if agent.description:
        lines.append(as_text(agent.description))
    facts = []
    if agent.model is not None:
        facts.append(f"- model: {as_code(agent.model.value)}")
    if agent.sub_agents:
        facts.append("- may call: " + ", ".join(map(as_code, agent.sub_agents)))
    facts += [*_members("input", agent.input), *_members("output", agent.output)]
    if callers:
        named = ", ".join(map(as_code, callers[:_NAMED]))
        more = f" and {len(callers) - _NAMED:,} more" if len(callers) > _NAMED else ""
        facts.append(f"- called by: {named}{more}")
    if twins:
        facts.append(f"- also for: {', '.join(_twin(agent, each) for each in twins)}")
    if any(problem.fatal for problem in agent.problems):
        facts.append("- ⚠ has errors: calling it will fail")
    return "\n\n".join([*lines, "\n".join(facts)]).rstrip()


def differences(agent: AgentFile, twin: AgentFile) -> list[str]:
    """Return what differs between an agent and one of the same name for another program, as far as both have it."""
    texts = [each.description.replace("\\n", "\n").split() for each in (agent, twin)]
    marks = [each.prompt_mark for each in (agent, twin)]
    return [
        *(["description"] if all(texts) and texts[0] != texts[1] else []),
        *(["prompt"] if all(marks) and marks[0] != marks[1] else []),
    ]


def _twin(agent: AgentFile, twin: AgentFile) -> str:
    differing = differences(agent, twin)
    verb = "differ" if len(differing) > 1 else "differs"
    remark = f" ({' and '.join(differing)} {verb})" if differing else ""
    return f"{program_title(twin.place.dialect.program)}{remark}"


def member_markdown(path: str, member: Member) -> str:
    """Return a member of an object that a schema describes."""
    is_required = "required" if member.is_required else "optional"
    kind = f"{as_text(member.type)}, {is_required}" if member.type else is_required
    return "\n\n".join((f"**{as_code(path)}** · {kind}", as_text(member.description))).rstrip()


def _members(title: str, members: Sequence[Member]) -> Iterator[str]:
    """Yield a row for each member of a typed agent's input or output."""
    if members:
        yield f"- {title}:"
    for member in members[:_NAMED]:
        kind = f" {as_text(member.type)}" if member.type else ""
        optional = "" if member.is_required else ", optional"
        about = f": {as_text(member.description)}" if member.description else ""
        yield f"  - {as_code(member.name)}{kind}{optional}{about}"
    if len(members) > _NAMED:
        yield f"  - and {len(members) - _NAMED:,} more"


def callers_of(snapshot: Snapshot, agent: AgentFile) -> list[str]:
    """Return the names of the agents that may call this one."""
    return sorted({each.file.called for each in mentions(snapshot, agent_meaning(agent))})


_NAMED = 8
"""Callers that are named, and members of an input."""

_SCOPES = {
    Scope.WORKSPACE: "agent of this workspace",
    Scope.USER: "agent of the user",
    Scope.LOOSE: "agent file",
}


_LONGEST = 60
"""Characters of a value that are shown."""


class EffectiveValue(Struct, frozen=True):
    """A value as it would be written, and where it comes from."""

    value: str
    origin: str


def effective_value(lookup: Lookup, spec: KeySpec, path: KeyPath) -> EffectiveValue | None:
    """Return the value of the key at `path`; None where it is unfinished, or nothing would be sent.

    Of config.toml there is nothing to tell: the environment wins over it, and it holds keys.
    """
    if lookup.schema is not AGENT:
        return None
    written = lookup.find(path)
    if written is None:
        return EffectiveValue(spec.default, "default") if spec.default is not None else None
    value = written.entry.value
    if value is None or not value.complete or value.kind is ValueKind.INVALID:
        return None
    if zero_means_default(spec) and decode(lookup.parse.text, value) == 0:
        return EffectiveValue(spec.default or "", "default, for which 0 stands")
    return EffectiveValue(_short(value.range.of(lookup.parse.text)), "this file")


def table_in_force(lookup: Lookup, path: KeyPath) -> Iterator[tuple[str, EffectiveValue]]:
    """Yield the keys of a table that are in force; of extensions only those that are written."""
    for spec in lookup.schema.keys_of(path):
        own = (*path, spec.path[-1])
        if spec.is_table or (spec.is_extension and not lookup.has(own)):
            continue
        found = effective_value(lookup, spec, own)
        if found is not None:
            yield spec.path[-1], found


def zero_means_default(spec: KeySpec) -> bool:
    """Return whether zero means the default: axe can't tell a zero from an absent integer."""
    return spec.type is KeyType.INTEGER and spec.default not in (None, "0")


def _short(token: str) -> str:
    """Return a value on one line, without keys that nobody else should see."""
    line = " ".join(without_secrets(token).replace("`", "'").split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
