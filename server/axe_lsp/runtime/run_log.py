"""The log of a tree: what its runs have paid for and done, each as a `Step`.

A run writes a step right before the event that tells of the same, so that both reach the disk
together. A resumed run finds the steps of the former process here and does not repeat them.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.runtime.events import MessageMode, RunIds, Saved
from axe_lsp.runtime.journal import timestamp
from axe_lsp.runtime.json_data import plain_json
from axe_lsp.runtime.messages import (
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolOutcome,
)
from axe_lsp.runtime.plain_text import short_digest
from axe_lsp.runtime.run_steps import Step, StepKind, StepSink
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.safety.questions import Question
from axe_lsp.runtime.safety.redaction import holds_secret, redacted_json
from axe_lsp.runtime.usage import NOTHING, Usage


def keep_allowed(sink: StepSink, question: Question) -> None:
    """Keep what was allowed "for this run", so that it is not asked again."""
    root = question.run.root_run_id
    sink.keep(Step(root, root, "allow", call=f"{question.tool} {question.subject}"))


class First(Struct, frozen=True, omit_defaults=True):
    """The state with which a run begins: everything of which its first request was made.

    `model` is `provider/name`. `folder` is the absolute path in which its tools work; `memory` the path of its
    memory, "" for none; `remote` are the names of the tools of its MCP servers.
    As a step it has the digest of what is `shared` instead.
    """

    order: Order
    definition: AgentDefinition
    model: str
    folder: str
    request: Request
    max_depth: int
    memory: str = ""
    remote: tuple[str, ...] = ()
    shared: str = ""


class Shared(Struct, frozen=True, omit_defaults=True):
    """The part of `First` that many runs of a tree share, which is most of it."""

    definition: AgentDefinition
    system: str = ""
    tools: tuple[Tool, ...] = ()


_NOBODY = AgentDefinition("", "")
"""In a step, in place of the definition that is in another one."""


class Room(Struct, frozen=True, omit_defaults=True):
    """One attempt to make a request fit into a context of `limit` tokens.

    With an `answer` the model has summed up the conversation, unless there is a `fault`, while the `side_runs` of
    these names were at work. Without one, old results were shortened.
    """

    limit: int
    answer: Response | None = None
    fault: str = ""
    side_runs: tuple[str, ...] = ()


class StoredMessage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A message of a run. `number` counts the messages of the run, `time` is when it was accepted."""

    message_id: str
    mode: MessageMode
    text: str
    sender: str
    time: str
    number: int = 0
    is_removed: bool = False


class Gave(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What a request has given: answers of side runs, by name, and messages, which are `texts`.

    It `wakes` a conversation whose last answer was the end.
    """

    side_runs: tuple[str, ...] = ()
    message_ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    wakes: bool = False


class Asked(Struct, frozen=True, omit_defaults=True):
    """A question to a person. `until` is the time of its answer, "" while it is open."""

    until: str = ""


class Begun(Struct, frozen=True):
    """A run that has begun in a former process: when, and for how many milliseconds it has run.

    For `asked_ms` of them a question was open, its own or one of a run below.
    """

    time: str
    used_ms: int = 0
    asked_ms: int = 0


Key = tuple[str, int, str, str]
"""Run, turn, call and kind of a step."""


class Before(Struct, frozen=True):
    """The conversation that a run of a session goes on with: that of the root run `continues`.

    `session` is what its requests were known by.
    """

    continues: str
    session: str
    messages: tuple[Message, ...]


class Known(Struct, frozen=True):
    """The steps of a tree from former processes. `after` is the `seq` of its last event.

    The root of a new tree may go on with the conversation `before` it.
    """

    steps: Mapping[Key, str] = field(default_factory=dict)
    runs: Mapping[str, Begun] = field(default_factory=dict)
    after: int = 0
    before: Before | None = None


class Spent(Struct, frozen=True):
    """The usage of a run and all below it: tokens of provider answers, and tool calls."""

    used: Usage = NOTHING
    calls: int = 0


class Log:
    """The log of one tree. `sink` takes new steps; without one they are not kept."""

    def __init__(self, sink: StepSink | None = None, known: Known | None = None) -> None:
        self._sink = sink
        self.known = known or Known()
        self._runs = _runs_of(self.known)
        self._shared: dict[int, tuple[Shared, str]] = {}
        self.saved_files: set[str] = set()
        self.contents: dict[str, bytes | None] = {}

    def of(self, ids: RunIds) -> RunLog:
        """Return the log of one run of the tree."""
        return RunLog(self, ids)

    def keep(self, step: Step) -> None:
        """Keep a step."""
        if self._sink is not None:
            self._sink.keep(step)

    def share(self, root: str, shared: Shared, secrets: Collection[str]) -> str:
        """Keep what runs have in common, once; returns its digest."""
        known = self._shared.get(id(shared.definition))
        if known is not None:
            other, digest = known
            if (other.system, other.tools) == (shared.system, shared.tools):
                return digest
        text = encoded(shared, secrets)
        digest = short_digest(text)
        self._shared[id(shared.definition)] = shared, digest
        self.keep(Step(root, root, "agent", call=digest, data=text))
        return digest

    def shared(self, root: str, digest: str) -> Shared:
        """Return the shared part of the runs with a digest. Raises KeyError."""
        return decoded(self.known.steps[root, 0, digest, "agent"], Shared)

    @property
    def is_kept(self) -> bool:
        """Whether steps are kept."""
        return self._sink is not None

    async def committed(self, root: str) -> None:
        """Wait for the steps so far to be on the disk."""
        if self._sink is not None:
            await self._sink.committed(root)

    def run(self, run_id: str) -> _KnownRun:
        """Return the usage and the children of a run of a former process."""
        return self._runs.get(run_id, _NOTHING)

    def below(self, run_id: str) -> Known:
        """Return the steps of a run and of those below it, with the shared parts of the whole tree."""
        below, unseen = set[str](), [run_id]
        while unseen:
            below.add(each := unseen.pop())
            unseen.extend(self.run(each).children)
        steps = {
            key: data
            for key, data in self.known.steps.items()
            if key[0] in below or key[3] == "agent"
        }
        return Known(steps, self.known.runs if run_id in self.known.runs else {})

    def unfinished(self, run_id: str) -> Iterator[RunLog]:
        """Yield a run and those below it that its caller still waits for."""
        run = self.run(run_id)
        if run.ids is not None:
            yield self.of(run.ids)
        for child in run.children:
            if child not in run.finished:
                yield from self.unfinished(child)

    @property
    def finished_runs(self) -> int:
        """How many runs have given their results to their callers."""
        return sum(len(run.finished) for run in self._runs.values())

    def spent(self, run_id: str) -> Spent:
        """Return the usage of a run of a former process and all below it."""
        run = self.run(run_id)
        total = Spent(run.used, run.calls)
        for child in run.children:
            below = self.spent(child)
            total = Spent(total.used + below.used, total.calls + below.calls)
        return total


_AT_ONCE = 0.1
"""Seconds in which no person answers a question."""


class RunLog:
    """The log of one run, whose steps hold none of the `secrets`."""

    def __init__(self, log: Log, ids: RunIds, secrets: Collection[str] = ()) -> None:
        self._log = log
        self.ids = ids
        self._secrets = secrets
        self._known = log.run(ids.run_id)
        self._rooms: dict[int, int] = {}

    def without(self, secrets: Collection[str]) -> RunLog:
        """Return the same log, whose new steps hold none of these texts."""
        return RunLog(self._log, self.ids, secrets)

    @property
    def begun(self) -> Begun | None:
        """When the run has begun in a former process; None if it is new."""
        return self._log.known.runs.get(self.ids.run_id)

    @property
    def first(self) -> First | None:
        """The state with which the run has begun, None if it had not sent a request."""
        first = self._find(0, "", "first", First)
        if first is None or not first.shared:
            return first
        shared = self._log.shared(self.ids.root_run_id, first.shared)
        request = replace(first.request, system=shared.system, tools=shared.tools)
        return replace(first, definition=shared.definition, request=request, shared="")

    @property
    def before(self) -> Before | None:
        """The conversation that the run goes on with, if it is the root of a session."""
        return None if self.ids.depth else self._log.known.before

    def answer(self, turn: int) -> Response | None:
        """Return the answer of a turn, if it is known."""
        return self._find(turn, "", "answer", Response)

    def rooms(self, turn: int) -> Sequence[Room]:
        """Return the attempts before a turn to make its request fit."""
        rooms: list[Room] = []
        while (room := self._find(turn, str(len(rooms)), "room", Room)) is not None:
            rooms.append(room)
        return rooms

    def result(self, turn: int, call: str) -> ToolOutcome | None:
        """Return the result of a call, if it is known."""
        return self._find(turn, call, "result", ToolOutcome)

    def side(self, turn: int, call: str) -> ToolOutcome | None:
        """Return the outcome of the side run that a call has started, if it is known."""
        return self._find(turn, call, "side", ToolOutcome)

    def gave(self, turn: int) -> Gave | None:
        """Return what the request of a turn has given, if that is known."""
        return self._find(turn, "", "gave", Gave)

    @property
    def queued_messages(self) -> list[StoredMessage]:
        """The messages that a former process has accepted and not removed, in order, also those that it has given."""
        messages = sorted(self._known.messages.values(), key=lambda each: each.number)
        return [each for each in messages if not each.is_removed]

    @property
    def message_ids(self) -> Iterable[str]:
        """The ids of all messages that a former process has accepted."""
        return self._known.messages

    @property
    def last_message_number(self) -> int:
        """How many messages a former process has accepted."""
        return len(self._known.messages)

    async def committed(self) -> None:
        """Wait for the steps so far to be on the disk."""
        await self._log.committed(self.ids.root_run_id)

    def unknown_calls(self) -> Iterator[ToolCall]:
        """Yield the calls that may have changed something, and whose results are not known."""
        for run_id, turn, call_id, kind in self._log.known.steps:
            if kind == "begun" and run_id == self.ids.run_id and not self.result(turn, call_id):
                answer = self.answer(turn) or Response()
                yield from (call for call in answer.tool_calls if call.event_id == call_id)

    def is_begun(self, turn: int, call: str) -> bool:
        """Return whether a call that may change something had begun."""
        return self._key(turn, call, "begun") in self._log.known.steps

    @property
    def saved(self) -> Saved:
        """The work that the run need not do again."""
        used, begun = self._known.used, self.begun
        return Saved(
            turns=self._known.turns,
            tool_calls=self._known.results,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cache_read_tokens=used.cache_read_tokens or None,
            cache_write_tokens=used.cache_write_tokens or None,
            cost=used.cost if self._known.turns else None,
            duration_ms=begun.used_ms if begun else 0,
        )

    def spent(self, child: str) -> Spent:
        """Return the usage of a run that this one had called, with all below it."""
        return self._log.spent(child)

    def keep_first(self, first: First) -> None:
        """Keep what the first request is made of, which is about to be sent."""
        if not self._log.is_kept:
            return
        request = first.request
        shared = Shared(first.definition, request.system, request.tools)
        digest = self._log.share(self.ids.root_run_id, shared, self._secrets)
        kept = replace(
            first,
            definition=_NOBODY,
            # The moment is one of this process's clock, and what a provider keeps is for this process.
            order=replace(first.order, deadline=math.inf, definition=None),
            request=replace(request, system="", tools=(), kept={}),
            shared=digest,
        )
        self.keep("first", data=kept)

    def keep_room(self, turn: int, room: Room) -> None:
        """Keep that the context was made shorter before a turn."""
        number = self._rooms.setdefault(turn, len(self.rooms(turn)))
        self._rooms[turn] += 1
        self.keep("room", turn, str(number), room)

    @property
    def is_kept(self) -> bool:
        """Whether steps are kept."""
        return self._log.is_kept

    def has_saved(self, path: str) -> bool:
        """Return whether this process has saved a file before a change."""
        return path in self._log.saved_files

    @property
    def contents(self) -> dict[str, bytes | None]:
        """The files that calls are changing, by path, each before its change."""
        return self._log.contents

    def keep_saved(self, turn: int, call: str, path: str, file: Struct) -> None:
        """Keep the file at a path that a call is about to change. What is kept holds no secret."""
        self._log.saved_files.add(path)
        self.keep("saved", turn, call, file)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Keep the time for which a question is open: it is not that of the run, also once it is resumed.

        It is written without an event, so that other processes see that the run waits.
        """
        since, loop = timestamp(), asyncio.get_running_loop()
        writing: asyncio.Task[None] | None = None

        def keep_open() -> None:
            nonlocal writing
            self.keep("asked", call=since, data=Asked())
            writing = loop.create_task(self._log.committed(self.ids.root_run_id))

        # Most are answered by a rule, at once.
        opened = loop.call_later(_AT_ONCE, keep_open)
        try:
            yield
        finally:
            opened.cancel()
            if writing is not None:
                writing.cancel()
                self.keep("asked", call=since, data=Asked(timestamp()))

    async def begin(self, turn: int, call: str) -> None:
        """Keep that a call that may change something is about to be executed; wait until that is on the disk."""
        self.keep("begun", turn, call)
        await self._log.committed(self.ids.root_run_id)

    def keep(
        self, kind: StepKind, turn: int = 0, call: str = "", data: Struct | None = None
    ) -> None:
        """Keep a step of this run, if steps are kept."""
        if not self._log.is_kept:
            return
        text = "" if data is None else encoded(data, self._secrets)
        self._log.keep(Step(self.ids.root_run_id, self.ids.run_id, kind, turn, call, text))

    def _key(self, turn: int, call: str, kind: StepKind) -> Key:
        return self.ids.run_id, turn, call, kind

    def _find(self, turn: int, call: str, kind: StepKind, of: type[_Data]) -> _Data | None:
        text = self._log.known.steps.get(self._key(turn, call, kind))
        return None if text is None else decoded(text, of)


class _KnownRun(Struct):
    """The usage of one run of a former process, and the runs that it had called.

    Those whose results it has are `finished`.
    """

    ids: RunIds | None = None

    used: Usage = NOTHING
    calls: int = 0
    turns: int = 0
    results: int = 0
    children: list[str] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)
    messages: dict[str, StoredMessage] = field(default_factory=dict)


_NOTHING = _KnownRun()

_Data = TypeVar("_Data", bound=Struct)


def _runs_of(known: Known) -> dict[str, _KnownRun]:
    runs: dict[str, _KnownRun] = {}
    for (run_id, _, call, kind), text in known.steps.items():
        run = runs.setdefault(run_id, _KnownRun())
        if kind == "answer":
            answer = decoded(text, Response)
            run.used += answer.usage
            run.calls += len(answer.tool_calls)
            run.turns += 1
        elif kind == "room":
            summary = decoded(text, Room).answer
            run.used += summary.usage if summary is not None else NOTHING
        elif kind == "result":
            run.results += 1
            if child := decoded(text, ToolOutcome).child:
                run.finished.add(child)
        elif kind == "side":
            run.finished.add(decoded(text, ToolOutcome).child)
        elif kind == "message":
            run.messages[call] = decoded(text, StoredMessage)
        elif kind == "first":
            run.ids = decoded(text, First).order.ids
            if run.ids.parent_run_id is not None:
                runs.setdefault(run.ids.parent_run_id, _KnownRun()).children.append(run_id)
    return runs


def encoded(value: Struct, secrets: Collection[str] = ()) -> str:
    """Return a struct as JSON, which reads back to the same bytes of every text and number.

    Unlike msgspec, Python's `json` writes lone surrogates, NaN and integers of any size.
    """
    # Nearly always msgspec can write it, many times as fast, which counts with a thousand agents.
    fast = plain_json(value)
    text = _ENCODER.encode(_plain(value)) if fast is None else fast.decode()
    if not holds_secret(text, secrets):
        return text
    return _ENCODER.encode(redacted_json(_plain(value), secrets, keep=_FIELD))


def _plain(value: Struct) -> Any:
    return msgspec.to_builtins(value, enc_hook=str)


def decoded(text: str, kind: type[_Data]) -> _Data:
    """Return the struct that was encoded. Raises ValueError."""
    return msgspec.convert(json.loads(text), kind)


_FIELD = "[a-z_]+"
"""Names of members that stay, since those of structs are among them: a secret may be an ordinary word."""

_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
