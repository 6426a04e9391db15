"""What an agent sends over ACP, held to the published JSON Schema and to the order of its messages.

    wire = Wire(knows_subagents=False)
    wire.sends({"id": 1, "method": "session/new", ...})     # what the client sends
    wire.faults(received)                                   # of all that the agent has sent, in its order

Members that the schema does not name are faults too, but for those of `_meta`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

Json = Any

_FOLDER = Path(__file__).parent / "acp_schemas"

_AT_ANY_TIME = frozenset(
    (
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "notice",
        "session_info_update",
        "subagent_update",
        "usage_update",
    )
)
"""Updates that may come when no message is being answered."""

_OPENING = ("session/load", "session/resume")

_OVER = ("completed", "failed")


class Judge:
    """One of the two schemas: `stable` or `unstable`."""

    def __init__(self, name: str) -> None:
        self._schema: Json = json.loads((_FOLDER / f"{name}.json").read_text())
        resource = DRAFT202012.create_resource(self._schema)
        self._registry: Json = Registry().with_resource("acp", resource)
        self._validators: dict[str, Json] = {}
        self._names = {
            (each["x-method"], _kind_of(name)): name
            for name, each in self._schema["$defs"].items()
            if "x-method" in each
        }

    def faults(self, method: str, kind: str, value: Json) -> Iterator[str]:
        """Yield what is wrong with the params or the result of a method; `kind` is request, response or notification."""
        name = self._names.get((method, kind))
        if name is None:
            yield f"the protocol has no {kind} {method}"
        else:
            yield from self.faults_of(name, value)

    def faults_of(self, name: str, value: Json) -> Iterator[str]:
        """Yield what is wrong with a value of a type."""
        pointer = f"/$defs/{name}"
        error = best_match(self._validator(pointer).iter_errors(value))
        if error is not None:
            yield f"{name}{error.json_path}: {error.message}"
            return
        yield from self._strange(pointer, value, name)

    def _validator(self, pointer: str) -> Json:
        if pointer not in self._validators:
            schema = {"$ref": f"acp#{pointer}"}
            self._validators[pointer] = Draft202012Validator(schema, registry=self._registry)
        return self._validators[pointer]

    def _fits(self, pointer: str, value: Json) -> bool:
        return bool(self._validator(pointer).is_valid(value))

    def _node(self, pointer: str) -> Json:
        node = self._schema
        for part in pointer.split("/")[1:]:
            node = node[int(part)] if isinstance(node, list) else node[part]
        return node

    def _strange(self, pointer: str, value: Json, where: str) -> Iterator[str]:
        """Yield the members that no part of the schema names that applies to the value."""
        if not isinstance(value, (dict, list)):
            return
        known, items, is_open = self._members(pointer, value)
        if isinstance(value, list):
            for number, each in enumerate(value):
                for at in items[:1]:
                    yield from self._strange(at, each, f"{where}[{number}]")
            return
        for name in value.keys() - {"_meta"}:
            if name in known:
                yield from self._strange(known[name], value[name], f"{where}.{name}")
            elif not is_open:
                yield f"{where}.{name}: the protocol has no such member"

    def _members(self, pointer: str, value: Json) -> tuple[dict[str, str], list[str], bool]:
        """Return where the schemas of the members and items of a value are, and whether it may have others."""
        known: dict[str, str] = {}
        items: list[str] = []
        is_open = False
        for at in self._parts(pointer, value):
            node = self._node(at)
            is_open = is_open or _is_open(node)
            for name in node.get("properties", {}):
                known.setdefault(name, f"{at}/properties/{name}")
            if "items" in node:
                items.append(f"{at}/items")
        return known, items, is_open

    def _parts(self, pointer: str, value: Json) -> Iterator[str]:
        """Yield a schema and those within it that apply to the value itself."""
        node = self._node(pointer)
        if not isinstance(node, dict):
            return
        yield pointer
        if "$ref" in node:
            yield from self._parts(node["$ref"].removeprefix("#"), value)
        for number in range(len(node.get("allOf", ()))):
            yield from self._parts(f"{pointer}/allOf/{number}", value)
        for one_of in ("anyOf", "oneOf"):
            choices = [
                f"{pointer}/{one_of}/{number}" for number in range(len(node.get(one_of, ())))
            ]
            fitting = [at for at in choices if self._fits(at, value)]
            # One for "any other kind" fits as well as that of the kind.
            named = [at for at in fitting if _is_named(self._node(at))]
            for at in named or fitting:
                yield from self._parts(at, value)


def _kind_of(name: str) -> str:
    return next(
        (kind for kind in ("Request", "Response") if name.endswith(kind)), "Notification"
    ).lower()


def _is_open(node: Json) -> bool:
    if node.get("additionalProperties", False) is not False:
        return True
    parts = ("properties", "allOf", "anyOf", "oneOf", "$ref", "items")
    return node.get("type", "object") == "object" and not any(part in node for part in parts)


def _is_named(node: Json) -> bool:
    properties = node.get("properties", {}).values()
    return "$ref" in node or "allOf" in node or any("const" in each for each in properties)


@cache
def judge(name: str) -> Judge:
    """Return a schema, which is read once."""
    return Judge(name)


class _Sent(NamedTuple):
    """A request of the client. `after` is how many messages had come before."""

    method: str
    params: Json
    after: int


class _Work(NamedTuple):
    """A session answers a message or is opened, from one message of the agent to another."""

    session: str
    begin: int
    end: int


class Wire:
    """One connection, as its messages tell of it."""

    def __init__(self, *, knows_subagents: bool) -> None:
        self._judge = judge("unstable" if knows_subagents else "stable")
        self._sent: dict[Json, _Sent] = {}

    def sends(self, message: Mapping[str, Json], after: int) -> None:
        """The client sends a message, after it has received so many."""
        if "method" in message and "id" in message:
            self._sent[message["id"]] = _Sent(message["method"], message.get("params"), after)

    def faults(self, received: Sequence[Mapping[str, Json]]) -> list[str]:
        """Return what the agent has done wrong so far."""
        return [*self._faults_of_types(received)] or [*self._faults_of_order(received)]

    def _faults_of_types(self, received: Sequence[Mapping[str, Json]]) -> Iterator[str]:
        for message in received:
            if message.get("jsonrpc") != "2.0":
                yield f"no message of JSON-RPC: {str(message)[:200]}"
            if "method" in message:
                kind = "request" if "id" in message else "notification"
                yield from self._judge.faults(message["method"], kind, message.get("params"))
            elif "error" in message:
                yield from self._judge.faults_of("Error", message["error"])
            elif (sent := self._sent.get(message["id"])) is not None:
                yield from self._judge.faults(sent.method, "response", message["result"])

    def _faults_of_order(self, received: Sequence[Mapping[str, Json]]) -> Iterator[str]:
        roots = {  # Of the session of a called agent, that of its caller.
            message["params"]["update"]["sessionId"]: message["params"]["sessionId"]
            for message in received
            if _update(message).get("sessionUpdate") == "subagent_update"
        }
        named = self._named(received)
        works = self._works(received)
        calls: dict[str, str] = {}
        for number, message in enumerate(received):
            update = _update(message)
            busy = [work for work in works if work.begin <= number < work.end]
            if update:
                session = message["params"]["sessionId"]
                while session in roots:
                    session = roots[session]
                kind = update["sessionUpdate"]
                yield from _faults_of_calls(update, calls)
                if named.get(session, len(received)) > number:
                    yield f"{kind} for session {session}, of which the client has not heard"
                if kind not in _AT_ANY_TIME and session not in [work.session for work in busy]:
                    yield f"{kind} while no message is being answered"
            elif not busy and number in [work.end for work in works]:
                left = [call for call, status in calls.items() if status not in _OVER]
                if left:
                    yield f"a message is answered while these calls are open: {left}"

    def _named(self, received: Sequence[Mapping[str, Json]]) -> dict[str, int]:
        """With which message the client has heard of each session."""
        named: dict[str, int] = {}
        for number, message in enumerate(received):
            sent = self._sent.get(message.get("id"))
            if sent is not None and sent.method == "session/new" and "result" in message:
                named[message["result"]["sessionId"]] = number
        for sent in self._sent.values():
            if sent.method in _OPENING:
                named.setdefault(sent.params["sessionId"], sent.after)
        return named

    def _works(self, received: Sequence[Mapping[str, Json]]) -> list[_Work]:
        """From when to when each session was at work."""
        ends = {
            message["id"]: number
            for number, message in enumerate(received)
            if "method" not in message
        }
        return [
            _Work(sent.params["sessionId"], sent.after, ends.get(id_, len(received)))
            for id_, sent in self._sent.items()
            if sent.method in ("session/prompt", *_OPENING)
        ]


def _update(message: Mapping[str, Json]) -> Json:
    return message["params"]["update"] if message.get("method") == "session/update" else {}


def _faults_of_calls(update: Json, calls: dict[str, str]) -> Iterator[str]:
    """Take note of a tool call, of which there is one `tool_call` first, and nothing after its end."""
    kind, call = update["sessionUpdate"], update.get("toolCallId")
    if kind == "tool_call":
        if (
            call in calls and calls[call] not in _OVER
        ):  # It is told again when its session is loaded.
            yield f"tool_call {call} comes twice"
        calls[call] = update.get("status", "pending")
    elif kind == "tool_call_update":
        if call not in calls:
            yield f"tool_call_update for {call} before its tool_call"
        status, before = update.get("status"), calls.get(call)
        if status and before in _OVER and status != before:
            yield f"call {call} was {before} and is {status}"
        calls[call] = status or before or "pending"
