"""What a key, a name or a value at an offset means."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from axe_lsp.agentfile import schema
from axe_lsp.agentfile.models import known_model
from axe_lsp.agentfile.schema import KeySpec, Names
from axe_lsp.agentfile.text import TextRange, quoted
from axe_lsp.agentfile.values import decode
from axe_lsp.features.cursor import Cursor, Where, cursor_at
from axe_lsp.features.describe import agent_markdown, key_markdown, model_markdown
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import BUILT_IN_TYPES, Scope
from axe_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Hover:
    """An explanation of the text in `range`."""

    range: TextRange
    markdown: str


def hover(snapshot: Snapshot, file: AgentFile, offset: int) -> Hover | None:
    """The explanation of what stands at `offset` of an open file."""
    if file.open is None:
        return None
    cursor = cursor_at(file.open, offset)
    spec = cursor.spec
    if spec is None:
        return None
    if cursor.where in (Where.KEY, Where.INNER_KEY, Where.HEADER) and cursor.path != cursor.parent:
        return Hover(cursor.range, key_markdown(spec))
    if cursor.where is Where.STRING and cursor.item is not None:
        markdown = _of_string(snapshot, file, spec, cursor)
        return Hover(cursor.item.range, markdown) if markdown is not None else None
    if cursor.where is Where.VALUE and cursor.item is not None:
        return Hover(cursor.range, key_markdown(spec))
    return None


def _of_string(snapshot: Snapshot, file: AgentFile, spec: KeySpec, cursor: Cursor) -> str | None:
    assert file.open is not None
    assert cursor.item is not None
    name = decode(file.open.parse.text, cursor.item)
    if not isinstance(name, str):
        return None
    if spec.names in (Names.AGENT, Names.TASK_TYPE):
        agent = snapshot.agent(name, file.place)
        if agent is not None:
            return agent_markdown(agent)
        return None if name in BUILT_IN_TYPES else _missing(snapshot, file, name)
    if spec.names is Names.TOOL:
        tool = schema.TOOL_ALIASES.get(name, name)
        return f"**`{tool}`** · tool\n\n{schema.TOOLS[tool]}" if tool in schema.TOOLS else None
    if spec.names is Names.MODEL and (model := known_model(name)) is not None:
        return model_markdown(model)
    return key_markdown(spec) if spec.choices or spec.names is Names.MODEL else None


def _missing(snapshot: Snapshot, file: AgentFile, name: str) -> str | None:
    if not snapshot.is_settled(file.place):
        return None
    places = (each.place for each in snapshot.files())
    known = {each.folder for each in places if each.scope is not Scope.LOOSE}
    folders = sorted(known | {snapshot.places.user_folder})
    paths = (unquote(folder.removeprefix("file://")) for folder in folders if folder)
    searched = "\n".join(f"- `{path}`" for path in paths)
    return f"No agent file defines {quoted(name)}. Looked in:\n\n{searched}"
