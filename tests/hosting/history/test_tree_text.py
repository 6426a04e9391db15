"""A run as a tree of text."""

from axe_lsp.agentfile.text.amounts import as_line
from axe_lsp.hosting.history.tree_text import draw
from support.past import Tale

CALLS = {"turn": 1, "durationMs": 3, "isError": False}


def tale() -> Tale:
    told = Tale("aa01").begin("lead", task="Check the\n release", model="ollama/m-lead")
    told.tell("axe/turn", kind="begin", turn=1, messages=1, pendingToolCalls=0)
    return told.turn("I look and ask.")


def drawn(told: Tale) -> list[str]:
    """Return the lines of the tree, without the heading and what comes below."""
    return draw(told.events).split("\n\n")[1].splitlines()


def test_children_stand_where_they_were_called_and_calls_where_they_began() -> None:
    told = tale()
    told.tell("axe/tool", kind="begin", turn=1, callId="1", name="call_agent", arguments={})
    told.tell(
        "axe/tool", kind="begin", turn=1, callId="2", name="grep", arguments={"x": "é", "n": 1}
    )
    told.begin("left", "bb01", parent="aa01", task="do l", model="")
    told.turn("deep", "bb01").end("bb01", durationMs=999)
    told.tell("axe/tool", kind="end", callId="2", name="grep", content="hits", **CALLS)
    told.tell(
        "axe/tool",
        kind="end",
        callId="1",
        name="call_agent",
        content="",
        childRunId="bb01",
        **CALLS,
    )
    told.end(durationMs=61_500, turns=2, toolCalls=2)

    assert drawn(told) == [
        "     0.0 s  lead: completed after 61.5 s, 10 + 5 tokens, 2 turns, 2 tool calls",
        "     0.0 s  ├─ task: Check the release",
        "     1.0 s  ├─ turn 1, 900 ms, 10 + 5 tokens: I look and ask.",
        '     4.0 s  ├─ grep x="é", n=1: 3 ms, 4 characters',
        "     5.0 s  └─ left: completed after 999 ms, 10 + 5 tokens, 1 turn, 0 tool calls",
        "     5.0 s     ├─ task: do l",
        "     6.0 s     └─ turn 1, 900 ms, 10 + 5 tokens: deep",
    ]


def test_what_has_become_of_the_changes_in_a_copy_is_told_whole() -> None:
    told = Tale("aa01").begin("helper", task="do")
    changes = f"Its changes are kept as refs/axe/{'0' * 150}"
    told.end(changes=changes, unapplied="all")
    assert drawn(told)[-1].endswith(f"└─ {changes}")


def test_what_went_wrong_is_told_and_what_has_not_ended() -> None:
    told = tale()
    told.tell("axe/tool", kind="begin", turn=1, callId="1", name="grep", arguments={})
    told.tell(
        "axe/tool",
        kind="end",
        callId="1",
        name="grep",
        content="no\nidea",
        **{**CALLS, "isError": True},
    )
    told.tell("axe/tool", kind="begin", turn=1, callId="1", name="url_fetch", arguments={})
    told.begin("left", "bb01", parent="aa01")
    told.end("bb01", "failed", error="boom")
    told.tell(
        "axe/turn",
        kind="retry",
        turn=2,
        attempt=1,
        maxAttempts=3,
        category="overloaded",
        message="busy",
        waitMs=500,
    )
    told.tell("axe/turn", kind="begin", turn=2, messages=1, pendingToolCalls=0)

    assert [line[12:] for line in drawn(told)] == [
        "lead (ollama/m-lead): running",
        "├─ task: Check the release",
        "├─ turn 1, 900 ms, 10 + 5 tokens: I look and ask.",
        "├─ grep: failed after 3 ms: no idea",
        "├─ url_fetch: no result",
        "├─ left: failed after 1.5 s, 10 + 5 tokens, 1 turn, 0 tool calls: boom",
        "│  └─ task: go",
        "├─ overloaded: busy; sent again in 0.5 s (1 of 3)",
        "└─ turn 2, not answered",
    ]


def test_a_summary_is_a_step_and_counts_for_the_whole() -> None:
    told = tale()
    figures = {"turn": 2, "tokensBefore": 900, "tokensAfter": 90, "messages": 3, "summary": "s"}
    used = {"inputTokens": 100, "outputTokens": 20, "durationMs": 5}
    told.tell("axe/context", kind="end", **figures, **used)
    told.end()
    assert drawn(told)[-1][12:] == "└─ 3 messages replaced by a summary, about 900 to 90 tokens"
    assert "1 run, 110 + 25 tokens in all" in draw(told.events)


def test_the_whole_and_the_answer_stand_below_the_tree() -> None:
    told = tale().begin("left", "bb01", parent="aa01").turn("x", "bb01").end("bb01")
    told.turn("It is\ndone.").end()

    heading, _, total, answer = draw(told.events).split("\n\n")

    assert heading.startswith("Run aa01 of 2026-0")
    assert total == "2 runs, 30 + 15 tokens in all"
    assert answer == "It is\ndone.\n"


def test_a_part_of_a_tree_is_drawn_like_a_whole() -> None:
    told = tale().begin("left", "bb01", parent="aa01").turn("x", "bb01").end("bb01")
    part = [event for event in told.events if event.params["runId"] == "bb01"]

    assert draw(part).startswith("Run bb01 of")
    assert "1 run, 10 + 5 tokens in all" in draw(part)


def test_events_that_were_lost_leave_gaps_and_nothing_worse() -> None:
    told = tale()
    told.tell("axe/tool", kind="begin", turn=1, callId="1", name="grep", arguments={})
    told.tell("axe/tool", kind="end", callId="1", name="grep", content="x", **CALLS)
    told.begin("left", "bb01", parent="aa01").turn("x", "bb01").end("bb01").end()

    assert draw(told.events[1:2]) == "There are no events of this run.\n"
    for lost in range(1, len(told.events)):
        draw([event for event in told.events if event.params["seq"] != lost + 1])


def test_long_texts_are_cut() -> None:
    assert as_line("word " * 100, 12) == "word word w…"
    assert as_line("  short\ntext ", 12) == "short text"
    assert as_line("abc" + " " * 2000 + "def", 100) == "abc…"
    assert as_line("abc" + " " * 2000, 100) == "abc"


def test_what_is_known_to_have_cost_something_is_told() -> None:
    told = Tale("aa01").begin("lead").turn("x", cost=0.25).end(cost=0.25)
    assert drawn(told)[0].endswith("10 + 5 tokens, $0.2500, 1 turn, 0 tool calls")
    assert "1 run, 10 + 5 tokens, $0.2500 in all" in draw(told.events)
    told.turn("y")
    assert "1 run, 20 + 10 tokens in all" in draw(told.events)
