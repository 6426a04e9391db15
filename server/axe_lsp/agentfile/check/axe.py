"""Problems of axe's files that the rows of their schemas can't express.

Keys that exclude each other, tables that lack a key or hold no valid JSON Schema, differences from axe;
and the values of config.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import NamedTuple

from axe_lsp.agentfile.check.problem import Problem, problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.mcp_servers import STDIO, command_fault, folder_fault
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.json_schema import SchemaFault, schema_faults
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, KeyType, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.schema.tools import TOOL_ALIASES, TOOLS, is_tool_glob
from axe_lsp.agentfile.text.addresses import address_fault, dask_host, ssh_host
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import Document, KeyPart, Located, Table, Value, ValueKind
from axe_lsp.agentfile.text.values import decode


def axe_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file by itself."""
    yield from _retry(lookup)
    yield from _artifacts(lookup)
    yield from _response_format(lookup)
    yield from _servers(lookup)
    yield from _delegation(lookup)
    yield from _side_runs(lookup)
    yield from _isolation(lookup)
    yield from _schema_tables(lookup)
    yield from plain_secrets(lookup)
    yield from _beyond_axe(lookup)


def axe_config(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of config.toml: addresses that lead nowhere, providers that no model can name, and machines that can not be reached."""
    yield from _addresses(lookup)
    yield from _providers(lookup)
    yield from _machines(lookup)
    yield from _engine(lookup)


# -- several keys together


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
    """Yield a problem for each delegation setting in a file without sub-agents."""
    path = ("sub_agents_config",)
    where = lookup.place(path)
    if where is None or lookup.has(("task",)):
        return
    if lookup.has((*path, "parallel")) and (lookup.has(("tools",)) or lookup.has(("mcp_servers",))):
        return  # Which holds for the calls of tools as well.
    if lookup.decoded(("sub_agents",)) == [] or not lookup.has(("sub_agents",)):
        message = "sub_agents_config has no effect without sub_agents"
        yield problem("unused-config", agent_keys.key(path), where, message, fatal=False)


def _side_runs(lookup: Lookup) -> Iterator[Problem]:
    """Yield a problem for each setting of side runs in a file that starts none."""
    background, at_end = ("sub_agents_config", "background"), ("sub_agents_config", "at_end")
    value = lookup.decoded(background)
    can_start, can_call = value in ("optional", "always"), bool(lookup.decoded(("sub_agents",)))
    where = lookup.place(at_end)
    if where is not None and (value == "never" or not lookup.has(background)):
        message = 'at_end has no effect without background = "optional" or "always"'
        yield problem("no-effect", agent_keys.key(at_end), where, message, fatal=False)
    where = lookup.place(background)
    if where is not None and can_start and not (can_call or lookup.has(("task",))):
        message = "background has no effect without sub_agents or [task]"
        yield problem("no-effect", agent_keys.key(background), where, message, fatal=False)


def _isolation(lookup: Lookup) -> Iterator[Problem]:
    """Yield the fate of changes in a copy, where there is no copy."""
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
    """Return the problems of a server's text by itself. Their places are from its start."""
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
    """Return the text of a key of a server, "" if it is absent; None if it is half-typed, or no text."""
    value = values.get(key)
    text = decode(lookup.parse.text, value) if value is not None else ""
    return text if isinstance(text, str) else None


def _of_other_kind(lookup: Lookup, server: _Server, *, is_command: bool) -> Iterator[_Fault]:
    """Yield the keys of a server with an address in one that is a command, and the other way round."""
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


# -- JSON Schemas

INPUT: KeyPath = ("input",)
OUTPUT: KeyPath = ("output",)

_TABLES = [spec for spec in agent_keys.KEYS if spec.type is KeyType.JSON_SCHEMA]


def _schema_tables(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of their schemas."""
    for spec in _TABLES:
        if not lookup.has(spec.path):
            continue
        table = nested(lookup, spec.path)
        if table is None or table.members is None:
            continue  # Unfinished, or of the wrong type.
        for where, message, meant in _faults(table, spec):
            # axe hands the schema of an answer on as it is, and leaves it to the provider.
            is_fatal = spec.is_extension
            yield problem("bad-schema", spec, where, message, fatal=is_fatal, meant=meant)


def _faults(table: Node, spec: KeySpec) -> Iterator[SchemaFault]:
    faults = schema_faults(table, spec.dotted)
    type_ = (table.members or {}).get("type") if spec.path == INPUT else None
    if type_ is None or _is_object(type_):
        yield from faults
        return
    message = 'input.type must be "object": agents are called with one'
    yield SchemaFault(type_.range, message, meant="object")
    start, end = type_.range
    yield from (each for each in faults if not start <= each.range.start < end)


def _is_object(type_: Node) -> bool:
    """Return whether an agent is called with an object, whatever it may answer."""
    types = [type_] if type_.items is None else type_.items
    return any(each.value == "object" for each in types)


# -- differences from axe

_CODE = "not-axe"


def _beyond_axe(lookup: Lookup) -> Iterator[Problem]:
    """Yield a problem for each; of a table that axe ignores as a whole only for the table."""
    told: set[KeyPath] = set()
    tables = [table for table in lookup.parse.document.tables if table.complete]
    for table in tables:
        differs = _differs(table.path)
        if differs is not None and differs not in told and table.header is not None:
            yield from _ignored(table.path, table.header.parts, told)
    for table in tables:
        for index, path in enumerate(table.paths):
            differs = _differs(path)
            if differs is None or differs in told or path[:1] in told:
                continue
            item = table.located[index]
            yield from _ignored(path, item.entry.key.parts, told)
            yield from _refused(lookup, item)


@lru_cache(maxsize=4096)
def _differs(path: KeyPath) -> KeyPath | None:
    """Return the part of a key's path that axe ignores: the key, or a table above it. Also a key of which axe may refuse a word.

    None for most keys. Each keystroke asks for the same ones again.
    """
    for end in range(1, len(path) + 1):
        spec = agent_keys.find(path[:end])
        if spec is None:
            return None
        if spec.is_extension:
            return path[:end]
    spec = agent_keys.find(path)
    return path if spec is not None and spec.names in (Names.TOOL, Names.MODEL) else None


def _ignored(path: KeyPath, parts: Sequence[KeyPart], told: set[KeyPath]) -> Iterator[Problem]:
    """Yield the key, or the table that holds it, if axe ignores it. `parts` are the end of the path."""
    for end in range(1, len(path) + 1):
        spec = agent_keys.find(path[:end])
        if spec is None:
            return
        if spec.is_extension:
            own = end - 1 - (len(path) - len(parts))
            if own >= 0 and path[:end] not in told:
                told.add(path[:end])
                message = f"axe ignores {quoted('.'.join(path[:end]))}, an extension of axe-lsp"
                yield Problem(_CODE, parts[own].range, message, path[:end], 0, fatal=False)
            return


def _refused(lookup: Lookup, item: Located) -> Iterator[Problem]:
    spec, value = agent_keys.find(item.path), item.entry.value
    if spec is None or value is None or spec.is_extension:
        return
    for each in (value, *value.items):
        word = decode(lookup.parse.text, each) if each.kind is ValueKind.STRING else None
        message = _refusal(spec, word) if isinstance(word, str) else None
        if message is not None:
            yield Problem(_CODE, each.range, message, item.path, 0, fatal=False)


# -- config.toml


def _addresses(lookup: Lookup) -> Iterator[Problem]:
    for item in lookup.located:
        spec, value = lookup.schema.find(item.path), item.entry.value
        if spec is None or spec.names is not Names.ADDRESS or value is None:
            continue
        address = lookup.decoded(item.path)
        # White space around it is no part, and an empty one is none.
        fault = address_fault(address.strip()) if isinstance(address, str) else None
        if fault is not None and address.strip():
            message = f"{'.'.join(item.path)} {fault}"
            yield problem("out-of-range", spec, value.range, message, fatal=False)


def _machines(lookup: Lookup) -> Iterator[Problem]:
    hosts = lookup.decoded(("execution", "ssh", "hosts"))
    scheduler = lookup.decoded(("execution", "dask", "scheduler"))
    for path, addresses, read in (
        (("execution", "ssh", "hosts"), hosts if isinstance(hosts, list) else (), ssh_host),
        (("execution", "dask", "scheduler"), [scheduler] if scheduler else (), dask_host),
    ):
        try:
            for address in addresses:
                read(address if isinstance(address, str) else "")
        except ValueError as fault:
            where = lookup.place(path)
            if where is not None:
                message = f"{'.'.join(path)} {fault}"
                yield problem("out-of-range", lookup.schema.key(path), where, message, fatal=False)


def _engine(lookup: Lookup) -> Iterator[Problem]:
    """Yield a problem if the chosen engine lacks what it needs; runs then fail."""
    path = ("execution", "engine")
    where, engine = lookup.place(path), lookup.decoded(path)
    missing = None
    if engine == "ssh" and not lookup.decoded(("execution", "ssh", "hosts")):
        missing = 'hosts = ["HOST"] below [execution.ssh]'
    elif engine == "dask":
        scheduler, *files = (
            lookup.decoded(("execution", "dask", each))
            for each in ("scheduler", "ca", "cert", "key")
        )
        is_plain = isinstance(scheduler, str) and scheduler.startswith("tcp://")
        if not scheduler:
            missing = 'scheduler = "tls://HOST:8786" below [execution.dask]'
        elif is_plain and lookup.decoded(("execution", "dask", "insecure")) is not True:
            missing = "tls:// in the scheduler's address, or insecure = true below [execution.dask]"
        elif not is_plain and not all(files):
            missing = "ca, cert and key below [execution.dask]"
    if missing is not None and where is not None:
        message = f"execution.engine = {quoted(engine)} needs {missing}; without it all runs fail"
        yield problem("out-of-range", lookup.schema.key(path), where, message, fatal=False)


def _providers(lookup: Lookup) -> Iterator[Problem]:
    tables = (table.path for table in lookup.parse.document.tables if table.complete)
    paths = [*tables, *(item.path for item in lookup.located)]
    stated = {item.path for item in lookup.located}
    names = dict.fromkeys(path[1] for path in paths if path[:1] == ("providers",) and len(path) > 1)
    for name in names:
        path = ("providers", name)
        spec, where = lookup.schema.find(path), lookup.place(path)
        if (
            name not in PROVIDERS
            and (*path, "wire") not in stated
            and spec is not None
            and where is not None
        ):
            message = (
                f"no model is served by {quoted(name)}, which is not built in and has no `wire`"
            )
            yield problem("unknown-provider", spec, where, message, fatal=False, found=name)


def _refusal(spec: KeySpec, word: str) -> str | None:
    """Return why axe does not take a word that axe-lsp takes, if it doesn't."""
    if spec.names is Names.TOOL and not _is_tool_of_axe(word):
        return f"axe rejects the file: it has no tool {quoted(word)}"
    provider, slash, _ = word.partition("/")
    if spec.names is Names.MODEL and slash and provider not in PROVIDERS:
        return f"axe does not know the provider {quoted(provider)}"
    return None


def _is_tool_of_axe(word: str) -> bool:
    """Return whether axe has this tool. Unknown names count: `unknown-tool` reports them."""
    if word in TOOLS:
        return not TOOLS[word].is_extension
    is_any = is_tool_glob(word) and any(fnmatchcase(each, word) for each in TOOLS)
    return word not in TOOL_ALIASES and not is_any
