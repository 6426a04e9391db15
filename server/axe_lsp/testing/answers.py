"""The source of the answers of a case: its recording, or a provider, whose answers may be recorded.

The folder of a copied workspace differs in each run, and has one name in recordings.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.check.cases import Case
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.messages import (
    Given,
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolResult,
)
from axe_lsp.runtime.providers.provider import Exchange, InFront, OnDelta, Provider, ProviderHook
from axe_lsp.runtime.recordings.recorder import Recorder
from axe_lsp.runtime.recordings.recording import RecordedTools, Recording
from axe_lsp.runtime.recordings.replay import Deviation, Field, Replay

WORKSPACE = "/axe-test-workspace"
"""The name of the folder in recordings of tests."""


class Renaming(Struct, frozen=True):
    """Another name of a folder: `new` in place of `old`, wherever it is in a text."""

    old: str
    new: str

    @property
    def back(self) -> Renaming:
        """The old name in place of the new one."""
        return Renaming(self.new, self.old)

    def text(self, text: str) -> str:
        """Return the text with the new name."""
        return text.replace(self.old, self.new)

    def request(self, request: Request) -> Request:
        """Return the request with the new name."""
        messages = tuple(map(self._message, request.messages))
        return replace(request, system=self.text(request.system), messages=messages)

    def response(self, response: Response) -> Response:
        """Return the answer with the new name."""
        calls = tuple(map(self._call, response.tool_calls))
        return replace(response, content=self.text(response.content), tool_calls=calls)

    def result(self, result: ToolResult) -> ToolResult:
        """Return the result of a tool with the new name."""
        return replace(result, content=self.text(result.content))

    def _message(self, message: Message) -> Message:
        return replace(
            message,
            content=self.text(message.content),
            tool_results=tuple(map(self.result, message.tool_results)),
            tool_calls=tuple(map(self._call, message.tool_calls)),
            given=tuple(map(self.text, message.given)),
        )

    def _call(self, call: ToolCall) -> ToolCall:
        return replace(call, arguments=self._value(call.arguments))

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self._value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(each) for each in value]
        return value


class RenamingProvider(InFront):
    """A provider in front of another one, which knows the folder by its new name only."""

    def __init__(self, provider: Provider, renaming: Renaming) -> None:
        super().__init__(provider)
        self._renaming = renaming

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Return the provider's answer with the names of the case."""
        request = self._renaming.request(exchange.request)
        response = await self._provider.send(replace(exchange, request=request), None)
        return self._renaming.back.response(response)


class RenamedTools(Struct, frozen=True):
    """Recorded tools whose results get the new name."""

    recorded: RecordedTools
    renaming: Renaming

    def of_servers(self, run: RunIds, own: Collection[Tool]) -> tuple[str, ...]:
        """Return the same names."""
        return self.recorded.of_servers(run, own)

    def has_given(self, run: RunIds) -> bool:
        """Return whether the recording says what the requests of a run give."""
        return self.recorded.has_given(run)

    def given(self, run: RunIds, turn: int) -> Given:
        """Return what the request of a turn gives, with the new name."""
        given = self.recorded.given(run, turn)
        return replace(given, messages=tuple(map(self.renaming.text, given.messages)))

    def result(self, run: RunIds, turn: int, call: ToolCall) -> ToolResult:
        """Return the result with the new name."""
        return self.renaming.result(self.recorded.result(run, turn, call))


_ALL: frozenset[Field] = frozenset({"model", "system", "tools", "sent"})
_LOOSE: frozenset[Field] = frozenset({"sent"})


class Answers:
    """The answers of one run of one case. `deviation` is the first request that was not recorded.

    `is_live`: they take the time that a provider takes. `tools` has the results of tools, if they are recorded, too;
    there is none before the `hook`.
    """

    is_live = False
    tools: RecordedTools | None = None

    @property
    def deviation(self) -> Deviation | None:
        """The first request that is not the recorded one."""
        return None

    def hook(self, workspace: Path, environment: Environment) -> ProviderHook:
        """Return the layers between the engine and the provider, for the agent and for judges."""
        raise NotImplementedError

    def is_providers_fault(self, error: RunError, case: Case) -> bool:
        """Return whether a failed run says something about the provider, and nothing about the agent."""
        return False


class Replayed(Answers):
    """Answers of a recording. With `is_loose`, prompts, tools and models may differ; tasks and results may not.

    A recorded failure is a part of the case.
    """

    def __init__(
        self, recording: Recording, *, is_loose: bool = False, replays_tools: bool = False
    ) -> None:
        self._recording = recording
        self._replays_tools = replays_tools
        self._fields = _LOOSE if is_loose else _ALL
        self._replay: Replay | None = None

    @property
    def deviation(self) -> Deviation | None:
        return self._replay.deviation if self._replay is not None else None

    def hook(self, workspace: Path, environment: Environment) -> ProviderHook:
        """Return one replay for all runs of the case, whatever folder it was recorded in."""
        replay = self._replay = Replay(self._recording, environment, 0, self._fields)
        renaming = Renaming(str(workspace), WORKSPACE)
        provider = RenamingProvider(replay, renaming)
        if self._replays_tools:
            self.tools = RenamedTools(replay, renaming.back)
        return lambda _: provider


class Live(Answers):
    """Answers of the provider. `recording` has them afterwards, if they are kept."""

    is_live = True

    def __init__(self) -> None:
        self._recorder: Recorder | None = None

    def hook(self, workspace: Path, environment: Environment) -> ProviderHook:
        """Return one recorder for all runs of the case. It gets a constant name for the workspace, the provider the real one."""
        renaming = Renaming(str(workspace), WORKSPACE)

        def between(provider: Provider) -> Provider:
            if self._recorder is None:
                self._recorder = Recorder(RenamingProvider(provider, renaming.back))
            return RenamingProvider(self._recorder, renaming)

        return between

    def is_providers_fault(self, error: RunError, case: Case) -> bool:
        """Return a key that is missing or a service that is down, unless the case expects a failure."""
        return error.kind == "api" and not case.run.error

    def recording(self) -> Recording:
        """Return the recorded requests and answers, without secrets."""
        assert self._recorder is not None
        return self._recorder.recording(known_secrets(os.environ))
