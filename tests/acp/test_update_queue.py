"""What goes to a client of ACP goes in order, and no more often than somebody can read it."""

from __future__ import annotations

import asyncio
from typing import Any

from axe_lsp.acp.update_queue import UpdateQueue

Json = Any


class Heard:
    """The updates that have gone out."""

    def __init__(self) -> None:
        self.updates: list[Json] = []
        self.news = asyncio.Event()
        self.queue = UpdateQueue(self._notify, lambda _, text: None)

    def _notify(self, method: str, params: Json) -> None:
        assert method == "session/update"
        self.updates.append(params["update"])
        self.news.set()

    @property
    def texts(self) -> list[str]:
        return [update["content"]["text"] for update in self.updates if "messageId" in update]


async def test_the_first_piece_goes_at_once_and_those_after_it_together() -> None:
    heard = Heard()
    for piece in "abc":
        heard.queue.say("s", "agent_message_chunk", "1", piece)
    assert heard.texts == ["a"]
    heard.queue.flush()
    assert heard.texts == ["a", "bc"]


async def test_queued_update_is_sent_after_its_delay() -> None:
    heard = Heard()
    for piece in "abc":
        heard.queue.say("s", "agent_message_chunk", "1", piece)
    heard.news.clear()
    await heard.news.wait()
    assert heard.texts == ["a", "bc"]


async def test_text_goes_before_what_comes_after_it() -> None:
    heard = Heard()
    heard.queue.say("s", "agent_message_chunk", "1", "a")
    heard.queue.say("s", "agent_message_chunk", "1", "b")
    heard.queue.send("s", {"sessionUpdate": "tool_call", "toolCallId": "t"})
    assert [update["sessionUpdate"] for update in heard.updates] == [
        "agent_message_chunk",
        "agent_message_chunk",
        "tool_call",
    ]


async def test_pieces_of_two_messages_never_mix() -> None:
    heard = Heard()
    heard.queue.say("s", "agent_thought_chunk", "1", "a")
    heard.queue.say("s", "agent_thought_chunk", "1", "b")
    heard.queue.say("s", "agent_message_chunk", "2", "c")
    heard.queue.flush()
    assert [(update["messageId"], update["content"]["text"]) for update in heard.updates] == [
        ("1", "a"),
        ("1", "b"),
        ("2", "c"),
    ]


async def test_only_first_and_last_state_of_a_call_are_sent() -> None:
    heard = Heard()
    for number in range(5):
        heard.queue.send_soon(
            "s", "call", lambda number=number: {"toolCallId": "call", "n": number}
        )
    heard.queue.flush()
    assert [update["n"] for update in heard.updates] == [0, 4]


async def test_the_end_of_a_call_replaces_a_state_that_waits() -> None:
    heard = Heard()
    for number in range(2):
        heard.queue.send_soon(
            "s", "call", lambda number=number: {"toolCallId": "call", "n": number}
        )
    heard.queue.send("s", {"sessionUpdate": "tool_call_update", "toolCallId": "call", "n": 9})
    heard.queue.flush()
    assert [update["n"] for update in heard.updates] == [0, 9]
