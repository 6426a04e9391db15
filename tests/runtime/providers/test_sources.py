"""The sources of an answer on every wire, whole and streamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.events import TurnEnd
from axe_lsp.runtime.messages import Message, Request, Response
from axe_lsp.runtime.safety.redaction import REDACTED
from axe_lsp.runtime.sources import MAX_SOURCES, Source, sources_markdown, sources_of, sources_text
from support.answers import aws_event
from support.bodies import FORMATS
from support.engines import agent, bench
from support.scripted_provider import Raw, ScriptedProvider

PAGE = Source("https://example.com/a", "A page")
FILE = Source(title="notes.txt")


def chat(message: dict[str, Any], **fields: Any) -> Response:
    choice = {"message": {"content": "hm", **message}, "finish_reason": "stop"}
    return FORMATS["openai"].decode({"choices": [choice], **fields})


def chat_streamed(*deltas: dict[str, Any], **fields: Any) -> Response:
    stream = FORMATS["openai"].stream_decoder()
    choices = [{"delta": delta} for delta in ({"content": "hm"}, *deltas)]
    for choice in (*choices, {"delta": {}, "finish_reason": "stop"}):
        stream.feed(f"data: {json.dumps({'choices': [choice], **fields})}".encode())
        stream.feed(b"")
    return stream.finish()


CITED = {
    "annotations": [
        {"type": "url_citation", "url_citation": {"url": PAGE.url, "title": PAGE.title}}
    ]
}
SEARCHED = [
    pytest.param({"citations": [PAGE.url]}, Source(PAGE.url), id="xAI"),
    pytest.param(
        {"citations": [PAGE.url], "search_results": [{"url": PAGE.url, "title": PAGE.title}]},
        PAGE,
        id="Perplexity",
    ),
    pytest.param({"web_search": [{"link": PAGE.url, "title": PAGE.title}]}, PAGE, id="Z.ai"),
]


def test_chat_annotations_are_sources() -> None:
    assert chat(CITED, citations=["https://example.com/other"]).sources == (PAGE,)


def test_chat_annotations_of_a_stream_are_sources() -> None:
    assert chat_streamed(CITED).sources == (PAGE,)


@pytest.mark.parametrize(("fields", "source"), SEARCHED)
def test_chat_search_results_are_sources(fields: dict[str, Any], source: Source) -> None:
    assert chat({}, **fields).sources == (source,)
    assert chat_streamed(**fields).sources == (source,)


def test_chat_results_of_groqs_own_search_are_sources() -> None:
    result = {"url": PAGE.url, "title": PAGE.title, "score": 0.9}
    tool = {"type": "search", "search_results": {"results": [result]}}
    assert chat({"executed_tools": [tool]}).sources == (PAGE,)


@pytest.mark.parametrize(
    ("items", "sources"),
    [
        (
            [{"annotations": [{"type": "url_citation", "url": PAGE.url, "title": PAGE.title}]}],
            (PAGE,),
        ),
        (
            [{"annotations": [{"type": "file_citation", "file_id": "f", "filename": "notes.txt"}]}],
            (FILE,),
        ),
        ([{"annotations": [{"type": "file_path", "file_id": "f"}]}], ()),
    ],
)
def test_responses_annotations_are_sources(
    items: list[dict[str, Any]], sources: tuple[Source, ...]
) -> None:
    parts = [{"type": "output_text", "text": "hm", **item} for item in items]
    body = {"status": "completed", "output": [{"type": "message", "content": parts}]}
    assert FORMATS["responses"].decode(body).sources == sources


def test_responses_searches_are_sources_of_a_text_without_citations() -> None:
    search = {
        "type": "web_search_call",
        "action": {"type": "search", "sources": [{"type": "url", "url": PAGE.url}]},
    }
    body = {"status": "completed", "output": [search]}
    assert FORMATS["responses"].decode(body).sources == (Source(PAGE.url),)


CITATION = {"type": "web_search_result_location", "url": PAGE.url, "title": PAGE.title}


def test_anthropic_citations_are_sources() -> None:
    found = {"type": "web_search_tool_result", "content": [{"url": "https://example.com/b"}]}
    text = {"type": "text", "text": "hm", "citations": [CITATION, CITATION]}
    assert FORMATS["anthropic"].decode({"content": [found, text]}).sources == (PAGE,)


def test_anthropic_citations_of_a_stream_are_sources() -> None:
    stream = FORMATS["anthropic"].stream_decoder()
    for event in (
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "citations_delta", "citation": CITATION},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hm"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ):
        stream.feed(f"data: {json.dumps(event)}".encode())
        stream.feed(b"")
    assert stream.finish().sources == (PAGE,)


def test_anthropic_search_results_are_sources_of_a_text_without_citations() -> None:
    result = {"type": "web_search_result", "url": PAGE.url, "title": PAGE.title}
    found = {"type": "web_search_tool_result", "content": [result]}
    failed = {"type": "web_search_tool_result", "content": {"error_code": "max_uses_exceeded"}}
    assert FORMATS["anthropic"].decode({"content": [failed, found]}).sources == (PAGE,)


@pytest.mark.parametrize(
    ("metadata", "source"),
    [
        (
            {
                "groundingMetadata": {
                    "groundingChunks": [{"web": {"uri": PAGE.url, "title": PAGE.title}}]
                }
            },
            PAGE,
        ),
        (
            {
                "groundingMetadata": {
                    "groundingChunks": [{"retrievedContext": {"title": "notes.txt"}}]
                }
            },
            FILE,
        ),
        ({"urlContextMetadata": {"urlMetadata": [{"retrievedUrl": PAGE.url}]}}, Source(PAGE.url)),
        ({"citationMetadata": {"citations": [{"uri": PAGE.url, "title": PAGE.title}]}}, PAGE),
        ({"citationMetadata": {"citationSources": [{"uri": PAGE.url}]}}, Source(PAGE.url)),
    ],
)
def test_gemini_grounding_is_a_source(metadata: dict[str, Any], source: Source) -> None:
    candidate = {"content": {"parts": [{"text": "hm"}]}, "finishReason": "STOP", **metadata}
    assert FORMATS["google"].decode({"candidates": [candidate]}).sources == (source,)
    stream = FORMATS["google"].stream_decoder()
    stream.feed(f"data: {json.dumps({'candidates': [candidate]})}".encode())
    stream.feed(b"")
    assert stream.finish().sources == (source,)


CITED_ON_BEDROCK = {"title": PAGE.title, "location": {"web": {"url": PAGE.url}}}


def test_bedrock_citations_are_sources() -> None:
    cited = {"content": [{"text": "hm"}], "citations": [CITED_ON_BEDROCK]}
    body = {"output": {"message": {"content": [{"citationsContent": cited}]}}}
    response = FORMATS["bedrock"].decode(body)
    assert (response.content, response.sources) == ("hm", (PAGE,))


def test_bedrock_citations_of_a_stream_are_sources() -> None:
    stream = FORMATS["bedrock"].stream_decoder()
    for delta in ({"text": "hm"}, {"citation": CITED_ON_BEDROCK}):
        stream.feed(aws_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}))
    stream.feed(aws_event("messageStop", {"stopReason": "end_turn"}))
    response = stream.finish()
    assert (response.content, response.sources) == ("hm", (PAGE,))


@pytest.mark.parametrize(
    ("entry", "source"),
    [
        ({"url": "javascript:alert(1)", "title": "A page"}, Source(title="A page")),
        ({"uri": "gs://bucket/file"}, Source(title="gs://bucket/file")),
        ({"title": "two\nlines\x00"}, Source(title="two lines\x00")),
        ("https://example.com/a b", Source(title="https://example.com/a b")),
    ],
)
def test_source_without_a_web_address_is_text(entry: Any, source: Source) -> None:
    assert sources_of([entry]) == (source,)


def test_entries_without_address_and_title_are_no_sources() -> None:
    assert sources_of([None, 3, {}, {"url": 3}, "", []]) == ()


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_sources_are_in_the_event_and_in_the_result_without_the_key(
    provider: ScriptedProvider, tmp_path: Path, streams: bool
) -> None:
    address = "https://example.com/?k=key-openai"
    body = {
        "choices": [{"message": {"content": "hm"}, "finish_reason": "stop"}],
        "citations": [address],
    }
    chunk = {
        "choices": [{"delta": {"content": "hm"}, "finish_reason": "stop"}],
        "citations": [address],
    }
    answer = f"data: {json.dumps(chunk)}\n\n" if streams else json.dumps(body)
    provider.script("m-solo", Raw(answer.encode()))
    async with bench(provider, tmp_path, agent("solo"), streams=lambda _: streams) as work:
        result = await work.run("solo")
        (turn,) = work.of(TurnEnd)
    assert turn.sources == result.sources
    assert [source.url for source in result.sources] == [f"https://example.com/?k={REDACTED}"]


async def test_event_has_sources_without_the_secrets_of_their_addresses(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    key = "sk-proj-0123456789abcdef"
    body = {
        "choices": [{"message": {"content": "hm"}, "finish_reason": "stop"}],
        "search_results": [
            {"url": "https://me:hunter22@example.com/", "title": "One"},
            {"url": f"https://example.com/?k={key}", "title": f"Two {key}"},
        ],
    }
    provider.script("m-solo", Raw(json.dumps(body).encode()))
    async with bench(provider, tmp_path, agent("solo")) as work:
        await work.run("solo")
        (turn,) = work.of(TurnEnd)
    assert turn.sources == (
        Source(f"https://{REDACTED}@example.com/", "One"),
        Source(f"https://example.com/?k={REDACTED}", f"Two {REDACTED}"),
    )


def test_sources_of_a_paused_answer_are_those_of_all_its_parts() -> None:
    talk = Conversation(Request("m", (Message("user", "ask"),)))
    talk.receive(Response("a", incomplete="paused", sources=(PAGE,)))
    talk.receive(Response("b", sources=(FILE, PAGE)))
    assert (talk.last.content, talk.last.sources) == ("ab", (PAGE, FILE))
    talk.receive(Response("c", incomplete="paused", continuation="t", sources=(PAGE,)))
    talk.receive(Response("d", sources=(FILE,)))
    assert (talk.last.content, talk.last.sources) == ("cd", (PAGE, FILE))


def test_number_of_sources_is_limited() -> None:
    assert len(sources_of(f"https://example.com/{n}" for n in range(1000))) == MAX_SOURCES


def test_sources_as_text_are_numbered() -> None:
    assert sources_text([PAGE, FILE]) == "Sources:\n1. A page https://example.com/a\n2. notes.txt"
    assert sources_text([]) == sources_markdown([]) == ""


def test_sources_as_markdown_are_links_that_a_title_cannot_change() -> None:
    odd = Source("https://example.com/(x)", "a](http://evil.example) *b*")
    assert sources_markdown([odd]).splitlines()[-1] == (
        r"1. [a\](http://evil.example) \*b\*](https://example.com/%28x%29)"
    )
