"""A turn on each wire, without the way to the provider: the request written, the answer read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from axe_lsp.agentfile.schema.providers import Wire
from axe_lsp.runtime.messages import Message, Request, Tool, ToolCall, ToolParameter, ToolResult
from axe_lsp.runtime.providers.body import encode_body
from axe_lsp.runtime.providers.http_provider import format_of
from axe_lsp.runtime.providers.wire import parse_json, to_json
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import in_rounds, timed
from support.answers import Call, Dialect, Says, stream_chunks, whole_body

_WIRES: dict[Wire, Dialect] = {
    "openai-responses": "responses",
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "gemini": "google",
    "bedrock": "bedrock",
    "ollama": "ollama",
}

_TURNS = 20
_SAYS = Says("word " * 200, [Call("read_file", {"path": "a.txt"}, "c1")], thinking="hm " * 20)


def measure(rounds: int) -> Table:
    """Twenty turns of one conversation, each with a call and its result, whole and streamed."""
    return Table(
        title="Wires",
        note=f"The time of {_TURNS} turns with each wire format, without a network. In each turn a request "
        "is encoded, and an answer with 200 words, some thoughts and a tool call is decoded.",
        unit="ms",
        contenders=tuple(_WIRES),
        ratios=[Ratio("openai-responses", "openai-chat", wanted=1.2)],
        rows=[
            Row(what, {**in_rounds(_measures(streams), rounds)})
            for what, streams in (("whole answers", False), ("streamed answers", True))
        ],
    )


def _measures(streams: bool) -> dict[str, Callable[[], float]]:
    return {
        wire: partial(timed, partial(_talk, wire, _answer(dialect, streams), streams))
        for wire, dialect in _WIRES.items()
    }


def _answer(dialect: Dialect, streams: bool) -> bytes:
    if streams:
        return b"".join(stream_chunks(dialect, _SAYS, "m"))
    return to_json(whole_body(dialect, _SAYS, "m")).encode()


def _talk(wire: Wire, answer: bytes, streams: bool) -> None:
    wire_format = format_of(wire)
    tool = Tool("read_file", "Reads a file.", {"path": ToolParameter("string", "Where", True)})
    messages = [Message("user", "Look at everything.")]
    kept: dict[str, object] = {}
    for turn in range(_TURNS):
        request = Request("m", tuple(messages), "You read files.", tools=(tool,), kept=kept)
        encode_body(wire_format, request, streams)
        if streams:
            decoder = wire_format.stream_decoder()
            for piece in [answer] if wire_format.SHAPE.is_binary else answer.split(b"\n"):
                decoder.feed(piece)
            response = decoder.finish()
        else:
            response = wire_format.decode(parse_json(answer))
        calls = tuple(
            ToolCall(f"c{turn}", each.name, each.arguments) for each in response.tool_calls
        )
        said = Message("assistant", response.content, calls, original=response.original)
        results = tuple(ToolResult(each.id, "alpha", name=each.name) for each in calls)
        messages += [said, Message("tool", tool_results=results)]
