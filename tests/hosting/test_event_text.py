"""A run in lines of text, for clients that know only LSP."""

from __future__ import annotations

from typing import Any, get_args

from axe_lsp.hosting.event_text import describe
from axe_lsp.hosting.notifications import notification
from axe_lsp.runtime.events import (
    AgentEnd,
    CompactionBegin,
    CompactionEnd,
    ContextShortened,
    RunIds,
    TurnEnd,
    TurnRetry,
    TurnWait,
)
from axe_lsp.runtime.incomplete import Incomplete, in_words
from axe_lsp.runtime.usage import Usage


def test_a_request_that_is_sent_again_is_told_with_its_reason() -> None:
    event = TurnRetry(
        run=RunIds("2", "1", "helper", depth=1, parent_run_id="1"),
        turn=3,
        attempt=1,
        max_attempts=4,
        category="overloaded",
        message="too many requests",
        wait_ms=1500,
    )
    assert describe(notification(event)) == (
        "  helper: overloaded: too many requests; sent again in 1.5 s (1 of 4)"
    )


def test_a_request_that_waits_is_told_with_whom_it_waits_for() -> None:
    run = RunIds("1", "1", "solo")
    wait = TurnWait(run=run, turn=1, provider="openai")
    told = "solo: openai takes no more requests at once: waiting for others"
    assert describe(notification(wait)) == told
    wait = TurnWait(run=run, turn=1, provider="openai", wait_ms=1500)
    told = "solo: openai asked for a pause: waiting for 1.5 s"
    assert describe(notification(wait)) == told


def test_a_conversation_that_was_made_shorter_is_told_with_what_it_had() -> None:
    run = RunIds("1", "1", "solo")
    made = ContextShortened(run=run, turn=3, results=2, tokens_before=900, tokens_after=400)
    told = "solo: 2 old tool results shortened to make room, about 900 to 400 tokens"
    assert describe(notification(made)) == told


def test_a_summary_is_told_when_it_is_asked_for_and_when_it_is_there_or_not() -> None:
    run = RunIds("1", "1", "solo")
    begin = CompactionBegin(run=run, turn=3, tokens_before=900)
    told = "solo: asks for a summary, since about 900 tokens are too many"
    assert describe(notification(begin)) == told
    made: dict[str, Any] = {
        "run": run,
        "turn": 3,
        "tokens_before": 900,
        "input_tokens": 1,
        "output_tokens": 1,
    }
    end = CompactionEnd(**made, tokens_after=90, messages=5, summary="s", duration_ms=1)
    told = "solo: 5 messages replaced by a summary, about 900 to 90 tokens"
    assert describe(notification(end)) == told
    end = CompactionEnd(
        **made, tokens_after=900, messages=0, summary="", duration_ms=1, error="server: boom"
    )
    assert describe(notification(end)) == "solo: no summary: server: boom"


def test_the_end_of_a_run_tells_what_its_tree_has_cost() -> None:
    run = RunIds("1", "1", "lead")
    end = AgentEnd(run=run, status="completed", duration_ms=1200, cost=0.5, tree=Usage(cost=0.75))
    assert describe(notification(end)) == "lead: completed after 1.2 s, $0.7500"
    end = AgentEnd(run=run, status="killed", duration_ms=1200, cost=0.5, error="why")
    assert describe(notification(end)) == "lead: killed after 1.2 s, $0.5000: why"


def test_an_answer_that_is_not_whole_is_told_as_such() -> None:
    run = RunIds("1", "1", "lead")
    turn = TurnEnd(
        run=run,
        turn=2,
        stop_reason="max_tokens",
        text="Half a sen",
        tool_calls=(),
        input_tokens=1,
        output_tokens=1,
        duration_ms=1,
        incomplete="length",
    )
    end = AgentEnd(run=run, status="completed", duration_ms=1200, incomplete="refusal")
    assert describe(notification(turn)) == (
        "lead: turn 2, max_tokens; the answer was cut off at the output limit"
    )
    assert describe(notification(end)) == ("lead: completed after 1.2 s: the model refused")


def test_every_reason_has_words_also_one_of_a_later_version() -> None:
    for reason in get_args(Incomplete):
        assert in_words(reason) != f"the answer is incomplete ({reason})"
    assert in_words("new") == "the answer is incomplete (new)"
    assert in_words(None) == ""
