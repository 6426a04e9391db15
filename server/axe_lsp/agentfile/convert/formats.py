"""The description of a format of agent files: its folder, and how each field is read and written.

`conversion.py` has a row for each format. The modules beside it have the rules of one format each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.convert.intermediate import FIELDS, READING, Agent, Notes
from axe_lsp.agentfile.convert.output_file import OutputFile, under
from axe_lsp.agentfile.mcp_servers import (
    STDIO,
    McpServer,
    command_fault,
    folder_fault,
    written_server,
)
from axe_lsp.agentfile.text.front_matter import Syntax

_MISSING = object()
PLAIN: Mapping[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(("name", "description", "model", "effort", "prompt"), ((str,), "a text")),
    "temperature": ((int, float), "a number"),
    **dict.fromkeys(("max_tokens", "timeout", "max_turns"), ((int,), "a whole number")),
}
"""The types of the fields that are plain values."""


class Reading:
    """A file of a format on the way to an `Agent`. What no rule takes is lost, and reported."""

    def __init__(
        self,
        of: Format,
        written: OutputFile,
        stem: str,
        beside: Callable[[str], str] = lambda _: "",
    ) -> None:
        self.format = of
        self.stem = stem
        self.beside = beside
        """Returns the text of a file that the format has beside its agents, "" if there is none."""
        self.values: Mapping[str, Any] = written.values
        self.agent = Agent()
        self.notes = Notes()
        self.source_keys: dict[str, str] = {}
        """By field: the key that it was read from."""
        self.listed: tuple[str, ...] | None = None
        """The names in the list of tools, None if the agent has all."""
        self.denied: tuple[str, ...] = ()
        """Names that are denied and are no tools of the format itself, so perhaps tools of servers."""
        self._left = {
            key: dict(value) if isinstance(value, dict) else value
            for key, value in written.values.items()
        }
        self._tables: set[str] = set()

    def take(self, key: str) -> Any:
        """Return the value of a dotted key, None if it is absent. It counts as dealt with."""
        value = self._taken(key)
        return None if value is _MISSING else value

    def take_field(self, name: str) -> None:
        """Read a field whose value every format writes in the same way."""
        key = self.format.keys[name]
        value = self.take(key)
        types, word = PLAIN[name]
        if value is None:
            return
        if not isinstance(value, types) or isinstance(value, bool):
            self.notes.lost(key, f"the value is not {word}")
            return
        self.source_keys[name] = key
        setattr(self.agent, name, value)

    def take_servers(self, *keys: str) -> None:
        """Read the MCP servers in the tables of these keys."""
        for key in keys:
            servers = self.take(key)
            for name, table in servers.items() if isinstance(servers, dict) else ():
                self.take_server(key, name, table)

    def take_server(self, key: str, name: str, table: object) -> None:
        """Read an MCP server whose tools the agent may all use.

        Of another one nothing is read: axe has no limits inside a server, and they would be lost.
        """
        left = dict(table) if isinstance(table, Mapping) else {}
        without = [each for each in _LIMITS_NOTHING if left.pop(each, None) is not None]
        start = _take_start(left)
        reason, server = read_server(name, left)
        names = [each.format(name) for each in self.format.server_tools]
        listed = [each for each in names if each in (self.listed or ())]
        if not reason and names and self.listed is not None and not listed:
            reason = f"`{names[0]}` is not in the list of tools"
        if not reason and any(_touches(each, names[0]) for each in self.denied):
            reason = "a part of its tools is denied"
        if server is None or reason:
            self.notes.lost(f"{key}.{name}", reason)
            return
        for each in listed:  # It is no longer a tool that nobody knows.
            self.notes.forget(f"{self.format.keys['tools']}: {each}")
        for each in without:
            self.notes.lost(f"{key}.{name}.{each}", _LIMITS_NOTHING[each])
        self.source_keys["servers"] = key
        self.agent.servers += (replace(server, **start),)

    def take_rest(self) -> None:
        """Report every key that no rule has taken."""
        said = {note.key for note in self.notes.all}
        for key in (each for each in _paths(self._left, self._tables) if each not in said):
            self.notes.lost(key, self.format.why_lost.get(key, ""))

    def texts(self, key: str) -> list[str] | None:
        """Return the strings of a list, or of a text with commas; None if the key is absent."""
        value = self._taken(key)
        if value is _MISSING:
            return None
        if isinstance(value, str):
            return split_list(value)
        if isinstance(value, list):
            return [str(each) for each in value]
        return []

    def _taken(self, key: str) -> Any:
        *parents, name = key.split(".")
        table: Any = self._left
        for end, parent in enumerate(parents, 1):
            self._tables.add(".".join(parents[:end]))
            table = table.get(parent) if isinstance(table, dict) else None
        return table.pop(name, _MISSING) if isinstance(table, dict) else _MISSING


class Writing:
    """An `Agent` on the way to a file of a format. `keys` says what the fields were called before."""

    def __init__(self, of: Format, agent: Agent, stem: str, reading: Reading) -> None:
        self.format = of
        self.agent = agent
        self.stem = stem
        self.notes = reading.notes
        self.lists_tools = "tools" in reading.source_keys
        self.keys = {name: reading.source_keys.get(name, name) for name in FIELDS}
        self.written = OutputFile()

    def set(self, key: str, value: object) -> None:
        """Write a dotted key. The empty one is the text below the front matter."""
        if not key:
            self.written.body = str(value)
            return
        *parents, name = key.split(".")
        under(self.written.values, parents)[name] = value

    def set_name(self, name: str) -> None:
        """Write the name, and report it if it differs from the agent's."""
        self.set("name", name)
        if name != self.agent.name:
            self.notes.mapped(self.keys["name"], f"{self.agent.name!r} is `{name}`")

    def lost(self, name: str, why: str = "") -> None:
        """Report a field that the format can't hold."""
        self.notes.lost(self.keys[name], why or f"{self.format.title} has no counterpart")

    def tool_names(self) -> list[str]:
        """Return the tools in the words of the format. No name is written that would allow more.

        A name that covers several tools is written if the agent has all of them; those that only read
        the workspace may be missing, as they allow nothing new to an agent that reads it anyway.
        """
        has = set(self.agent.tools)
        names: list[str] = []
        covered: set[str] = set()
        for name, meant in self.format.tools.items():
            extra = meant - has
            reads_anyway = extra <= READING and bool(meant & has)
            if meant & has <= covered or (extra and not reads_anyway):
                continue
            names.append(name)
            covered |= meant
            if extra:
                self.notes.mapped(
                    self.keys["tools"], f"`{name}` also allows {', '.join(sorted(extra))}"
                )
        for tool in self.agent.tools:
            if tool not in covered:
                wider = [name for name, meant in self.format.tools.items() if tool in meant]
                why = f"`{wider[0]}` would allow more" if wider else f"{self.format.title} has none"
                self.notes.lost(f"{self.keys['tools']}: {tool}", why)
        self.say_tools(names)
        return names

    def say_tools(self, names: Iterable[str]) -> None:
        """Report what the tools that the file named are called now."""
        if self.lists_tools:
            self.notes.mapped(self.keys["tools"], f"now {', '.join(names) or 'none'}")


def _touches(denied: str, server: str) -> bool:
    """Return whether a denied name is one of a server's tools, or a pattern that may mean some."""
    start = server.rstrip("*")
    return denied.startswith(start) or fnmatchcase(start, denied)


Read = Callable[[Reading], None]
Write = Callable[[Writing], None]


class Format(Struct, frozen=True):
    """A format.

    `keys` has the dotted key of each field that the format has; "" is the body of a Markdown file, whose front matter is read
    by its `syntax`.
    `tools` has the tools of axe that each name stands for, in the order in which they are written;
    `tool_aliases` are names that are only read. `readers` and `writers` are the rules for fields whose
    values differ. `server_tools` are the names that stand for all tools of the server `{}`. `required` fields are made up if they are missing.
    `why_lost` are further words about keys that no other format has, `why_unwritten` the reasons for which the format
    does not hold a field.
    """

    name: str
    title: str
    folder: str
    suffix: str
    syntax: Syntax | None
    keys: Mapping[str, str]
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    tool_aliases: Mapping[str, frozenset[str]] = field(default_factory=dict)
    readers: Mapping[str, Read] = field(default_factory=dict)
    writers: Mapping[str, Write] = field(default_factory=dict)
    server_tools: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()
    why_lost: Mapping[str, str] = field(default_factory=dict)
    why_unwritten: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_markdown(self) -> bool:
        """Whether agents are Markdown with a front matter."""
        return self.syntax is not None


def tools_of(*pairs: tuple[str, str]) -> dict[str, frozenset[str]]:
    """Return a table of tools: a name of the format, and tools of axe with blanks between them."""
    return {name: frozenset(meant.split()) for name, meant in pairs}


def granted(reading: Reading, names: Iterable[str], key: str) -> list[str]:
    """Return the tools of axe that names of the format stand for. The others are reported as lost."""
    known = {**reading.format.tool_aliases, **reading.format.tools}
    found: dict[str, None] = {}
    for name in names:
        if name in known:
            found.update(dict.fromkeys(sorted(known[name])))
        else:
            reading.notes.lost(f"{key}: {name}", "the tool has no counterpart")
    return list(found)


def listed_tools(reading: Reading, names: list[str] | None = None) -> list[str] | None:
    """Return the names in the list `tools`; None without one, or with a star, since the agent has every tool then.

    `names` are those of a program that splits texts in its own way.
    """
    texts = reading.texts("tools")
    listed = texts if names is None else names
    if listed is None or "*" in listed:
        return None
    reading.source_keys["tools"] = "tools"
    reading.listed = tuple(listed)
    return listed


def every_tool(of: Format) -> list[str]:
    """Return the tools of axe that have a counterpart in a format."""
    return list(dict.fromkeys(tool for meant in of.tools.values() for tool in sorted(meant)))


def all_tools(reading: Reading, program: str) -> list[str]:
    """Return the tools of an agent that lists none, or all: those of its program that axe has, with a note."""
    tools = every_tool(reading.format)
    reading.notes.added("tools", f"{', '.join(tools)}: without `tools` {program} gives all")
    return tools


def split_list(text: str, at: str = ",") -> list[str]:
    """Return the parts of a text with one of the characters in `at` between them; those in parentheses belong to a part."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character in at and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _paths(values: Mapping[str, Any], tables: set[str], prefix: str = "") -> Iterable[str]:
    for key, value in values.items():
        path = prefix + key
        if path in tables and isinstance(value, dict):
            yield from _paths(value, tables, f"{path}.")
        else:
            yield path


# -- MCP servers, which all formats describe alike

_ADDRESSES = ("url", "httpUrl", "http_url")
_HEADERS = ("headers", "http_headers")
_KINDS = {"sse": "sse", "http": "streamable-http", "streamable-http": "streamable-http"}


_LIMITS_NOTHING: Mapping[str, str] = {
    "tool_timeout_sec": "a call may take as long as the run",
    "supports_parallel_tool_calls": "calls wait for those that may change something",
    "default_tools_approval_mode": "calls are asked about unless a rule of the user allows them",
}
"""Keys of a server without which its tools can do no more than before, and the effect of leaving them out."""


def read_server(name: str, left: dict[str, Any]) -> tuple[str, McpServer | None]:
    """Return a server, or the reason why axe can't have it: of one with limits nothing is taken."""
    if "command" in left:
        return _read_command(name, left)
    at = next((each for each in _ADDRESSES if isinstance(left.get(each), str)), None)
    if at is None:
        return "it has no address", None
    url = left.pop(at)
    kind = left.pop("type", None) or left.pop("transport", None) or "http"
    if kind not in _KINDS:
        return f"the transport {kind!r} has no counterpart", None
    headers = {}
    for each in _HEADERS:
        table = left.pop(each, None)
        if isinstance(table, Mapping):
            headers.update({str(k): str(v) for k, v in table.items()})
    for header, named in _texts_of(left.pop("env_http_headers", None)):
        headers[header] = f"${{{named}}}"
    variable = left.pop("bearer_token_env_var", None)
    if isinstance(variable, str):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    fault = _what_is_left(left)
    return (fault, None) if fault else ("", McpServer(name, url, _KINDS[kind], headers))


def _read_command(name: str, left: dict[str, Any]) -> tuple[str, McpServer | None]:
    """Return a server that is started, or the reason why axe-lsp can't start it."""
    if left.pop("type", None) not in (None, "stdio", "local"):
        return "it has a command and a transport of another kind", None
    passed = left.pop("env_vars", None) or left.pop("pass_env", None) or []
    if isinstance(passed, list):
        passed = [_variable_of(each) for each in passed]
    server = written_server({**left, "name": name, "transport": STDIO, "pass_env": passed})
    fault = command_fault(server.command) or (folder_fault(server.cwd) if server.cwd else None)
    if fault or not server.command:
        return f"its command or folder {fault or 'is not a text'}", None
    taken = [list(server.args), server.env, list(server.pass_env)]
    if taken != [left.get("args") or [], left.get("env") or {}, passed]:
        return "its arguments or variables have to be texts", None
    for key in ("command", "args", "env", "cwd", "transport"):
        left.pop(key, None)
    fault = _what_is_left(left)
    return (fault, None) if fault else ("", server)


def _variable_of(written: Any) -> Any:
    """Return the name of a variable that Codex hands on, which may be a table. One of another machine stays as it is."""
    is_local = isinstance(written, Mapping) and written.get("source", "local") == "local"
    return written.get("name") if is_local else written


def _texts_of(table: Any) -> list[tuple[str, str]]:
    return [(str(k), str(v)) for k, v in table.items()] if isinstance(table, Mapping) else []


def command_table(server: McpServer) -> dict[str, Any]:
    """Return how all formats describe a server that is started."""
    args = {"args": list(server.args)} if server.args else {}
    env = {"env": dict(server.env)} if server.env else {}
    return {"command": server.command, **args, **env}


def described_server(writing: Writing, server: McpServer, kind: str) -> dict[str, Any]:
    """Return a server as Claude Code and Copilot have it. `kind` is the `type` of one that is started."""
    if not server.is_command:
        kind = "sse" if server.transport == "sse" else "http"
        headers = {"headers": dict(server.headers)} if server.headers else {}
        return {"type": kind, "url": server.url, **headers}
    for key, value in (("pass_env", server.pass_env), ("cwd", server.cwd)):
        if value:
            writing.lost("servers", f"`{key}` of {server.name} has no counterpart")
    return {"type": kind, **command_table(server)}


def _take_start(left: dict[str, Any]) -> dict[str, Any]:
    """Take what a table says of the start of its server, in the words of axe-lsp or of Codex."""
    start: dict[str, Any] = {}
    is_required = left.pop("required", None)
    if isinstance(is_required, bool):
        start["required"] = is_required
    for key, unit in (
        ("startup_timeout_ms", 1000),
        ("startup_timeout_sec", 1),
        ("startup_timeout", 1),
    ):
        seconds = left.pop(key, None)
        if isinstance(seconds, int | float) and seconds > 0:
            start["startup_timeout"] = max(1, round(seconds / unit))
    return start


def _what_is_left(left: dict[str, Any]) -> str:
    """Return why a server can't be taken because of its other keys, or ""."""
    if left.pop("enabled", True) is not True:
        return "it is switched off"
    if left.get("tools") in (["*"], "*"):
        left.pop("tools")
    left.pop("name", None)
    names = ", ".join(f"`{each}`" for each in sorted(left))
    return f"{names} of a server would be lost" if left else ""
