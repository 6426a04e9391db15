"""Nonsense at each border: from clients, from strangers at the port, between our processes, in agent files.

The examples are the same each time. `--hypothesis-profile=searching` takes many more, others each time.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axe_lsp.agentfile.schema.agent_keys import AGENT as AGENT_KEYS
from axe_lsp.agentfile.schema.codex_keys import CODEX_AGENT
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeySpec, KeyType, Schema
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.cli.main import main
from axe_lsp.hosting import protocol
from axe_lsp.runtime.runs import RunRequest
from support.command_line import COMMAND
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
    """Return the bytes with some of them gone, doubled, exchanged or new."""
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


# -- the doors for other programs: ACP and MCP, a message a line


class Door:
    """A server of another protocol, and a client that says anything to it."""

    def __init__(self, process: subprocess.Popen[bytes], errors: Path) -> None:
        self._process = process
        self._errors = errors
        self._asked = 0

    def say(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Return the answer to a request, whatever else comes before it."""
        self._asked += 1
        number = f"asked {self._asked}"
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.say(json.dumps(request).encode())
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: Any = json.loads(line)
            if isinstance(message, dict) and message.get("id") == number:
                return message
        raise AssertionError(f"{method} was not answered: {self.errors()}")

    def errors(self) -> str:
        return self._errors.read_text("utf-8", "replace")


ACP_HELLO = ("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
MCP_HELLO = (
    "initialize",
    {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "f", "version": "1"},
    },
)
DOORS = {"acp": ACP_HELLO, "mcp": MCP_HELLO}


@pytest.fixture(scope="module", params=DOORS)
def door(request: pytest.FixtureRequest, project: Project) -> Iterator[tuple[str, Door]]:
    errors = project.root / f"errors of {request.param}"
    with (
        errors.open("wb") as log,
        subprocess.Popen(
            [*COMMAND, request.param],
            env=project.environment,
            cwd=project.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        door = Door(process, errors)
        assert "result" in door.ask(*DOORS[request.param])
        if request.param == "mcp":
            door.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        yield request.param, door
        process.kill()


LINES = b"\n".join(
    json.dumps({"jsonrpc": "2.0", **message}).encode()
    for message in (
        {"id": 1, "method": "session/new", "params": {"cwd": "/nowhere", "mcpServers": []}},
        {"id": 2, "method": "session/set_mode", "params": {"sessionId": "s", "modeId": "fuzz"}},
        {"id": 3, "method": "session/load", "params": {"sessionId": "s", "cwd": "/"}},
        {"method": "session/cancel", "params": {"sessionId": "s"}},
        {"id": 4, "method": "tools/list", "params": {"cursor": "x"}},
        {"id": 5, "method": "tools/call", "params": {"name": "none", "arguments": {"a": "é"}}},
        {"method": "notifications/cancelled", "params": {"requestId": 5}},
        {"id": 6, "result": None},
    )
)


@given(SEEDS)
def test_no_lines_end_a_session_of_another_protocol(
    door: tuple[str, Door], chance: random.Random
) -> None:
    protocol_name, server = door
    server.say(mutated(LINES, chance))
    question = DOORS["acp"] if protocol_name == "acp" else ("tools/list", {})
    assert "result" in server.ask(*question)
    assert "Traceback" not in server.errors()


DOOR_METHODS = [
    *("session/new", "session/load", "session/list", "session/set_mode", "session/cancel"),
    *("session/set_config_option", "authenticate", "no/such", "tools/list", "tools/call"),
    *("resources/list", "prompts/get", "logging/setLevel", "completion/complete", "ping"),
]


@given(st.sampled_from(DOOR_METHODS), ANY_JSON)
def test_requests_of_other_protocols_end_no_session(
    door: tuple[str, Door], method: str, params: Any
) -> None:
    protocol_name, server = door
    if (
        protocol_name == "mcp"
    ):  # Its SDK leaves unanswered what it can't read, such as half a character.
        request = {"jsonrpc": "2.0", "id": "any", "method": method, "params": params}
        server.say(json.dumps(request).encode())
        assert server.ask("ping", {})["result"] == {}
    else:
        answer = server.ask(method, params)
        assert answer.get("error", {}).get("code") != INTERNAL_ERROR, answer
    assert "Traceback" not in server.errors()


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


DIALECTS = {
    ".codex/agents/fuzz.toml": """\
name = "fuzz"
description = "é"
model = "gpt-5"
sandbox_mode = "read-only"
developer_instructions = \'\'\'
Look.
\'\'\'
[mcp_servers.a]
command = "npx"
args = ["-y"]
[[skills.config]]
path = "x"
""",
    ".codex/config.toml": """\
model = "gpt-5"
[agents]
max_threads = 2
[agents.fuzz]
description = "d"
config_file = "agents/fuzz.toml"
""",
    ".vibe/agents/fuzz.toml": """\
agent_type = "subagent"
display_name = "Fuzz"
safety = "safe"
enabled_tools = ["grep", "re:^x"]
[tools.bash]
permission = "ask"
""",
    "axe/tests/fuzz.toml": """\
agent = "fuzz"
[[case]]
name = "c"
task = "Go on."
[case.expect]
turns = 1
answer.contains = ["a"]
answer.matches = "a+"
[[case.expect.calls]]
agent = "other"
""",
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("path", DIALECTS)
@given(SEEDS)
def test_no_file_of_another_dialect_raises(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    path: str,
    chance: random.Random,
) -> None:
    monkeypatch.chdir(project.root)
    for name, value in project.environment.items():
        monkeypatch.setenv(name, value)
    file = project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(mutated(DIALECTS[path].encode(), chance))
    for arguments in (["check", "--format", "json"], ["agents", "list"]):
        assert main(arguments) in (0, 1, 2)
    file.unlink()
    assert "Traceback" not in capsys.readouterr().err


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


# -- each key with values that nobody expects there

STRANGE = [
    *(
        '""',
        '" "',
        '"²"',
        '"#/allOf/²"',
        r'"\u0000"',
        r'"\u202e"',
        '"😀"',
        r'"\\"',
        f'"{"9" * 5000}"',
    ),
    *('"~nosuchuser/x"', '"${"', '"${HOME"', '"/"', '"//"', '"../.."', '"circle/x"', '"a/b/"'),
    *('"[!]"', '"[z-a]"', '"[[a]"', '"**/**"', '"(?P<a>"', '"(?i"', '"a{99999999999}"'),
    *('"http://[::1"', '"http://a:99999"', '"http://²"', '"://"', r'"http://\u0000"', '"npx \'"'),
    *("inf", "nan", "1e400", "-0.0", "-1", "9" * 18, "true", "07:32:00", "1979-05-27T07:32:00Z"),
    *("[]", "[[]]", "[{}]", "{}", "{ a = {} }", '[1, "a", true]', '["²/²"]', '["a#b"]', '["*#"]'),
    *('["run_command("]', '["run_command(\')"]', '{ "$ref" = "#/²" }', '[{ name = "²" }]'),
]
SCHEMAS = {
    "axe/agents/fuzz.toml": (AGENT_KEYS, 'name = "fuzz"\nmodel = "openai/gpt-6-sol"\n'),
    "axe/tests/fuzz.toml": (TESTS, 'agent = "fuzz"\n'),
    ".codex/agents/fuzz.toml": (
        CODEX_AGENT,
        'name = "fuzz"\ndescription = "d"\ndeveloper_instructions = "i"\n',
    ),
}


def with_value(schema: Schema, spec: KeySpec, value: str, head: str) -> str:
    """Return a file with one key of the schema, below the headers of its tables."""
    *tables, key = ("k" if part == ANY_NAME else part for part in spec.path)
    lines = [line for line in head.splitlines() if tables or not line.startswith(f"{key} ")]
    for end in range(1, len(tables) + 1):
        table = schema.find(spec.path[:end])
        header = ".".join(map(json.dumps, tables[:end]))
        if table is not None and table.type is KeyType.TABLES:
            lines.append(f"[[{header}]]")
        elif end == len(tables):
            lines.append(f"[{header}]")
    return "\n".join([*lines, f"{json.dumps(key)} = {value}", ""])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("path", SCHEMAS)
@given(st.integers(0, 9_999), st.sampled_from(STRANGE))
def test_no_value_of_a_key_raises(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    path: str,
    number: int,
    value: str,
) -> None:
    monkeypatch.chdir(project.root)
    for name, its_value in project.environment.items():
        monkeypatch.setenv(name, its_value)
    schema, head = SCHEMAS[path]
    text = with_value(schema, schema.keys[number % len(schema.keys)], value, head)
    file, circle = project.root / path, project.root / "circle"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    if not circle.is_symlink():
        circle.symlink_to("circle")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for arguments in (
            ["check", "--format", "json"],
            ["agents", "show", "fuzz"],
            ["run", "fuzz", "--dry-run", "-p", "go"],
            *([["test", path]] if schema is TESTS else []),
        ):
            assert main(arguments) in (0, 1, 2), text
    file.unlink()
    assert "Traceback" not in capsys.readouterr().err
