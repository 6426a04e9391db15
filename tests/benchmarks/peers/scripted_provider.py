"""A provider that costs as little as it can: the format of OpenAI, over loopback. A stream is one event per answer.

The name of the model says what it answers:

- `turns-50` calls a tool until it has been asked 50 times, and then is done.
- `fan-100`, or another number, calls an agent 100 times at once, and then is done.
- `wait-50` is done after 50 ms.
- `command-500` executes a command that takes 500 ms, and then is done.
- `case-0` answers tasks as the compared tests of agents expect (`case_answers.py`), `case-1` deviates.
- `long-10` calls a tool for ever: 10 times at once and with 20 KB of text, then each second and with a word.

Run as a process of its own, so that its work is not that of who is measured. Its first line of output
is its port.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from case_answers import turns

Json = dict[str, Any]

AGENT = "child"
"""Whom `fan` calls."""

_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, _, body = self._buffer.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        if not head or len(body) < length:
            return
        self._buffer = b""
        request = json.loads(body)
        loop = asyncio.get_running_loop()
        send = self._stream if request.get("stream") else self._send
        loop.call_later(delay_of(request), send, answer(request))

    def _stream(self, message: Json) -> None:
        """The same as server-sent events: the whole message, the reason for its end, the usage."""
        finished = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "delta": {"role": "assistant", **message}, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": finished}
        shared = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        chunks = [
            {**shared, "choices": [choice]},
            {**shared, "choices": [end]},
            {**shared, "choices": [], "usage": _USAGE},
        ]
        events = [*map(json.dumps, chunks), "[DONE]"]
        body = "".join(f"data: {event}\n\n" for event in events).encode()
        self._respond("text/event-stream", body)

    def _send(self, message: Json) -> None:
        finished = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {
            "index": 0,
            "message": {"role": "assistant", **message},
            "finish_reason": finished,
        }
        answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "m"}
        body = json.dumps({**answer, "choices": [choice], "usage": _USAGE}).encode()
        self._respond("application/json", body)

    def _respond(self, content_type: str, body: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: "
        self._transport.write(f"{head}{len(body)}\r\n\r\n".encode() + body)


def delay_of(request: Json) -> float:
    """Return the seconds that the model takes."""
    kind, number, asked = understood(request)
    if kind == "wait":
        return number / 1000
    return 1.0 if kind == "long" and asked > number else 0.0


def understood(request: Json) -> tuple[str, int, int]:
    """Return the kind of model and its number, and how often it has been asked."""
    kind, _, number = request["model"].partition("-")
    return (
        kind,
        int(number),
        1 + sum(message["role"] == "assistant" for message in request["messages"]),
    )


def answer(request: Json) -> Json:
    """Return the message that the model writes."""
    kind, number, asked = understood(request)
    if kind == "case":
        return _turn(request["messages"], asked, deviates=number == 1)
    if kind == "long":
        text = "I look it up. " * (1_400 if asked <= number else 1)
        return {"content": text, "tool_calls": [_call(asked, "look_up", {"what": "more"})]}
    if kind == "turns" and asked < number:
        return {"content": None, "tool_calls": [_call(asked, "look_up", {"what": "the weather"})]}
    if kind == "command" and asked == 1:
        command = {"command": f"sleep {number / 1000}"}
        return {"content": None, "tool_calls": [_call(asked, "run_command", command)]}
    if kind == "fan" and asked == 1:
        order = {"agent": AGENT, "task": "count to three"}
        calls = [_call(index, "call_agent", order) for index in range(number)]
        return {"content": None, "tool_calls": calls}
    return {"content": "Done."}


def _turn(messages: list[Json], asked: int, *, deviates: bool) -> Json:
    task = next(each["content"] for each in messages if each["role"] == "user")
    if not isinstance(task, str):  # Some clients send text in parts.
        task = "".join(part["text"] for part in task)
    turn = turns(task, deviates=deviates)[asked - 1]
    if isinstance(turn, str):
        return {"content": turn}
    calls = [_call(asked, name, arguments) for name, arguments in turn]
    return {"content": None, "tool_calls": calls}


def _call(index: int, name: str, arguments: Json) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{index}", "type": "function", "function": function}


async def main() -> None:
    """Serve until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
