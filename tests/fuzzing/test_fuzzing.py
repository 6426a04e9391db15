"""Nonsense at each border: from clients, from strangers at the port, between our processes, in agent files.

The examples are the same each time. `--hypothesis-profile=searching` takes many more, others each time.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axe_lsp.cli.main import main
from axe_lsp.hosting import protocol
from axe_lsp.runtime.runs import RunRequest
from support.hosts import stage
from support.listening import Listening, listening_server
from support.raw_client import RawClient, framed
from support.scripted_provider import Says, ScriptedProvider
from support.session import SERVER, Editor, Project
from support.team import TEAM

pytestmark = pytest.mark.process

AGENT = """\
name = "fuzz"
model = "ollama/m"
description = "é"
files = ["*.md"]
tools = ["read_file"]
sub_agents = ["other"]

[sub_agents_config]
max_depth = 3

[input]
type = "object"
properties = { a = { type = "string", pattern = "^a+$" } }

[memory]
enabled = true
"""

SEEDS = st.randoms(use_true_random=False)
ANY_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**40), 2**40),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.sampled_from(["file:///x.toml", "untitled:1", "axe", "\ud800", "lint", "$/x"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                [
                    *("textDocument", "uri", "position", "line", "character", "range", "start"),
                    *("end", "text", "version", "contentChanges", "languageId", "context", "query"),
                    *("agent", "task", "input", "runId", "after", "format", "command", "arguments"),
                    *("settings", "axe", "event", "added", "removed", "changes", "items", "id"),
                    *(
                        "newName",
                        "files",
                        "oldUri",
                        "newUri",
                        "token",
                        "value",
                        "options",
                        "folders",
                    ),
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with some of them gone, doubled, exchanged or new."""
    bytes_ = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at, end = sorted(chance.randint(0, len(bytes_)) for _ in range(2))
        end = min(end, at + chance.choice([1, 2, 8, 64]))
        piece = bytes(bytes_[at:end])
        match chance.randint(0, 4):
            case 0:
                del bytes_[at:end]
            case 1:
                bytes_[at:at] = piece
            case 2:
                bytes_[at:end] = bytes(chance.randrange(256) for _ in piece)
            case 3:
                bytes_[at:at] = chance.choice(
                    [b"\r\n", b"\0", b'"', b"{", b"[", b"\xff", b":", b"9"]
                )
            case _:
                chance.shuffle(pieces := list(bytes_[at:end]))
                bytes_[at:end] = bytes(pieces)
    return bytes(bytes_)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("fuzzing"))
    project.write("fuzz", AGENT)
    return project


@pytest.fixture(scope="module")
def editor(project: Project) -> Iterator[Editor]:
    with RawClient.spawn(SERVER, env=project.environment, cwd=project.root) as client:
        editor = Editor(project, client)
        editor.open("fuzz")
        yield editor


# -- LSP: the frames and what is in them


SESSION = b"".join(
    framed(json.dumps({"jsonrpc": "2.0", **message}).encode())
    for message in (
        {
            "id": "a",
            "method": "textDocument/hover",
            "params": {"textDocument": {"uri": "file:///f"}},
        },
        {"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///f"}}},
        {"method": "$/cancelRequest", "params": {"id": "a"}},
        {"id": 10**6, "result": None},
        {"id": "b", "method": "axe/agents"},
    )
)
MOST_SWALLOWED = b" " * 110_000 + b"\r\n"
"""More than a header with five digits can make the server wait for."""


@given(SEEDS)
def test_no_bytes_end_a_session_over_standard_streams(
    editor: Editor, chance: random.Random
) -> None:
    stream = mutated(SESSION, chance).replace(b"999", b"9")
    if any(len(digits) > 5 for digits in stream.split(b":") if digits.strip().isdigit()):
        return
    editor.client.send_raw(stream + MOST_SWALLOWED)
    assert editor.client.request("axe/agents")
    assert "Traceback" not in editor.client.stderr()
    editor.client.forget()


METHODS = [
    *("completion", "hover", "definition", "references", "documentHighlight", "documentSymbol"),
    *("codeAction", "codeLens", "documentLink", "formatting", "rangeFormatting", "rename"),
    *("prepareRename", "foldingRange", "selectionRange", "semanticTokens/full", "inlayHint"),
    *("prepareCallHierarchy", "diagnostic"),
]
REQUESTS = [
    *(f"textDocument/{each}" for each in METHODS),
    *("workspace/symbol", "workspace/executeCommand", "workspace/willRenameFiles"),
    *("callHierarchy/incomingCalls", "codeLens/resolve", "completionItem/resolve"),
    *("axe/run", "axe/preview", "axe/stop", "axe/runs", "axe/events", "axe/subscribe"),
    *("axe/unsubscribe", "axe/agents", "axe/graph", "axe/folders", "no/such"),
]
NOTIFICATIONS = [
    *("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"),
    *("textDocument/didSave", "workspace/didChangeConfiguration", "$/cancelRequest"),
    *("workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders", "$/setTrace"),
]
INTERNAL_ERROR = -32603


@given(st.sampled_from(REQUESTS), st.sampled_from(NOTIFICATIONS), ANY_JSON, ANY_JSON)
def test_every_request_gets_an_answer_and_none_is_a_mistake_of_ours(
    editor: Editor, method: str, notification: str, params: Any, others: Any
) -> None:
    editor.client.notify(notification, others)
    number = editor.client.start_request(method, params)
    answer = editor.client.answer(number)
    assert answer.get("error", {}).get("code") != INTERNAL_ERROR, answer
    assert "Traceback" not in editor.client.stderr()
    editor.client.forget()


@pytest.fixture(scope="module")
def listening(project: Project) -> Iterator[Listening]:
    with listening_server(project.environment) as server:
        yield server


@given(SEEDS, st.binary(max_size=60))
def test_no_bytes_of_a_stranger_get_an_answer(
    listening: Listening, chance: random.Random, garbage: bytes
) -> None:
    for sent in (garbage, mutated(SESSION, chance)):
        with socket.create_connection(listening.address, 20) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""


# -- the link between the supervisor and the process that makes runs


WORKPLACE = protocol.Workplace("/nowhere")
TO_SUPERVISOR = b"".join(
    protocol.encode(message)
    for message in (
        protocol.Pong(1),
        protocol.Taken("r"),
        protocol.Stored("r", 3),
        protocol.Warned("r", "text"),
        protocol.Start("r", RunRequest("a"), WORKPLACE),
    )
)


async def test_a_run_is_made_whatever_else_its_host_writes(
    tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in provider.environment.items():
        monkeypatch.setenv(name, value)
    chance = random.Random(7)
    noise = b"".join(mutated(TO_SUPERVISOR, chance) + b"\n" for _ in range(200))
    (tmp_path / "noise").write_bytes(noise)
    program = (
        f"import os, pathlib; os.write(1, pathlib.Path({str(tmp_path / 'noise')!r}).read_bytes())\n"
        "from axe_lsp.hosting.host import host; host.main()"
    )
    provider.script("m-left", Says("well"))
    async with stage(tmp_path, TEAM, program) as at:
        assert (await at.start("left").result()).content == "well"


# -- agent files


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SEEDS)
def test_no_agent_file_raises(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    chance: random.Random,
) -> None:
    monkeypatch.chdir(project.root)
    for name, value in project.environment.items():
        monkeypatch.setenv(name, value)
    project.path("fuzz").write_bytes(mutated(AGENT.encode(), chance))
    for arguments in (
        ["check", "--format", "sarif"],
        ["agents", "list"],
        ["agents", "show", "fuzz"],
        ["run", "fuzz", "--dry-run", "-p", "go"],
    ):
        assert main(arguments) in (0, 1, 2)
    assert "Traceback" not in capsys.readouterr().err
