"""What the supervisor and the host say to each other: one compact JSON object a line, in UTF-8.

Also the one place where an event of a run becomes the notification that clients see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from axe_lsp.agentfile.definition import BudgetConfig
from axe_lsp.hosting.jsonable import Json, from_json, to_json
from axe_lsp.runtime import events
from axe_lsp.runtime.errors import ErrorKind
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.runs import Order, RunRequest, RunResult
from axe_lsp.runtime.safety.questions import Answer, Question


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a run is surrounded by.

    `workspace` is where it works unless its agent says otherwise. `folders` hold the agents that
    the editor knows, in the order in which they are searched. `open_buffers` holds the texts of
    files as the editor has them, by path.
    """

    workspace: str
    folders: tuple[str, ...] = ()
    open_buffers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """What goes over the wire, where `TYPE` says which message it is."""

    TYPE: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Start(Message):
    """To the host: make a run, under the id that is given here.

    It is remembered for `keep_days`, if that is not 0. `allow` says what may be done without
    asking (docs/settings.md). Its spans are sent if the user `traces` runs.
    """

    TYPE = "start"

    run_id: str
    request: RunRequest
    workplace: Workplace
    stream: bool = False
    keep_days: int = 0
    allow: tuple[str, ...] = ()
    traces: bool = False


@dataclass(frozen=True, slots=True)
class StartChild(Message):
    """To the host: make a run that belongs to the tree of another process.

    The deadline of `order` counts from now on. `budget` is what its callers have left.
    """

    TYPE = "start-child"

    order: Order
    workplace: Workplace
    budget: BudgetConfig
    stream: bool = False
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsedUp(Message):
    """To the host: the callers of the run have nothing left of their budget."""

    TYPE = "used-up"

    run_id: str


@dataclass(frozen=True, slots=True)
class Preview(Message):
    """To the host: show what a run would send, and send nothing."""

    TYPE = "preview"

    run_id: str
    request: RunRequest
    workplace: Workplace


@dataclass(frozen=True, slots=True)
class Cancel(Message):
    """To the host: end a run, or one child of it, with all that it started."""

    TYPE = "cancel"

    run_id: str


@dataclass(frozen=True, slots=True)
class Ping(Message):
    """To the host: say that you are well."""

    TYPE = "ping"

    number: int


@dataclass(frozen=True, slots=True)
class Pong(Message):
    """From the host: the answer to the ping of that number."""

    TYPE = "pong"

    number: int


@dataclass(frozen=True, slots=True)
class Ready(Message):
    """From the host: it is up."""

    TYPE = "ready"

    pid: int


@dataclass(frozen=True)
class Notification(Message):
    """From the host: an event of a run, with the method and the parameters that clients see."""

    TYPE = "event"

    method: str
    params: Mapping[str, Json]

    @cached_property
    def text(self) -> str:
        """The parameters as JSON, made once for the wire and for the history."""
        return _to_text(self.params)


@dataclass(frozen=True, slots=True)
class Stored(Message):
    """From the host: the events of a run up to that number are in the history, or never will be."""

    TYPE = "stored"

    run_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class Warned(Message):
    """From the host: something about a run that a person should know, and that did not end it."""

    TYPE = "warning"

    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked(Message):
    """From the host: somebody has to decide something for the root run of that id."""

    TYPE = "question"

    run_id: str
    number: int
    question: Question


@dataclass(frozen=True, slots=True)
class Withdrawn(Message):
    """From the host: the question of that number needs no answer any more."""

    TYPE = "question-withdrawn"

    run_id: str
    number: int


@dataclass(frozen=True, slots=True)
class Answered(Message):
    """To the host: the answer to the question of that number."""

    TYPE = "answer"

    number: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Finished(Message):
    """From the host: the run has ended well."""

    TYPE = "result"

    result: RunResult


@dataclass(frozen=True, slots=True)
class Previewed(Message):
    """From the host: what the run would send, as clients see it."""

    TYPE = "preview-result"

    run_id: str
    preview: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Failed(Message):
    """From the host: the run has ended badly. `partial` is what it came to until then.

    `hint` is what the user could do next.
    """

    TYPE = "error"

    run_id: str
    text: str
    kind: ErrorKind
    exit_code: int
    cancelled: bool = False
    hint: str = ""
    partial: RunResult | None = None


def notification(event: Event) -> Notification:
    """An event of a run as clients see it."""
    kind = {} if event.KIND is None else {"kind": event.KIND}
    own = to_json(event)
    return Notification(event.METHOD, {**own.pop("run"), **kind, **own})


def event_of(notification: Notification) -> Event:
    """The event that a notification tells of."""
    params = notification.params
    kind = _EVENTS[notification.method, params.get("kind")]
    return from_json(kind, {**params, "run": params})


def encode(message: Message) -> bytes:
    """A message as a line, with its newline."""
    if isinstance(message, Notification):
        line = f'{{"type":"{message.TYPE}","method":"{message.method}","params":{message.text}}}\n'
        return line.encode()
    return _to_text({"type": message.TYPE, **to_json(message)}).encode() + b"\n"


def decode(line: bytes) -> Message:
    """The message in a line. Raises ValueError, LookupError or TypeError if there is none."""
    value = json.loads(line.decode())
    if value["type"] == Notification.TYPE:  # As most are, and there is nothing to be translated.
        return Notification(value["method"], value["params"])
    return from_json(_MESSAGES[value["type"]], value)


def _to_text(value: Json) -> str:
    text = _ENCODER.encode(value)
    # A lone surrogate, which JSON can spell and UTF-8 can't, becomes a question mark.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


_EVENTS: dict[tuple[str, str | None], type[Event]] = {
    (kind.METHOD, kind.KIND): kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
}

_MESSAGES: dict[str, type[Message]] = {
    kind.TYPE: kind
    for kind in (
        Start,
        StartChild,
        UsedUp,
        Preview,
        Cancel,
        Ping,
        Pong,
        Ready,
        Notification,
        Stored,
        Warned,
        Asked,
        Withdrawn,
        Answered,
        Finished,
        Previewed,
        Failed,
    )
}
