"""Thoughts between tags in the text of an answer: no part of it, shown as thoughts, sent back with calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.runtime.events import TextDelta, ThoughtDelta
from axe_lsp.runtime.messages import Response, ToolCall
from axe_lsp.runtime.providers.thinking_tags import TagSplitter, without_tagged_thoughts
from support.answers import Call, Dialect, Says
from support.engines import agent, bench
from support.scripted_provider import ScriptedProvider

TAGGED: tuple[Dialect, ...] = ("openai", "responses", "ollama")

THOUGHTS = {
    "DeepSeek": ("<think>\nHe asks for\n\ntwo.\n</think>\n\n", "He asks for\n\ntwo."),
    "after a line": ("\n<think>He asks.</think>", "He asks."),
    "EXAONE": ("<thought>He asks.</thought>\n", "He asks."),
    "Seed-OSS": ("<seed:think>He asks.</seed:think>", "He asks."),
    "MiniMax": ("<mm:think>He asks.</mm:think>", "He asks."),
    "Magistral": ("[THINK]He asks.[/THINK]", "He asks."),
    "of another tag": ("<think>Is <b> or </thought> a tag?</think>", "Is <b> or </thought> a tag?"),
    "none": ("<think>\n\n</think>\n\n", ""),
}

PROSE = [
    "The tag <think> opens it, and </think> closes it.",
    "<think> is the tag that opens it.",
    "`<think>` and `</think>` are tags.",
    "<thinker>He</thinker>",
    "<",
    "  <thi",
    "It ends with `</think>`\nand goes on.",
    "It ends with </think>, and goes on.",
    "It ends with </think>\nand goes on.",
    "text.split('</think>')[-1]",
    "```\nx</think>\n```\nis an example.",
    "x\n</think>",
    "The closing tag is\n\n</think>\n\nand it ends the thoughts.",
]
"""Answers about tags."""


def split(response: Response, model: str = "m") -> tuple[str, str]:
    """Return the answer and the thoughts."""
    seen = without_tagged_thoughts(response, model)
    return seen.content, seen.thoughts


def streamed(pieces: list[str], *, model: str = "m", is_whole: bool = True) -> tuple[str, str]:
    """Return what is shown of a text that comes in these pieces."""
    splitter = TagSplitter(model)
    shown = [*map(splitter.feed, pieces), splitter.rest(is_whole=is_whole)]
    return "".join(each.text for each in shown), "".join(each.thought for each in shown)


@pytest.mark.parametrize("server", THOUGHTS)
def test_tagged_thoughts_are_no_part_of_the_answer(server: str) -> None:
    tagged, thought = THOUGHTS[server]
    text = "Two: <think> and </think>.\n"
    assert split(Response(tagged + text)) == (text, thought)
    for size in (1, 2, 3, 7, 100):
        pieces = [(tagged + text)[i : i + size] for i in range(0, len(tagged + text), size)]
        assert streamed(pieces) == (text, thought)


@pytest.mark.parametrize("text", PROSE)
def test_an_answer_about_tags_stays_as_it_is(text: str) -> None:
    assert split(Response(text)) == (text, "")
    assert streamed(list(text))[0] == text


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "think>", "a", " ", "\n", "`"])))
def test_a_streamed_text_is_split_as_a_whole_one(pieces: list[str]) -> None:
    whole, text = streamed(["".join(pieces)]), "".join(pieces)
    assert streamed(pieces) == streamed(list(text)) == whole
    if text.lstrip().startswith("<think>"):
        assert split(Response(text))[0] == whole[0]


@pytest.mark.parametrize(
    ("text", "answer", "thought"),
    [
        ("He asks.\n</think>\n\nTwo.", "Two.", "He asks."),
        ("He asks.</think>391", "391", "He asks."),
        ("\n\n</think>\n\nTwo.", "Two.", ""),
        ("He asks.</seed:think>**Two**", "**Two**", "He asks."),
        ("He asks `</think>`?\n</think>\nTwo.", "Two.", "He asks `</think>`?"),
    ],
)
@pytest.mark.parametrize(
    "model", ["Qwen/Qwen3.5-35B-A3B", "deepseek-ai/DeepSeek-V3.1", "Seed-OSS-36B-Instruct"]
)
def test_the_opening_tag_may_stand_in_the_prompt(
    text: str, answer: str, thought: str, model: str
) -> None:
    assert split(Response(text), model) == (answer, thought)
    # Others may say so of the tag.
    assert split(Response(text)) == (text, "")


@pytest.mark.parametrize(
    "text",
    [
        "def f(text):\n    return text.split('\\n</think>\\n\\n')[-1]",
        '{"pattern": "\\\\n</think>\\\\n", "n": 3}',
        '["</think>\n", 1]',
        '{\n"tag": "\n</think>\n"}',
    ],
)
def test_code_and_json_with_a_closing_tag_stay_as_they_are(text: str) -> None:
    assert split(Response(text), "qwen3.5-9b") == (text, "")
    if text.startswith(("{", "[")):
        assert split(Response(text), "qwq") == (text, "")
        assert streamed(list(text), model="qwq") == (text, "")


@pytest.mark.parametrize(
    "model", ["Qwen/QwQ-32B", "deepseek-r1:8b", "DeepSeek-R1-0528", "qwen3-30b-a3b-thinking-2507"]
)
def test_a_model_that_always_thinks_is_known_while_its_answer_streams(model: str) -> None:
    for text, answer, thought in [
        ("He asks.\n</think>\n\nTwo.", "Two.", "He asks."),
        ("<think>\nHe asks.\n</think>\n\nTwo.", "Two.", "He asks."),
    ]:
        assert (
            streamed(list(text), model=model) == split(Response(text), model) == (answer, thought)
        )
    cut = "<think>He asks"
    assert split(Response(cut, incomplete="length"), model) == ("", "He asks")
    assert streamed(list(cut), model=model, is_whole=False) == ("", "He asks")
    # Its server has a parser.
    assert split(Response("Two.", thoughts="He asks.", incomplete="length"), model)[0] == "Two."


@pytest.mark.parametrize("model", ["qwq", "kimi-k2-thinking", "x:thinking"])
def test_a_text_without_tags_is_the_answer_whatever_the_model_is_called(model: str) -> None:
    """The model did not think for once, or its server hides the thoughts. Nothing is shown twice."""
    text, call = "I read a.py first.", ToolCall("1", "read_file")
    for response in (
        Response(text),
        Response(text, tool_calls=(call,)),
        Response(text, incomplete="length"),
    ):
        assert split(response, model) == (text, "")
    assert streamed(list(text), model=model) == (text, "")
    assert streamed(list(text), model=model, is_whole=False) == (text, "")


@pytest.mark.parametrize("model", ["m", "qwq"])
def test_spaces_are_looked_at_once(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    """However many pieces they come in, since each look takes as long as they are."""
    looks = []
    for name in ("_before", "_inside"):
        look = getattr(TagSplitter, name)

        def counted(splitter: TagSplitter, look: Any = look) -> Any:
            looks.append(splitter)
            return look(splitter)

        monkeypatch.setattr(TagSplitter, name, counted)
    spaces = [" "] * 1_000
    pieces = [*spaces, "<think>", *spaces, "x", *spaces, "y", *spaces, "</think>", *spaces, "Two."]
    thought = f"x{' ' * 1_000}y"
    assert streamed(pieces, model=model) == ("Two.", thought)
    assert len(looks) < len(spaces)


@pytest.mark.parametrize(
    "model",
    ["my-r1", "rethinking", "unthinkingly", "qwen3-8b", "glm-4.5-non-thinking", "x:no-thinking"],
)
def test_other_models_show_their_answer_at_once(model: str) -> None:
    assert TagSplitter(model).feed("Two").text == "Two"


async def test_thoughts_in_a_field_let_the_answer_stream(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("qwq", Says("one two", thinking="I count."))
    agents = {"solo": 'name = "solo"\nmodel = "ollama/qwq"\n'}
    async with bench(provider, tmp_path, agents, streams=lambda _: True) as work:
        assert (await work.run("solo")).content == "one two"
        assert [each.delta for each in work.of(TextDelta)] == ["one ", "two"]


def test_thoughts_that_were_cut_are_no_answer() -> None:
    text = "<think>He asks for"
    assert split(Response(text, incomplete="length")) == ("", "He asks for")
    assert streamed([text], is_whole=False) == ("", "He asks for")
    call = ToolCall("1", "read_file")
    assert split(Response(text, tool_calls=(call,))) == ("", "He asks for")
    asked = Response("He asks.</think>", tool_calls=(call,))
    assert split(asked, "deepseek-v3.2") == split(asked, "qwq") == ("", "He asks.")


def test_a_field_with_thoughts_wins() -> None:
    """llama.cpp with `--reasoning-format deepseek-legacy` writes them twice."""
    response = Response("<think>He asks.</think>Two.", thoughts="He asks.\n")
    assert split(response) == ("Two.", "He asks.\n")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", TAGGED)
async def test_thoughts_go_back_with_their_calls(
    provider: ScriptedProvider, tmp_path: Path, dialect: Dialect, stream: bool
) -> None:
    asked = "<think>\nI must look.\n</think>\n\nLet me look."
    answer = "<think>\nIt is one.\n</think>\n\nOne."
    calls = [Call("list_directory", {"path": "."})]
    provider.script("m-solo", Says(asked, calls), Says(answer))
    agents = agent("solo", dialect, tools=["list_directory"])
    async with bench(provider, tmp_path, agents, streams=lambda _: stream) as work:
        assert (await work.run("solo")).content == "One."
        texts, thoughts = work.of(TextDelta), work.of(ThoughtDelta)
    if stream:
        assert "".join(each.delta for each in texts) == "Let me look.One."
        assert "".join(each.delta for each in thoughts) == "I must look.It is one."
    assert json.dumps(asked).encode() in provider.requests[1].raw
