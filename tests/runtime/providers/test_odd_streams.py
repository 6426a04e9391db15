"""Streams as some servers write them, against the standard or beside it: read, or refused with their words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

from axe_lsp.runtime.errors import NoAnswerError, ProviderError
from axe_lsp.runtime.events import TextDelta
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.providers import read_answer
from axe_lsp.runtime.providers.http_client import HttpAnswer
from support.answers import DIALECTS, Call, Dialect, content_type, stream_chunks, whole_body
from support.bodies import FORMATS
from support.engines import agent, bench
from support.raw_server import raw_server
from support.scripted_provider import PATIENCE, Answer, Hold, Raw, Says, ScriptedProvider

LINES = [each for each in DIALECTS if not FORMATS[each].SHAPE.is_binary]
EVENTS = [each for each in LINES if each != "ollama"]


def stream(dialect: Dialect, body: bytes) -> Raw:
    """Return a streamed answer of exactly these bytes."""
    return Raw(body, headers={"Content-Type": content_type(dialect, True)})


def events(*bodies: Any) -> bytes:
    """Server-sent events with these data."""
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in bodies)


def choices(*deltas: Any, finish: str | None = None) -> bytes:
    """Return the chunks of the chat wire."""
    chunks = [{"choices": [{"index": 0, "delta": each}]} for each in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return events(*chunks, *([end] if finish else []))


async def ask(provider: ScriptedProvider, folder: Path, dialect: Dialect, body: bytes) -> str:
    """Return the text of the answer, as it was shown."""
    provider.script("m-solo", stream(dialect, body))
    agents = agent("solo", dialect)
    async with bench(provider, folder, agents, streams=lambda _: True) as work:
        content = (await work.run("solo")).content
        assert "".join(each.delta for each in work.of(TextDelta)) == content
        return content


@pytest.mark.parametrize("dialect", LINES)
async def test_the_last_event_may_lack_its_end(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect
) -> None:
    body = b"".join(stream_chunks(dialect, Says("one two"), "m")).rstrip(b"\n")
    assert await ask(provider, tmp_path, dialect, body) == "one two"


@pytest.mark.parametrize("dialect", EVENTS)
async def test_comments_between_events_are_skipped(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect
) -> None:
    pieces = stream_chunks(dialect, Says("one two"), "m")
    body = b": OPENROUTER PROCESSING\n\n".join([b"retry: 3000\n", *pieces, b""])
    assert await ask(provider, tmp_path, dialect, body) == "one two"


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "TEXT/EVENT-STREAM", ""])
@pytest.mark.parametrize("dialect", EVENTS)
async def test_events_are_read_under_any_media_type(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, media_type: str
) -> None:
    body = b"\n: begin\n\n" + b"".join(stream_chunks(dialect, Says("one two"), "m"))
    headers = {"Content-Type": media_type} if media_type else {}
    provider.script("m-solo", Raw(body, headers=headers))
    agents = agent("solo", dialect)
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        assert (await work.run("solo")).content == "one two"
        assert [each.delta for each in work.of(TextDelta)] == ["one ", "two"]


@pytest.mark.parametrize("dialect", [each for each in DIALECTS if each != "google"])
async def test_who_hangs_up_behind_the_end_of_an_answer_has_given_it(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect
) -> None:
    """Gemini's streams have no end mark."""
    body = b"".join(stream_chunks(dialect, Says("one two"), "m"))
    headers = {"Content-Type": content_type(dialect, True)}
    provider.script("m-solo", Raw(body + b"\n\n", headers=headers, cut=len(body)))
    agents = agent("solo", dialect)
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        result = await work.run("solo")
    assert (result.content, result.input_tokens) == ("one two", 10)


def chunked(body: bytes, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    """Return a body byte by byte, so that also letters come in parts."""
    pieces = (b"1%b\r\n%b\r\n" % (extension, body[i : i + 1]) for i in range(len(body)))
    return b"".join(pieces) + b"0\r\n" + trailer + b"\r\n"


TYPE = b"Content-Type: text/event-stream\r\n"
FRAMES = {
    "HTTP/1.0": lambda body: b"HTTP/1.0 200 OK\r\n" + TYPE + b"\r\n" + body,
    "line feeds": lambda body: b"HTTP/1.1 200 OK\n" + TYPE.replace(b"\r", b"") + b"\n" + body,
    "informational": lambda body: (
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n" + TYPE + b"\r\n" + body
    ),
    "trailers": lambda body: (
        b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n"
        + TYPE
        + b"\r\n"
        + chunked(body, b";name=value", b"X-Sum: 1\r\n")
    ),
    "no last chunk": lambda body: (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + TYPE + b"\r\n" + chunked(body)[:-5]
    ),
}


@pytest.mark.parametrize("frame", FRAMES)
async def test_servers_frame_their_streams_in_many_ways(tmp_path: Path, frame: str) -> None:
    text = "Gr\u00fc\u00dfe \u65e5\u672c \U0001f600"
    body = choices({"content": text}, finish="stop") + b"data: [DONE]\n\n"
    body = body.replace(json.dumps(text).encode(), json.dumps(text, ensure_ascii=False).encode())
    with ScriptedProvider() as unused:
        async with raw_server(lambda _: FRAMES[frame](body)) as server:
            places = {"AXE_OPENAI_BASE_URL": server.url}
            async with bench(
                unused, tmp_path, agent("solo"), places, streams=lambda _: True
            ) as work:
                assert (await work.run("solo")).content == text


FAILURES = {
    "llama.cpp": b'error: {"code":400,"message":"it is broken","type":"invalid_request_error"}\n\n',
    "a proxy": b'{"error": {"message": "it is broken", "type": "invalid_request_error"}}',
    "a proxy with many lines": json.dumps(
        {"error": {"message": "it is broken", "type": "invalid_request_error"}}, indent=2
    ).encode(),
    "an event": events({"error": {"message": "it is broken", "type": "invalid_request_error"}}),
}


@pytest.mark.parametrize(
    "end", [b"", b"\n\ndata: [DONE]\n\n", b"\n: end\nevent: end\ndata: [DONE]\n\n"]
)
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("dialect", EVENTS)
async def test_an_error_in_a_stream_is_told_however_it_is_written(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, failure: str, end: bytes
) -> None:
    with pytest.raises(ProviderError) as caught:
        await ask(provider, tmp_path, dialect, FAILURES[failure] + end)
    assert str(caught.value) == "bad_request: it is broken"
    assert caught.value.exit_code == 1


async def test_an_error_right_behind_an_event_is_told(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    body = choices({"content": "all"}).rstrip(b"\n") + b"\n" + FAILURES["a proxy"]
    with pytest.raises(ProviderError, match="bad_request: it is broken"):
        await ask(provider, tmp_path, "openai", body)


@pytest.mark.parametrize("dialect", EVENTS)
async def test_the_end_mark_of_openai_is_no_fault_elsewhere(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect
) -> None:
    """vLLM and some proxies send it behind Anthropic's events and Google's."""
    body = b"".join(stream_chunks(dialect, Says("one two"), "m")) + b"data: [DONE]\n\n"
    assert await ask(provider, tmp_path, dialect, body) == "one two"


async def test_the_end_mark_may_stand_for_anthropic_s_last_event(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    *begun, reason, _ = stream_chunks("anthropic", Says("one two"), "m")
    end = b"data: [DONE]\n\n"
    assert await ask(provider, tmp_path, "anthropic", b"".join([*begun, reason, end])) == "one two"
    with pytest.raises(ProviderError, match="the stream ended before the answer was complete"):
        await ask(provider, tmp_path, "anthropic", b"".join([*begun, end]))


@pytest.mark.parametrize("start", [b"", b"data: "])
@pytest.mark.parametrize("end", [b"", b"\n\ndata: [DONE]\n\n"])
async def test_a_stream_may_be_one_whole_answer(
    provider: ScriptedProvider, tmp_path: Path, start: bytes, end: bytes
) -> None:
    calls = [Call("list_directory", {"path": "."}), Call("read_file", {"path": "x"})]
    whole = [whole_body("openai", each, "m") for each in (Says("I ask.", calls), Says("one two"))]
    bodies = [start + json.dumps(each).encode() + end for each in whole]
    provider.script("m-solo", *(stream("openai", each) for each in bodies))
    agents = agent("solo", tools=["list_directory", "read_file"])
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        result = await work.run("solo")
        assert [each.delta for each in work.of(TextDelta)] == ["I ask.", "one two"]
    assert (result.content, result.input_tokens) == ("one two", 20)
    _, asked, *answers = provider.requests[1].body["messages"]
    functions = [each["function"] for each in asked["tool_calls"]]
    assert [(each["name"], json.loads(each["arguments"])) for each in functions] == [
        (each.name, each.arguments) for each in calls
    ]
    assert len(answers) == 2


async def test_a_whole_answer_behind_the_pieces_of_one_is_not_read_twice(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """Perplexity sends all that was said so far beside each piece."""
    body = choices({"content": "one "}, {"content": "two"})
    message = {"role": "assistant", "content": "one two"}
    last = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    assert await ask(provider, tmp_path, "openai", body + events(last)) == "one two"


@pytest.mark.parametrize(
    ("dialect", "missing"),
    [("openai", 0), ("bedrock", 0), ("google", 0), ("openai", 1), ("openai", 2), ("anthropic", 1)],
)
async def test_who_keeps_the_connection_open_behind_the_end_is_not_waited_for(
    provider: ScriptedProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dialect: Dialect,
    missing: int,
) -> None:
    """The end mark may be missing, and in the chat wire the tokens before it."""
    if missing == 2 or dialect in ("google", "anthropic"):  # There is nothing to wait for.
        monkeypatch.setattr(read_answer, "_TOKENS_SECONDS", 0.2)
    says = Says("one two")
    hold = Hold(len(stream_chunks(dialect, says, "m")) - missing)
    provider.script("m-solo", Answer(says, hold=hold), Says("three"))
    agents = agent("solo", dialect)
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        result = await asyncio.wait_for(work.run("solo"), PATIENCE)
        assert (result.content, result.input_tokens) == ("one two", 0 if missing == 2 else 10)
        await hold.hung_up()
        assert (await work.run("solo")).content == "three"


@pytest.mark.parametrize("dialect", ["openai", "google"])
async def test_a_reason_for_the_end_with_each_piece_says_nothing(
    tmp_path: Path, dialect: Dialect
) -> None:
    """Some servers give one, and Google's older models did. So the next piece is waited for."""
    if dialect == "openai":
        choice = {"index": 0, "delta": {"content": "one "}, "finish_reason": "stop"}
        piece = events({"choices": [choice]})
    else:
        said = {"role": "model", "parts": [{"text": "one "}]}
        piece = events({"candidates": [{"index": 0, "content": said, "finishReason": "STOP"}]})
    decoder = FORMATS[dialect].stream_decoder()
    seen = []
    for line in (piece * 3).split(b"\n"):
        decoder.feed(line)
        seen.append(decoder.is_ending)
    assert seen == [False, True, True, False, False, False, False]
    assert decoder.finish().content == "one one one "


class Lines:
    """An answer whose lines come as the test wants them."""

    media_type = "text/event-stream"

    def __init__(self, lines: AsyncIterator[bytes]) -> None:
        self._lines = lines

    def lines(self) -> AsyncIterator[bytes]:
        return self._lines


async def read(dialect: Dialect, lines: AsyncIterator[bytes]) -> Response:
    """Return the answer in a stream of these lines."""
    answer = cast("HttpAnswer", Lines(lines))
    return await read_answer.read_answer(FORMATS[dialect], answer, lambda _: None, "")


def chat(text: str = "", finish: str | None = "stop", **more: Any) -> bytes:
    """Return a piece of a chat with a reason for the end."""
    delta = {**({"content": text} if text else {}), **more}
    return events({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def gemini(text: str, *, finish: str | None = "STOP", thought: bool = False) -> bytes:
    """Return a piece of Gemini's with a reason for the end."""
    part = {"text": text, **({"thought": True} if thought else {})}
    said = {"role": "model", "parts": [part]}
    return events({"candidates": [{"index": 0, "content": said, "finishReason": finish}]})


def claude(*deltas: str, thought: str = "", reason: str | None = "end_turn") -> bytes:
    """Return the events of a block, and a reason for the end of the message."""
    kind = "thinking" if thought else "text"
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": kind}}
    said = [{"type": f"{kind}_delta", kind: each} for each in (*deltas, thought) if each]
    blocks = [{"type": "content_block_delta", "index": 0, "delta": each} for each in said]
    end = {"type": "message_delta", "delta": {"stop_reason": reason}}
    return events(*([start, *blocks] if said else []), end)


THINKS = chat(reasoning_content="x")
GOES_ON: list[tuple[Dialect, list[bytes], str]] = [
    ("openai", [chat("one ") + chat("two "), chat("three")], "one two three"),
    ("openai", [chat(role="assistant", content=""), chat("all", None)], "all"),
    ("openai", [chat("one "), chat("two")], "one two"),
    ("openai", [THINKS, chat("all")], "all"),
    ("openai", [THINKS * 3, chat("all")], "all"),
    ("openai", [choices({"reasoning_content": "x"}) + THINKS, chat("all")], "all"),
    ("openai", [THINKS + chat("one "), chat("two")], "one two"),
    ("google", [gemini("one ") + gemini("two "), gemini("three")], "one two three"),
    ("google", [gemini("one "), gemini("two")], "one two"),
    ("google", [gemini("x", thought=True), gemini("all")], "all"),
    (
        "google",
        [gemini("x", finish=None, thought=True) + gemini("y", thought=True), gemini("all")],
        "all",
    ),
    ("anthropic", [claude("one ") + claude("two ", reason=None), claude("three")], "one two three"),
    ("anthropic", [claude(), claude("all")], "all"),
    ("anthropic", [claude(thought="x"), claude("all")], "all"),
]


@pytest.mark.parametrize(("dialect", "parts", "content"), GOES_ON)
async def test_who_goes_on_behind_a_reason_for_the_end_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, dialect: Dialect, parts: list[bytes], content: str
) -> None:
    monkeypatch.setattr(read_answer, "_TOKENS_SECONDS", 0.05)
    monkeypatch.setattr(read_answer, "_MOST_SECONDS", 0.05)
    monkeypatch.setattr(read_answer, "_ABRUPT_SECONDS", PATIENCE)

    async def lines() -> AsyncIterator[bytes]:
        for part in parts:
            for line in part.split(b"\n"):
                yield line
            await asyncio.sleep(0.2)

    assert (await read(dialect, lines())).content == content


@pytest.mark.parametrize("is_abrupt", [False, True])
@pytest.mark.parametrize("more", [b'data: {"choices":[]}', b"event: ping", b": ping", None])
async def test_nobody_waits_for_ever_behind_the_last_word(
    monkeypatch: pytest.MonkeyPatch, more: bytes | None, is_abrupt: bool
) -> None:
    for name in ("_TOKENS_SECONDS", "_MOST_SECONDS", "_ABRUPT_SECONDS"):
        monkeypatch.setattr(read_answer, name, 0.1)
    body = chat("all") if is_abrupt else choices({"content": "all"}, finish="stop")

    async def lines() -> AsyncIterator[bytes]:
        for line in body.split(b"\n"):
            yield line
        while more is not None:
            yield more
            yield b""
            await asyncio.sleep(0.01)
        await asyncio.Event().wait()

    assert (await asyncio.wait_for(read("openai", lines()), PATIENCE)).content == "all"


BREAKS: list[tuple[Dialect, bytes, str]] = [
    ("openai", choices({"content": "all"}, finish="stop"), "all"),
    ("openai", choices({"content": "one "}, {"content": "two"}, finish="length"), "one two"),
    ("google", gemini("one ", finish=None) + gemini("two"), "one two"),
    ("openai", chat("one "), ""),
    ("openai", chat("one ") * 2, ""),
    ("openai", THINKS, ""),
    ("google", gemini("one "), ""),
    ("anthropic", claude("one ", "two"), "one two"),
    ("anthropic", claude("one ", "two", reason=None), ""),
    ("anthropic", claude(), ""),
]


@pytest.mark.parametrize(("dialect", "body", "content"), BREAKS)
async def test_a_connection_may_break_behind_the_last_word(
    dialect: Dialect, body: bytes, content: str
) -> None:
    """But not where it may not have been the last one."""

    async def lines() -> AsyncIterator[bytes]:
        for line in body.split(b"\n"):
            yield line
        raise NoAnswerError("server", "broken off")

    if content:
        assert (await read(dialect, lines())).content == content
    else:
        with pytest.raises(NoAnswerError, match="broken off"):
            await read(dialect, lines())


async def test_comments_behind_the_end_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They keep the connection open for proxies."""
    monkeypatch.setattr(read_answer, "_TOKENS_SECONDS", 0.2)
    hung_up = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\n" + TYPE + b"\r\n" + choices({"content": "all"}, finish="stop")
        )
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b": keep-alive\n\n")
                await writer.drain()
                await asyncio.sleep(0.02)
        writer.close()
        hung_up.set()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    places = {"AXE_OPENAI_BASE_URL": f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"}
    with ScriptedProvider() as unused:
        async with (
            listener,
            bench(unused, tmp_path, agent("solo"), places, streams=lambda _: True) as work,
        ):
            assert (await asyncio.wait_for(work.run("solo"), PATIENCE)).content == "all"
            await asyncio.wait_for(hung_up.wait(), PATIENCE)


async def test_an_end_mark_alone_is_no_answer(provider: ScriptedProvider, tmp_path: Path) -> None:
    body = choices({"role": "assistant", "content": ""}) + b"data: [DONE]\n\n"
    with pytest.raises(ProviderError, match="the stream ended before the answer was complete"):
        await ask(provider, tmp_path, "openai", body)


async def test_an_answer_may_have_no_finish_reason(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    body = choices({"content": "all"}) + b"data: [DONE]\n\n"
    assert await ask(provider, tmp_path, "openai", body) == "all"


def part(index: int | None, arguments: str, **more: Any) -> dict[str, Any]:
    """Return a part of a tool call in a delta."""
    function = {"arguments": arguments, **({"name": more.pop("name")} if "name" in more else {})}
    place = {} if index is None else {"index": index}
    return {"tool_calls": [{**place, **more, "function": function}]}


INTERLEAVED = (
    part(0, "", id="a", name="list_directory"),
    part(1, "", id="b", name="read_file"),
    part(0, '{"pa'),
    part(1, '{"path":'),
    part(0, 'th": "."}'),
    part(1, ' "x"}'),
)
ANOTHER_ID_EACH = (
    part(0, "", id="a", name="list_directory"),
    part(0, '{"path"', id="chatcmpl-tool-1"),
    part(0, ': "."}', id="chatcmpl-tool-2", name=None),
    part(1, "", id="b", name="read_file"),
    part(1, '{"path": "x"}', id="chatcmpl-tool-3"),
)
THE_SAME_ID_EACH = (
    part(0, '{"path"', id="a", name="list_directory"),
    part(0, ': "."}', id="a", name="list_directory"),
    part(1, '{"path": "x"}', id="b", name="read_file"),
)
NO_INDEX = (
    part(None, '{"path": "."}', id="a", name="list_directory"),
    part(None, '{"path":', id="b", name="read_file"),
    part(None, ' "x"}'),
)
NO_IDS = (
    part(0, '{"path": "."}', id="", name="list_directory"),
    part(0, '{"path": "x"}', id="", name="read_file"),
)


@pytest.mark.parametrize(
    "deltas", [INTERLEAVED, ANOTHER_ID_EACH, THE_SAME_ID_EACH, NO_INDEX, NO_IDS]
)
@pytest.mark.parametrize("finish", ["tool_calls", "stop", None])
async def test_calls_are_put_together_however_they_are_numbered(
    provider: ScriptedProvider, tmp_path: Path, deltas: tuple[Any, ...], finish: str | None
) -> None:
    usage = events({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
    body = choices(*deltas, finish=finish) + usage + b"data: [DONE]\n\n"
    provider.script("m-solo", stream("openai", body), Says("done"))
    agents = agent("solo", tools=["list_directory", "read_file"])
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        assert (await work.run("solo")).content == "done"
    _, asked, *answers = provider.requests[1].body["messages"]
    functions = [each["function"] for each in asked["tool_calls"]]
    assert [(each["name"], json.loads(each["arguments"])) for each in functions] == [
        ("list_directory", {"path": "."}),
        ("read_file", {"path": "x"}),
    ]
    ids = [each["id"] for each in asked["tool_calls"]]
    assert len({*ids}) == 2
    assert all(ids)
    assert [each["tool_call_id"] for each in answers] == ids


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_ollama_s_arguments_may_be_a_text(
    provider: ScriptedProvider, tmp_path: Path, is_streamed: bool
) -> None:
    function = {"name": "list_directory", "arguments": '{"path": "."}'}
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    body = json.dumps({"model": "m", "message": message, "done": True, "done_reason": "stop"})
    first = Raw(f"{body}\n".encode(), headers={"Content-Type": content_type("ollama", is_streamed)})
    provider.script("m-solo", first, Says("done"))
    agents = agent("solo", "ollama", tools=["list_directory"])
    async with bench(provider, tmp_path, agents, streams=lambda _: is_streamed) as work:
        assert (await work.run("solo")).content == "done"
    _, asked, _ = provider.requests[1].body["messages"]
    assert asked["tool_calls"][0]["function"]["arguments"] == {"path": "."}
