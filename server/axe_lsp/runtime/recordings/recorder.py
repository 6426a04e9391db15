"""Records the requests of runs and the answers of their providers, without secrets."""

from __future__ import annotations

from collections.abc import Collection

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.runtime.children.side_run_definitions import SIDE_RUN_TOOL_NAMES
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import NOTHING_GIVEN, Given, Response
from axe_lsp.runtime.providers.provider import Exchange, InFront, OnDelta, Provider
from axe_lsp.runtime.recordings.recording import (
    RecordedError,
    RecordedRun,
    RecordedTurn,
    Recording,
    news,
)
from axe_lsp.runtime.safety.redaction import redact, redacted_table


class _Progress(Struct, dict=True):
    """A run that is being recorded: what it is, and its turns."""

    run: RecordedRun
    turns: list[RecordedTurn] = field(default_factory=list)

    def remember(self, number: int, turn: RecordedTurn) -> None:
        """Keep a turn. One whose request was sent again has the last answer, and what was sent first."""
        if number > len(self.turns):
            self.turns.append(turn)
        else:
            self.turns[-1] = replace(turn, sent=self.turns[-1].sent, given=self.turns[-1].given)


class Recorder(InFront):
    """A provider in front of the real one that remembers every exchange.

    The runs are kept in the order in which they began, so parallel children stay apart.
    """

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider)
        self._runs: dict[str, _Progress] = {}

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Pass the request on; remember it and its answer, or its failure."""
        if exchange.is_aside:
            return await self._provider.send(exchange, on_delta)
        progress = self._runs.setdefault(exchange.run.run_id, _Progress(_described(exchange)))
        sent = news(exchange.request.messages)
        started = anyio.current_time()
        answer: Response | RecordedError | None = None
        try:
            answer = await self._provider.send(exchange, on_delta)
        except ProviderError as error:
            answer = RecordedError(error.category, error.message)
            raise
        except anyio.get_cancelled_exc_class():
            if reason := exchange.overtime():
                answer = RecordedError("timeout", reason)
            raise
        finally:
            if answer is not None:
                duration_ms = round((anyio.current_time() - started) * 1000)
                has_side_runs = any(
                    tool.name in SIDE_RUN_TOOL_NAMES for tool in exchange.request.tools
                )
                given = exchange.given if has_side_runs or exchange.given != NOTHING_GIVEN else None
                turn = RecordedTurn(answer, sent, duration_ms, given)
                progress.remember(exchange.turn, turn)
        return answer

    def recording(self, secrets: Collection[str]) -> Recording:
        """Return the recording so far."""
        return Recording(
            tuple(
                _redacted_run(replace(progress.run, turns=tuple(progress.turns)), secrets)
                for progress in self._runs.values()
            )
        )


def _described(exchange: Exchange) -> RecordedRun:
    return RecordedRun(
        agent=exchange.run.agent,
        model=str(exchange.model),
        depth=exchange.run.depth,
        system=exchange.request.system,
        tools=tuple(tool.name for tool in exchange.request.tools),
    )


def _redacted_run(run: RecordedRun, secrets: Collection[str]) -> RecordedRun:
    return replace(
        run,
        system=redact(run.system or "", secrets),
        turns=tuple(_redacted_turn(turn, secrets) for turn in run.turns),
    )


def _redacted_turn(turn: RecordedTurn, secrets: Collection[str]) -> RecordedTurn:
    sent = tuple(
        replace(message, content=redact(message.content, secrets)) for message in turn.sent or ()
    )
    if turn.given is not None:
        messages = tuple(redact(text, secrets) for text in turn.given.messages)
        turn = replace(turn, given=Given(turn.given.side_runs, messages))
    if isinstance(turn.answer, RecordedError):
        message = redact(turn.answer.message, secrets)
        return replace(turn, sent=sent, answer=replace(turn.answer, message=message))
    answer = replace(
        turn.answer,
        content=redact(turn.answer.content, secrets),
        tool_calls=tuple(
            replace(call, arguments=redacted_table(call.arguments, secrets))
            for call in turn.answer.tool_calls
        ),
    )
    return replace(turn, sent=sent, answer=answer)
