"""Clients that do not answer requests for files and terminals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.acp.client_connection import Connection
from axe_lsp.acp.client_editor import ClientEditor, EditorOfMessage, Timeouts
from axe_lsp.acp.update_queue import UpdateQueue
from axe_lsp.acp.updates import Updates
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.tools.editor import EditorAnswer, ReadFile, RunCommand, WriteFile

Json = Any

RUN = RunIds(run_id="r", root_run_id="r", agent="lead")
ALL = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
COMMAND = RunCommand("call", ("sh", "-c", "true"), "/work", {}, limit=0.05, keep=10)


class Client:
    """A client that answers only those methods that are in `answers`."""

    def __init__(self, **answers: Json) -> None:
        self.answers = {name.replace("__", "/"): answer for name, answer in answers.items()}
        self.heard: list[str] = []
        self.warnings: list[str] = []
        self.connection = Connection(self._hear, {}, {})
        editor = ClientEditor(self.connection, ALL, Timeouts(0.05, 0.05))
        updates = Updates(UpdateQueue(self.connection.notify, lambda *_: None), "s", "/work")
        self.ask = EditorOfMessage(
            editor, (Path("/work"), Path("/lib")), updates, self.warnings.append
        )

    def _hear(self, data: bytes) -> None:
        message = json.loads(data)
        method = message.get("method", "")
        self.heard.append(method)
        if method in self.answers:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": self.answers[method]}
            self.connection.feed(json.dumps(answer).encode() + b"\n")


async def test_a_silent_client_is_asked_once() -> None:
    client = Client()
    why = "the editor did not answer fs/read_text_file within 0.05 s"
    assert await client.ask(RUN, ReadFile("/work/a")) == EditorAnswer("failed", why)
    assert client.warnings == [f"{why}; files are read from the disk"]
    for request in (ReadFile("/work/b"), WriteFile("/work/b", "x"), COMMAND):
        assert await client.ask(RUN, request) == EditorAnswer("failed", why)
    assert client.heard == ["fs/read_text_file", "$/cancel_request"]


async def test_file_outside_of_the_session_folder_is_not_read_from_the_client() -> None:
    client = Client()
    for request in (ReadFile("/workshop/a"), WriteFile("/other", "x")):
        assert (await client.ask(RUN, request)).outcome == "failed"
    assert client.heard == []


async def test_timeout_of_a_client_is_an_unknown_outcome() -> None:
    for request, method in [
        (WriteFile("/work/b", "x"), "fs/write_text_file"),
        (COMMAND, "terminal/create"),
    ]:
        answer = await Client().ask(RUN, request)
        assert answer.outcome == "unknown"
        assert answer.why == f"the editor did not answer {method} within 0.05 s"


async def test_text_is_not_written_if_the_buffer_cannot_be_compared() -> None:
    client = Client()
    answer = await client.ask(RUN, WriteFile("/work/a", "new", before="old"))
    assert answer.outcome == "refused"
    assert client.heard == ["fs/read_text_file", "$/cancel_request"]


async def test_a_command_whose_time_is_over_is_killed_and_its_output_kept() -> None:
    output = {"output": "so far", "truncated": True}
    client = Client(
        terminal__create={"terminalId": "t"}, terminal__kill={}, terminal__output=output
    )
    assert await client.ask(RUN, COMMAND) == EditorAnswer(text="so far", is_all=False)
    assert client.heard == [
        "terminal/create",
        "terminal/wait_for_exit",
        "$/cancel_request",
        "terminal/kill",
        "terminal/output",
        "terminal/release",
    ]


@pytest.mark.parametrize(
    ("ended", "code", "signal"),
    [
        ({"exitCode": 0}, 0, ""),
        ({"exitCode": None, "signal": "SIGTERM"}, None, "SIGTERM"),
        ({}, None, "a signal"),
        (None, None, "a signal"),
        ({"exitCode": True, "signal": 9}, None, "a signal"),
    ],
)
async def test_end_of_a_terminal_command_has_exit_code_or_signal(
    ended: Json, code: int | None, signal: str
) -> None:
    client = Client(
        terminal__create={"terminalId": "t"},
        terminal__wait_for_exit=ended,
        terminal__output={"output": ""},
    )
    assert await client.ask(RUN, COMMAND) == EditorAnswer(code=code, signal=signal)
    assert client.heard[-1] == "terminal/release"
