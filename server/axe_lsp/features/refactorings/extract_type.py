"""An inline type of `Task` made an agent of its own."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import lookup_order
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.splices import Splice, literal, spliced
from axe_lsp.agentfile.text.tree import Table, ValueKind
from axe_lsp.features.edit import ActionKind, CodeAction, NewFile, TextChange
from axe_lsp.features.new_agent import agent_uri, folder_for, model_for
from axe_lsp.workspace.agent_file import TASK_TYPES, AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def actions(snapshot: Snapshot, file: AgentFile, where: TextRange) -> Iterator[CodeAction]:
    """Yield the `[task.type.<name>]` under the cursor moved to `<name>.toml`, for which its name stands then.

    An agent is offered only if `task.types` lists it, which a type of the file need not be in.
    """
    table = _type_at(file.open, where.start) if file.open is not None else None
    folder = folder_for(snapshot, file)
    if file.open is None or table is None or not folder:
        return
    name = table.path[2]
    new = NewFile(agent_uri(folder, name), _agent(file.open.parse, table, model_for(file)))
    yield CodeAction(
        f"Move the type to an agent {quoted(name)} of its own",
        ActionKind.EXTRACT,
        (new, *(TextChange(file.uri, *each) for each in _without(file.open, table))),
        disabled=_objection(snapshot, file, name),
    )


def _type_at(lookup: Lookup, offset: int) -> Table | None:
    for table in lookup.parse.document.tables:
        is_type = table.path[:2] == ("task", "type") and len(table.path) == 3
        end = table.entries[-1].range.end if table.entries else table.header_range.end
        if is_type and not table.is_array and table.header_range.start <= offset <= end:
            is_whole = all(entry.value and entry.value.complete for entry in table.entries)
            return table if is_whole else None
    return None


def _objection(snapshot: Snapshot, file: AgentFile, name: str) -> str:
    if name in BUILT_IN_TYPES:
        return f"{quoted(name)} would mean the built-in type of that name"
    if snapshot.agent(name, file) is not None:
        return f"there is an agent {quoted(name)} already"
    return lookup_order.objection(name) or ""


def _agent(parse: Parse, table: Table, model: str) -> str:
    """Return the text of the new file: the lines of the table, with the agent's name for the prompt."""
    text, new = parse.text, splices.line_break(parse.text)
    start = splices.line_end(text, table.header_range.end)
    end = splices.line_end(text, table.entries[-1].range.end) if table.entries else start
    keys = [
        Splice(
            TextRange(entry.key.range.start - start, entry.key.range.end - start), "system_prompt"
        )
        for entry in table.entries
        if entry.key.names == ("prompt",)
    ]
    comment = splices.comment_above(parse, table.header_range.start).of(text)
    head = f"name = {literal(table.path[2])}{new}model = {literal(model)}"
    return f"{comment}{head}{spliced(text[start:end], keys)}{new}"


def _without(lookup: Lookup, table: Table) -> list[Splice]:
    """Return the file without the type and the comment above it, and with the agent in `task.types`."""
    comment = splices.comment_above(lookup.parse, table.header_range.start)
    (removal,) = splices.without_tables(lookup.parse, [table])
    start = min(comment.start, removal.range.start)
    others = [each.path for each in lookup.parse.document.tables if each is not table]
    paths = [*others, *(each.path for each in lookup.located if each.table is not table)]
    if any(path[:1] == ("task",) and path[:2] != ("task", "type") for path in paths):
        return [Splice(TextRange(start, removal.range.end), ""), *_listed(lookup, table.path[2])]
    # `[task]` stands in for the type, which may have been all that offered the tool.
    lines = ("[task]", _types_line(table.path[2]), "")
    header = splices.line_break(lookup.parse.text).join(lines)
    return [Splice(TextRange(comment.start, removal.range.end), header)]


def _listed(lookup: Lookup, name: str) -> Iterator[Splice]:
    """Yield the edit that adds the name to `task.types`, unless it is there or has no certain place."""
    types = lookup.find(TASK_TYPES)
    if types is None:
        line = splices.with_line(lookup.parse, TASK_TYPES[:-1], _types_line(name))
        if line is not None:
            yield line
        return
    value = lookup.value(TASK_TYPES)
    if value is None or value.kind is not ValueKind.ARRAY or name in lookup.decoded(TASK_TYPES):
        return
    where = value.items[-1].range.end if value.items else value.range.start + 1
    comma = ", " if value.items else ""
    yield Splice(TextRange(where, where), f"{comma}{literal(name)}")


def _types_line(name: str) -> str:
    """Return the list as it is where none is written, and the name."""
    return f"types = [{', '.join(map(literal, (*BUILT_IN_TYPES, name)))}]"
