"""The folder of a copied workspace, which differs in each run, under one name in recordings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from axe_lsp.agentfile.schema.model_name import ModelName
from axe_lsp.runtime.messages import Message, Request, Response
from axe_lsp.runtime.providers.provider import Exchange, OnDelta, Provider

WORKSPACE = "/axe-test-workspace"
"""The name of the folder in recordings of tests."""


class Renaming:
    """A provider in front of another one, to which it passes texts with `old` replaced by `new`, and answers back."""

    def __init__(self, provider: Provider, old: str, new: str) -> None:
        self._provider = provider
        self._there = _replacing(old, new)
        self._back = _replacing(new, old)

    def check(self, model: ModelName, workdir: Path) -> None:
        """The needs of the other one."""
        self._provider.check(model, workdir)

    def window(self, model: ModelName) -> int | None:
        """What the other one knows."""
        return self._provider.window(model)

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Its answer."""
        request = _renamed_request(exchange.request, self._there)
        response = await self._provider.send(replace(exchange, request=request), None)
        return _renamed_response(response, self._back)


_Rename = Callable[[str], str]


def _replacing(old: str, new: str) -> _Rename:
    return lambda text: text.replace(old, new)


def _renamed_request(request: Request, rename: _Rename) -> Request:
    messages = tuple(_renamed_message(each, rename) for each in request.messages)
    return replace(request, system=rename(request.system), messages=messages)


def _renamed_message(message: Message, rename: _Rename) -> Message:
    results = tuple(replace(each, content=rename(each.content)) for each in message.tool_results)
    calls = tuple(
        replace(each, arguments=_renamed(each.arguments, rename)) for each in message.tool_calls
    )
    return replace(message, content=rename(message.content), tool_results=results, tool_calls=calls)


def _renamed_response(response: Response, rename: _Rename) -> Response:
    calls = tuple(
        replace(each, arguments=_renamed(each.arguments, rename)) for each in response.tool_calls
    )
    return replace(response, content=rename(response.content), tool_calls=calls)


def _renamed(value: Any, rename: _Rename) -> Any:
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, dict):
        return {name: _renamed(each, rename) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(each, rename) for each in value]
    return value
