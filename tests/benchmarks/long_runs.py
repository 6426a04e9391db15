"""What a conversation costs that grows: every request holds all that was said before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from axe_lsp.agentfile.schema.providers import Wire
from axe_lsp.runtime.messages import Message, Request, Tool, ToolCall, ToolResult
from axe_lsp.runtime.providers.body import encode_body
from axe_lsp.runtime.providers.http_provider import format_of
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wire import WireFormat, to_json
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Sample, in_rounds, timed

_TURNS = 50
_RESULT = ('line %d: "quoted", a tab\t and the rest of a line of a file\n' * 400)[:20_000]

_REQUESTS, _ONCE, _ANEW = "axe-lsp, all requests", "each message once", "each request again"

_OWN = Restrictions(current=True)
_WIRES: tuple[Wire, ...] = ("anthropic", "openai-chat", "ollama")
"""Of a provider's own server, which is told what to cache: the dearest way to ask."""


def measure(rounds: int) -> Table:
    """Return the bytes of all requests of a run, without sending them."""
    return Table(
        title="Long runs",
        note=f"The time for encoding the bodies of {_TURNS} requests. Each request has one result of 20 KB "
        "more than the previous one; all bodies together have 27 MB. For comparison: encoding each "
        "message once, and encoding all messages again for each request.",
        unit="ms",
        contenders=(_REQUESTS, _ONCE, _ANEW),
        ratios=[Ratio(_REQUESTS, _ONCE, wanted=3), Ratio(_REQUESTS, _ANEW)],
        rows=[Row(name, _samples(format_of(name), rounds)) for name in _WIRES],
    )


def _samples(wire_format: WireFormat, rounds: int) -> dict[str, Sample | None]:
    messages = list(_conversation())
    makers = {_REQUESTS: _all_requests, _ONCE: _once, _ANEW: _all_anew}
    measures = {
        name: partial(timed, partial(make, wire_format, messages)) for name, make in makers.items()
    }
    return {**in_rounds(measures, rounds)}


def _conversation() -> Iterator[Message]:
    yield Message("user", "Look at everything.")
    for turn in range(_TURNS - 1):
        call = ToolCall(f"call_{turn}", "read_file", {"path": f"file{turn}"})
        yield Message("assistant", tool_calls=(call,))
        yield Message("tool", tool_results=(ToolResult(call.id, f"{turn}\n{_RESULT}"),))


def _all_requests(wire_format: WireFormat, messages: Sequence[Message]) -> None:
    request = _request()
    for end in range(1, len(messages) + 1, 2):
        request = replace(request, messages=tuple(messages[:end]))
        encode_body(wire_format, request, stream=False, restrictions=_OWN)


def _all_anew(wire_format: WireFormat, messages: Sequence[Message]) -> None:
    for end in range(1, len(messages) + 1, 2):
        request = replace(_request(), messages=tuple(messages[:end]))
        encode_body(wire_format, request, stream=False, restrictions=_OWN)


def _once(wire_format: WireFormat, messages: Sequence[Message]) -> None:
    for message in messages:
        ",".join(map(to_json, wire_format.encode_message(message, False))).encode()


def _request() -> Request:
    return Request("m", (), "You read files.", tools=(Tool("read_file", "Reads a file."),))
