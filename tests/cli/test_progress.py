"""From the events of a run to the lines that a person sees, without a terminal and without time."""

from __future__ import annotations

from typing import Any

import pytest

from axe_lsp.cli.progress import Line, Progress, Style
from axe_lsp.cli.text_width import cells
from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    AgentPlace,
    CompactionBegin,
    CompactionEnd,
    ContextShortened,
    RunIds,
    Status,
    TextDelta,
    ThoughtDelta,
    ToolBegin,
    TurnBegin,
    TurnEnd,
    TurnRetry,
    TurnWait,
    Unapplied,
)
from axe_lsp.runtime.incomplete import Incomplete
from axe_lsp.runtime.usage import Usage


class Story:
    """A run as it goes on: the root is called `lead`, a child's id is its agent's name."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.now = 100.0
        self.ids = {"lead": RunIds("lead", "lead", "lead")}
        self.log: list[str] = []
        self.tell(AgentBegin(run=self.ids["lead"], task="", model="openai/m"))

    def tell(self, event: Any) -> None:
        line = self.progress.event(event, self.now)
        if line:
            self.log.append(text(line))

    def begin(self, agent: str, task: str, parent: str = "lead") -> None:
        depth = self.ids[parent].depth + 1
        self.ids[agent] = RunIds(agent, "lead", agent, depth, parent)
        self.tell(AgentBegin(run=self.ids[agent], task=task, model="openai/m", parent_agent=parent))

    def end(
        self, agent: str, seconds: float, status: Status = "completed", error: str = ""
    ) -> None:
        milliseconds = round(seconds * 1000)
        ids = self.ids[agent]
        self.tell(AgentEnd(run=ids, status=status, duration_ms=milliseconds, error=error or None))

    def ask(self, agent: str, turn: int = 1) -> None:
        self.tell(TurnBegin(run=self.ids[agent], turn=turn, messages=1, pending_tool_calls=0))

    def answer(self, agent: str, turn: int = 1, incomplete: Incomplete | None = None) -> None:
        self.tell(
            TurnEnd(
                run=self.ids[agent],
                turn=turn,
                stop_reason="stop",
                text="the child's own words",
                tool_calls=(),
                input_tokens=1,
                output_tokens=1,
                duration_ms=1,
                incomplete=incomplete,
            )
        )

    def tool(self, agent: str) -> None:
        self.tell(ToolBegin(run=self.ids[agent], turn=1, call_id="c", name="read_file"))

    def frame(self, width: int = 200, height: int = 50) -> tuple[list[str], list[str]]:
        """Settled and live lines as they are now."""
        frame = self.progress.frame(self.now, width, height)
        return [text(line) for line in frame.settled], [text(line) for line in frame.live]

    def children(self, width: int = 200, height: int = 50) -> list[str]:
        """Return the live lines of the children."""
        return [line for line in self.frame(width, height)[1] if not line.startswith("[lead]")]


def text(line: Line) -> str:
    return "".join(span.text for span in line)


@pytest.mark.req("004-19", "004-20", "004-21")
def test_a_child_from_its_start_to_its_end() -> None:
    story = Story()
    story.begin("explore", "explore codebase")
    for _ in range(5):
        story.tool("explore")
    story.now += 3.24
    assert story.children() == [
        "> Task: explore codebase",
        "  [explore] explore codebase ... 5 tools, 3.2s",
    ]
    for _ in range(3):
        story.tool("explore")
    story.end("explore", 5.1)
    settled, _ = story.frame()
    assert settled == [
        "> Task: explore codebase",
        "  [explore] explore codebase - done (8 tools, 5.1s)",
    ]
    assert story.log == settled


@pytest.mark.req("004-7", "004-19")
def test_a_child_is_shown_by_the_description_that_its_caller_gives() -> None:
    story = Story()
    ids = RunIds("x", "lead", "explore", 1, "lead")
    story.tell(
        AgentBegin(run=ids, task="Find all auth.", model="m", description="explore codebase")
    )
    assert story.log == ["> Task: explore codebase"]


def test_a_child_without_tools_only_takes_time() -> None:
    story = Story()
    story.begin("lint", "check it")
    story.now += 1
    assert story.children()[1] == "  [lint] check it ... 1.0s"
    story.tool("lint")
    assert story.children()[1] == "  [lint] check it ... 1 tool, 1.0s"


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        ("failed", "rate_limit: slow\ndown", "  [a] t - failed (2.0s): rate_limit: slow down"),
        ("failed", "", "  [a] t - failed (2.0s)"),
        ("timeout", "timeout after 2s", "  [a] t - timed out (2.0s)"),
        ("cancelled", "", "  [a] t - cancelled (2.0s)"),
        ("killed", "", "  [a] t - killed (2.0s)"),
    ],
)
def test_end_other_than_success_is_named(status: Status, error: str, expected: str) -> None:
    story = Story()
    story.begin("a", "t")
    story.end("a", 2, status, error)
    assert story.frame()[0][1] == expected


def test_only_ends_that_are_failures_are_red() -> None:
    def styles(status: Status) -> set[Style]:
        story = Story()
        story.begin("a", "t")
        story.end("a", 2, status)
        return {span.style for line in story.progress.frame(0, 80, 24).settled for span in line}

    assert Style.GOOD in styles("completed")
    assert Style.BAD not in styles("completed")
    assert Style.BAD in styles("failed")


@pytest.mark.parametrize(
    ("unapplied", "words", "style"),
    [
        (None, "its changes were applied", Style.FAINT),
        ("all", "its changes were not applied", Style.BAD),
        ("some", "some of its changes were not applied", Style.BAD),
    ],
)
def test_what_has_become_of_the_changes_in_a_copy_stands_behind_the_figures(
    unapplied: Unapplied | None, words: str, style: Style
) -> None:
    story = Story()
    story.begin("a", "t")
    end = AgentEnd(
        run=story.ids["a"],
        status="completed",
        duration_ms=2000,
        changes="They are here.",
        unapplied=unapplied,
    )
    story.tell(end)
    line = story.progress.frame(0, 200, 24).settled[1]
    assert text(line) == f"  [a] t - done (2.0s); {words}"
    assert line[-1].style == style


def test_an_answer_that_is_not_whole_is_marked_in_red() -> None:
    story = Story()
    story.begin("a", "t")
    end = AgentEnd(
        run=story.ids["a"], status="completed", duration_ms=2000, incomplete="content_filter"
    )
    story.tell(end)
    line = story.progress.frame(0, 200, 24).settled[1]
    assert text(line) == "  [a] t - done (2.0s); the answer was stopped by a content filter"
    assert line[-1].style == Style.BAD


def test_the_root_tells_that_its_model_thinks() -> None:
    story = Story()
    story.ask("lead")
    story.tell(ThoughtDelta(run=story.ids["lead"], turn=1, delta="Hm"))
    assert "thinking" in story.frame()[1][-1]
    assert "Hm" not in story.frame()[1][-1]
    story.tell(TextDelta(run=story.ids["lead"], turn=1, delta="So"))
    assert "waiting for" in story.frame()[1][-1]


@pytest.mark.req("004-22")
def test_text_of_a_child_is_not_shown() -> None:
    story = Story()
    story.begin("a", "t")
    story.ask("a")
    story.answer("a")
    story.end("a", 1)
    assert "own words" not in str([story.frame(), story.log])


def test_children_keep_their_places_until_all_above_them_have_ended() -> None:
    story = Story()
    for name in "abc":
        story.begin(name, f"task {name}")
    story.end("b", 1)
    assert story.frame()[0] == []
    assert story.children()[3] == "  [b] task b - done (1.0s)"
    story.end("a", 2)
    assert story.frame()[0] == [
        "> Task: task a",
        "  [a] task a - done (2.0s)",
        "> Task: task b",
        "  [b] task b - done (1.0s)",
    ]
    assert story.children() == ["> Task: task c", "  [c] task c ... 0.0s"]


def test_grandchildren_stand_below_the_agent_that_called_them() -> None:
    story = Story()
    story.begin("a", "first")
    story.begin("b", "second")
    story.begin("deep", "inner", parent="a")
    story.begin("deeper", "innermost", parent="deep")
    story.begin("deep2", "inner too", parent="a")
    assert story.children()[::2] == [
        "> Task: first",
        "  > Task: inner",
        "    > Task: innermost",
        "  > Task: inner too",
        "> Task: second",
    ]
    assert story.children()[5] == "      [deeper] innermost ... 0.0s"
    story.end("deeper", 1)
    story.end("deep", 1)
    assert story.frame()[0] == [], "the agent above them is still at work"


def test_the_root_tells_what_it_waits_for() -> None:
    story = Story()

    def root() -> str:
        return story.frame()[1][-1]

    assert root() == "[lead] reading files ... 0.0s"
    story.ask("lead")
    story.now += 2
    assert root() == "[lead] turn 1, waiting for openai/m ... 2.0s"
    story.answer("lead")
    story.tool("lead")
    assert root() == "[lead] turn 1, running tools ... 1 tool, 2.0s"
    story.begin("a", "t")
    story.begin("b", "t")
    story.begin("deep", "t", parent="a")
    assert root() == "[lead] turn 1, waiting for 2 sub-agents ... 1 tool, 2.0s"
    story.end("b", 1)
    assert root() == "[lead] turn 1, waiting for 1 sub-agent ... 1 tool, 2.0s"
    story.end("deep", 1)
    story.end("a", 1)
    story.ask("lead", turn=2)
    assert root() == "[lead] turn 2, waiting for openai/m ... 1 tool, 2.0s"
    story.end("lead", 2)
    summary = "[lead] done (1 tool, 2.0s; all agents: 0 tokens in, 0 out)"
    assert story.frame() == ([summary], [])
    assert [line for line in story.log if "[lead]" in line] == [summary]


@pytest.mark.parametrize("width", range(60))
def test_live_lines_fit_into_any_window(width: int) -> None:
    story = Story()
    story.begin("explore", "探索 the whole codebase and then some more of it")
    story.begin("broken", "t")
    story.end("broken", 1, "failed", "a long reason " * 10)
    live = story.progress.frame(story.now, width, 50).live
    assert len(live) == 5
    assert all(sum(cells(span.text) for span in line) <= width for line in live)


def test_the_task_is_cut_before_anything_else() -> None:
    story = Story()
    story.begin("explore", "explore codebase")
    assert story.children(width=32) == [
        "> Task: explore codebase",
        "  [explore] explore co… ... 0.0s",
    ]
    assert story.children(width=20)[1] == "  [explore]  ... 0.0s"[:19] + "…"


def test_a_long_task_is_shown_by_its_beginning() -> None:
    story = Story()
    story.begin("a", "\n  Look at this:\n\nall of it")
    story.begin("b", "word " * 100)
    assert story.children()[0] == "> Task: Look at this:"
    assert cells(story.children()[2]) <= len("> Task: ") + 60


def test_models_cannot_move_the_cursor() -> None:
    story = Story()
    story.begin("a", "one\x1b[2J\x1b]0;title\x07two")
    story.end("a", 1, "failed", "\x1b[1Aup")
    assert not any(ord(character) < 32 for line in story.frame()[0] for character in line)


def test_the_reason_of_a_failure_is_never_cut() -> None:
    story = Story()
    story.begin("a", "t")
    story.end("a", 1, "failed", "a long reason " * 10)
    assert story.frame(width=40)[0][1].endswith("): " + ("a long reason " * 10).strip())


def test_more_children_than_rows_are_counted() -> None:
    story = Story()
    for number in range(100):
        story.begin(f"a{number}", f"task {number}")
    settled, live = story.frame(height=10)
    assert settled == []
    assert len(live) == 10
    assert live[0] == "> Task: task 0"
    assert live[-2] == "  ... and 96 more"
    assert live[-1].startswith("[lead]")


def test_where_rows_are_scarce_those_that_have_ended_make_room() -> None:
    story = Story()
    for number in range(10):
        story.begin(f"a{number}", f"task {number}")
    for number in range(1, 9):
        story.end(f"a{number}", 1)
    settled, live = story.frame(height=10)
    assert settled[::2] == [f"> Task: task {number}" for number in range(1, 9)]
    assert live[:4:2] == ["> Task: task 0", "> Task: task 9"]
    assert story.frame(height=10)[0] == [], "once is enough"


@pytest.mark.parametrize("height", range(1, 8))
def test_live_lines_never_outgrow_the_window(height: int) -> None:
    story = Story()
    for name in "abcd":
        story.begin(name, "t")
    assert len(story.frame(height=height)[1]) <= height


def test_a_request_that_is_sent_again_is_seen_until_it_is_answered() -> None:
    story = Story()
    story.begin("slow", "look around")
    for agent, attempt in (("lead", 1), ("slow", 2)):
        story.ask(agent)
        story.tell(
            TurnRetry(
                run=story.ids[agent],
                turn=1,
                attempt=attempt,
                max_attempts=3,
                category="rate_limit",
                message="slow down",
                wait_ms=1000,
            )
        )
    story.now += 1
    assert story.frame()[1] == [
        "> Task: look around",
        "  [slow] look around ... retry 2 of 3 after rate_limit, 1.0s",
        "[lead] turn 1, waiting for openai/m ... retry 1 of 3 after rate_limit, 1.0s",
    ]
    story.answer("slow")
    assert story.children()[1] == "  [slow] look around ... 1.0s"


def test_a_tree_that_has_ended_is_summed_up_once() -> None:
    story = Story()
    story.begin("a", "t")
    story.end("a", 1)
    lead = story.ids["lead"]
    tree = Usage(12_345, 678, cost=0.04213)
    story.tell(AgentEnd(run=lead, status="completed", duration_ms=5100, input_tokens=1, tree=tree))
    summary = "[lead] done (5.1s; all agents: 12,345 tokens in, 678 out, $0.0421)"
    assert story.frame() == (["> Task: t", "  [a] t - done (1.0s)", summary], [])
    assert story.frame() == ([], [])
    assert story.log[-1] == summary


def test_a_single_agent_is_not_summed_up() -> None:
    story = Story()
    story.end("lead", 1)
    assert story.frame() == ([], [])
    assert story.log == []


def test_a_request_that_waits_for_others_is_seen_until_it_is_answered() -> None:
    story = Story()
    story.begin("slow", "look around")
    story.ask("slow")
    story.tell(TurnWait(run=story.ids["slow"], turn=1, provider="openai"))
    story.now += 1
    assert story.children()[1] == "  [slow] look around ... waits for openai, 1.0s"
    story.answer("slow")
    assert story.children()[1] == "  [slow] look around ... 1.0s"


def test_the_place_of_an_agent_is_seen_and_what_it_waits_for() -> None:
    story = Story()
    story.begin("slow", "look around")

    def state(place: str, waiting: str | None = None) -> str:
        story.tell(AgentPlace(run=story.ids["slow"], place=place, waiting=waiting))
        return story.children()[1].partition(" ... ")[2]

    assert state("", "a machine") == "waits for a machine, 0.0s"
    assert state("ssh://build1") == "at ssh://build1, 0.0s"
    assert state("ssh://build1", "a slot") == "waits for a slot at ssh://build1, 0.0s"
    assert state("here") == "0.0s"


def test_a_request_that_is_made_shorter_is_seen_until_it_is_answered() -> None:
    story = Story()
    story.begin("slow", "look around")
    ids = story.ids["slow"]

    def state() -> str:
        return story.children()[1].partition(" ... ")[2].removesuffix("0.0s")

    story.ask("slow")
    story.tell(CompactionBegin(run=ids, turn=1, tokens_before=9))
    assert state() == "sums up its context, "
    used: dict[str, Any] = {"input_tokens": 1, "output_tokens": 1, "duration_ms": 1}
    sizes: dict[str, Any] = {"tokens_before": 9, "tokens_after": 4}
    end = CompactionEnd(run=ids, turn=1, messages=3, summary="s", **sizes, **used)
    story.tell(end)
    assert state() == "context summed up, "
    story.tell(ContextShortened(run=ids, turn=1, results=2, **sizes))
    assert state() == "old results shortened, "
    story.answer("slow")
    assert state() == ""
    story.ask("slow", 2)
    story.tell(CompactionEnd(run=ids, turn=2, messages=0, summary="", error="no", **sizes, **used))
    assert state() == ""


def test_an_answer_that_is_cut_off_is_marked_while_its_agent_goes_on() -> None:
    story = Story()
    story.begin("slow", "look around")
    story.ask("slow")
    story.answer("slow", incomplete="length")
    cut = "; the answer was cut off at the output limit"
    assert story.children()[1] == f"  [slow] look around{cut} ... 0.0s"
    story.ask("slow", 2)
    story.answer("slow", 2)
    assert story.children()[1] == "  [slow] look around ... 0.0s"
