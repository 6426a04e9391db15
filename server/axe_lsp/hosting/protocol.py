"""The messages between the supervisor and the host: one compact JSON object a line, in UTF-8."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import field
from msgspec.json import Decoder

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.agentfile.lookup_order import AgentPlaces
from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.hosting.notifications import Message, Notification
from axe_lsp.runtime.errors import ErrorKind, ProviderErrorCategory, RunCancelledError, RunError
from axe_lsp.runtime.events import Fork, RunIds
from axe_lsp.runtime.inbox import MessageEdit, MessageRefusal, NewMessage
from axe_lsp.runtime.json_data import Json, JsonStruct, decoded, decoder_of, json_text
from axe_lsp.runtime.providers.provider import LimiterKey
from axe_lsp.runtime.run_log import Begun, StoredMessage
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import Order, RunRequest
from axe_lsp.runtime.safety.questions import Answer, Question
from axe_lsp.runtime.tools.editor import Ability, EditorAnswer, EditorRequest


class Workplace(JsonStruct, frozen=True):
    """The surroundings of a run: folders, settings and rights.

    `workspace` is where it works unless its agent says otherwise. `agent_file` is the path of the
    agent that is run, if it was chosen by its file and not by its name. `places` and the folders in
    `others` are those in which agents are looked for; None stands for those of the workspace.
    `open_buffers` holds the texts of files as the editor has them, by path.
    """

    workspace: str
    agent_file: str = ""
    places: AgentPlaces | None = None
    others: tuple[str, ...] = ()
    open_buffers: Mapping[str, str] = field(default_factory=dict)


class AboutRun(Message, frozen=True):
    """A message about the run of an id, or about its tree if it is that of the root."""

    run_id: str


class Numbered(Message, frozen=True):
    """A request with a number, or what is said of it."""

    number: int


class Environment(Message, frozen=True, tag="environment"):
    """To the host, before all else: the environment of the process that has started it.

    It holds keys, so it is sent when the host is ready, which it is only when nobody can look into it. Names and
    values are bytes of the system, each as the character of that number.
    """

    variables: Mapping[str, str]


class Start(AboutRun, frozen=True, tag="start"):
    """To the host: make a run, under the id that is given here.

    It is remembered for `keep_days`, if that is not 0. `allow` says what may be done without
    asking (docs/settings.md). Its spans are sent if the user `traces` runs. `trusted` is whether the
    user has told the client that they trust the workspace. A run that is resumed goes on `after` the event of
    that number, with the steps that the history has of it; if its former host has died, the supervisor has adopted it
    meanwhile and is the `adopter`. One that `continues` a completed root run goes on with
    its conversation, prompt and tools. In a `session` these are read again, the agent may be another one, and the run
    that it `continues` need not be completed. One that is `forked_from` a root run has the first turns of that one.
    `servers` are MCP servers of the client for the root agent. They hold secrets, and are not remembered.
    The editor of the client can do what `editor` names. Agents in copies work `on` the engine or machine of that name, "" for what config.toml says.
    If the server dies or leaves without a word, the run ends at once, or has `grace` seconds to get another server; ENDLESS is any time.
    """

    request: RunRequest
    workplace: Workplace
    stream: bool = False
    keep_days: int = 0
    allow: tuple[str, ...] = ()
    traces: bool = False
    trusted: bool = False
    after: int = 0
    adopter: str = ""
    continues: str = ""
    session: bool = False
    forked_from: Fork | None = None
    servers: tuple[McpServer, ...] = ()
    editor: tuple[Ability, ...] = ()
    on: str = ""
    grace: int = 0

    @property
    def former(self) -> str:
        """The root run that this one takes something over from; "" for none, and once it has done so."""
        if self.after:
            return ""
        return self.forked_from.run_id if self.forked_from is not None else self.continues


ENDLESS = -1
"""The grace of a run that goes on without a server until it has ended."""


class StartChild(Message, frozen=True, tag="start-child"):
    """To the host: make a run that belongs to the tree of another process.

    The deadline of `order` counts from now on. `budget` is what its callers have left. `trusted` is as
    for a root run, and `granted` what the user has allowed for this run (`runtime/safety/trust.py`). A run that had
    `begun` in a former process goes on with the steps that are `known` of it and of those below it. `on` is as for
    a root run.
    """

    order: Order
    workplace: Workplace
    budget: BudgetConfig
    stream: bool = False
    allow: tuple[str, ...] = ()
    trusted: bool = False
    granted: tuple[str, ...] = ()
    known: tuple[Step, ...] = ()
    begun: Mapping[str, Begun] = field(default_factory=dict)
    editor: tuple[Ability, ...] = ()
    on: str = ""


class Leave(Message, frozen=True, tag="leave"):
    """To the host: end all runs and yourself. It is the last message; a supervisor that has died sends none.

    The runs are killed if the server that wants them is about to end, else they are cancelled.
    """

    server_ends: bool = False


class Taken(AboutRun, frozen=True, tag="taken"):
    """From the host, before anything else about it: a run or a preview has begun."""


class UsedUp(AboutRun, frozen=True, tag="used-up"):
    """To the host: the callers of the run have nothing left of their budget."""


class Preview(AboutRun, frozen=True, tag="preview"):
    """To the host: show what a run would send, and send nothing. The `editor` is as for a run."""

    request: RunRequest
    workplace: Workplace
    editor: tuple[Ability, ...] = ()


class Cancel(AboutRun, frozen=True, tag="cancel"):
    """To the host: end a run, or one child of it, with all that it started."""


class MessageRequest(Numbered, frozen=True, tag="message"):
    """To the host: give a run a `message`, change one that waits by an `edit`, or else list those that wait."""

    root_run_id: str
    run_id: str
    message: NewMessage | None = None
    edit: MessageEdit | None = None


class MessageAnswer(Numbered, frozen=True, tag="message-answer"):
    """From the host: the answer to the request of that number. With a `refusal` nothing has changed."""

    message_id: str = ""
    has_changed: bool = False
    messages: tuple[StoredMessage, ...] = ()
    refusal: MessageRefusal | None = None


class Ping(Numbered, frozen=True, tag="ping"):
    """To the host: say that you are well."""


class Pong(Numbered, frozen=True, tag="pong"):
    """From the host: the answer to the ping of that number."""


class Ready(Message, frozen=True, tag="ready"):
    """From the host: it is up, and no other process of the user can look into it."""

    pid: int


class Stored(AboutRun, frozen=True, tag="stored"):
    """From the host: the events of a run up to that number are in the history.

    They are not, and may never be, if the history `is_failing`.
    """

    seq: int
    is_failing: bool = False


class Warned(AboutRun, frozen=True, tag="warning"):
    """From the host: something about a run that a person should know, and that did not end it."""

    text: str


class Asked(AboutRun, frozen=True, tag="question"):
    """From the host: a question to the user, for the root run with that id."""

    number: int
    question: Question


class EditorAsked(AboutRun, frozen=True, tag="editor-request"):
    """From the host: the editor of the client has to do something for a `run`. The id is that of its root run."""

    number: int
    run: RunIds
    request: EditorRequest


class Stepped(Message, frozen=True, tag="step"):
    """From a host that makes a run for a tree of this process: a step to keep with the next event."""

    step: Step


class Committing(Message, frozen=True, tag="committing"):
    """From such a host: it waits until all steps of the tree so far are on the disk."""

    root_run_id: str
    number: int


class Committed(Numbered, frozen=True, tag="committed"):
    """To such a host: the steps before that number are on the disk, or can't get there."""


class Withdrawn(AboutRun, frozen=True, tag="question-withdrawn"):
    """From the host: the question of that number, or the request to the editor, needs no answer any more."""

    number: int


class Answered(Numbered, frozen=True, tag="answer"):
    """To the host: the answer to the question of that number."""

    answer: Answer


class EditorAnswered(Numbered, frozen=True, tag="editor-answer"):
    """To the host: the answer to the request of that number."""

    answer: EditorAnswer


class Refusal(JsonStruct, frozen=True):
    """A ProviderError, as far as limiters need it."""

    category: ProviderErrorCategory
    message: str
    status: int
    may_pass: bool
    was_shared: bool
    retry_after: float | None = None
    codes: tuple[str, ...] = ()


class LimiterRequest(Numbered, frozen=True, tag="limiter-request"):
    """From a host that makes a run for a tree of this process: a request waits for a limiter.

    The other fields are those of `runtime/providers/adaptive_limiter.py`. The run may wait for `patience` seconds.
    """

    limiter: LimiterKey
    most: int
    attempts: int
    patience: float


class Held(Numbered, frozen=True, tag="held"):
    """To such a host: the request of that number waits, for as long as is known, or 0."""

    seconds: float


class LimiterGrant(Numbered, frozen=True, tag="limiter-grant"):
    """To such a host: the request of that number passes."""


class LimiterRelease(Numbered, frozen=True, tag="limiter-release"):
    """From such a host: the request of that number was answered or refused, or nobody waits for it any more."""

    is_answered: bool = False
    refusal: Refusal | None = None


class LimiterRefusal(Numbered, frozen=True, tag="limiter-refusal"):
    """To such a host: what the limiter says about a refusal, or why the request of that number is not sent."""

    refusal: Refusal


class Finished(Message, frozen=True, tag="result"):
    """From the host: the run has ended well."""

    result: RunResult


class Previewed(AboutRun, frozen=True, tag="preview-result"):
    """From the host: what the run would send, as clients see it."""

    preview: Mapping[str, Json]


class Failed(AboutRun, frozen=True, tag="error"):
    """From the host: the run has ended badly. `partial` is what it came to until then.

    `hint` is what the user could do next, `reason` a word for programs.
    """

    text: str
    kind: ErrorKind
    exit_code: int
    cancelled: bool = False
    hint: str = ""
    reason: str = ""
    partial: RunResult | None = None


class Greeting(Message, frozen=True, tag="greeting"):
    """From an executor, to who connects: the version of what follows, its process, and whether the peer may steer runs."""

    version: int
    pid: int
    may_steer: bool


class ActiveRun(JsonStruct, frozen=True):
    """A root run that an executor executes. `is_on_its_own` is one that no window and no terminal waits for."""

    run_id: str
    agent: str
    began: str
    workspace: str
    task: str = ""
    is_on_its_own: bool = False


class ListRuns(Message, frozen=True, tag="list-runs"):
    """To an executor: list the root runs that it executes."""


class RunList(Message, frozen=True, tag="run-list"):
    """From an executor: its root runs."""

    runs: tuple[ActiveRun, ...]


class AwaitEnd(AboutRun, frozen=True, tag="await-end"):
    """To an executor: send `Finished` or `Failed` when a root run has ended, or `NoRun`."""


class NoRun(AboutRun, frozen=True, tag="no-run"):
    """From an executor: it does not execute this run."""


class Adopt(Message, frozen=True, tag="adopt"):
    """To a run host that has lost its server: be the host of this one. Messages of supervisors and hosts follow."""


class Adopted(Message, frozen=True, tag="adopted"):
    """From a run host: the root runs that have outlived its server. Their events until now are in the history.

    Open questions follow. There are no runs if the host has a server.
    """

    starts: tuple[Start, ...]


ToRequest = Answered | EditorAnswered | Held | LimiterGrant | LimiterRefusal | Committed
"""What a supervisor says of the request of a number."""

ToHost = (
    Environment
    | Start
    | StartChild
    | Preview
    | Cancel
    | UsedUp
    | MessageRequest
    | ToRequest
    | Ping
    | Leave
)
"""The messages of a supervisor."""

FromHost = (
    Ready
    | Notification
    | Taken
    | Stored
    | Warned
    | Asked
    | EditorAsked
    | Stepped
    | Committing
    | Withdrawn
    | LimiterRequest
    | LimiterRelease
    | Finished
    | Previewed
    | Failed
    | MessageAnswer
    | Pong
)
"""The messages of a host."""


FromAdopter = Cancel | MessageRequest | ToRequest | Ping | Leave
"""The messages of a supervisor that has adopted a host. New runs are for a host with the environment of their server."""

ToExecutor = ListRuns | AwaitEnd | Cancel | MessageRequest | Adopt
"""The messages of a process that has connected to an executor."""

FromExecutor = Greeting | RunList | NoRun | Finished | Failed | MessageAnswer
"""The messages of an executor to such a process."""

VERSION = 1
"""The version of these messages. An executor of another version is listed, and nothing else."""


def failure_of(run_id: str, error: RunError, text: str = "") -> Failed:
    """Return the message about a run that has failed; a `text` replaces that of the error."""
    return Failed(
        run_id=run_id,
        text=text or str(error),
        kind=error.kind,
        exit_code=int(error.exit_code),
        cancelled=isinstance(error, RunCancelledError),
        hint=error.hint,
        reason=error.reason,
        partial=error.partial,
    )


def encode(message: Message) -> bytes:
    """Return a message as a line, with its newline."""
    if isinstance(message, Notification):
        line = f'{{"type":"event","method":"{message.method}","params":{message.text}}}\n'
        return line.encode()
    return json_text(message).encode() + b"\n"


def read_to_host(line: bytes) -> ToHost:
    """Return the message in a line, validated. Raises ValueError if there is none."""
    return decoded(line, _decoder_of_host())


def read_from_host(line: bytes) -> FromHost:
    """Return the message in a line, validated. Raises ValueError if there is none."""
    return decoded(line, _decoder_of_supervisor())


def read_to_executor(line: bytes) -> ToExecutor:
    """Return the message in a line, validated. Raises ValueError if there is none."""
    return decoded(line, _decoder_of_executor())


def read_from_adopter(line: bytes) -> FromAdopter:
    """Return the message in a line, validated. Raises ValueError if there is none."""
    return decoded(line, _decoder_of_adopted_host())


def read_adopted(line: bytes) -> Adopted:
    """Return the message in a line, validated. Raises ValueError if there is none."""
    adopted: Adopted = decoded(line, decoder_of(Adopted))
    return adopted


def read_from_executor(line: bytes) -> FromExecutor:
    """Return the message in a line, validated. Raises ValueError if there is none."""
    return decoded(line, _decoder_of_peer())


# Each process needs one of them, and makes it when the first line comes.


@cache
def _decoder_of_host() -> Decoder[ToHost]:
    return decoder_of(ToHost)


@cache
def _decoder_of_adopted_host() -> Decoder[FromAdopter]:
    return decoder_of(FromAdopter)


@cache
def _decoder_of_supervisor() -> Decoder[FromHost]:
    return decoder_of(FromHost)


@cache
def _decoder_of_executor() -> Decoder[ToExecutor]:
    return decoder_of(ToExecutor)


@cache
def _decoder_of_peer() -> Decoder[FromExecutor]:
    return decoder_of(FromExecutor)
