"""The folder of a copied workspace, which differs in each run, under one name in recordings."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import Message, Request, Response, ToolCall, ToolResult
from axe_lsp.runtime.providers.provider import Exchange, InFront, OnDelta, Provider
from axe_lsp.runtime.recordings.recording import RecordedTools

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
        """The text with the new name."""
        return text.replace(self.old, self.new)

    def request(self, request: Request) -> Request:
        """The request with the new name."""
        messages = tuple(map(self._message, request.messages))
        return replace(request, system=self.text(request.system), messages=messages)

    def response(self, response: Response) -> Response:
        """The answer with the new name."""
        calls = tuple(map(self._call, response.tool_calls))
        return replace(response, content=self.text(response.content), tool_calls=calls)

    def result(self, result: ToolResult) -> ToolResult:
        """The result of a tool with the new name."""
        return replace(result, content=self.text(result.content))

    def _message(self, message: Message) -> Message:
        return replace(
            message,
            content=self.text(message.content),
            tool_results=tuple(map(self.result, message.tool_results)),
            tool_calls=tuple(map(self._call, message.tool_calls)),
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
        """Its answer."""
        request = self._renaming.request(exchange.request)
        response = await self._provider.send(replace(exchange, request=request), None)
        return self._renaming.back.response(response)


class RenamedTools(Struct, frozen=True):
    """Recorded tools whose results get the new name."""

    recorded: RecordedTools
    renaming: Renaming

    def of_servers(self, run: RunIds, own: Collection[str]) -> tuple[str, ...]:
        """The same names."""
        return self.recorded.of_servers(run, own)

    def result(self, run: RunIds, turn: int, call: ToolCall) -> ToolResult:
        """The result with the new name."""
        return self.renaming.result(self.recorded.result(run, turn, call))
