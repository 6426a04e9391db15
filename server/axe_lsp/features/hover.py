"""Hover: the meaning of a key, a name or a value at an offset."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, KeyType, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.models import known_model
from axe_lsp.agentfile.schema.schema_keywords import is_member, member_at
from axe_lsp.agentfile.schema.tools import TOOL_ALIASES, TOOLS
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.completion import front_matter
from axe_lsp.features.completion.cursor import Cursor, Where, cursor_at
from axe_lsp.features.describe import (
    agent_markdown,
    callers_of,
    effective_value,
    key_markdown,
    member_markdown,
    model_markdown,
    table_in_force,
    type_markdown,
)
from axe_lsp.features.describe_facts import (
    files_facts,
    glob_markdown,
    memory_facts,
    model_facts,
    prompt_facts,
    seen_tool_markdown,
    server_markdown,
    skill_facts,
    workdir_facts,
)
from axe_lsp.features.markdown import as_code, as_text
from axe_lsp.features.run_log import LIMITS, limit_text, run_markdown, tool_places, tool_text
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.run_facts import RunFacts
from axe_lsp.workspace.snapshot import Snapshot


class Hover(Struct, frozen=True):
    """An explanation of the text in `range`."""

    range: TextRange
    markdown: str


def hover(
    snapshot: Snapshot, file: AgentFile, offset: int, now: float | None = None
) -> Hover | None:
    """Return the explanation of what stands at `offset` of an open file.

    With the present time `now`, in seconds since 1970, it says what the runs of the agent were like.
    """
    if file.open is None:
        return None
    found = _meaning(snapshot, file, offset)
    facts = snapshot.run_log.files.get(file.uri)
    if facts is None or now is None:
        return found
    if file.name is not None and file.name.range.touches(offset):
        card = f"{found.markdown}\n\n" if found is not None else ""
        return Hover(file.name.range, f"{card}{run_markdown(facts, now)}")
    return _with_runs(file.open, facts, found, offset)


def _with_runs(lookup: Lookup, facts: RunFacts, found: Hover | None, offset: int) -> Hover | None:
    """Add how often a tool was used, or how near runs came to a limit."""
    places = tool_places(lookup)
    tool = next((each for each in places if each[1].touches(offset)), None)
    if tool is not None and (text := tool_text(facts, tool[0])):
        return Hover(tool[1], f"{found.markdown}\n\n{text}" if found is not None else text)
    if found is None:
        return None
    limits = (path for path in LIMITS if (key := lookup.place(path)) and key.touches(offset))
    text = limit_text(facts, next(limits, ()))
    return Hover(found.range, f"{found.markdown}\n\n{text}") if text else found


def _meaning(snapshot: Snapshot, file: AgentFile, offset: int) -> Hover | None:
    assert file.open is not None
    if front_matter.is_front_matter(file):
        key = front_matter.key_at(file, offset)
        for each in file.references:
            agent = snapshot.agent(each.name, file) if each.range.touches(offset) else None
            if agent is not None:
                return Hover(each.range, _card(snapshot, agent))
        if key is None:
            return None
        says_who = key[1].path in (("name",), ("description",)) and file.place.kind.is_agent
        card = f"\n\n---\n\n{_card(snapshot, file)}" if says_who and snapshot.twins(file) else ""
        return Hover(key[0], f"{key_markdown(key[1])}{card}")
    cursor = cursor_at(file.open, offset)
    return _of_server(snapshot, file, cursor, offset) or _of_place(snapshot, file, cursor)


def _of_place(snapshot: Snapshot, file: AgentFile, cursor: Cursor) -> Hover | None:
    assert file.open is not None
    spec = cursor.spec
    is_on_key = cursor.where in _ON_KEYS and cursor.path != cursor.parent
    if spec is None:
        return _of_member(file.open, cursor) if is_on_key else None
    if is_on_key:
        return Hover(cursor.range, _of_key(snapshot, file, spec, cursor.path))
    if cursor.where is Where.STRING and cursor.item is not None:
        markdown = _of_string(snapshot, file, spec, cursor)
        return Hover(cursor.item.range, markdown) if markdown is not None else None
    if cursor.where is Where.VALUE and cursor.item is not None:
        return Hover(cursor.range, _of_key(snapshot, file, spec, cursor.path))
    return None


_ON_KEYS = (Where.KEY, Where.INNER_KEY, Where.HEADER)


def _of_member(lookup: Lookup, cursor: Cursor) -> Hover | None:
    """Return a name of the user's choice, below `properties` of a schema."""
    member = member_at(lookup, cursor.path) if is_member(cursor.path) else None
    if member is None:
        return None
    return Hover(cursor.range, member_markdown(".".join(cursor.path), member))


_OF_SERVERS = ((), ("name",), ("command",), ("url",))


def _of_server(snapshot: Snapshot, file: AgentFile, cursor: Cursor, offset: int) -> Hover | None:
    """Return the known tools of an MCP server, on its header, name, address or command."""
    spec = cursor.spec
    if spec is None or spec.path[0] != "mcp_servers" or spec.path[1:] not in _OF_SERVERS:
        return None
    assert file.open is not None
    facts = snapshot.facts_about(file)
    tables = file.open.tables_alike(("mcp_servers",))
    places = [each.range for each in tables if each.range.start <= offset <= each.range.end]
    for written, known in zip(file.outside.servers, facts.servers, strict=False):
        start = written.range.start
        if any(place.start <= start < place.end for place in places):
            markdown = server_markdown(written.server, known)
            return Hover(
                cursor.range, f"{markdown}\n\n{_of_key(snapshot, file, spec, cursor.path)}"
            )
    return None


def _of_key(snapshot: Snapshot, file: AgentFile, spec: KeySpec, path: KeyPath) -> str:
    """Return the description of a key, its value in force, and its effect outside the file."""
    assert file.open is not None
    is_named_by_user = ANY_NAME in spec.path
    parts = [key_markdown(replace(spec, path=path) if is_named_by_user else spec)]
    if spec.type is KeyType.TABLE:
        rows = [
            f"- {as_code(f'{name} = {each.value}')} · {each.origin}"
            for name, each in table_in_force(file.open, path)
        ]
        parts += ["In force:", "\n".join(rows)] if rows else []
    else:
        found = effective_value(file.open, spec, path)
        parts += [f"In force: {as_code(found.value)} · {found.origin}"] if found is not None else []
    installed = snapshot.facts_about(file).installed
    if installed:
        parts.append(f"*{file.schema.program} {installed} is installed.*")
    return "\n\n".join([*parts, *_outside(snapshot, file, spec)])


def _outside(snapshot: Snapshot, file: AgentFile, spec: KeySpec) -> Iterator[str]:
    facts = snapshot.facts_about(file)
    if spec.names is Names.MODEL:
        yield from model_facts(facts)
    elif spec.names is Names.SKILL:
        yield from skill_facts(facts)
    elif spec.names is Names.FOLDER:
        yield from workdir_facts(facts)
    elif spec.names is Names.GLOB:
        if globs := "\n".join(files_facts(file, facts)):
            yield globs
    elif spec.path[0] == "memory":
        yield from memory_facts(facts)
    elif spec.path == ("system_prompt",):
        yield from prompt_facts(file, facts)


def _of_string(snapshot: Snapshot, file: AgentFile, spec: KeySpec, cursor: Cursor) -> str | None:
    assert file.open is not None
    assert cursor.item is not None
    name = decode(file.open.parse.text, cursor.item)
    return _of_name(snapshot, file, spec, cursor, name) if isinstance(name, str) else None


def _of_name(
    snapshot: Snapshot, file: AgentFile, spec: KeySpec, cursor: Cursor, name: str
) -> str | None:
    """Return the description of the string, if it has more than the key's."""
    facts = snapshot.facts_about(file)
    special: dict[Names, Callable[[], str | None]] = {
        Names.STEM: lambda: _card(snapshot, file),
        Names.AGENT: lambda: _of_agent(snapshot, file, name),
        Names.TASK_TYPE: lambda: _of_type(snapshot, file, name),
        Names.PRESET: lambda: _of_built_in_type(name),
        Names.TOOL: lambda: _of_tool(name) or seen_tool_markdown(snapshot, file, name),
        Names.GLOB: lambda: glob_markdown(name, facts),
    }
    if spec.names in special:
        return special[spec.names]()
    model = known_model(name) if spec.names is Names.MODEL else None
    if model is not None:
        return "\n\n".join((model_markdown(model), *model_facts(facts)))
    return _of_key(snapshot, file, spec, cursor.path) if spec.choices or spec.names else None


def _of_agent(snapshot: Snapshot, file: AgentFile, name: str) -> str | None:
    agent = snapshot.agent(name, file)
    if agent is not None:
        return _card(snapshot, agent)
    return _missing(snapshot, file, name)


def _of_type(snapshot: Snapshot, file: AgentFile, name: str) -> str | None:
    if name in file.inline_types:
        assert file.open is not None
        described = file.open.decoded(("task", "type", name, "description"))
        head = f"**{as_text(name)}** · type of this file, {as_code(f'[task.type.{name}]')}"
        return (
            f"{head}\n\n{as_text(described)}" if isinstance(described, str) and described else head
        )
    return _of_built_in_type(name) or _of_agent(snapshot, file, name)


def _of_built_in_type(name: str) -> str | None:
    return type_markdown(name, BUILT_IN_TYPES[name]) if name in BUILT_IN_TYPES else None


def _card(snapshot: Snapshot, agent: AgentFile) -> str:
    return agent_markdown(agent, callers_of(snapshot, agent), snapshot.twins(agent))


def _of_tool(name: str) -> str | None:
    tool = TOOLS.get(TOOL_ALIASES.get(name, name))
    return f"**`{tool.name}`** · tool\n\n{tool.documentation}" if tool is not None else None


def _missing(snapshot: Snapshot, file: AgentFile, name: str) -> str | None:
    if not snapshot.is_settled(file.place):
        return None
    places = (each.place for each in snapshot.files())
    known = {each.folder for each in places if each.scope is not Scope.LOOSE}
    folders = sorted(known | {snapshot.places.user_folder})
    searched = "\n".join(f"- {as_code(folder)}" for folder in folders if folder)
    return f"No agent file defines {as_code(name)}. Looked in:\n\n{searched}"
