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


class Renaming(InFront):
    """A provider in front of another one, to which it passes texts with `old` replaced by `new`, and answers back."""

    def __init__(self, provider: Provider, old: str, new: str) -> None:
        super().__init__(provider)
        self._old = old
        self._new = new

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Its answer."""
        request = renamed_request(exchange.request, self._old, self._new)
        response = await self._provider.send(replace(exchange, request=request), None)
        return renamed_response(response, self._new, self._old)


class RenamedTools(Struct, frozen=True):
    """Recorded tools in whose results `old` is replaced by `new`."""

    recorded: RecordedTools
    old: str
    new: str

    def of_servers(self, run: RunIds, own: Collection[str]) -> tuple[str, ...]:
        """The same names."""
        return self.recorded.of_servers(run, own)

    def result(self, run: RunIds, turn: int, call: ToolCall) -> ToolResult:
        """The result with another name of the folder."""
        found = self.recorded.result(run, turn, call)
        return replace(found, content=renamed_text(found.content, self.old, self.new))


def renamed_text(text: str, old: str, new: str) -> str:
    """The text with another name of the folder."""
    return text.replace(old, new)


def renamed_request(request: Request, old: str, new: str) -> Request:
    """The request with another name of the folder."""
    messages = tuple(_renamed_message(each, old, new) for each in request.messages)
    return replace(request, system=renamed_text(request.system, old, new), messages=messages)


def renamed_response(response: Response, old: str, new: str) -> Response:
    """The answer with another name of the folder."""
    calls = tuple(_renamed_call(each, old, new) for each in response.tool_calls)
    return replace(response, content=renamed_text(response.content, old, new), tool_calls=calls)


def _renamed_message(message: Message, old: str, new: str) -> Message:
    return replace(
        message,
        content=renamed_text(message.content, old, new),
        tool_results=tuple(
            replace(each, content=renamed_text(each.content, old, new))
            for each in message.tool_results
        ),
        tool_calls=tuple(_renamed_call(each, old, new) for each in message.tool_calls),
    )


def _renamed_call(call: ToolCall, old: str, new: str) -> ToolCall:
    return replace(call, arguments=_renamed_value(call.arguments, old, new))


def _renamed_value(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return renamed_text(value, old, new)
    if isinstance(value, dict):
        return {name: _renamed_value(each, old, new) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed_value(each, old, new) for each in value]
    return value
