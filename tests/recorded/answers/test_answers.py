"""Recorded answers of real services, played over HTTP on loopback; README.md describes the file."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.runtime.errors import ProviderError, RunError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import Message, Request, Response, Tool
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.providers.provider import Exchange
from support.scripted_provider import Answer, Raw, Received, Says, ScriptedProvider

FILE = Path(__file__).parent / "answers.jsonl.gz"
RECORDINGS: list[dict[str, Any]] = [
    json.loads(line) for line in gzip.decompress(FILE.read_bytes()).decode().splitlines()
]
KEY = "key-of-this-test"

ANSWERS = [each for each in RECORDINGS if "text" in each["expect"]]
ERRORS = [each for each in RECORDINGS if "error" in each["expect"]]
UNFINISHED = [each for each in RECORDINGS if "unfinished" in each["expect"]]
GARBLED_CALLS = [each for each in ERRORS if "MODEL_SLIP" in each["expect"]["error"]["kinds"]]


def named(recordings: list[dict[str, Any]]) -> Any:
    """Parametrise a test with recordings, each of which its service and its note name."""
    ids = [f"{each['wire']}: {each['service']}, {each['note']}" for each in recordings]
    return pytest.mark.parametrize("recording", recordings, ids=ids)


def played(recording: dict[str, Any], chunk: int = 0) -> Raw:
    """Return the recorded answer, in HTTP chunks of `chunk` bytes if that is not 0."""
    body = recording.get("body")
    return Raw(
        base64.b64decode(recording["body_base64"]) if body is None else body.encode(),
        recording["status"],
        {"Content-Type": recording["media_type"], **recording["headers"]},
        chunk=chunk,
    )


async def ask(
    provider: ScriptedProvider,
    folder: Path,
    recording: dict[str, Any],
    *,
    asks_stream: bool,
    chunk: int = 0,
    repeats: bool = True,
    after: Sequence[Says] = (),
) -> tuple[Response | RunError, str, list[Received]]:
    """Play a recording; return what comes of it, the text that was shown, and the requests.

    The recording answers each request, or only the first one, and what comes `after` the others.
    """
    service, model = recording["service"], recording["model"] or "m"
    (folder / "axe").mkdir()
    (folder / "axe" / "config.toml").write_text(
        f'[providers.{service}]\nwire = "{recording["wire"]}"\nbase_url = "{provider.url}"\n'
        f'api_key = "{KEY}"\nregion = "us-east-1"\n',
        "utf-8",
    )
    provider.script(model, Answer(played(recording, chunk), repeat=repeats), *after)
    http = HttpProvider({"XDG_CONFIG_HOME": str(folder), "AWS_BEARER_TOKEN_BEDROCK": KEY})
    exchange = Exchange(
        run=RunIds("run", "run", "agent"),
        model=ModelName(service, model),
        turn=1,
        request=Request(model, (Message("user", "ask"),), tools=(Tool("find", "Find."),)),
        workdir=folder,
    )
    shown: list[str] = []
    on_delta = (lambda delta: shown.append(delta.text)) if asks_stream else None
    try:
        outcome: Response | RunError = await http.send(exchange, on_delta)
    except RunError as error:
        outcome = error
    finally:
        await http.close()
    return outcome, "".join(shown), provider.asked(model)


def facts_of(response: Response, expected: dict[str, Any]) -> dict[str, Any]:
    """Return what a recording states of its answer, as our reader has it. Ids of our own count as none."""
    ids = [call["id"] for call in expected["tool_calls"]]
    calls = [
        {"name": call.name, "arguments": dict(call.arguments), "id": id_ and call.id}
        for call, id_ in zip(response.tool_calls, ids, strict=True)
    ]
    return {
        "text": response.content,
        "thoughts": response.thoughts,
        "tool_calls": calls,
        "incomplete": response.incomplete,
        "input_tokens": response.input_tokens,
        "output_tokens": response.output_tokens,
        "cache_read_tokens": response.cache_read_tokens,
        "stop_reason": response.stop_reason,
    }


@pytest.mark.parametrize("asks_stream", [False, True], ids=["asked whole", "asked streamed"])
@named(ANSWERS)
async def test_recorded_answer_is_read_as_the_official_sdk_reads_it(
    provider: ScriptedProvider, tmp_path: Path, recording: dict[str, Any], asks_stream: bool
) -> None:
    response, shown, requests = await ask(provider, tmp_path, recording, asks_stream=asks_stream)
    assert isinstance(response, Response), response
    expected = {k: v for k, v in recording["expect"].items() if k != "must_not_go_back"}
    assert facts_of(response, expected) == expected
    assert not asks_stream or shown == expected["text"]
    assert len(requests) == 1


@pytest.mark.parametrize("chunk", [1, 61])
@named([each for each in ANSWERS if each["streamed"]])
async def test_recorded_stream_is_read_alike_in_chunks_of_any_size(
    provider: ScriptedProvider, tmp_path: Path, recording: dict[str, Any], chunk: int
) -> None:
    # Single bytes of a long stream would take seconds and show no more.
    size = chunk if len(played(recording).body) < 10_000 else chunk + 97
    response, shown, _ = await ask(provider, tmp_path, recording, asks_stream=True, chunk=size)
    assert isinstance(response, Response), response
    expected = {k: v for k, v in recording["expect"].items() if k != "must_not_go_back"}
    assert facts_of(response, expected) == expected
    assert shown == expected["text"]


@pytest.mark.parametrize("asks_stream", [False, True], ids=["asked whole", "asked streamed"])
@named(ERRORS)
async def test_recorded_error_is_of_its_kind(
    provider: ScriptedProvider, tmp_path: Path, recording: dict[str, Any], asks_stream: bool
) -> None:
    error, _, requests = await ask(provider, tmp_path, recording, asks_stream=asks_stream)
    expected = recording["expect"]["error"]
    assert isinstance(error, ProviderError)
    assert expected["message_begins"] in error.message
    kinds = {*expected["kinds"]} - {"HOPELESS", "MODEL_SLIP"}
    assert not kinds or error.category in kinds
    assert not ("HOPELESS" in expected["kinds"] and error.may_pass)
    assert len(requests) == (2 if recording in GARBLED_CALLS else 1)
    assert bool(error.hint) == (error.category == "auth" or recording in GARBLED_CALLS)


@named(GARBLED_CALLS)
async def test_recorded_garbled_call_is_asked_again_once(
    provider: ScriptedProvider, tmp_path: Path, recording: dict[str, Any]
) -> None:
    response, shown, requests = await ask(
        provider, tmp_path, recording, asks_stream=True, repeats=False, after=[Says("second")]
    )
    assert isinstance(response, Response), response
    assert (response.content, shown) == ("second", "second")
    assert requests[0].raw == requests[1].raw


@pytest.mark.parametrize("asks_stream", [False, True], ids=["asked whole", "asked streamed"])
@named(UNFINISHED)
async def test_recorded_unfinished_answer_is_an_error_and_not_asked_again(
    provider: ScriptedProvider, tmp_path: Path, recording: dict[str, Any], asks_stream: bool
) -> None:
    error, _, requests = await ask(provider, tmp_path, recording, asks_stream=asks_stream)
    assert isinstance(error, ProviderError)
    assert not error.may_pass
    assert len(requests) == 1
