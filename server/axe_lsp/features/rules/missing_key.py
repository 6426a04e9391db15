"""A key that an agent cannot do without."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from axe_lsp.agentfile.check.codex_tables import HTTP_ONLY, STDIO_ONLY
from axe_lsp.agentfile.mcp_servers import STDIO
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeySpec
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.tree import Table
from axe_lsp.features.edit import EMPTY_STRING
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Fix, change, find_value, replace
from axe_lsp.features.rule import Dialects, Rule, Subject
from axe_lsp.workspace.places import Scope

_SERVERS = ("mcp_servers",)
USUAL_MODEL = "anthropic/claude-sonnet-5-5"
"""The model of a new agent in a workspace without models."""


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a line with the key that is missing."""
    path = case.finding.path
    if path == ("name",):
        is_known = case.file.place.scope is not Scope.LOOSE
        yield _top(case, "name", case.file.place.stem, certain=is_known)
    elif path == ("model",):
        yield _top(case, "model", _model(case))
    elif path == (*_SERVERS, "url") and case.lookup.schema is AGENT:
        yield from _command(case)
    elif path == ("params", "response_format", "type"):
        yield from _schema(case)
    elif spec := case.lookup.schema.find(path):
        is_server = spec.path == (*_SERVERS, ANY_NAME)
        yield from _transports(case) if is_server else _choices(case, spec)


def _top(case: Case, key: str, content: str, *, certain: bool = False) -> Fix:
    """Return a key of the agent itself, set or set anew."""
    title = f'Set `{key}` to "{content}"'
    blank = case.lookup.value((key,))
    new = splices.literal(content)
    if blank is not None:
        return replace(case, new, title=title, certain=certain, guess=new[1:-1])
    line = f"{key} = {new}"
    name = case.lookup.find(("name",))
    if key != "name" and name is not None and name.table.header is None:
        splice = splices.line_below(case.text, name.entry.range.end, line)
    else:
        splice = splices.first_line(case.lookup.parse, line)
    return change(case, title, splice, preferred=True, certain=certain, guess=new[1:-1])


def _model(case: Case) -> str:
    """Return the value that most agents of the workspace use."""
    used = Counter(each.model.value for each in case.snapshot.files() if each.model is not None)
    known = [(-count, model) for model, count in used.items() if "/" in model]
    return min(known)[1] if known else USUAL_MODEL


def _transports(case: Case) -> Iterator[Fix]:
    """Yield a `command` and a `url` for a server without either of them, unless it has a key that only the other kind takes."""
    path, lookup, table = case.finding.path, case.lookup, _table_at(case)
    if table is not None and (table.path != path or not table.complete or table.is_array):
        table = None
    for key, only_other in (("command", HTTP_ONLY), ("url", STDIO_ONLY)):
        if table is not None and not any(lookup.has((*path, each)) for each in only_other):
            yield _empty_key(case, table, key)


def _command(case: Case) -> Iterator[Fix]:
    """Yield a `command` for a server that has no key of a server with an address."""
    table = _table_at(case)
    if table is None:
        return
    keys = {name for each in table.entries for name in each.key.names[:1]}
    if keys.isdisjoint(("url", "transport", "headers")):
        yield _empty_key(case, table, "command")


def _empty_key(case: Case, table: Table, key: str) -> Fix:
    """Return a line with a key whose text the author has to fill in."""
    line = splices.line_in(case.lookup.parse, table, f"{key} = {EMPTY_STRING}")
    return change(case, f"Add `{key}`", line, guess=EMPTY_STRING)


def _table_at(case: Case) -> Table | None:
    """Return the table whose header the finding is about, or a part of it."""
    tables, where = case.lookup.parse.document.tables, case.finding.range
    index = bisect_right(tables, where.start, key=lambda each: each.header_range.start) - 1
    is_there = index >= 0 and where.end <= tables[index].header_range.end
    return tables[index] if is_there else None


def _schema(case: Case) -> Iterator[Fix]:
    found = find_value(case)
    for table in case.lookup.parse.document.tables:
        if found is not None and found.entry in table.entries:
            line = 'schema = { type = "object" }'
            splice = splices.line_below(case.text, found.entry.range.end, line)
            yield change(case, "Add a `schema`", splice, preferred=True, guess='type = "object"')


def _choices(case: Case, spec: KeySpec) -> Iterator[Fix]:
    """Yield each word that the key of a server may be. Only a server with an address lacks its transport."""
    for choice in spec.choices:
        if choice == STDIO:
            continue
        new = splices.literal(choice)
        title = f"Set `{spec.path[-1]}` to {new}"
        if find_value(case) is not None and case.token[:1] in "\"'":
            yield replace(case, new, title=title, preferred=False)
        table = _table_at(case)
        if table is not None:
            line = splices.line_in(case.lookup.parse, table, f"{spec.path[-1]} = {new}")
            yield change(case, title, line)


RULE = Rule(
    code="missing-key",
    severity=Severity.ERROR,
    summary="A required key is absent or blank.",
    documentation="""
Every agent needs a `name` and a `model`; an MCP server needs a `name`, and either `url` and `transport` or `command`; a
`response_format` of type `json_schema` needs its `schema`.

```toml
name = "reviewer"
model = "anthropic/claude-sonnet-5-5"
```
""",
    is_for=Dialects.ALL,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
