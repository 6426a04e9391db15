"""Recordings as TOML files that people can read, write and correct.

docs/replay-format.md is the description for those people; it and this module change together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import tomli
import tomli_w

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError, ProviderErrorCategory
from axe_lsp.runtime.files.regular_files import read_file, read_place, write_whole_file
from axe_lsp.runtime.messages import Given, Json, Response, ToolCall
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.recordings.recording import (
    RecordedError,
    RecordedRun,
    RecordedTurn,
    Recording,
    Sent,
)

VERSION = 1

_LARGEST_NUMBER = 10**12
"""The largest number of tokens or milliseconds, so that displayed numbers and their sums stay readable."""

_HEADER = "# A recording of axe-lsp: what each agent sent, and what its model answered.\n\n"


class _FormatError(ValueError):
    """The file is TOML, but no recording."""


def load_recording(path: Path, *, is_place: bool = False) -> Recording:
    """Read a recording. Raises ConfigError, which says what is wrong and where.

    A path that `is_place` was checked and has no links; none is followed.
    """
    try:
        content = read_place(path) if is_place else read_file(path)
        return _recording(tomli.loads(content.decode("utf-8-sig")))
    except FileNotFoundError as error:
        raise ConfigError(f"recording not found: {path}") from error
    except OSError as error:
        raise ConfigError(f"failed to read recording: {os_fault(error)}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"failed to parse recording {path}: {error}") from error


def is_recording(path: Path) -> bool:
    """Return whether the file begins like a recording, in order or not."""
    if not path.is_file():  # Reading a pipe would wait for a writer.
        return False
    try:
        with path.open("rb") as file:
            return _BEGINNING.match(file.read(4096)) is not None
    except OSError:
        return False


_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\n)*version[ \t]*=[ \t]*\d+[ \t\r]*(?:#[^\n]*)?\n"
    rb"(?:[ \t\r]*(?:#[^\n]*|paced[ \t]*=[^\n]*)?\n)*\[\[run\]\]"
)


def save_recording(path: Path, recording: Recording) -> None:
    """Write a recording, which only the user may read; a file that is there is replaced at once or not at all.

    Raises OSError.
    """
    write_whole_file(path, dump_recording(recording).encode(), mode=0o600)


def dump_recording(recording: Recording) -> str:
    """Return the text of a recording."""
    document: dict[str, Any] = {"version": VERSION}
    if recording.paced:
        document["paced"] = True
    document["run"] = [_dump_run(run) for run in recording.runs]
    # Multi-line strings read better, but TOML normalises the line ends in them.
    exact = "\r" in json.dumps(document, ensure_ascii=False).replace("\\r", "\r")
    return _HEADER + tomli_w.dumps(document, multiline_strings=not exact)


# -- reading


class _Table:
    """A table of the file. Each value is taken once; the keys that are left are unknown ones."""

    def __init__(self, table: object, where: str) -> None:
        if not isinstance(table, Mapping):
            raise _FormatError(f"{where} is not a table")
        self._rest: dict[str, Any] = dict(table)
        self.where = where

    def take(self, key: str, type_: type[Any], default: Any = None) -> Any:
        """Return the value of `key`, of the given type."""
        value = self._rest.pop(key, default)
        if value is not default and (
            not isinstance(value, type_) or (type_ is int and isinstance(value, bool))
        ):
            raise _FormatError(f"{self.where}: {key} is not {_TYPE_NAMES[type_]}")
        if type_ is int and abs(value) > _LARGEST_NUMBER:
            raise _FormatError(f"{self.where}: {key} is larger than {_LARGEST_NUMBER:,}")
        return value

    def require(self, key: str, type_: type[Any]) -> Any:
        """Return the value of `key`, which has to be there."""
        if key not in self._rest:
            raise _FormatError(f"{self.where}: {key} is missing")
        return self.take(key, type_)

    def done(self) -> None:
        """Complain about keys that mean nothing; they are most likely misspelt."""
        for key in self._rest:
            raise _FormatError(f"{self.where}: unknown key {quoted(key)}")


_TYPE_NAMES = {
    str: "a string",
    int: "an integer",
    bool: "a boolean",
    list: "an array",
    dict: "a table",
}


def _recording(document: Mapping[str, Any]) -> Recording:
    table = _Table(document, "the file")
    version = table.require("version", int)
    if version != VERSION:
        raise _FormatError(f"version {version} is unknown; this axe-lsp reads version {VERSION}")
    paced = table.take("paced", bool, False)
    runs = table.take("run", list, [])
    table.done()
    return Recording(
        tuple(_run(_Table(run, f"run {number}")) for number, run in enumerate(runs, 1)), paced
    )


def _run(table: _Table) -> RecordedRun:
    tools = table.take("tools", list)
    turns = table.take("turn", list, [])
    run = RecordedRun(
        agent=table.require("agent", str),
        model=table.take("model", str, ""),
        depth=table.take("depth", int, 0),
        system=table.take("system", str),
        tools=None if tools is None else tuple(str(tool) for tool in tools),
        turns=tuple(
            _turn(_Table(turn, f"{table.where}, turn {number}"))
            for number, turn in enumerate(turns, 1)
        ),
    )
    table.done()
    return run


def _turn(table: _Table) -> RecordedTurn:
    sent = table.take("sent", list)
    duration = table.take("duration_ms", int, 0)
    given = _given(table)
    error = table.take("error", dict)
    answer = _answer(table) if error is None else _error(_Table(error, f"{table.where}, error"))
    table.done()
    return RecordedTurn(
        answer,
        None
        if sent is None
        else tuple(
            _sent_message(_Table(message, f"{table.where}, sent {number}"))
            for number, message in enumerate(sent, 1)
        ),
        duration,
        given,
    )


def _given(table: _Table) -> Given | None:
    """Return what the request gives, None if the recording does not say so."""
    names, messages = table.take("given", list), table.take("messages", list)
    if names is None and messages is None:
        return None
    return Given(tuple(map(str, names or ())), tuple(map(str, messages or ())))


def _answer(table: _Table) -> Response:
    calls = table.take("tool_calls", list, [])
    return Response(
        content=table.take("text", str, ""),
        tool_calls=tuple(
            _call(_Table(call, f"{table.where}, tool call {number}"))
            for number, call in enumerate(calls, 1)
        ),
        model=table.take("model", str, ""),
        stop_reason=table.take("stop_reason", str, "tool_use" if calls else "end_turn"),
        input_tokens=table.take("input_tokens", int, 0),
        output_tokens=table.take("output_tokens", int, 0),
        cache_read_tokens=table.take("cache_read_tokens", int, 0),
        cache_write_tokens=table.take("cache_write_tokens", int, 0),
    )


def _call(table: _Table) -> ToolCall:
    text = table.take("arguments", str, "{}")
    call = ToolCall(
        table.require("id", str), table.require("name", str), _arguments(text, table.where)
    )
    table.done()
    return call


def _arguments(text: str, where: str) -> Mapping[str, Json]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _FormatError(f"{where}: arguments is not JSON: {error}") from None
    except RecursionError:
        raise _FormatError(f"{where}: arguments is nested too deeply") from None
    if not isinstance(value, dict):
        raise _FormatError(f"{where}: arguments is not a JSON object")
    return value


def _error(table: _Table) -> RecordedError:
    category = table.require("category", str)
    known = get_args(ProviderErrorCategory)
    if category not in known:
        raise _FormatError(f"{table.where}: category is not one of {', '.join(known)}")
    error = RecordedError(category, table.take("message", str, ""))
    table.done()
    return error


def _sent_message(table: _Table) -> Sent:
    sent = Sent(
        role=table.require("role", str),
        content=table.take("content", str, ""),
        call_id=table.take("call_id", str, ""),
        is_error=table.take("is_error", bool, False),
    )
    table.done()
    return sent


# -- writing


def _dump_run(run: RecordedRun) -> dict[str, Any]:
    table: dict[str, Any] = {"agent": run.agent, "model": run.model, "depth": run.depth}
    if run.system is not None:
        table["system"] = run.system
    if run.tools is not None:
        table["tools"] = list(run.tools)
    table["turn"] = [_dump_turn(turn) for turn in run.turns]
    return table


def _dump_turn(turn: RecordedTurn) -> dict[str, Any]:
    table: dict[str, Any] = {}
    if turn.sent is not None:
        table["sent"] = [_dump_sent(sent) for sent in turn.sent]
    if turn.given is not None:
        table["given"] = list(turn.given.side_runs)
        if turn.given.messages:
            table["messages"] = list(turn.given.messages)
    if isinstance(turn.answer, RecordedError):
        error = {"category": turn.answer.category, "message": turn.answer.message}
        return {**table, "duration_ms": turn.duration_ms, "error": error}
    answer = turn.answer
    table["text"] = answer.content
    if answer.tool_calls:
        table["tool_calls"] = [
            {
                "id": call.id,
                "name": call.name,
                "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
            }
            for call in answer.tool_calls
        ]
    cached = {
        "cache_read_tokens": answer.cache_read_tokens,
        "cache_write_tokens": answer.cache_write_tokens,
    }
    return {
        **table,
        "model": answer.model,
        "stop_reason": answer.stop_reason,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        **{name: tokens for name, tokens in cached.items() if tokens},
        "duration_ms": turn.duration_ms,
    }


def _dump_sent(sent: Sent) -> dict[str, Any]:
    table: dict[str, Any] = {"role": sent.role}
    if sent.call_id:
        table["call_id"] = sent.call_id
    if sent.is_error:
        table["is_error"] = True
    return {**table, "content": sent.content}
