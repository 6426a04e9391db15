"""Problems of several keys together: keys that exclude each other, and tables that lack a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

from axe_lsp.agentfile.check.problem import Problem, problem
from axe_lsp.agentfile.mcp_servers import STDIO, command_fault, folder_fault
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.addresses import address_fault
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import Document, Table, Value, ValueKind
from axe_lsp.agentfile.text.values import decode


def combinations(lookup: Lookup) -> Iterator[Problem]:
    """axe's checks of more than one key at a time."""
    yield from _retry(lookup)
    yield from _artifacts(lookup)
    yield from _response_format(lookup)
    yield from _servers(lookup)
    yield from _delegation(lookup)
    yield from _isolation(lookup)


def _retry(lookup: Lookup) -> Iterator[Problem]:
    longest_path = ("retry", "max_delay_ms")
    initial, longest = lookup.decoded(("retry", "initial_delay_ms")), lookup.decoded(longest_path)
    if isinstance(initial, int) and isinstance(longest, int) and 0 < longest < initial:
        message = "retry.max_delay_ms must be >= retry.initial_delay_ms"
        yield _at(lookup, longest_path, "out-of-range", message)


def _artifacts(lookup: Lookup) -> Iterator[Problem]:
    path = ("artifacts", "dir")
    directory = lookup.decoded(path)
    if not isinstance(directory, str) or not directory:
        return
    if lookup.decoded(("artifacts", "enabled")) is not True:
        message = "artifacts.dir is set but artifacts.enabled is false"
        yield _at(lookup, path, "out-of-range", message)
    elif ".." in directory:
        message = "artifacts.dir must not contain path traversal sequences"
        yield _at(lookup, path, "out-of-range", message)


def _response_format(lookup: Lookup) -> Iterator[Problem]:
    table = ("params", "response_format")
    for path in ((*table, "type"), table):  # The table's key, or the string in place of the table.
        if lookup.decoded(path) == "json_schema" and not lookup.has((*table, "schema")):
            message = "params.response_format.schema is required when type is json_schema"
            yield _at(lookup, path, "missing-key", message)


def _delegation(lookup: Lookup) -> Iterator[Problem]:
    """How to delegate, in a file that names no sub-agents."""
    path = ("sub_agents_config",)
    where = lookup.place(path)
    if where is None or lookup.has(("task",)):
        return
    if lookup.has((*path, "parallel")) and (lookup.has(("tools",)) or lookup.has(("mcp_servers",))):
        return  # Which holds for the calls of tools as well.
    if lookup.decoded(("sub_agents",)) == [] or not lookup.has(("sub_agents",)):
        message = "sub_agents_config has no effect without sub_agents"
        yield problem("unused-config", agent_keys.key(path), where, message, fatal=False)


def _isolation(lookup: Lookup) -> Iterator[Problem]:
    """The fate of changes in a copy, where there is no copy."""
    path = ("isolation", "changes")
    where = lookup.place(path)
    if where is not None and lookup.decoded(("isolation", "mode")) != "copy":
        message = 'isolation.changes has no effect without isolation.mode = "copy"'
        yield problem("unused-config", agent_keys.key(path), where, message, fatal=False)


def _at(lookup: Lookup, path: KeyPath, code: str, message: str) -> Problem:
    value = lookup.value(path)
    assert value is not None
    return problem(code, agent_keys.key(path), value.range, message)


class _Server(NamedTuple):
    """One `[[mcp_servers]]`, in whichever way it is written: where it is named, where all of it is, and what holds its keys."""

    where: TextRange
    range: TextRange
    source: Table | Value


class _Fault(NamedTuple):
    """A problem of a server, by its key; the message follows the name of the key."""

    code: str
    key: str
    range: TextRange
    message: str

    def moved(self, by: int) -> _Fault:
        return self._replace(range=self.range.moved(by))


class _Read(NamedTuple):
    """The name of a server, None if it has no proper one, where the name is, and the problems of the server by itself."""

    name: str | None
    range: TextRange
    faults: tuple[_Fault, ...]


def _servers(lookup: Lookup) -> Iterator[Problem]:
    if not lookup.has(("mcp_servers",)):
        return
    names: set[str] = set()
    for index, server in enumerate(_all_servers(lookup.parse.document)):
        start, text = server.range.start, server.range.of(lookup.parse.text)
        name, where, faults = lookup.once_per_text("server", text, partial(_read, lookup, server))
        if name is not None and name in names:
            message = f"mcp_servers names must be unique: {quoted(name)}"
            spec = agent_keys.key(("mcp_servers", "name"))
            yield problem("out-of-range", spec, where.moved(start), message)
        elif name is not None:
            names.add(name)
        for each in faults:
            spec = agent_keys.key(("mcp_servers", each.key))
            message = f"mcp_servers[{index}].{each.key} {each.message}"
            yield problem(each.code, spec, each.range.moved(start), message)


def _read(lookup: Lookup, server: _Server) -> _Read:
    """The problems of a server's text by itself. Their places are from its start."""
    back = -server.range.start
    values = {".".join(entry.key.names): entry.value for entry in server.source.entries}
    is_command = "command" in values or _text(lookup, values, "transport") == STDIO
    name, there = None, server.where
    faults: list[_Fault] = []
    for key in ("name", "command") if is_command else ("name", "url", "transport"):
        value = values.get(key)
        text = _text(lookup, values, key)
        if text is None:
            continue  # Half-typed, or of the wrong type.
        where = value.range if value is not None else server.where
        message = _server_message(key, text.strip())
        if message is not None:
            code = "out-of-range" if text.strip() else "missing-key"
            faults.append(_Fault(code, key, where, message))
        elif key == "name":
            name, there = text, where
    faults += _of_other_kind(lookup, server, is_command=is_command)
    return _Read(name, there.moved(back), tuple(each.moved(back) for each in faults))


def _text(lookup: Lookup, values: Mapping[str, Value | None], key: str) -> str | None:
    """The text of a key of a server, "" if it is absent; None if it is half-typed, or no text."""
    value = values.get(key)
    text = decode(lookup.parse.text, value) if value is not None else ""
    return text if isinstance(text, str) else None


def _of_other_kind(lookup: Lookup, server: _Server, *, is_command: bool) -> Iterator[_Fault]:
    """The keys of a server with an address in one that is a command, and the other way round."""
    for entry in server.source.entries:
        key, where = "".join(entry.key.names[:1]), entry.key.range
        if is_command and key in _OF_ADDRESSES:
            message = "is for a server with an address, and this one has a command"
        elif not is_command and key in _OF_COMMANDS:
            message = "is for a server that is a command, and this one has none"
        elif entry.value is None:
            continue
        elif key in ("transport", "cwd") and is_command:
            text, where = decode(lookup.parse.text, entry.value), entry.value.range
            if key == "transport" and isinstance(text, str) and text != STDIO:
                message = "must be stdio for a server that is a command"
            elif key == "cwd" and isinstance(text, str) and (fault := folder_fault(text)):
                message = fault
            else:
                continue
        else:
            continue
        yield _Fault("out-of-range", key, where, message)


_OF_ADDRESSES = ("url", "headers")
_OF_COMMANDS = ("args", "env", "pass_env", "cwd")


def _all_servers(document: Document) -> Iterator[_Server]:
    path = ("mcp_servers",)
    for table in document.tables:
        if table.is_array and table.path == path and table.complete:
            yield _Server(table.header_range, table.range, table)
    for entry in document.tables[0].entries:
        if entry.key.names == path and entry.value is not None:
            for item in entry.value.items:
                if item.kind is ValueKind.INLINE_TABLE and item.complete:
                    yield _Server(item.range, item.range, item)


def _server_message(key: str, value: str) -> str | None:
    if key == "transport":
        # Any other value is a matter of the schema's choices.
        return None if value else "must be one of: sse, streamable-http"
    if not value:
        return "is required"
    faults = {"url": address_fault, "command": command_fault}
    return faults[key](value) if key in faults else None
