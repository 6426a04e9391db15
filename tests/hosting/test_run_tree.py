"""A tree of runs that can't speak for itself any more."""

from axe_lsp.hosting.notifications import notification
from axe_lsp.hosting.run_tree import RunTree
from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    CompactionEnd,
    Event,
    RunIds,
    TextDelta,
    ToolBegin,
    ToolEnd,
    TurnBegin,
    TurnEnd,
)

ROOT = RunIds(run_id="r", root_run_id="r", agent="lead")


def child(name: str, parent: RunIds = ROOT) -> RunIds:
    return RunIds(
        run_id=name,
        root_run_id="r",
        agent=name,
        depth=parent.depth + 1,
        parent_run_id=parent.run_id,
    )


def begin(run: RunIds, seq: int) -> Event:
    return AgentBegin(run=run, seq=seq, task="", model="anthropic/m")


def turn_end(run: RunIds, seq: int, text: str) -> Event:
    return TurnEnd(
        run=run,
        seq=seq,
        turn=1,
        stop_reason="tool_use",
        text=text,
        tool_calls=(),
        input_tokens=10,
        output_tokens=3,
        duration_ms=1,
    )


def tree_after(*events: Event) -> RunTree:
    tree = RunTree()
    for event in events:
        tree.follow(notification(event))
    return tree


def test_all_that_began_and_did_not_end_ends_with_children_first() -> None:
    a, b = child("a"), child("b")
    tree = tree_after(
        begin(ROOT, 1),
        begin(a, 2),
        begin(b, 3),
        begin(child("aa", a), 4),
        AgentEnd(run=b, seq=5, status="completed", duration_ms=1),
    )

    events, _ = tree.end("killed", "it was ended", "2025-01-01T00:00:00.000Z")

    assert [event.run.run_id for event in events] == ["aa", "a", "r"]
    assert [event.seq for event in events] == [6, 7, 8]
    assert {event.status for event in events} == {"killed"}
    assert {event.error for event in events} == {"it was ended"}
    assert events[0].run == child("aa", a)


def test_an_ended_tree_has_nothing_left_to_end() -> None:
    tree = tree_after(begin(ROOT, 1))
    tree.end("killed", "", "")

    assert tree.end("killed", "", "") == ([], None)
    assert "r" not in tree


def test_the_end_tells_what_the_run_had_come_to() -> None:
    tree = tree_after(
        begin(ROOT, 1),
        TurnBegin(run=ROOT, seq=2, turn=1, messages=1, pending_tool_calls=0),
        TextDelta(run=ROOT, seq=3, turn=1, delta="Let me "),
        TextDelta(run=ROOT, seq=4, turn=1, delta="see."),
        turn_end(ROOT, 5, "Let me see."),
        ToolBegin(run=ROOT, seq=6, turn=1, call_id="t", name="call_agent"),
        ToolEnd(
            run=ROOT,
            seq=7,
            turn=1,
            call_id="t",
            name="call_agent",
            is_error=False,
            content="ok",
            duration_ms=1,
        ),
        TurnBegin(run=ROOT, seq=8, turn=2, messages=3, pending_tool_calls=1),
    )

    (event,), result = tree.end("killed", "", "")

    assert result is not None
    assert result.content == "Let me see."
    assert (result.turns, result.tool_calls) == (1, 1)
    assert (result.input_tokens, result.output_tokens) == (10, 3)
    assert (event.turns, event.content_length) == (1, len("Let me see."))


def test_text_that_was_still_arriving_is_not_lost() -> None:
    tree = tree_after(
        begin(ROOT, 1),
        turn_end(ROOT, 2, "first turn"),
        TextDelta(run=ROOT, seq=3, turn=2, delta="half a sec"),
    )

    _, result = tree.end("cancelled", "", "")

    assert result is not None
    assert result.content == "half a sec"


def test_a_tree_that_never_began_says_nothing() -> None:
    assert RunTree().end("killed", "", "") == ([], None)


def test_the_result_is_the_roots_and_not_a_childs() -> None:
    tree = tree_after(
        begin(ROOT, 1),
        begin(child("a"), 2),
        AgentEnd(run=ROOT, seq=3, status="completed", duration_ms=1),
    )

    _, result = tree.end("killed", "", "")

    assert result is None


def test_a_summary_is_a_part_of_what_a_run_has_used() -> None:
    summary = CompactionEnd(
        run=ROOT,
        seq=3,
        turn=2,
        tokens_before=900,
        tokens_after=90,
        messages=5,
        summary="s",
        input_tokens=100,
        output_tokens=30,
        duration_ms=1,
    )
    _, root = tree_after(begin(ROOT, 1), turn_end(ROOT, 2, "hm"), summary).end("killed", "", "")
    assert root is not None
    assert (root.input_tokens, root.output_tokens, root.turns) == (110, 33, 1)
