"""MCP servers as agent files name them: addresses, and programs that are started."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from axe_lsp.agentfile.text.addresses import without_passwords
from axe_lsp.agentfile.text.ranges import quoted

STDIO = "stdio"

STARTUP_TIMEOUT = 30
"""Seconds within which a server has to list its tools."""

VARIABLE = r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}"
"""How a header or a value of `env` names an environment variable."""


_SECRET_NAME = "(?i)auth|cookie|key|passw|secret|token"


class McpServer(Struct, frozen=True, omit_defaults=True):
    """One of `[[mcp_servers]]`: an address, or a command that is started.

    `transport` is `sse` or `streamable-http` for an address, and `stdio` for a command. `cwd` is
    relative to the working directory of the run. The command has the variables of `pass_env` and
    `env`, beside a few that programs need to work. One that is `of_client` is in no file: a client has
    named it for a session. Its values are literal. Without a server that is not `required` a run goes on.
    `startup_timeout` is in seconds.
    """

    name: str
    url: str = ""
    transport: str = STDIO
    headers: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    cwd: str = ""
    required: bool = True
    startup_timeout: int = STARTUP_TIMEOUT
    of_client: bool = False

    @property
    def is_command(self) -> bool:
        """Whether it is started, and not reached at an address."""
        return bool(self.command)

    @property
    def line(self) -> str:
        """The command that is started, as a line for a POSIX shell, with everything that the file adds to it.

        A variable that is handed on under its own name is left out: a program that the user starts has
        it, too. Any other may make another program of the command, as `PATH` does.
        """
        return self._line(self.env)

    def _line(self, env: Mapping[str, str]) -> str:
        import shlex

        added = [
            f"{shlex.quote(name)}={shlex.quote(value)}"
            for name, value in sorted(env.items())
            if self.of_client or value != f"${{{name}}}"
        ]
        words = " ".join([*added, shlex.join([self.command, *self.args])])
        return f"cd {shlex.quote(self.cwd)} && {words}" if _is_elsewhere(self.cwd) else words

    @property
    def place(self) -> str:
        """Its address or its line, to compare it by: with all that is secret."""
        return self.line if self.is_command else self.url

    @property
    def shown_place(self) -> str:
        """The same for people, without the passwords of addresses and the values of secrets in `env`."""
        if not self.is_command:
            return without_passwords(self.url)
        shown = {
            name: "***" if is_secret_name(name) and not self.variables_of(value) else value
            for name, value in self.env.items()
        }
        return without_passwords(self._line(shown))

    @property
    def needed(self) -> tuple[str, ...]:
        """The environment variables without which it is not connected, each once."""
        if not self.headers and not self.env:
            return ()
        return tuple(
            dict.fromkeys(
                name
                for text in (*self.headers.values(), *self.env.values())
                for name in self.variables_of(text)
            )
        )

    def variables_of(self, text: str) -> tuple[str, ...]:
        """Return the variables that a value of a header or of `env` names."""
        return () if self.of_client or "$" not in text else variables_in([text])


def is_secret_name(name: str) -> bool:
    """Return whether a header or a variable of that name holds a secret, as far as one can tell."""
    return re.search(_SECRET_NAME, name) is not None


def variables_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the variables that texts name, each once."""
    return tuple(dict.fromkeys(name for text in texts for name in re.findall(VARIABLE, text)))


def written_server(table: Mapping[str, object]) -> McpServer:
    """Return the server of a table that may be half-typed, or wrong: a value of another type counts as absent."""
    return McpServer(
        _text(table, "name"),
        _text(table, "url"),
        _text(table, "transport"),
        _texts(table, "headers"),
        _text(table, "command"),
        _list(table, "args"),
        _texts(table, "env"),
        _list(table, "pass_env"),
        _text(table, "cwd"),
    )


def command_fault(command: str) -> str | None:
    """Return why a text is no command: it is looked for on the PATH, so it may not name a file of the workspace."""
    is_path = "/" in command or "\\" in command
    if is_path and not _is_absolute(command):
        return (
            f"must be the name of a program on the PATH, or an absolute path, got {quoted(command)}"
        )
    return None


def folder_fault(cwd: str) -> str | None:
    """Return why a text is no folder for a server."""
    if _is_absolute(cwd) or ".." in re.split(r"[/\\]", cwd) or cwd.startswith("~"):
        return f"must be a relative path below the working directory, got {quoted(cwd)}"
    return None


def _is_absolute(path: str) -> bool:
    """Return whether a path is absolute on any system: clones of a file are used on all of them."""
    return re.match(r"[/\\]|[A-Za-z]:", path) is not None


def _is_elsewhere(cwd: str) -> bool:
    return cwd not in ("", ".", "./")


def _text(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def _texts(table: Mapping[str, object], key: str) -> dict[str, str]:
    value = table.get(key)
    pairs = value.items() if isinstance(value, Mapping) else ()
    return {str(name): text for name, text in pairs if isinstance(text, str)}


def _list(table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key)
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return tuple(each for each in items if isinstance(each, str))
