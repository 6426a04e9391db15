"""Providers that fail in every way, over real connections: a clear error each, at once, without a key."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import random
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.runtime.errors import ProviderError, RunError, RunTimeoutError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import Message, Request, Response
from axe_lsp.runtime.providers import http_client
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.providers.provider import Exchange
from support.answers import (
    DIALECTS,
    Call,
    Dialect,
    Says,
    aws_event,
    bedrock_events,
    content_type,
    stream_chunks,
    whole_body,
)
from support.engines import agent, bench
from support.raw_server import RawServer, http, raw_server
from support.scripted_provider import Answer, Raw, ScriptedProvider, name_providers

KEY = "key-that-nobody-may-see"
SAYS = Says("Hi, wörld!", [Call("find", {"n": 1}, "a")])
PROMPTLY = 120.0
"""Seconds for many requests on a busy machine. What hangs, hangs for longer."""

STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
EACH = pytest.mark.parametrize("dialect", DIALECTS)


class Asker:
    """Asks one server, as often as wanted, and remembers what was shown of it."""

    def __init__(self, dialect: Dialect, url: str, stream: bool, folder: Path) -> None:
        self._dialect, self._stream, self._folder = dialect, stream, folder
        name_providers(folder, [f"{dialect}/"])
        self._provider = HttpProvider(
            {
                "ANTHROPIC_API_KEY": KEY,
                "OPENAI_API_KEY": KEY,
                "GEMINI_API_KEY": KEY,
                "RESPONSES_API_KEY": KEY,
                "AWS_BEARER_TOKEN_BEDROCK": KEY,
                "AWS_REGION": "eu-central-1",
                f"AXE_{dialect.upper()}_BASE_URL": url,
                "XDG_CONFIG_HOME": str(folder),
            }
        )
        self.shown: dict[str, list[str]] = {}

    async def ask(self, model: str) -> Response | RunError:
        """Return the answer, or the error; anything else is a failure of the test."""
        exchange = Exchange(
            run=RunIds("run", "run", "agent"),
            model=ModelName(self._dialect, model),
            turn=1,
            request=Request(model, (Message("user", "ask"),)),
            workdir=self._folder,
        )
        shown = self.shown.setdefault(model, [])
        on_delta = (lambda delta: shown.append(delta.text)) if self._stream else None
        try:
            return await self._provider.send(exchange, on_delta)
        except RunError as error:
            return error

    async def ask_all(self, models: Iterable[str]) -> dict[str, Response | RunError]:
        """Many at the same time, each to end promptly."""
        limit = asyncio.Semaphore(40)

        async def one(model: str) -> Response | RunError:
            async with limit:
                return await self.ask(model)

        models = list(models)
        answers = await asyncio.wait_for(asyncio.gather(*map(one, models)), PROMPTLY)
        assert not [each for each in answers if isinstance(each, RunError) and KEY in str(each)]
        return dict(zip(models, answers, strict=True))

    async def close(self) -> None:
        await self._provider.close()


async def answers(
    dialect: Dialect, stream: bool, folder: Path, payloads: dict[str, bytes]
) -> tuple[dict[str, Response | RunError], Asker]:
    """Return what comes of each of these answers."""
    async with raw_server(payloads.__getitem__) as server:
        asker = Asker(dialect, server.url, stream, folder)
        found = await asker.ask_all(payloads)
        await asker.close()
    return found, asker


def body_of(dialect: Dialect, stream: bool) -> bytes:
    if stream:
        return b"".join(stream_chunks(dialect, SAYS, "m"))
    return json.dumps(whole_body(dialect, SAYS, "m"), ensure_ascii=False).encode()


def cuts(whole: bytes) -> list[int]:
    """Return where an answer is cut: around each end of a line, in all of the head, and at some of all other places.

    `test_a_stream_that_is_cut_anywhere_is_an_error_or_complete` cuts what is within the lines at each byte.
    """
    head = whole.index(b"\r\n\r\n") + 4
    ends = {match.start() + near for match in re.finditer(b"\n", whole) for near in range(-4, 5)}
    places = {*range(head), *range(0, len(whole), 7), *ends, len(whole)}
    return sorted(place for place in places if 0 <= place <= len(whole))


def filler(dialect: Dialect, stream: bool) -> bytes:
    """Return what may stand in an answer any number of times."""
    return aws_event("ping", {}) if dialect == "bedrock" and stream else b" "


def category(answer: Response | RunError) -> str:
    return answer.category if isinstance(answer, ProviderError) else ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stream", "framing"),
    [(False, "length"), (False, "close"), (True, "chunked"), (True, "close")],
)
@EACH
async def test_a_connection_that_is_cut_anywhere_ends_in_an_error_or_the_whole_answer(
    dialect: Dialect, stream: bool, framing: str, tmp_path: Path
) -> None:
    whole = http(body_of(dialect, stream), content_type(dialect, stream), framing)
    payloads = {f"cut-{end}": whole[:end] for end in cuts(whole)}
    found, asker = await answers(dialect, stream, tmp_path, payloads)
    complete = found[f"cut-{len(whole)}"]
    assert isinstance(complete, Response)
    assert complete.content == SAYS.text
    assert len(complete.tool_calls) == 1
    for model, answer in found.items():
        shown = "".join(asker.shown[model])
        if isinstance(answer, Response):
            same = (complete.content, complete.tool_calls)
            assert (answer.content, answer.tool_calls) == same, model
        else:
            assert category(answer) == "server", model
        assert SAYS.text.startswith(shown)
    assert sum(isinstance(answer, RunError) for answer in found.values()) > len(found) * 0.6


@STREAMS
@EACH
async def test_garbage_is_an_error(dialect: Dialect, stream: bool, tmp_path: Path) -> None:
    chance = random.Random(dialect)
    bodies = [b"", b"\n", b"null", b"[]", b'"x"', b"{}", b"data: {}\n\n", b"<html></html>", b"\xff"]
    bodies += [chance.randbytes(chance.randrange(1, 300)) for _ in range(40)]
    types = [content_type(dialect, False), content_type(dialect, True), "text/html", "x"]
    payloads = {
        f"garbage-{number}-{index}": http(body, type_)
        for number, body in enumerate(bodies)
        for index, type_ in enumerate(types)
    }
    payloads["no-http"] = b"SSH-2.0-OpenSSH_9.9\r\n"
    payloads["no-status"] = b"HTTP/1.1 abc def\r\n\r\n"
    payloads["long-head"] = b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"
    found, _ = await answers(dialect, stream, tmp_path, payloads)
    # What is absent or null is empty, so these are an empty answer of everybody but OpenAI.
    empty = {model for model, answer in found.items() if isinstance(answer, Response)}
    assert {bodies[int(model.split("-")[1])] for model in empty} <= {b"null", b"{}"}
    assert {category(answer) for model, answer in found.items() if model not in empty} == {"server"}


WRONG: list[Any] = [None, True, 0, -1, 1.5, 10**30, "", "x", [], [1], ["x"], {}, {"x": 1}, [{}]]


@pytest.mark.slow
@STREAMS
@EACH
async def test_a_value_of_the_wrong_type_anywhere_is_an_error_or_ignored(
    dialect: Dialect, stream: bool, tmp_path: Path
) -> None:
    type_ = content_type(dialect, stream)
    payloads = {
        f"wrong-{number}": http(body, type_)
        for number, body in enumerate(_spoiled(dialect, stream))
    }
    found, asker = await answers(dialect, stream, tmp_path, payloads)
    assert {category(each) for each in found.values() if isinstance(each, RunError)} == {"server"}
    for model, answer in found.items():
        if isinstance(answer, Response):
            assert isinstance(answer.content, str)
            assert isinstance(answer.input_tokens, int)
            assert all(isinstance(call.name, str) for call in answer.tool_calls)
            assert not stream or "".join(asker.shown[model]) == answer.content


def _spoiled(dialect: Dialect, stream: bool) -> Iterable[bytes]:
    """Return an answer with one of its values replaced, for every value of it and every wrong one."""
    if not stream:
        body = whole_body(dialect, SAYS, "m")
        return [json.dumps(each).encode() for each in _variants(body)]
    if dialect == "bedrock":
        events = bedrock_events(SAYS)
        frames = [aws_event(*event) for event in events]
        return [
            b"".join([*frames[:index], aws_event(name, variant), *frames[index + 1 :]])
            for index, (name, event) in enumerate(events)
            for variant in _variants(event)
        ]
    lines = b"".join(stream_chunks(dialect, SAYS, "m")).split(b"\n")
    spoiled = []
    for index, line in enumerate(lines):
        prefix = b"data: " if line.startswith(b"data: ") else b""
        if line.removeprefix(prefix).startswith(b"{"):
            for variant in _variants(json.loads(line.removeprefix(prefix))):
                new = prefix + json.dumps(variant).encode()
                spoiled.append(b"\n".join([*lines[:index], new, *lines[index + 1 :]]))
    return spoiled


def _variants(value: Any) -> Iterable[Any]:
    yield from WRONG
    if isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
            yield from ({**value, key: variant} for variant in _variants(value[key]))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from ([*value[:index], each, *value[index + 1 :]] for each in _variants(item))


@pytest.mark.slow
@STREAMS
@EACH
async def test_an_answer_that_drips_for_ever_ends_with_the_run_s_time(
    dialect: Dialect, stream: bool, tmp_path: Path
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type(dialect, stream)}\r\n\r\n"
    dripping, hung_up = asyncio.Event(), asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            dripping.set()
            writer.write(head.encode())
            while not writer.is_closing():
                writer.write(filler(dialect, stream))
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.close()
        hung_up.set()

    listener = await asyncio.start_server(drip, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    with ScriptedProvider() as unused:
        where = {f"AXE_{dialect.upper()}_BASE_URL": url}
        agents = agent("solo", dialect)
        async with bench(unused, tmp_path, agents, where, streams=lambda _: stream) as runtime:
            with pytest.raises(RunTimeoutError):
                await asyncio.wait_for(runtime.run("solo", timeout=1), PROMPTLY)
    if dripping.is_set():  # On a very busy machine a second may end before that.
        await asyncio.wait_for(hung_up.wait(), PROMPTLY)
    listener.close()


@STREAMS
@EACH
@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        ("429 Too Many Requests", b'{"error": {"message": "slow down"}}', "rate_limit: slow down"),
        ("429 Too Many Requests", b'{"error": "slow down"}', "rate_limit: slow down"),
        ("429 Too Many Requests", b"<html>", "rate_limit: Too Many Requests"),
        ("429 Too Many Requests", b"", "rate_limit: Too Many Requests"),
        ("429 Too Many Requests", b"\xff\xfe", "rate_limit: Too Many Requests"),
        ("529 Overloaded", b"{}", "overloaded: HTTP status 529"),
        ("503 Service Unavailable", b"[1]", "server: Service Unavailable"),
        (
            "401 Unauthorized",
            b'{"error": "no such key: ' + KEY.encode() + b'"}',
            "auth: no such key: [redacted]",
        ),
        ("418 I'm a teapot", b'{"error": {"message": 5}}', "server: I'm a Teapot"),
    ],
)
async def test_a_refusal_is_told_in_the_provider_s_words(
    dialect: Dialect, stream: bool, tmp_path: Path, status: str, body: bytes, expected: str
) -> None:
    payloads = {"m": http(body, "application/json", status=status)}
    found, _ = await answers(dialect, stream, tmp_path, payloads)
    assert str(found["m"]) == expected


@STREAMS
@EACH
async def test_a_host_that_does_not_exist_is_named(
    dialect: Dialect, stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    asker = Asker(dialect, "http://models.invalid", stream, tmp_path)
    error = await asyncio.wait_for(asker.ask("m"), PROMPTLY)
    await asker.close()
    assert str(error).startswith("server: the host can't be found: ")
    assert str(error).endswith(f" ({dialect} at http://models.invalid)")


@EACH
async def test_encryption_where_there_is_none_is_told(dialect: Dialect, tmp_path: Path) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(http(b"What?", "text/plain", status="400 Bad Request"))
        writer.close()

    listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    asker = Asker(dialect, f"https://127.0.0.1:{port}", False, tmp_path)
    error = await asyncio.wait_for(asker.ask("m"), PROMPTLY)
    await asker.close()
    listener.close()
    assert "no encrypted connection is possible: is it an http address" in str(error)


async def test_a_server_that_waits_for_a_request_without_encryption_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "HANDSHAKE_SECONDS", 0.05)
    async with raw_server(lambda _: b"") as server:
        asker = Asker("openai", server.url.replace("http:", "https:"), False, tmp_path)
        error = await asyncio.wait_for(asker.ask("m"), PROMPTLY)
        await asker.close()
    assert "no encrypted connection is possible: is it an http address" in str(error)


@STREAMS
@EACH
async def test_a_redirect_is_not_followed_and_nobody_else_gets_the_key(
    provider: ScriptedProvider, dialect: Dialect, stream: bool, tmp_path: Path
) -> None:
    with ScriptedProvider() as elsewhere:
        place = {"Location": f"{elsewhere.url}/v1/messages?key={KEY}"}
        provider.script("m", *[Raw(b"", status, place) for status in (301, 302, 303, 307, 308)])
        asker = Asker(dialect, provider.url, stream, tmp_path)
        for _ in range(5):
            error = await asker.ask("m")
            assert "redirects to" in str(error)
            assert "not followed" in str(error)
        await asker.close()
        assert elsewhere.requests == []


@STREAMS
@EACH
async def test_compressed_answers_are_read_and_spoiled_ones_are_errors(
    dialect: Dialect, stream: bool, tmp_path: Path
) -> None:
    body = gzip.compress(body_of(dialect, stream))
    type_ = f"{content_type(dialect, stream)}\r\nContent-Encoding: gzip"
    payloads = {
        "good": http(body, type_),
        "cut": http(body[: len(body) // 2], type_),
        "spoiled": http(body[:20] + bytes(20) + body[40:], type_),
        "plain": http(body_of(dialect, stream), type_),
    }
    found, _ = await answers(dialect, stream, tmp_path, payloads)
    good = found.pop("good")
    assert isinstance(good, Response)
    assert good.content == SAYS.text
    assert {category(answer) for answer in found.values()} == {"server"}


@pytest.mark.slow
@STREAMS
@EACH
async def test_an_answer_without_end_is_an_error(
    dialect: Dialect, stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "LARGEST_ANSWER", 100_000)
    type_ = content_type(dialect, stream)
    unit = filler(dialect, stream)
    units = {"long": unit} if len(unit) > 1 else {"long": b"x", "lines": b"\n"}
    payloads = {
        name: http(each * (100_000 // len(each) + 1), type_) for name, each in units.items()
    }
    bomb = gzip.compress(unit * (50_000_000 // len(unit)))
    payloads["bomb"] = http(bomb, f"{type_}\r\nContent-Encoding: gzip")
    found, _ = await answers(dialect, stream, tmp_path, payloads)
    for answer in found.values():
        assert "the answer has more than 100,000 bytes" in str(answer)


@EACH
async def test_a_provider_that_closes_connections_between_turns_is_no_trouble(
    dialect: Dialect, tmp_path: Path
) -> None:
    """It says that it keeps them, and does not: each turn finds its connection gone."""
    look = replace(SAYS, calls=[Call("list_directory", {"path": "."}, "a")])
    bodies = [whole_body(dialect, each, "m") for each in (look, look, Says("done"))]
    payloads = iter([http(json.dumps(each).encode(), "application/json") for each in bodies])
    async with raw_server(lambda _: next(payloads)) as server:
        with ScriptedProvider() as unused:
            where = {f"AXE_{dialect.upper()}_BASE_URL": server.url}
            agents = agent("solo", dialect, tools=["list_directory"])
            async with bench(unused, tmp_path, agents, where) as runtime:
                assert (await runtime.run("solo")).content == "done"
    assert_asked(server, 3)


def assert_asked(server: RawServer, times: int) -> None:
    assert len(server.asked) == times


@pytest.mark.parametrize("dialect", ["anthropic", "openai", "responses"])
async def test_a_key_that_is_repeated_in_the_text_goes_no_further(
    provider: ScriptedProvider, dialect: Dialect, tmp_path: Path
) -> None:
    text = f"Your key is {KEY} and again: {KEY}."
    spread = Answer(
        Raw(_in_letters(dialect, text), headers={"Content-Type": content_type(dialect, True)})
    )
    provider.script("m", Says(text), spread, Says(text))
    whole = Asker(dialect, provider.url, False, tmp_path)
    streamed = Asker(dialect, provider.url, True, tmp_path)
    for asker in (whole, streamed, streamed):
        answer = await asker.ask("m")
        assert isinstance(answer, Response)
        assert answer.content == "Your key is [redacted] and again: [redacted]."
    assert "".join(streamed.shown["m"]) == answer.content * 2
    await whole.close()
    await streamed.close()


def _in_letters(dialect: Dialect, text: str) -> bytes:
    """Return a stream with one letter at a time. What comes at the end is an answer's, with no text."""
    one = stream_chunks(dialect, Says("X"), "m")
    place = next(index for index, chunk in enumerate(one) if b'"X"' in chunk)
    letters = [one[place].replace(b'"X"', json.dumps(letter).encode()) for letter in text]
    return b"".join([*one[:place], *letters, *one[place + 1 :]])
