"""The place where agents in copies work, as the user wants it: `[execution]` of config.toml, a setting, or `--on`.

Nothing of a repository is read here: who chooses a machine, or the program that reaches it, chooses what is
executed on this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import tomli
from msgspec import Struct

from axe_lsp.agentfile.schema.config_keys import ENGINES
from axe_lsp.agentfile.text.addresses import DaskHost, SshHost, dask_host, ssh_host
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder, expand_path
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.plain_text import os_fault, shown_path

_HINT = 'Correct it, or choose copies on this machine with engine = "here" or --on here.'

_Value = TypeVar("_Value", str, bool)
_Host = TypeVar("_Host")


class Dask(Struct, frozen=True):
    """A cluster: its scheduler, and the files of TLS. Those are empty with `tcp://`."""

    scheduler: DaskHost
    ca: str = ""
    cert: str = ""
    key: str = ""


class Execution(Struct, frozen=True):
    """The engine that is in force. `keep_copies` and `wait` are in seconds; `slots` are those of a machine.

    `ssh` is the program with its options, `axe` what the shell of a machine executes. There are either `hosts` or
    a cluster.
    """

    hosts: tuple[SshHost, ...] = ()
    slots: int = 4
    keep_copies: int = 3600
    wait: int = 60
    ssh: tuple[str, ...] = ("ssh",)
    axe: str = "axe-lsp"
    dask: Dask | None = None


def execution(environment: Environment, on: str = "") -> Execution | None:
    """Return the engine that is in force; None for copies on this machine. Raises ConfigError.

    `on` wins over config.toml: the name of an engine, `ssh://HOST` or `tls://HOST:PORT`.
    """
    path = config_folder(environment) / "config.toml"
    where = f"config file: {shown_path(path)}: execution"
    try:
        table = tomli.loads(read_file(path).decode("utf-8-sig")).get("execution", {})
    except FileNotFoundError:
        table = {}
    except (OSError, tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = os_fault(error) if isinstance(error, OSError) else str(error)
        raise ConfigError(f"failed to read config file: {shown_path(path)}: {reason}") from error
    reader = _Reader(table, where)
    engine = on or reader.text("engine", "here")
    if "://" not in engine and engine not in ENGINES:
        what = f"--on {quoted(on)}" if on else f"{where}.engine = {quoted(engine)}"
        raise ConfigError(f"{what}: there is no such engine", hint="There are here, ssh and dask.")
    if engine == "here":
        return None
    is_dask = engine == "dask" or engine.startswith(("tls://", "tcp://"))
    ssh = reader.table("ssh")
    return Execution(
        hosts=() if is_dask else _hosts(ssh, engine),
        slots=reader.number("slots", 4, 1),
        keep_copies=reader.number("keep_copies", 3600, 0),
        wait=reader.number("wait", 60, 0),
        ssh=_words(ssh, environment),
        axe=ssh.text("axe", "axe-lsp").strip() or "axe-lsp",
        dask=_dask(reader.table("dask"), engine, environment) if is_dask else None,
    )


def _hosts(ssh: _Reader, engine: str) -> tuple[SshHost, ...]:
    if "://" in engine:
        return (_parsed(ssh_host, engine, "--on"),)
    hosts = tuple(_parsed(ssh_host, each, f"{ssh.where}.hosts") for each in ssh.texts("hosts"))
    if not hosts:
        raise ConfigError(
            f"{ssh.where}.hosts names no machine",
            hint='Add hosts = ["HOST"] below [execution.ssh], or use --on ssh://HOST.',
        )
    return tuple(dict.fromkeys(hosts))


def _dask(dask: _Reader, engine: str, environment: Environment) -> Dask:
    where, address = f"{dask.where}.scheduler", dask.text("scheduler", "")
    if "://" in engine:
        where, address = "--on", engine
    elif not address:
        raise ConfigError(
            f"{where} is missing",
            hint='Add scheduler = "tls://HOST:8786" below [execution.dask], or use --on tls://HOST:8786.',
        )
    scheduler = _parsed(dask_host, address, where)
    if scheduler.scheme == "tcp":
        if not dask.truth("insecure"):
            raise ConfigError(
                f"{where} = {quoted(address)}: without TLS everybody in that network can execute commands there",
                hint="Use tls://. Within a machine, insecure = true below [execution.dask] allows tcp://.",
            )
        return Dask(scheduler)
    return Dask(
        scheduler, **{each: _file(dask, each, environment) for each in ("ca", "cert", "key")}
    )


def _file(dask: _Reader, key: str, environment: Environment) -> str:
    path = dask.text(key, "")
    if not path:
        raise ConfigError(
            f"{dask.where}.{key} is missing",
            hint="TLS needs ca, cert and key, three files in PEM format: the certificate of your own authority, one "
            "that it has signed for you, and the key of that.",
        )
    return str(config_folder(environment) / expand_path(path, environment))


def _parsed(parse: Callable[[str], _Host], text: str, where: str) -> _Host:
    try:
        return parse(text)
    except ValueError as fault:
        raise ConfigError(f"{where} {fault}", hint=_HINT) from None


def _words(ssh: _Reader, environment: Environment) -> tuple[str, ...]:
    try:
        import shlex

        words = shlex.split(ssh.text("ssh", "ssh"))
    except ValueError as error:
        raise ConfigError(f"{ssh.where}.ssh: {error}", hint=_HINT) from error
    if not words:
        return ("ssh",)
    return tuple(expand_path(word, environment) if word[:1] == "~" else word for word in words)


class _Reader:
    """A table of config.toml. Its methods raise ConfigError for values of other types."""

    def __init__(self, table: Any, where: str) -> None:
        if not isinstance(table, Mapping):
            raise ConfigError(f"{where} is not a table", hint=_HINT)
        self._table = table
        self.where = where

    def table(self, key: str) -> _Reader:
        return _Reader(self._table.get(key, {}), f"{self.where}.{key}")

    def text(self, key: str, default: str) -> str:
        return self._checked(key, default, "a string")

    def truth(self, key: str) -> bool:
        return self._checked(key, False, "true or false")

    def _checked(self, key: str, default: _Value, what: str) -> _Value:
        value = self._table.get(key, default)
        if not isinstance(value, type(default)):
            raise ConfigError(f"{self.where}.{key} is not {what}", hint=_HINT)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._table.get(key, [])
        if not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            raise ConfigError(f"{self.where}.{key} is not an array of strings", hint=_HINT)
        return tuple(value)

    def number(self, key: str, default: int, minimum: int) -> int:
        value = self._table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
            raise ConfigError(f"{self.where}.{key} is not an integer from {minimum}", hint=_HINT)
        return value
