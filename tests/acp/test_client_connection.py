"""The connection with a client of ACP: lines, order, cancelled requests, and clients that send too much."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from axe_lsp.acp.client_connection import Cancelling, Connection, Reply, RequestError

Json = Any


class Client:
    """The other side: what was sent to it, and a connection with some methods."""

    def __init__(self) -> None:
        self.sent: list[Json] = []
        self.news = asyncio.Event()
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.heard: list[Json] = []
        handlers = {
            "echo": self._echo,
            "wait": self._wait,
            "fail": self._fail,
            "then": self._then,
        }
        listeners = {"note": self.heard.append}
        long = {"long": self._long, "plain": self._plain}
        self.connection = Connection(self._write, handlers, listeners, long)

    def _write(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        self.sent.append(json.loads(data))
        self.news.set()

    async def _echo(self, params: Json) -> Json:
        return params

    async def _wait(self, params: Json) -> Json:
        await self.gate.wait()
        return params

    async def _long(self, params: Json, cancelling: Cancelling) -> Json:
        cancelling.act = self.gate.set
        self.begun.set()
        await self.gate.wait()
        return params

    async def _plain(self, params: Json, cancelling: Cancelling) -> Json:
        assert cancelling.act is None
        return await self._wait(params)

    async def _fail(self, _: Json) -> Json:
        raise ValueError("secret")

    async def _then(self, _: Json) -> Reply:
        return Reply({}, lambda: self.connection.notify("after", {}))

    def send(self, **message: Json) -> None:
        self.connection.feed(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def has(self, count: int) -> list[Json]:
        """Return the messages, once there are so many."""
        while len(self.sent) < count:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 20)
        return self.sent


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    client = Client()
    yield client
    await client.connection.close(within=1.0)


async def test_requests_are_answered_in_their_order_and_long_ones_beside_them(
    client: Client,
) -> None:
    client.send(id=1, method="long")
    client.send(id=2, method="echo", params=2)
    client.send(id=3, method="wait")
    client.send(id=4, method="echo")
    assert [each["id"] for each in await client.has(1)] == [2]
    client.gate.set()
    assert {each["id"] for each in (await client.has(4))[1:3]} == {1, 3}
    assert client.sent[3]["id"] == 4


async def test_a_line_may_come_in_pieces_and_end_as_on_windows(client: Client) -> None:
    for piece in (b'{"jsonrpc":"2.0","id"', b':1,"method":"echo"}\r', b"\n\n"):
        client.connection.feed(piece)
    assert await client.has(1) == [{"jsonrpc": "2.0", "id": 1, "result": None}]


async def test_a_cancelled_request_is_answered_whether_it_waits_or_is_at_work(
    client: Client,
) -> None:
    client.send(id=1, method="wait")
    client.send(id="two", method="echo")
    await asyncio.sleep(0)
    for each in ("two", 1, 9, None):
        client.send(method="$/cancel_request", params={"requestId": each})
    answers = await client.has(2)
    assert {each["id"]: each["error"]["code"] for each in answers} == {"two": -32800, 1: -32800}


async def test_cancelled_long_request_answers_as_it_ends_itself(client: Client) -> None:
    client.send(id=1, method="long", params="how it ends")
    await client.begun.wait()
    client.send(method="$/cancel_request", params={"requestId": 1})
    assert await client.has(1) == [{"jsonrpc": "2.0", "id": 1, "result": "how it ends"}]


async def test_cancelled_long_request_without_an_own_end_is_answered_as_cancelled(
    client: Client,
) -> None:
    client.send(id=1, method="long", params="goes on")
    client.send(id=2, method="plain")
    client.send(id=3, method="echo")
    await client.has(1)
    client.send(method="$/cancel_request", params={"requestId": 2})
    assert (await client.has(2))[1]["error"]["code"] == -32800
    assert not client.gate.is_set()


async def test_requests_can_be_answered_before_their_turn(client: Client) -> None:
    client.send(id=1, method="wait")
    client.send(id=2, method="long", params="a")
    client.send(id=3, method="long", params="b")
    for _ in range(3):
        client.connection.answer_waiting(lambda _, params: params == "a", "early")
        await asyncio.sleep(0)
    client.gate.set()
    answers = await client.has(3)
    assert {each["id"]: each["result"] for each in answers} == {2: "early", 1: None, 3: "b"}


async def test_internal_error_is_answered_without_its_text(client: Client) -> None:
    client.send(id=1, method="fail")
    (answer,) = await client.has(1)
    assert answer["error"] == {"code": -32603, "message": "fail failed: ValueError"}


async def test_notification_can_follow_an_answer(client: Client) -> None:
    client.send(id=1, method="then")
    answer, after = await client.has(2)
    assert (answer["id"], after["method"]) == (1, "after")


async def test_request_to_the_client_returns_its_answer_or_error(client: Client) -> None:
    asking = asyncio.ensure_future(client.connection.request("ask", {}))
    (asked,) = await client.has(1)
    client.send(id=99, result=1)  # To nothing that was asked.
    client.send(id=asked["id"], result={"yes": True})
    assert await asking == {"yes": True}
    asking = asyncio.ensure_future(client.connection.request("ask", {}))
    asked = (await client.has(2))[1]
    client.send(id=asked["id"], error={"code": 7, "message": "no"})
    with pytest.raises(RequestError, match="no") as refused:
        await asking
    assert refused.value.code == 7


async def test_answer_to_a_withdrawn_request_is_dropped(
    client: Client,
) -> None:
    asking = asyncio.ensure_future(client.connection.request("ask", {}))
    (asked,) = await client.has(1)
    asking.cancel()
    taken = (await client.has(2))[1]
    assert taken["params"] == {"requestId": asked["id"]}
    settling = asyncio.ensure_future(client.connection.settle())
    await asyncio.sleep(0)
    client.send(id=asked["id"], error={"code": -32800, "message": "cancelled"})
    await settling


async def test_a_client_that_sends_too_much_has_to_wait(client: Client) -> None:
    for number in range(1_200):
        client.send(id=number, method="wait")
    waiting = asyncio.ensure_future(client.connection.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    client.gate.set()
    await asyncio.wait_for(waiting, 60)
    await client.has(200)


async def test_a_line_without_end_is_refused_and_the_next_one_heard(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axe_lsp.acp.client_connection._LONGEST_LINE", 100)
    client.connection.feed(b"x" * 101)
    client.connection.feed(b"y" * 500 + b"\n")
    client.send(id=1, method="echo")
    refused, answer = await client.has(2)
    assert (refused["id"], refused["error"]["code"]) == (None, -32700)
    assert answer["id"] == 1
