"""Attacks on a server that others can connect to: each begins with what a stranger would send."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.listening import Listening, listening_server
from support.ports import kept_port
from support.raw_client import RawClient, framed
from support.session import Editor, Project

SECONDS = 20.0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def answer_to(server: Listening, sent: bytes) -> bytes:
    """Return all that the server says until it closes the connection."""
    with socket.create_connection(server.address, SECONDS) as connection:
        connection.sendall(sent)
        answer = b""
        try:
            while piece := connection.recv(1 << 16):
                answer += piece
        except ConnectionResetError:  # It did not want to read the rest.
            pass
        return answer


def message(method: str, params: object = None, **more: object) -> bytes:
    return framed(
        json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    )


def hello(options: object) -> bytes:
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    return message("initialize", {**params, "initializationOptions": options}, id=1)


RUN = message("axe/agents", {}, id=2)


def test_http_requests_on_the_port_run_nothing(listening: Listening) -> None:
    body = hello({"axeToken": listening.token_file.read_text()}) + RUN
    for head in (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body),
        b"POST /?Content-Length: 2 HTTP/1.1\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\n",
        b"GET /\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(70_000),
    ):
        assert answer_to(listening, head + body) == b""


def test_client_without_the_token_is_not_answered(listening: Listening) -> None:
    for options in (
        None,
        [],
        {},
        {"axeToken": None},
        {"axeToken": ""},
        {"axeToken": 1},
        {"axeToken": [""]},
        {"axeToken": "\ud800"},
        {"axeToken": "x" * 43},
        {"axe": {"axeToken": "guessed"}},
    ):
        assert answer_to(listening, hello(options) + RUN) == b"", options


def test_first_message_other_than_initialize_closes_the_connection(listening: Listening) -> None:
    token = listening.token_file.read_text()
    for first in (
        RUN,
        message("initialized", {}),
        message("$/setTrace", {"value": "off"}),
        message("shutdown", id=1),
        framed(b"not JSON"),
        framed(b"[]"),
        b"Content-Length: 268435456\r\n\r\n",
    ):
        assert answer_to(listening, first + hello({"axeToken": token})) == b"", first


def test_many_connections_without_a_token_keep_nobody_out(listening: Listening) -> None:
    with ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(listening.address, SECONDS))
            for _ in range(100)
        ]
        assert silent[0].recv(1) == b""  # The oldest have to leave.
        token = listening.token_file.read_text()
        known = stack.enter_context(socket.create_connection(listening.address, SECONDS))
        known.sendall(hello({"axeToken": token}))
        assert known.recv(1) == b"C"
        silent += [
            stack.enter_context(socket.create_connection(listening.address, SECONDS))
            for _ in range(100)
        ]
        assert silent[100].recv(1) == b""
        known.sendall(message("initialized", {}) + message("shutdown", id=2))
        answer = b""
        while b'"id":2' not in answer:
            piece = known.recv(1 << 16)
            assert piece
            answer += piece


def test_a_stranger_changes_nothing_for_who_has_the_token(
    project: Project, listening: Listening
) -> None:
    with listening.connect() as client:
        editor = Editor(project, client)
        assert answer_to(listening, b"GET / HTTP/1.1\r\n\r\n") == b""
        editor.open("lint", 'name = "lint"\n')
        assert editor.problems("lint", 1)


def test_the_token_is_its_users_alone_and_goes_with_its_server(
    project: Project, tmp_path: Path
) -> None:
    with listening_server(project.environment) as server:
        path = server.token_file
        assert path.is_relative_to(project.home)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        token = path.read_text()
        assert len(token) >= 40
    server.process.wait()
    assert not path.exists()
    with listening_server(project.environment) as other:
        assert other.token_file.read_text() != token


def test_a_link_where_the_token_goes_is_not_followed(project: Project, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    folder = project.home / ".local" / "state" / "axe"
    folder.mkdir(parents=True)
    with kept_port() as port:
        (folder / f"tcp-{port}.token").symlink_to(precious)
        with listening_server(project.environment, f"127.0.0.1:{port}") as server:
            assert server.token_file.read_text() != "kept"
    assert precious.read_text() == "kept"


def serve(project: Project, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **project.environment}
    command = [sys.executable, "-m", "axe_lsp", *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]"])
def test_listening_on_all_interfaces_needs_allow_remote(project: Project, host: str) -> None:
    ended = serve(project, ["--tcp", f"{host}:0"])
    assert ended.returncode == 1
    assert "can be reached from other machines" in ended.stderr
    assert "add --allow-remote" in ended.stderr


def test_allow_remote_listens_on_all_interfaces(project: Project) -> None:
    with (
        listening_server(project.environment, "0.0.0.0:0", "--allow-remote") as server,
        server.connect() as client,
    ):
        client.initialize()


def test_a_state_folder_that_cannot_be_written_is_explained(project: Project) -> None:
    blocked = project.home / "file"
    blocked.write_text("")
    project.environment["XDG_STATE_HOME"] = str(blocked)
    ended = serve(project, ["--tcp", "0"])
    assert ended.returncode == 1
    assert "can't write the token file: Not a directory" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_socket_file_needs_no_token_and_takes_no_http(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "axe.sock"
    environment = {**os.environ, **project.environment}
    command = [sys.executable, "-m", "axe_lsp", "--pipe", str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as server:
        try:
            assert server.stderr is not None
            server.stderr.readline()
            with RawClient.connect(str(path)) as client:
                client.initialize()
                client.send_raw(b"GET / HTTP/1.1\r\n\r\n")
                client.wait_until_ended()
        finally:
            server.terminate()
