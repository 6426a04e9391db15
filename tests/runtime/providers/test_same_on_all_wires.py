"""One conversation on every wire: the events are the same, whatever the provider's words are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.events import Event, TextDelta, ThoughtDelta, ToolEnd, TurnEnd
from axe_lsp.runtime.incomplete import Incomplete
from support.answers import DIALECTS, Dialect, content_type, stream_chunks, whole_body
from support.engines import agent, bench
from support.scripted_provider import Call, Raw, Refuses, Says, ScriptedProvider

THOUGHT = "Two looks are better than one."
CALLS = [Call("read_file", {"path": "a.txt"}, "c1"), Call("list_directory", {"path": "."}, "c2")]

CUT: dict[Dialect, str] = {
    "anthropic": "max_tokens",
    "openai": "length",
    "responses": "max_output_tokens",
    "ollama": "length",
    "google": "MAX_TOKENS",
    "bedrock": "max_tokens",
}

REFUSED: dict[Dialect, tuple[str, Incomplete | None]] = {
    "anthropic": ("refusal", "refusal"),
    "openai": ("content_filter", "content_filter"),
    "responses": ("content_filter", "content_filter"),
    "google": ("SAFETY", "content_filter"),
    "bedrock": ("guardrail_intervened", "content_filter"),
    "ollama": ("content_filter", None),
}
"""How a wire says that there will be no answer. Ollama has no word for it, and others mean nothing."""

REFUSES: dict[Dialect, Incomplete | None] = {
    "anthropic": "refusal",
    "openai": "refusal",
    "responses": "refusal",
    "google": "content_filter",
    "bedrock": "content_filter",
    "ollama": None,
}
"""What becomes of a model's own refusal."""

pytestmark = [
    pytest.mark.parametrize("dialect", DIALECTS),
    pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"]),
]


def told(events: list[Event]) -> list[Any]:
    """Return what clients hear of turns and tools, and the pieces of a stream put together."""
    story: list[Any] = []
    for event in events:
        if isinstance(event, TextDelta | ThoughtDelta):
            kind = type(event).__name__
            if story and story[-1][0] == kind:
                story[-1] = (kind, story[-1][1] + event.delta)
            else:
                story.append((kind, event.delta))
        elif isinstance(event, TurnEnd):
            calls = [(call["name"], call["arguments"]) for call in event.tool_calls]
            story.append(("turn", event.text, calls, event.incomplete, event.output_tokens))
        elif isinstance(event, ToolEnd):
            story.append(("tool", event.name, event.content, event.is_error))
    return story


async def conversation(
    provider: ScriptedProvider, folder: Path, dialect: Dialect, streams: bool, *answers: Any
) -> tuple[list[Any], list[str]]:
    (folder / "work").mkdir()
    (folder / "work/a.txt").write_text("alpha\n")
    provider.script("m-solo", *answers)
    tools = ["read_file", "list_directory"]
    agents = agent("solo", dialect, tools=tools, workdir="work", params={"effort": "low"})
    async with bench(provider, folder, agents, streams=lambda _: streams) as work:
        await work.run("solo", "go")
    return told(work.events), work.warnings


async def test_thoughts_and_two_calls(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, streams: bool
) -> None:
    asks, answers = Says("Let me look.", CALLS, thinking=THOUGHT), Says("It says alpha.")
    story, warnings = await conversation(provider, tmp_path, dialect, streams, asks, answers)
    calls = [(call.name, call.arguments) for call in CALLS]
    pieces = [("ThoughtDelta", THOUGHT), ("TextDelta", "Let me look.")]
    assert [each for each in story if each[0] != "tool"] == [
        *(pieces if streams else []),
        ("turn", "Let me look.", calls, None, 5),
        *([("TextDelta", "It says alpha.")] if streams else []),
        ("turn", "It says alpha.", [], None, 5),
    ]
    tools = sorted(each for each in story if each[0] == "tool")
    assert tools == [
        ("tool", "list_directory", "a.txt", False),
        ("tool", "read_file", "1: alpha", False),
    ]
    assert warnings == []


async def test_an_answer_that_was_cut_off(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, streams: bool
) -> None:
    cut = Says("Once upon", stop_reason=CUT[dialect])
    story, warnings = await conversation(provider, tmp_path, dialect, streams, cut)
    assert story[-1] == ("turn", "Once upon", [], "length", 5)
    (warning,) = warnings
    assert warning.startswith('agent "solo": the answer was cut off at the output limit')


async def test_a_call_without_a_table_of_arguments_is_not_executed_if_the_answer_was_cut_off(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, streams: bool
) -> None:
    """Nor does its provider get back what it does not take."""
    if dialect == "google":
        pytest.skip("has tables only, and refuses to read others")
    broken = Call("list_directory", cast("Any", "no table"), "c1")
    cut = Says("", [broken, CALLS[0]], thinking=THOUGHT, stop_reason=CUT[dialect])
    story, _ = await conversation(provider, tmp_path, dialect, streams, cut, Says("done"))
    ends = [each[2] for each in story if each[0] == "tool"]
    assert [each.startswith("Error: this call was cut off") for each in ends] == [True, True]
    assert "no table" not in json.dumps(provider.requests[1].body)


async def test_an_answer_that_nobody_wants_to_give(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, streams: bool
) -> None:
    word, incomplete = REFUSED[dialect]
    refused = Says("The first step", stop_reason=word)
    story, warnings = await conversation(provider, tmp_path, dialect, streams, refused)
    assert story[-1] == ("turn", "The first step", [], incomplete, 5)
    assert len(warnings) == (incomplete is not None)


async def test_a_refusal_in_the_wire_s_own_form(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, streams: bool
) -> None:
    refusal = Says("I would rather not.", refuses=True)
    story, warnings = await conversation(provider, tmp_path, dialect, streams, refusal)
    pieces = [("TextDelta", "I would rather not.")] if streams else []
    assert story == [*pieces, ("turn", "I would rather not.", [], REFUSES[dialect], 5)]
    assert len(warnings) == (REFUSES[dialect] is not None)


FAULTS: list[tuple[Refuses, str, int]] = [
    (Refuses(400, "no such field"), "bad_request: no such field", 1),
    (Refuses(400, "prompt is too long: 9 tokens > 8 maximum"), "context_overflow: prompt is", 1),
    (Refuses(401, "who are you?"), "auth: who are you?", 3),
    (Refuses(402, "pay first"), "quota: pay first", 3),
    (Refuses(404, "what is that?"), "bad_request: what is that?", 1),
    (Refuses(429, "slow down"), "rate_limit: slow down", 3),
    (Refuses(500, "boom"), "server: boom", 3),
    (Refuses(529, "busy"), "overloaded: busy", 3),
]


@pytest.mark.parametrize(("refuses", "told", "code"), FAULTS, ids=lambda each: str(each)[:22])
async def test_a_request_that_is_refused(
    provider: ScriptedProvider,
    tmp_path: Path,
    dialect: Dialect,
    streams: bool,
    refuses: Refuses,
    told: str,
    code: int,
) -> None:
    with pytest.raises(ProviderError) as caught:
        await conversation(provider, tmp_path, dialect, streams, refuses)
    assert str(caught.value).startswith(told)
    assert caught.value.reason == told.partition(":")[0]
    assert caught.value.exit_code == code
    assert len(provider.requests) == 1


async def test_an_answer_that_breaks_off(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, streams: bool
) -> None:
    says = Says("The first step", thinking=THOUGHT)
    pieces = stream_chunks(dialect, says, "m-solo")
    whole = json.dumps(whole_body(dialect, says, "m-solo")).encode()
    body = b"".join(pieces[: len(pieces) // 2]) if streams else whole[: len(whole) // 2]
    half = Raw(body, headers={"Content-Type": content_type(dialect, streams)})
    with pytest.raises(ProviderError, match=r"^server: ") as caught:
        await conversation(provider, tmp_path, dialect, streams, half)
    assert (caught.value.reason, caught.value.exit_code) == ("server", 3)
