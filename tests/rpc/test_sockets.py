"""Many clients at once over TCP and Unix sockets: none of them is anybody else's business."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from axe_lsp.lsp.tcp_token import token_file, token_on_disk
from axe_lsp.rpc.sockets import serve_pipe, serve_tcp
from axe_lsp.rpc.transports import CannotListenError
from support.raw_client import RawClient
from support.waiting import wait_until

from .lab_server import LabServer

StartLab = Callable[..., RawClient]


class Lab(NamedTuple):
    """A lab server on TCP."""

    server: RawClient
    address: tuple[str, int]
    token: str

    def connect(self) -> RawClient:
        return RawClient.connect(self.address, self.token)


@pytest.fixture
def tcp_lab(start_lab: StartLab) -> Lab:
    server = start_lab("tcp")
    port = int(address_of(server).rpartition(":")[2])
    return Lab(server, ("127.0.0.1", port), token_file(os.environ, port).read_text())


@pytest.fixture
def pipe_lab(start_lab: StartLab, tmp_path: Path) -> tuple[RawClient, Path]:
    path = tmp_path / "lab.sock"
    server = start_lab("pipe", str(path))
    assert address_of(server) == str(path)
    return server, path


def address_of(server: RawClient) -> str:
    """Return where the server says that it listens."""
    pattern = re.compile(r"axe-lsp listens on (.+)\n")
    found = wait_until(lambda: pattern.search(server.stderr()), server.stderr)
    assert found
    return found[1]


def test_each_client_has_a_session_of_its_own(tcp_lab: Lab) -> None:
    with tcp_lab.connect() as one, tcp_lab.connect() as other:
        one.initialize()
        other.initialize(capabilities={"general": {"positionEncodings": ["utf-8"]}})
        item = {"uri": "u", "languageId": "toml", "version": 1, "text": "mine"}
        one.notify("textDocument/didOpen", {"textDocument": item})
        other.notify("textDocument/didOpen", {"textDocument": {**item, "text": "yours"}})
        assert one.request("test/text", "u") == "mine"
        assert other.request("test/text", "u") == "yours"


@pytest.mark.parametrize("way", ["shutdown", "exit", "end of input", "vanish"])
def test_client_that_leaves_takes_nobody_with_it(tcp_lab: Lab, way: str) -> None:
    server = tcp_lab.server
    with tcp_lab.connect() as staying, tcp_lab.connect() as leaving:
        staying.initialize()
        leaving.initialize()
        leaving.start_request("test/wait")
        leaving.wait_for("test/waiting")
        if way == "shutdown":
            leaving.leave()
        elif way == "exit":
            leaving.notify("exit")
        elif way == "end of input":
            leaving.end_input()
        else:
            leaving.close()
        leaving.wait_until_ended()
        assert staying.request("test/echo", 1) == 1
        with tcp_lab.connect() as newcomer:
            newcomer.initialize()
            assert newcomer.request("test/echo", 2) == 2
        assert server.process is not None
        assert server.process.poll() is None


def test_client_that_does_not_read_does_not_block_the_others(
    tcp_lab: Lab,
) -> None:
    with tcp_lab.connect() as lazy, tcp_lab.connect() as other:
        lazy.initialize()
        other.initialize()
        lazy.stop_reading()
        lazy.notify("test/burst", {"count": 300, "size": 100_000})
        assert other.request("test/echo", 1) == 1
        lazy.go_on_reading()
        lazy.wait_for("test/burst", lambda params: params["number"] == 299)


def test_signal_ends_all_sessions_and_the_server(
    tcp_lab: Lab,
) -> None:
    server = tcp_lab.server
    with tcp_lab.connect() as client:
        client.initialize()
        client.start_request("test/wait")
        client.wait_for("test/waiting")
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        client.wait_for("test/ended")
        client.wait_until_ended()
    assert server.exit_code() == 0
    assert "released" in server.stderr()


def test_unix_socket_serves_many_and_is_its_owners_alone(
    pipe_lab: tuple[RawClient, Path],
) -> None:
    server, path = pipe_lab
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with RawClient.connect(str(path)) as one, RawClient.connect(str(path)) as other:
        for client in (one, other):
            client.initialize()
            assert client.request("test/echo", 1) == 1
    assert server.process is not None
    server.process.terminate()
    assert server.exit_code() == 0
    assert not path.exists()


def test_socket_that_a_dead_server_has_left_is_replaced(
    start_lab: StartLab, pipe_lab: tuple[RawClient, Path]
) -> None:
    server, path = pipe_lab
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    assert path.exists()
    address_of(start_lab("pipe", str(path)))
    with RawClient.connect(str(path)) as client:
        client.initialize()


async def test_socket_of_a_living_server_is_left_alone(pipe_lab: tuple[RawClient, Path]) -> None:
    _, path = pipe_lab
    with pytest.raises(CannotListenError, match="another server listens on it; use another path"):
        await serve_pipe(LabServer, path)
    with RawClient.connect(str(path)) as client:
        client.initialize()


async def test_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("data")
    with pytest.raises(CannotListenError, match="it exists and is not a socket; move it away"):
        await serve_pipe(LabServer, path)
    assert path.read_text() == "data"


@pytest.mark.parametrize("path", ["x" * 200, "missing/folder/lab.sock"])
async def test_path_that_cannot_be_a_socket_is_explained(tmp_path: Path, path: str) -> None:
    with pytest.raises(CannotListenError, match="choose a shorter path in a folder of yours"):
        await serve_pipe(LabServer, tmp_path / path)


async def test_port_that_is_taken_is_explained() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListenError) as caught:
            await serve_tcp(LabServer, "127.0.0.1", port, partial(token_on_disk, os.environ))
    assert str(caught.value) == (
        f"can't listen on 127.0.0.1:{port}: Address already in use; choose another port, or 0 for a free one"
    )


async def test_host_that_does_not_exist_is_explained() -> None:
    with pytest.raises(CannotListenError, match=r"^can't listen on no\.such\.host\.invalid:0: "):
        await serve_tcp(LabServer, "no.such.host.invalid", 0, partial(token_on_disk, os.environ))
