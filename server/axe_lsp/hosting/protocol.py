"""What the supervisor and the host say to each other. `wire.py` turns it into lines."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from axe_lsp.agentfile.definition import BudgetConfig
from axe_lsp.hosting.jsonable import Json
from axe_lsp.hosting.message import Message
from axe_lsp.runtime.errors import ErrorKind
from axe_lsp.runtime.runs import Order, RunRequest, RunResult
from axe_lsp.runtime.safety.questions import Answer, Question


class Workplace(Struct, frozen=True):
    """What a run is surrounded by.

    `workspace` is where it works unless its agent says otherwise. `folders` hold the agents that
    the editor knows, in the order in which they are searched. `open_buffers` holds the texts of
    files as the editor has them, by path.
    """

    workspace: str
    folders: tuple[str, ...] = ()
    open_buffers: Mapping[str, str] = field(default_factory=dict)


class Environment(Message, frozen=True):
    """To the host, before all else: the environment of the process that has started it.

    It holds keys, so it is sent when the host is ready, which it is only when nobody can look into it. Names and
    values are bytes of the system, each as the character of that number.
    """

    TYPE = "environment"

    variables: Mapping[str, str]


class Start(Message, frozen=True):
    """To the host: make a run, under the id that is given here.

    It is remembered for `keep_days`, if that is not 0. `allow` says what may be done without
    asking (docs/settings.md). Its spans are sent if the user `traces` runs. `trusted` is whether the
    user has told the client that they trust the workspace.
    """

    TYPE = "start"

    run_id: str
    request: RunRequest
    workplace: Workplace
    stream: bool = False
    keep_days: int = 0
    allow: tuple[str, ...] = ()
    traces: bool = False
    trusted: bool = False


class StartChild(Message, frozen=True):
    """To the host: make a run that belongs to the tree of another process.

    The deadline of `order` counts from now on. `budget` is what its callers have left. `trusted` is as
    for a root run, and `granted` what the user has allowed for this run (`runtime/safety/trust.py`).
    """

    TYPE = "start-child"

    order: Order
    workplace: Workplace
    budget: BudgetConfig
    stream: bool = False
    allow: tuple[str, ...] = ()
    trusted: bool = False
    granted: tuple[str, ...] = ()


class Leave(Message, frozen=True):
    """To the host: end all runs and yourself. It is the last message; a supervisor that has died sends none."""

    TYPE = "leave"


class Taken(Message, frozen=True):
    """From the host, before anything else about it: a run or a preview has begun."""

    TYPE = "taken"

    run_id: str


class UsedUp(Message, frozen=True):
    """To the host: the callers of the run have nothing left of their budget."""

    TYPE = "used-up"

    run_id: str


class Preview(Message, frozen=True):
    """To the host: show what a run would send, and send nothing."""

    TYPE = "preview"

    run_id: str
    request: RunRequest
    workplace: Workplace


class Cancel(Message, frozen=True):
    """To the host: end a run, or one child of it, with all that it started."""

    TYPE = "cancel"

    run_id: str


class Ping(Message, frozen=True):
    """To the host: say that you are well."""

    TYPE = "ping"

    number: int


class Pong(Message, frozen=True):
    """From the host: the answer to the ping of that number."""

    TYPE = "pong"

    number: int


class Ready(Message, frozen=True):
    """From the host: it is up, and no other process of the user can look into it."""

    TYPE = "ready"

    pid: int


class Stored(Message, frozen=True):
    """From the host: the events of a run up to that number are in the history, or never will be."""

    TYPE = "stored"

    run_id: str
    seq: int


class Warned(Message, frozen=True):
    """From the host: something about a run that a person should know, and that did not end it."""

    TYPE = "warning"

    run_id: str
    text: str


class Asked(Message, frozen=True):
    """From the host: somebody has to decide something for the root run of that id."""

    TYPE = "question"

    run_id: str
    number: int
    question: Question


class Withdrawn(Message, frozen=True):
    """From the host: the question of that number needs no answer any more."""

    TYPE = "question-withdrawn"

    run_id: str
    number: int


class Answered(Message, frozen=True):
    """To the host: the answer to the question of that number."""

    TYPE = "answer"

    number: int
    answer: Answer


class Finished(Message, frozen=True):
    """From the host: the run has ended well."""

    TYPE = "result"

    result: RunResult


class Previewed(Message, frozen=True):
    """From the host: what the run would send, as clients see it."""

    TYPE = "preview-result"

    run_id: str
    preview: Mapping[str, Json]


class Failed(Message, frozen=True):
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
