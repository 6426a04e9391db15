"""`axe-lsp runs`, `stop`, `send` and `attach`: runs of other processes of the same user."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import Answer, Call, Hold, Refuses, Says, ScriptedProvider
from support.waiting import wait_until

pytestmark = pytest.mark.process

Json = Any


@contextmanager
def held_run(
    home: Home, provider: ScriptedProvider, *flags: str
) -> Iterator[tuple[subprocess.Popen[str], Hold]]:
    """Provide a run of `axe-lsp run` whose first answer is held."""
    home.add(agent("solo", tools=["read_file"]))
    (home.work / "note.txt").write_text("the note\n")
    hold = Hold()
    reads = Says(calls=[Call("read_file", {"path": "note.txt"})])
    provider.script("m-solo", Answer(reads, hold=hold), Says("the end"))
    with home.start("run", "solo", "-p", "Begin.", *flags) as process:
        try:
            hold.wait_until_arrived()
            yield process, hold
        finally:
            process.kill()


def rows(home: Home, *flags: str) -> list[Json]:
    code, out, err = home.call("runs", "--json", *flags)
    assert code == 0, err
    listed: list[Json] = json.loads(out)
    return listed


def active(home: Home) -> list[Json]:
    return [each for each in rows(home) if each["status"] == "running"]


def the_active_run(home: Home) -> Json:
    wait_until(lambda: len(active(home)) == 1, lambda: rows(home))
    return active(home)[0]


@contextmanager
def background_run(home: Home, provider: ScriptedProvider) -> Iterator[tuple[Json, Hold]]:
    """Provide the row of a run in the background whose first answer is held."""
    home.add(agent("solo", tools=["write_file"]))
    hold = Hold()
    writes = Says(calls=[Call("write_file", {"path": "new.txt", "content": "x"})])
    provider.script("m-solo", Answer(writes, hold=hold), Says("the end"))
    code, out, err = home.call("run", "solo", "--background", stdin="Begin.\n")
    assert (code, err) == (0, "")
    (row,) = active(home)
    try:
        assert out == f"{row['runId']}\n"
        yield row, hold
    finally:
        with suppress(ProcessLookupError):
            os.kill(row["pid"], signal.SIGKILL)


@contextmanager
def attached_to(home: Home, run: str) -> Iterator[subprocess.Popen[str]]:
    """Provide an `axe-lsp attach` that follows the run."""
    home.environment["TERM"] = "dumb"  # Without a terminal only programs read it.
    with home.start("attach", run) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line == f"Following run {run[:8]}. Ctrl-C leaves it, and it goes on.\n"
        yield process


def wait_for_socket(home: Home) -> None:
    """Until the run of the only executor can be reached."""
    folder = home.history.parent / "runs"
    wait_until(
        lambda: bool(list(folder.glob("[0-9]*.sock"))), lambda: list(folder.parent.iterdir())
    )


def test_runs_lists_a_run_of_another_terminal_with_its_process(
    home: Home, provider: ScriptedProvider
) -> None:
    with held_run(home, provider) as (process, hold):
        row = the_active_run(home)
        assert row["agent"] == "solo"
        assert row["task"] == "Begin."
        assert row["pid"] == process.pid
        hold.release()
        process.wait(60)
    ended = rows(home)
    assert [(each["status"], "pid" in each) for each in ended] == [("completed", False)]
    assert re.match(rf"{row['runId'][:8]}  .* completed .*  solo  Begin\.\n", home.call("runs")[1])


def test_runs_lists_a_run_without_history(home: Home, provider: ScriptedProvider) -> None:
    with held_run(home, provider, "--no-history") as (process, _):
        wait_for_socket(home)
        row = the_active_run(home)
        assert (row["agent"], row["pid"]) == ("solo", process.pid)
        assert home.call("stop", row["runId"][:8])[0] == 0
        assert process.wait(60) == 1
    assert rows(home) == []


def test_runs_on_a_terminal_that_tells_no_size_prints_whole_rows(
    home: Home, provider: ScriptedProvider
) -> None:
    """As in `script`, `expect` and containers."""
    ours, theirs = pty.openpty()
    with held_run(home, provider) as (process, _):
        the_active_run(home)
        subprocess.run(
            [*COMMAND, "runs"], cwd=home.work, env=home.environment, stdout=theirs, check=True
        )
    os.close(theirs)
    heading, row = os.read(ours, 1000).decode().splitlines()
    os.close(ours)
    assert heading.split()[-3:] == ["PROCESS", "AGENT", "TASK"]
    assert row.split()[-3:] == [str(process.pid), "solo", "Begin."]


def test_stop_ends_a_run_of_another_terminal(home: Home, provider: ScriptedProvider) -> None:
    with held_run(home, provider) as (process, hold):
        run_id = the_active_run(home)["runId"]
        assert home.call("stop", run_id[:8]) == (0, f"Stopped run {run_id[:8]}.\n", "")
        hold.wait_until_hung_up()
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err.splitlines()[0]) == (1, "cancelled")
    assert [each["status"] for each in rows(home)] == ["cancelled"]
    code, _, err = home.call("stop", run_id)
    assert (code, err.splitlines()[0]) == (
        2,
        f"run {run_id[:8]} has ended (cancelled); there is nothing to stop",
    )


def test_stop_kills_a_process_that_does_not_react(home: Home, provider: ScriptedProvider) -> None:
    with held_run(home, provider) as (process, _):
        run_id = the_active_run(home)["runId"]
        wait_for_socket(home)
        process.send_signal(signal.SIGSTOP)
        assert home.call("stop", run_id)[0] == 0
        assert process.wait(60) == -signal.SIGKILL
    assert [each["status"] for each in rows(home)] == ["killed"]


def test_send_gives_a_message_to_a_run_of_another_terminal(
    home: Home, provider: ScriptedProvider
) -> None:
    with held_run(home, provider) as (process, hold):
        run_id = the_active_run(home)["runId"]
        first = home.call("send", run_id[:8], "Never.")[1].strip()
        home.call("send", run_id, stdin="Be brief.\n")
        listed = json.loads(home.call("send", run_id, "--list", "--json")[1])
        assert [(each["text"], each["mode"], each["from"]) for each in listed] == [
            ("Never.", "next", "person"),
            ("Be brief.\n", "next", "person"),
        ]
        assert listed[0]["messageId"] == first
        assert home.call("send", run_id, "--remove", first)[0] == 0
        hold.release()
        out, _ = process.communicate(timeout=60)
    assert out == "the end"
    last = provider.requests[-1].body["messages"][-1]
    assert (last["role"], last["content"]) == ("user", "Be brief.\n")
    code, _, err = home.call("send", run_id, "Hello?")
    assert code == 2
    assert "has ended (completed); `axe-lsp run --continue" in err


def test_send_of_a_blank_message_is_refused(home: Home, provider: ScriptedProvider) -> None:
    with held_run(home, provider):
        run_id = the_active_run(home)["runId"]
        code, _, err = home.call("send", run_id, " ")
        assert (code, err.splitlines()[0]) == (2, "the message is empty; nothing was sent")


@pytest.mark.parametrize("flags", [[], ["--no-history"]])
def test_attach_has_output_and_exit_code_of_the_run(
    home: Home, provider: ScriptedProvider, flags: list[str]
) -> None:
    with held_run(home, provider, *flags) as (process, hold):
        wait_for_socket(home)
        run_id = the_active_run(home)["runId"]
        with attached_to(home, run_id[:8]) as attached:
            hold.release()
            assert process.communicate(timeout=60) == ("the end", "")
            assert attached.communicate(timeout=60) == ("the end", "")
    assert (process.returncode, attached.returncode) == (0, 0)


def test_attach_to_an_ended_run_prints_its_answer(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("the end"))
    out = home.call("run", "solo", "--json")[1]
    run_id = rows(home)[0]["runId"]
    assert home.call("attach", run_id[:8]) == (0, "the end", "")
    attached = json.loads(home.call("attach", run_id[:8], "--json")[1])
    assert attached["content"] == json.loads(out)["content"]


def test_attach_to_a_failed_run_has_its_exit_code(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Refuses(401))
    code, _, err = home.call("run", "solo")
    run_id = rows(home)[0]["runId"]
    attached = home.call("attach", run_id)
    assert (attached[0], attached[2].splitlines()[0]) == (code, err.splitlines()[0])
    assert code == 3


def test_ctrl_c_leaves_an_attached_run_alone(home: Home, provider: ScriptedProvider) -> None:
    with held_run(home, provider) as (process, hold):
        run_id = the_active_run(home)["runId"]
        with attached_to(home, run_id) as attached:
            attached.send_signal(signal.SIGINT)
            _, err = attached.communicate(timeout=60)
            assert err.endswith(f"The run goes on. `axe-lsp stop {run_id[:8]}` ends it.\n")
            assert attached.returncode == 130
        hold.release()
        assert process.communicate(timeout=60)[0] == "the end"


ATTACK = """
import os, sys
from axe_lsp.hosting import protocol
from axe_lsp.hosting.executors.connection import connected
for message in protocol.Cancel(sys.argv[2]), protocol.Adopt():
    with connected(os.environ, int(sys.argv[1])) as executor:
        print("may steer:", executor.may_steer)
        executor._send(message)
        print("answer:", executor._read_line())
"""


def test_command_of_an_agent_lists_runs_and_steers_none(
    home: Home, provider: ScriptedProvider
) -> None:
    """Not even without the variable that names its agents, in a session of its own, or past the commands."""
    home.add(agent("boss", tools=["run_command"]))
    (home.work / "attack.py").write_text(ATTACK)
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    user = "env -u AXE_RUN " + " ".join(f"{each}={home.environment[each]}" for each in names)
    axe = f"{user} setsid --wait {shlex.join(COMMAND)}"
    script = f"""
until ls {home.history.parent}/runs/*.sock; do sleep 0.1; done
row=$({axe} runs --json)
id=$(echo "$row" | sed 's/.*"runId":"\\([0-9a-f]*\\)".*/\\1/')
pid=$(echo "$row" | sed 's/.*"pid":\\([0-9]*\\).*/\\1/')
echo "listed: ${{#id}}"
for each in "stop $id" "send $id hello" "attach $id" "run boss --background"; do {axe} $each; echo "code: $?"; done
{user} {COMMAND[0]} attack.py $pid $id
"""
    (home.work / "attack.sh").write_text(script)
    attack = Call("run_command", {"command": "sh attack.sh"})
    provider.script("m-boss", Says(calls=[attack]), Says("done"))
    code, out, _ = home.call("run", "boss", "--yes")
    assert (code, out) == (0, "done")
    result = provider.requests[-1].body["messages"][-1]["content"]
    assert "listed: 32" in result
    assert re.findall(r"code: (\d+)", result) == ["2", "2", "2", "2"]
    assert result.count("can't be used by a command of an agent") == 4
    assert result.count("may steer: False") == 2
    assert result.count("answer: None") == 2


def test_background_run_goes_on_without_its_terminal(
    home: Home, provider: ScriptedProvider
) -> None:
    with background_run(home, provider) as (row, hold):
        assert row["task"] == "Begin.\n"
        assert os.getsid(row["pid"]) == row["pid"]
        with attached_to(home, row["runId"]) as attached:
            hold.release()
            assert attached.communicate(timeout=60)[0] == "the end"
        assert attached.returncode == 0
    assert not (home.work / "new.txt").exists()
    assert "nobody can be asked" in provider.requests[-1].body["messages"][-1]["content"]
    assert [each["status"] for each in rows(home)] == ["completed"]


def test_stop_ends_a_background_run(home: Home, provider: ScriptedProvider) -> None:
    with background_run(home, provider) as (row, hold):
        assert home.call("stop", row["runId"])[0] == 0
        hold.wait_until_hung_up()
    assert [each["status"] for each in rows(home)] == ["cancelled"]


def test_background_run_that_fails_at_once_is_reported_as_in_the_foreground(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", model="none/m-solo"))
    assert home.call("run", "solo", "--background") == home.call("run", "solo")


def test_background_run_as_json_has_its_id(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("the end"))
    code, out, err = home.call("run", "solo", "--background", "--json")
    assert (code, err) == (0, "")
    run_id = json.loads(out)["run_id"]
    assert home.call("attach", run_id, "--json")[0] == 0
    assert [each["runId"] for each in rows(home)] == [run_id]


@pytest.mark.parametrize("option", ["--no-history", "--stream", "--verbose"])
def test_option_without_use_in_the_background_is_refused(
    home: Home, provider: ScriptedProvider, option: str
) -> None:
    home.add(agent("solo"))
    code, _, err = home.call("run", "solo", "--background", option)
    assert (code, err.splitlines()[0]) == (2, f"{option} can't be used with --background")
    assert provider.requests == []


def test_socket_of_an_ended_run_is_gone(home: Home, provider: ScriptedProvider) -> None:
    with held_run(home, provider) as (process, hold):
        wait_for_socket(home)
        hold.release()
        process.wait(60)
    assert list((home.history.parent / "runs").iterdir()) == []


def test_runtime_folder_of_the_user_has_the_socket(home: Home, provider: ScriptedProvider) -> None:
    runtime = home.work.parent / "runtime"
    runtime.mkdir(mode=0o700)
    home.environment["XDG_RUNTIME_DIR"] = str(runtime)
    with held_run(home, provider) as (process, _):
        socket = runtime / "axe" / "runs" / f"{process.pid}.sock"
        wait_until(socket.exists, lambda: list(runtime.rglob("*")))
        assert socket.parent.stat().st_mode & 0o777 == 0o700
        del home.environment["XDG_RUNTIME_DIR"]
        assert home.call("stop", the_active_run(home)["runId"])[0] == 2  # It looks elsewhere.
