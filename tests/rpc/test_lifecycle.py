"""From the first byte to the exit code, however the client leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from support.raw_client import RawClient, ServerError, framed, notification
from support.waiting import wait_until

StartLab = Callable[..., RawClient]

# Far below the seconds that a stuck thread, task or loop would take, far above a busy machine's delays.
PROMPTLY = 15.0


def error_code(client: RawClient, method: str, *params: Any) -> int:
    with pytest.raises(ServerError) as caught:
        client.request(method, *params)
    return caught.value.code


# --- Beginning


def test_initialize_answers_with_capabilities_that_follow_from_the_features(
    start_lab: StartLab,
) -> None:
    result = start_lab().initialize(
        capabilities={"general": {"positionEncodings": ["utf-16", "utf-8"]}}
    )
    capabilities = result["capabilities"]
    assert result["serverInfo"] == {"name": "lab", "version": "1"}
    assert capabilities["positionEncoding"] == "utf-8"
    assert capabilities["hoverProvider"] is True
    assert capabilities["textDocumentSync"]["change"] == 2
    assert capabilities["executeCommandProvider"] == {"commands": ["test.add", "test.wait"]}
    assert "completionProvider" not in capabilities


def test_capabilities_from_the_future_do_not_keep_the_server_from_starting(
    start_lab: StartLab,
) -> None:
    document = {"completion": {"completionItemKind": {"valueSet": [1, 99]}}, "sync": None}
    capabilities = {"textDocument": document, "workspace": {"symbol": 5}}
    assert start_lab().initialize(capabilities=capabilities)["capabilities"]


def test_requests_before_initialize_are_refused(start_lab: StartLab) -> None:
    lab = start_lab()
    assert error_code(lab, "test/echo", 1) == -32002
    assert error_code(lab, "shutdown") == -32002
    lab.notify("test/tell", 1)
    lab.initialize()
    assert lab.request("test/echo", 1) == 1
    assert lab.notifications("test/told") == []


def test_initialize_with_params_that_do_not_fit_may_be_repeated(start_lab: StartLab) -> None:
    lab = start_lab()
    assert error_code(lab, "initialize", [1]) == -32602
    assert error_code(lab, "initialize") == -32602
    lab.initialize()
    assert lab.request("test/echo", 1) == 1


def test_second_initialize_is_refused(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    assert error_code(lab, "initialize", {"capabilities": {}}) == -32600


# --- Ending


def test_exit_after_shutdown_is_a_success(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    assert lab.leave(PROMPTLY) == 0
    assert lab.stderr().count("released") == 1


def test_requests_after_shutdown_are_refused(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    lab.request("shutdown")
    assert error_code(lab, "test/echo", 1) == -32600
    assert error_code(lab, "shutdown") == -32600
    assert error_code(lab, "initialize", {"capabilities": {}}) == -32600
    lab.notify("test/tell", 1)
    lab.notify("exit")
    assert lab.exit_code(PROMPTLY) == 0
    assert lab.notifications("test/told") == []


def test_shutdown_and_exit_in_one_go_are_both_honoured(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    lab.send({"id": "bye", **notification("shutdown")}, notification("exit"))
    assert lab.result("bye") is None
    assert lab.exit_code(PROMPTLY) == 0


@pytest.mark.parametrize("initialized", [True, False])
def test_exit_without_shutdown_is_a_failure(start_lab: StartLab, initialized: bool) -> None:
    lab = start_lab()
    if initialized:
        lab.initialize()
    lab.notify("exit")
    assert lab.exit_code(PROMPTLY) == 1


@pytest.mark.parametrize("initialized", [True, False])
def test_end_of_input_without_shutdown_is_a_failure(start_lab: StartLab, initialized: bool) -> None:
    lab = start_lab()
    if initialized:
        lab.initialize()
    lab.end_input()
    assert lab.exit_code(PROMPTLY) == 1
    assert "released" in lab.stderr()


def test_end_of_input_after_shutdown_is_a_success(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    lab.request("shutdown")
    lab.end_input()
    assert lab.exit_code(PROMPTLY) == 0


def test_requests_before_the_end_of_input_are_still_answered(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    numbers = [lab.start_request("test/echo", n) for n in range(100)]
    lab.end_input()
    assert [lab.result(number) for number in numbers] == list(range(100))


def test_input_that_ends_within_a_message_ends_the_server(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.send_raw(framed(b"x" * 100)[:50])
    lab.end_input()
    assert lab.exit_code(PROMPTLY) == 1


def test_work_in_progress_is_cancelled_and_answered_before_shutdown_is(
    start_lab: StartLab,
) -> None:
    lab = start_lab()
    lab.initialize()
    waiting = lab.start_request("test/wait")
    lab.notify("test/waitInBackground")
    for _ in range(2):
        lab.wait_for("test/waiting")
    lab.request("shutdown")
    for _ in range(2):
        lab.wait_for("test/ended")
    assert lab.answer(waiting)["error"]["code"] == -32800
    assert lab.received[-1]["result"] is None


def test_work_in_progress_is_cancelled_and_answered_when_the_input_ends(
    start_lab: StartLab,
) -> None:
    lab = start_lab()
    lab.initialize()
    waiting = lab.start_request("test/wait")
    lab.wait_for("test/waiting")
    lab.end_input()
    lab.wait_for("test/ended")
    assert lab.answer(waiting)["error"]["code"] == -32800
    assert lab.exit_code(PROMPTLY) == 1


@pytest.mark.parametrize("leave", ["exit", "end of input"])
def test_neither_threads_nor_tasks_that_do_not_end_keep_the_server_alive(
    start_lab: StartLab, leave: str
) -> None:
    lab = start_lab()
    lab.initialize()
    lab.request("test/blockThreads")
    lab.start_request("test/stubborn")
    lab.wait_for("test/waiting")
    if leave == "exit":
        lab.notify("exit")
    else:
        lab.end_input()
    assert lab.exit_code(PROMPTLY) == 1


def test_loop_that_is_stuck_does_not_keep_the_server_alive(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    get_stuck(lab)
    lab.end_input()
    assert lab.exit_code() == 1


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["SIGTERM", "SIGINT"]
)
def test_signal_ends_the_server_cleanly(start_lab: StartLab, number: int, code: int) -> None:
    lab = start_lab()
    lab.initialize()
    lab.start_request("test/wait")
    lab.wait_for("test/waiting")
    assert lab.process is not None
    lab.process.send_signal(number)
    lab.wait_for("test/ended")
    assert lab.exit_code(PROMPTLY) == code
    assert "released" in lab.stderr()


def test_signal_ends_a_server_whose_loop_is_stuck(start_lab: StartLab) -> None:
    lab = start_lab()
    lab.initialize()
    get_stuck(lab)
    assert lab.process is not None
    lab.process.terminate()
    assert lab.exit_code() == 0


def test_server_ends_when_its_client_has_died_without_closing_the_streams(
    start_lab: StartLab,
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as parent:
        lab = start_lab()
        lab.initialize(processId=parent.pid)
        wait_for_log(lab, f"watching process {parent.pid}")
        parent.kill()
        parent.wait()
        assert lab.exit_code() == 1
        assert f"the client (process {parent.pid}) has died" in lab.stderr()


def test_client_whose_process_is_not_to_be_seen_is_served_all_the_same(
    start_lab: StartLab,
) -> None:
    # As in a container, where the process id of the editor outside means nothing.
    with subprocess.Popen(["true"]) as gone:
        pass
    lab = start_lab()
    lab.initialize(processId=gone.pid)
    wait_for_log(lab, f"process {gone.pid} is not visible")
    assert lab.request("test/echo", 1) == 1


def get_stuck(lab: RawClient) -> None:
    """The loop of the server does not turn any more; its last resort comes at once."""
    lab.notify("test/lastResort", 0.1)
    lab.notify("test/sleep", 3600)
    lab.wait_for("test/waiting")


def wait_for_log(client: RawClient, text: str) -> None:
    wait_until(lambda: text in client.stderr(), client.stderr)
