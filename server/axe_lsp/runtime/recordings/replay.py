"""Answers from recordings: no key, no network, and the requests have to be the recorded ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

import anyio
from msgspec import Struct

from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.conversation import told_apart
from axe_lsp.runtime.errors import ProviderError, RunTimeoutError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.messages import (
    NOTHING_GIVEN,
    Delta,
    Given,
    Response,
    Tool,
    ToolCall,
    ToolResult,
)
from axe_lsp.runtime.providers.provider import Exchange, OnDelta
from axe_lsp.runtime.recordings.recording import (
    RecordedError,
    RecordedRun,
    RecordedTurn,
    Recording,
    comparable_tools,
    news,
)
from axe_lsp.runtime.safety.redaction import redact

Field = Literal["model", "system", "tools", "sent"]
"""A part of a request."""

USUAL: frozenset[Field] = frozenset({"system", "tools", "sent"})
"""The parts of a request that are compared. The model is not, so a recording works for any model."""

_WORDS = re.compile(r"\S+\s*|\s+")

_EXCERPT = 30
"""Characters of context on either side, where a difference is shown."""


class Deviation(Struct, frozen=True):
    """A request that is not the recorded one: whose it is, in which turn, and where the two differ.

    `recorded` and `sent` are the whole texts of the field that differs, "" if no request was recorded.
    """

    run: RunIds
    turn: int
    reason: str
    recorded: str = ""
    sent: str = ""


class Replay:
    """Plays one recording for one root run and everything below it.

    A run is recognised by its first request: it takes the first recorded run of its agent that
    nobody has taken yet and that fits, so parallel children may come in any order. From then on
    its requests have to be the recorded ones, in sequence. Where one differs, those that follow from
    its failure do, too; they fail with the first difference, which is the one to look at.

    `pace` 1.0 takes as long as the recorded run did; 0 takes no time. The recording itself says
    which of the two, if nobody else does. `fields` are the parts of a request that are compared.
    `deviation` is the first request that is not the recorded one, None while there is none.
    """

    def __init__(
        self,
        recording: Recording,
        environment: Environment,
        pace: float | None = None,
        fields: Collection[Field] = USUAL,
    ) -> None:
        self._runs = list(enumerate(recording.runs, 1))
        self._environment = environment
        self._pace = float(recording.paced) if pace is None else pace
        self._fields = fields
        self._playing: dict[str, tuple[int, RecordedRun]] = {}
        self._misled: set[str] = set()  # Runs that were told of a failure that is not recorded.
        self.deviation: Deviation | None = None

    def check(self, model: ModelName, workdir: Path) -> None:
        """Accept any model: a replay sends no request."""

    def recorded(self, _model: ModelName) -> Replay:
        """Return the recording itself, whatever the model is."""
        return self

    def window(self, model: ModelName) -> int | None:
        """Return None: a replay has no limit of context."""

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Return the recorded answer. Raises ProviderError when the request is not the recorded one."""
        if exchange.is_aside:
            raise _not_recorded("recordings leave summaries out")
        request = _Compared(exchange, known_secrets(self._environment), self._fields)
        turn = self._recorded_turn(request)
        await self._play(turn, on_delta)
        if isinstance(turn.answer, RecordedError):
            if turn.answer.category == "timeout":
                raise RunTimeoutError(turn.answer.message)
            raise ProviderError(turn.answer.category, turn.answer.message)
        return turn.answer

    def _recorded_turn(self, request: _Compared) -> RecordedTurn:
        run_id = request.exchange.run.run_id
        if run_id not in self._playing:
            self._playing[run_id] = self._take(request)
        number, run = self._playing[run_id]
        index = request.exchange.turn - 1
        if index >= len(run.turns):
            reason = f"run {number} (agent {quoted(run.agent)}) has only {len(run.turns)} turns"
            self._deviate(request.exchange.run, index + 1, reason)
            raise _not_recorded(reason)
        difference = request.difference(run, run.turns[index])
        if difference is not None:
            first = self._deviate(
                request.exchange.run,
                index + 1,
                f"run {number} (agent {quoted(run.agent)}), turn {index + 1}, {difference}",
                difference.recorded,
                difference.sent,
            )
            raise _differs(first.reason)
        if run_id in self._misled and run.turns[index].sent is None and "sent" in self._fields:
            first = self._deviate(request.exchange.run, index + 1, "a child has deviated")
            raise _differs(first.reason)
        return run.turns[index]

    def _deviate(
        self, run: RunIds, turn: int, reason: str, recorded: str = "", sent: str = ""
    ) -> Deviation:
        """Return the first deviation, which is this one if there was none."""
        self.deviation = self.deviation or Deviation(run, turn, reason, recorded, sent)
        if run.parent_run_id is not None:
            self._misled.add(run.parent_run_id)
        return self.deviation

    def _take(self, request: _Compared) -> tuple[int, RecordedRun]:
        """Return the recorded run that this one is. The next request decides about the nearest one."""
        agent = request.exchange.run.agent
        candidates = [entry for entry in self._runs if entry[1].agent == agent and entry[1].turns]
        if not candidates:
            reason = f"there is no further run of agent {quoted(agent)}"
            self._deviate(request.exchange.run, request.exchange.turn, reason)
            raise _not_recorded(reason)
        differences = [request.difference(run, run.turns[0]) for _, run in candidates]
        best = max(range(len(candidates)), key=lambda index: _likeness(differences[index]))
        if differences[best] is None:
            best = differences.index(None)
            self._runs.remove(candidates[best])
        return candidates[best]

    def of_servers(self, run: RunIds, own: Collection[Tool]) -> tuple[str, ...]:
        """Return the names of the tools that a run had of MCP servers: those that follow its `own`."""
        for _, each in self._runs:
            tools = each.tools or ()
            before = comparable_tools(own, tools)
            if (each.agent, each.depth) == (run.agent, run.depth) and tools[
                : len(before)
            ] == before:
                return tools[len(before) :]
        return ()

    def has_given(self, run: RunIds) -> bool:
        """Return whether the recording says which answers of side runs the requests of a run give."""
        playing = self._playing.get(run.run_id)
        return playing is not None and any(turn.given is not None for turn in playing[1].turns)

    def given(self, run: RunIds, turn: int) -> Given:
        """Return what the request of a turn gives: nothing before the first one is recognised."""
        playing = self._playing.get(run.run_id)
        turns = playing[1].turns if playing is not None else ()
        return (turns[turn - 1].given if turn <= len(turns) else None) or NOTHING_GIVEN

    def result(self, run: RunIds, turn: int, call: ToolCall) -> ToolResult:
        """Return the recorded result of a call: what the next request of the run has sent."""
        number, recorded = self._playing[run.run_id]
        if turn >= len(recorded.turns):  # The run ended with this call.
            return ToolResult(call.id, "the recorded run ended here", is_error=True)
        answer = recorded.turns[turn - 1].answer
        calls = told_apart(answer).tool_calls if isinstance(answer, Response) else ()
        results = [each for each in recorded.turns[turn].sent or () if each.role == "tool"]
        if len(calls) == len(results):
            for made, sent in zip(calls, results, strict=True):
                if made.event_id == call.event_id:
                    return ToolResult(call.id, sent.content, sent.is_error)
        reason = (
            f"run {number} (agent {quoted(recorded.agent)}), turn {turn + 1}: "
            f"the recording has no result of the call of {quoted(call.name)}"
        )
        self._deviate(run, turn, reason)
        return ToolResult(call.id, reason, is_error=True)

    async def _play(self, turn: RecordedTurn, on_delta: OnDelta | None) -> None:
        """Let the recorded time pass, and the text appear in the meantime."""
        text = turn.answer.content if isinstance(turn.answer, Response) else ""
        words = _WORDS.findall(text) if on_delta is not None else []
        pause = self._pace * turn.duration_ms / 1000 / (len(words) + 1)
        await anyio.sleep(pause)
        for word in words:
            if on_delta is not None:
                on_delta(Delta(word))
            await anyio.sleep(pause)


class _Difference:
    """Where a request first differs: which field, and at which character."""

    def __init__(self, order: int, field: str, recorded: str, sent: str) -> None:
        self.order = order
        self.field = field
        self.recorded = recorded
        self.sent = sent
        self.character = differing_at(recorded, sent)

    def __str__(self) -> str:
        return (
            f"{self.field} differs at character {self.character + 1}: "
            f"recorded {excerpt(self.recorded, self.character)}, "
            f"sent {excerpt(self.sent, self.character)}"
        )


class _Compared:
    """A request, seen as a recording would hold it."""

    def __init__(
        self, exchange: Exchange, secrets: frozenset[str], fields: Collection[Field]
    ) -> None:
        self.exchange = exchange
        self._secrets = secrets
        self._compared = fields

    def difference(self, run: RecordedRun, turn: RecordedTurn) -> _Difference | None:
        """Return the first difference from a recorded turn, None if there is none."""
        pairs = self._fields(run, turn)
        for order, (field, recorded, sent) in enumerate(pairs):
            clean = redact(sent, self._secrets)
            if recorded != clean:
                return _Difference(order, field, recorded, clean)
        return None

    def _fields(self, run: RecordedRun, turn: RecordedTurn) -> Iterator[tuple[str, str, str]]:
        """Name, recorded text and sent text of everything that the recording fixes."""
        request = self.exchange.request
        if run.model and "model" in self._compared:
            yield "model", run.model, str(self.exchange.model)
        if run.system is not None and "system" in self._compared:
            yield "system", run.system, request.system
        if run.tools is not None and "tools" in self._compared:
            offered = comparable_tools(request.tools, run.tools)
            yield "tools", ", ".join(run.tools), ", ".join(offered)
        if turn.sent is None or "sent" not in self._compared:
            return
        sent = news(request.messages)
        yield "sent", f"{len(turn.sent)} messages", f"{len(sent)} messages"
        for number, (recorded, actual) in enumerate(zip(turn.sent, sent, strict=True), 1):
            yield f"sent {number}, role", recorded.role, actual.role
            yield f"sent {number}, call_id", recorded.call_id, actual.call_id
            yield f"sent {number}, content", recorded.content, actual.content
            yield f"sent {number}, is_error", str(recorded.is_error), str(actual.is_error)


def _likeness(difference: _Difference | None) -> tuple[float, int]:
    return (float("inf"), 0) if difference is None else (difference.order, difference.character)


def differing_at(one: str, other: str) -> int:
    """Return the offset of the first character in which two texts differ."""
    pairs = enumerate(zip(one, other, strict=False))
    different = (index for index, (left, right) in pairs if left != right)
    return next(different, min(len(one), len(other)))


def excerpt(text: str, character: int) -> str:
    """Return the text around a character, in quotes."""
    start, end = max(0, character - _EXCERPT), character + _EXCERPT
    return quoted(("…" if start else "") + text[start:end] + ("…" if end < len(text) else ""))


def _not_recorded(reason: str) -> ProviderError:
    return ProviderError("bad_request", f"the recording has no answer to this request: {reason}")


def _differs(difference: str) -> ProviderError:
    return ProviderError(
        "bad_request",
        f"the request is not the recorded one: {difference}. "
        "Undo what has changed, or record again with a real model and --record",
    )
