"""Events of runs as updates of a session."""

from __future__ import annotations

from typing import Any

import pytest

from axe_lsp.acp.update_queue import UpdateQueue
from axe_lsp.acp.updates import Updates, replayed
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.children.delegation import child_run_id

Json = Any
CHILD = child_run_id("r", 1, "c")


class Told:
    """The updates of a tree whose events are told here."""

    def __init__(self) -> None:
        self.sent: list[Json] = []
        self.heard: list[Notification] = []
        queue = UpdateQueue(self._notify, self._warn)
        self.updates = Updates(queue, "s", "/work", has_compactions=True)

    def _notify(self, method: str, params: Json) -> None:
        assert params["sessionId"] == "s"
        self.sent.append(params["update"])

    def _warn(self, session: str, text: str) -> None:
        self.sent.append({"sessionUpdate": "warning", "text": text})

    def hear(self, method: str, run: str = "r", **params: Json) -> None:
        who = {"runId": run, "rootRunId": "r", "agent": "lead", "depth": 0}
        if run != "r":
            who.update(agent="writer", depth=1, parentRunId="r")
        self.heard.append(Notification(method, {**who, **params}))
        self.updates.hear(self.heard[-1])

    def begin(self, run: str = "r", kind: str = "begin", **params: Json) -> None:
        self.hear(
            "axe/agent", run, kind=kind, task="Do it", model="anthropic/claude-haiku-4-5", **params
        )

    def tool(self, run: str, call: str, name: str, **arguments: Json) -> None:
        self.hear(
            "axe/tool", run, kind="begin", turn=1, callId=call, name=name, arguments=arguments
        )

    def ends(self, run: str, call: str, content: str = "", *, is_error: bool = False) -> None:
        self.hear(
            "axe/tool", run, kind="end", turn=1, callId=call, isError=is_error, content=content
        )

    def turn_ends(self, run: str = "r", text: str = "", **params: Json) -> None:
        self.hear(
            "axe/turn",
            run,
            kind="end",
            turn=1,
            text=text,
            toolCalls=params.pop("calls", []),
            inputTokens=10,
            outputTokens=5,
            **params,
        )

    def of(self, kind: str) -> list[Json]:
        return [each for each in self.sent if each["sessionUpdate"] == kind]


@pytest.fixture
def told() -> Told:
    return Told()


async def test_whole_answer_is_sent_once_also_after_streaming(
    told: Told,
) -> None:
    told.begin()
    told.hear("axe/turn", kind="begin", turn=1)
    told.turn_ends(text="whole")
    told.hear("axe/turn", kind="begin", turn=2)
    told.hear("axe/text", turn=2, delta="streamed")
    told.turn_ends(text="streamed")
    told.updates.close()
    assert [each["content"]["text"] for each in told.of("agent_message_chunk")] == [
        "whole",
        "streamed",
    ]


async def test_sources_follow_the_answer_as_links(told: Told) -> None:
    told.begin()
    page = {"url": "https://example.com/a", "title": "A [page]"}
    told.turn_ends(text="It is so.", sources=[page, {"title": "notes.txt"}])
    told.updates.close()
    text = "".join(each["content"]["text"] for each in told.of("agent_message_chunk"))
    assert text == (
        "It is so.\n\n**Sources**\n\n1. [A \\[page\\]](https://example.com/a)\n2. notes.txt\n"
    )


async def test_an_answer_that_begins_again_is_another_message(told: Told) -> None:
    told.begin()
    told.hear("axe/text", turn=1, delta="half")
    told.hear("axe/turn", kind="retry", turn=1)
    told.hear("axe/text", turn=1, delta="all")
    told.updates.close()
    first, second = told.of("agent_message_chunk")
    assert first["messageId"] != second["messageId"]


async def test_a_call_names_its_place_in_the_folder_of_its_agent(told: Told) -> None:
    told.begin()
    told.tool("r", "1", "read_file", path="a.py", offset=3)
    told.begin("x", workdir="/work/docs")
    told.tool("x", "1", "read_file", path="../b.md")
    told.tool("x", "2", "grep", pattern="TODO")
    assert [call.get("locations") for call in told.of("tool_call")] == [
        [{"path": "/work/a.py", "line": 3}],
        [{"path": "/work/b.md"}],
        None,
    ]
    assert [(call["kind"], call["title"]) for call in told.of("tool_call")] == [
        ("read", "read_file a.py"),
        ("read", "writer: read_file ../b.md"),
        ("search", "writer: grep TODO"),
    ]


async def test_a_tool_that_asks_is_pending_and_another_one_at_work(told: Told) -> None:
    told.begin()
    told.tool("r", "1", "run_command", command="make")
    told.tool("r", "2", "read_file", path="a")
    told.tool("r", "3", "files/search", query="x")
    assert [call["status"] for call in told.of("tool_call")] == [
        "pending",
        "in_progress",
        "pending",
    ]


async def test_an_edit_is_shown_as_a_diff_also_when_nobody_was_asked(told: Told) -> None:
    told.begin()
    told.tool("r", "1", "edit_file", path="a.py", old_string="x", new_string="y")
    told.ends("r", "1", "done")
    diff = {"type": "diff", "path": "/work/a.py", "oldText": "x", "newText": "y"}
    assert told.of("tool_call")[0]["content"] == [diff]
    assert told.of("tool_call_update")[-1]["content"] == [diff]


async def test_a_typed_agent_gets_the_title_of_its_task_when_it_begins(told: Told) -> None:
    told.begin()
    told.tool("r", "c", "subagent--writer", topic="x")
    told.begin(CHILD)
    assert told.of("tool_call_update")[-1]["title"] == "writer: Do it"
    assert told.of("tool_call_update")[-1]["status"] == "in_progress"


async def test_open_calls_of_a_dead_host_fail_and_their_repetition_has_new_ids(
    told: Told,
) -> None:
    told.begin()
    told.tool("r", "1", "read_file", path="a")
    told.begin(kind="resume", turn=1)
    told.tool("r", "1", "read_file", path="a")
    told.ends("r", "1", "text")
    first, second = told.of("tool_call")
    assert first["toolCallId"] != second["toolCallId"]
    ends = {each["toolCallId"]: each["status"] for each in told.of("tool_call_update")}
    assert ends == {first["toolCallId"]: "failed", second["toolCallId"]: "completed"}


async def test_the_use_has_the_window_of_the_model_and_the_cost_of_all(told: Told) -> None:
    told.begin()
    told.begin(CHILD)
    told.turn_ends(CHILD, cost=0.5)
    told.turn_ends(cost=0.25)
    assert told.of("usage_update") == [
        {
            "sessionUpdate": "usage_update",
            "used": 15,
            "size": 200_000,
            "cost": {"amount": 0.75, "currency": "USD"},
        }
    ]


async def test_replayed_session_has_the_same_ids_and_no_open_calls() -> None:
    def events(told: Told) -> None:
        told.begin()
        told.hear("axe/text", turn=1, delta="Hm")
        told.tool("r", "c", "call_agent", agent="writer", task="Write")
        told.begin(CHILD)
        told.tool(CHILD, "1", "read_file", path="a")

    live, again = Told(), Told()
    events(live)
    replayed(again.updates, "Go", (), live.heard)
    assert again.sent[0]["content"] == {"type": "text", "text": "Go"}
    for kind in ("tool_call", "agent_message_chunk"):
        assert again.of(kind) == live.of(kind)
    assert [each["status"] for each in again.of("tool_call_update") if "status" in each][-2:] == [
        "failed",
        "failed",
    ]


async def test_replayed_write_shows_its_known_diff(
    told: Told,
) -> None:
    files = [("1", "a", "old", "new"), ("2", "a", None, "newer"), ("3", "new.txt", "", "x")]
    unknown = [("4", "b", None, "x"), ("5", "big", "x" * 300_000, "y")]
    told.updates.files_before = {("r", 1, call): before for call, _, before, _ in files + unknown}
    told.begin()
    for call, path, _, content in (*files, *unknown, ("6", "later", None, "x")):
        told.tool("r", call, "write_file", path=path, content=content)
        told.ends("r", call, "wrote it")
    changes = [call.get("content", [{}])[0] for call in told.of("tool_call")]
    assert [(change.get("oldText"), change.get("newText")) for change in changes[:3]] == [
        ("old", "new"),
        ("new", "newer"),
        (None, "x"),
    ]
    assert changes[3:] == [{}, {}, {}]


async def test_replayed_write_after_a_failure_or_a_command_shows_no_diff(
    told: Told,
) -> None:
    told.updates.files_before = {
        ("r", 1, "1"): "old",
        ("r", 1, "2"): None,
        ("r", 1, "3"): None,
        ("r", 1, "5"): None,
    }
    told.begin()
    for call, content, is_error in (("1", "a", True), ("2", "b", False), ("3", "c", False)):
        told.tool("r", call, "write_file", path="a", content=content)
        told.ends("r", call, is_error=is_error)
    told.tool("r", "4", "run_command", command="sort -o a a")
    told.ends("r", "4")
    told.tool("r", "5", "write_file", path="a", content="d")
    changes = [call.get("content", [{}])[0].get("oldText") for call in told.of("tool_call")]
    assert changes == ["old", None, "b", None, None]


async def test_a_long_tree_below_a_call_is_cut_at_its_beginning(told: Told) -> None:
    told.begin()
    told.tool("r", "c", "call_agent", agent="writer", task="Write")
    told.begin(CHILD)
    for number in range(300):
        told.tool(CHILD, str(number), "read_file", path=f"file-{number}.py")
        told.ends(CHILD, str(number))
    told.updates.queue.flush()
    text = [each for each in told.of("tool_call_update") if "content" in each][-1]
    shown = text["content"][0]["content"]["text"]
    assert len(shown) <= 4_000
    assert shown.startswith("…")
    assert shown.endswith("✓ writer: read_file file-299.py")


async def test_a_compaction_of_the_agent_is_told_from_its_begin_to_its_end(told: Told) -> None:
    told.begin()
    told.begin("child", parentAgent="lead")
    for run in ("r", "child"):  # What a called agent sums up is nothing of this session.
        told.hear("axe/context", run, kind="begin", turn=2, tokensBefore=9)
        told.hear("axe/context", run, kind="end", turn=2, tokensBefore=9, summary="Short.")
    told.hear("axe/context", kind="begin", turn=3, tokensBefore=9)
    told.hear("axe/context", kind="end", turn=3, tokensBefore=9, summary="", error="no room")
    told.hear("axe/context", kind="begin", turn=4, tokensBefore=9)
    told.updates.close()
    sent = [each for each in told.sent if each["sessionUpdate"] == "compaction_update"]
    assert [(each["status"], each.get("error")) for each in sent] == [
        ("in_progress", None),
        ("completed", None),
        ("in_progress", None),
        ("failed", "no room"),
        ("in_progress", None),
        ("failed", None),
    ]
    assert sent[1]["summary"] == [{"type": "text", "text": "Short."}]
    ids = [each["compactionId"] for each in sent]
    assert ids[::2] == ids[1::2]
    assert len({*ids}) == 3


async def test_client_without_compaction_capability_gets_no_compaction_update() -> None:
    told = Told()
    told.updates = Updates(told.updates.queue, "s", "/work")
    told.begin()
    told.hear("axe/context", kind="begin", turn=2, tokensBefore=9)
    told.hear("axe/context", kind="end", turn=2, tokensBefore=9, summary="Short.")
    assert told.sent == []
