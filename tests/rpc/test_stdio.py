"""Standard streams: nothing strays into them, and neither side can block the other."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from axe_lsp.serving import stdio
from axe_lsp.tasks import let_others_go_first
from support.raw_client import RawClient, framed
from support.scripted_provider import PATIENCE
from support.waiting import wait_until

from .conftest import lab_command

StartLab = Callable[..., RawClient]

SESSION = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
    b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}',
    b'{"jsonrpc":"2.0","method":"exit"}',
)


@pytest.mark.req("001-C5")
def test_nothing_strays_into_the_output_or_eats_the_input(lab: RawClient) -> None:
    number = lab.start_request("test/stray")
    assert lab.request("test/echo", 1) == 1
    assert lab.result(number) is None
    for what in ("print", "write", "line of C", "child"):
        assert f"a stray {what}" in lab.stderr()


def test_blocked_threads_do_not_keep_messages_from_being_read(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    lab.request("test/blockThreads")
    assert lab.request("test/echo", 1) == 1


def test_client_that_does_not_read_does_not_block_the_server(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    lab.stop_reading()
    lab.notify("test/burst", {"count": 300, "size": 10_000})
    lab.notify("test/mistake")
    wait_until(lambda: "test/mistake failed" in lab.stderr())
    lab.go_on_reading()
    assert lab.request("test/echo", 1) == 1
    assert [p["number"] for p in lab.notifications("test/burst")] == list(range(300))


def test_client_that_never_reads_again_is_given_up(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    lab.stop_reading()
    lab.notify("test/burst", {"count": 70, "size": 1_000_000})
    assert lab.exit_code() == 1
    assert "the client does not read its messages" in lab.stderr()


def test_what_was_sent_before_exit_arrives(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    lab.notify("test/burst", {"count": 200, "size": 10_000})
    lab.notify("exit")
    lab.wait_until_ended()
    assert [p["number"] for p in lab.notifications("test/burst")] == list(range(200))


@pytest.mark.process
def test_server_whose_output_is_closed_ends(start_lab: StartLab) -> None:
    process = subprocess.Popen(
        lab_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.close()
        process.stdin.write(framed(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'))
        process.stdin.flush()
        assert process.wait(PATIENCE) == 1


@pytest.mark.process
def test_input_may_be_a_file(tmp_path: Path) -> None:
    script = tmp_path / "session"
    script.write_bytes(b"".join(map(framed, SESSION)))
    with script.open("rb") as source:
        done = subprocess.run(lab_command(), stdin=source, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"serverInfo" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="has no such sockets")
@pytest.mark.process
def test_input_may_be_a_socket_as_that_of_node_is() -> None:
    ours, theirs = socket.socketpair()
    with ours, subprocess.Popen(lab_command(), stdin=theirs, stdout=subprocess.PIPE) as process:
        theirs.close()
        for message in SESSION[:2]:
            ours.sendall(framed(message))
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"Content-Length")
        ours.sendall(framed(SESSION[2]))
        assert process.wait(PATIENCE) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has no such sockets")
async def test_input_is_read_before_work_that_can_wait_goes_on() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reader = stdio.open_reader(theirs.fileno(), at_end=lambda: None)
        reading = asyncio.ensure_future(reader.read())
        await let_others_go_first()
        assert not reading.done()
        ours.sendall(b"x")
        await let_others_go_first()
        assert reading.done()
        assert await reading == b"x"


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
@pytest.mark.process
def test_streams_that_are_closed_from_the_start_are_explained(closed: str) -> None:
    command = shlex.join(map(str, lab_command()))
    done = subprocess.run(
        f"exec {command} {closed}", shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "standard input or output is closed" in done.stderr


@pytest.mark.process
def test_standard_error_may_be_closed() -> None:
    command = shlex.join(map(str, lab_command()))
    with RawClient.spawn(["sh", "-c", f"exec {command} 2>&-"]) as lab:
        lab.initialize()
        assert lab.request("test/echo", 1) == 1
        assert lab.leave() == 0


def test_messages_of_any_size_pass(lab: RawClient) -> None:
    for size in (0, 1, 4096, 65_536, 5_000_000):
        text = "ä" * size
        assert lab.request("test/echo", text) == text


def test_writer_keeps_the_order_when_the_pipe_fills_and_empties() -> None:
    source, sink = os.pipe()
    writer = stdio.PipeWriter(sink, broken=pytest.fail)
    messages = [b"%d:" % number + b"x" * (number * 97 % 9000) for number in range(2000)]
    received = bytearray()

    def read() -> None:
        while chunk := os.read(source, 50_000):
            received.extend(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    for message in messages:
        writer.write(message)
    writer.flush(within=20)
    os.close(sink)
    reader.join()
    os.close(source)
    assert bytes(received) == b"".join(messages)


def test_small_messages_are_written_before_write_returns() -> None:
    source, sink = os.pipe()
    writer = stdio.PipeWriter(sink, broken=pytest.fail)
    os.set_blocking(source, False)
    writer.write(b"x" * 20_000)
    assert len(os.read(source, 30_000)) == 20_000
    writer.flush(within=1)
    for descriptor in (source, sink):
        os.close(descriptor)


def test_writer_says_once_that_nobody_reads_any_more() -> None:
    source, sink = os.pipe()
    os.close(source)
    reasons: list[str] = []
    writer = stdio.PipeWriter(sink, broken=reasons.append)
    writer.write(b"one")
    writer.write(b"two")
    writer.flush(within=1)
    os.close(sink)
    assert len(reasons) == 1
    assert "Broken pipe" in reasons[0]
