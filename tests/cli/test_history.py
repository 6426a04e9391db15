"""`axe-lsp history`, as a process: the runs of this and other processes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.history.database import FORMAT, WriterLock, lock_folder, open_history
from axe_lsp.hosting.history.rows import Origin
from support.command_line import COMMAND, Home
from support.engines import agent
from support.past import HERE, Tale, put
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.terminal import Screen, Terminal

Json = Any

HEADING = ("RUN", "BEGAN", "STATUS", "TIME", "TOKENS", "COST", "AGENT", "TASK")

OLD = Tale("aa01cafe00", "2026-05-01").begin("lead", task="old\ntask").turn("Old.").end()
TEAM = (
    Tale("aa02cafe00", "2026-05-02")
    .begin("lead", task="new")
    .begin("helper", "bb01cafe00", parent="aa02cafe00", task="help")
    .end("bb01cafe00")
    .end(status="failed", error="boom", tree={"inputTokens": 1200, "outputTokens": 9, "cost": 0.5})
)


@pytest.fixture
def home(tmp_path: Path, provider: ScriptedProvider) -> Home:
    """Return a user with a past, in the time zone of its events."""
    return Home(tmp_path, {**provider.environment, "TZ": "UTC"})


def jsons(text: str) -> list[Json]:
    return [json.loads(line) for line in text.splitlines()]


def test_run_that_could_not_begin_is_not_stored(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("lead") | {"torn": "name = "})
    provider.script("m-lead", Says("ok"))
    assert home.call("run", "laed")[0] == 2
    assert home.call("run", "torn")[0] == 2
    assert home.call("run", "lead")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    assert run["agent"] == "lead"


def test_list_selects_runs_by_agent_status_and_time(home: Home) -> None:
    put(home.history, OLD, TEAM)

    assert home.call("history", "list") == (
        0,
        "aa02cafe  2026-05-02 10:00:01  failed     1.5 s  1,200 + 9  $0.5000  here  lead  new\n"
        "aa01cafe  2026-05-01 10:00:01  completed  1.5 s  10 + 5              here  lead  old task\n",
        "",
    )
    code, out, _ = home.call("history", "list", "--agent", "helper")
    assert (code, out.split()[0]) == (0, "bb01cafe")
    _, out, _ = home.call("history", "list", "--status", "failed", "--json")
    assert [run["runId"] for run in json.loads(out)] == ["aa02cafe00"]
    _, out, _ = home.call("history", "list", "--before", "aa02", "--limit", "1")
    assert out.split()[0] == "aa01cafe"


def test_runs_of_a_project_are_listed_from_within_it(home: Home) -> None:
    below = home.work / "below"
    below.mkdir()
    (home.work / "link").symlink_to(below)
    put(home.history, OLD, origin=replace(HERE, workspace=str(below)))
    put(home.history, TEAM, origin=replace(HERE, workspace=f"{home.work}-too"))
    for folder in (".", "below", "link"):
        _, out, _ = home.call("history", "list", "--in", folder)
        assert [line.split()[0] for line in out.splitlines()] == ["aa01cafe"]


def test_a_run_that_its_budget_has_ended_says_so_in_the_list(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("lead", budget={"max_tokens": 5}))
    home.add(agent("busy", budget={"max_turns": 1}, tools=["list_directory"]))
    provider.script("m-lead", Says("partial"))
    provider.script("m-busy", Says(calls=[Call("list_directory", {})]))
    assert [home.call("run", name)[0] for name in ("lead", "busy")] == [4, 4]
    _, out, _ = home.call("history", "list")
    assert "  killed: budget (tokens) ↻  " in out
    assert "  killed: budget (turns) ↻  " in out


def test_invalid_run_or_time_is_refused(home: Home) -> None:
    put(home.history, OLD)
    code, out, err = home.call("history", "list", "--before", "yesterday")
    assert (code, out) == (2, "")
    assert err == (
        "'yesterday' is neither the id of a run nor a time such as 2026-11-21 or 2026-11-21T09:30\n"
    )


def test_empty_history_lists_nothing_and_creates_no_file(home: Home) -> None:
    assert home.call("history", "list") == (0, "", "")
    assert home.call("history", "list", "--json") == (0, "[]\n", "")
    assert not home.history.exists()


def test_run_is_stored_unless_no_history_is_given(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("lead", sub_agents=["helper"]) | agent("helper"))
    provider.script(
        "m-lead", Says(calls=[calls_agent("helper", "t")]), Says("Done."), Says("Again.")
    )
    provider.script("m-helper", Says("Helped."))
    assert home.call("run", "lead", "-p", "first")[0] == 0
    assert home.call("run", "lead", "-p", "second", "--no-history")[0] == 0

    _, out, _ = home.call("history", "list", "--json")
    (run,) = json.loads(out)
    _, exported, _ = home.call("history", "export", run["runId"])

    assert (run["task"], run["status"], run["workspace"]) == ("first", "completed", str(home.work))
    events = [each["params"] for each in jsons(exported)]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {event["agent"] for event in events} == {"lead", "helper"}


def test_a_run_is_shown_as_a_tree_by_the_beginning_of_its_id(home: Home) -> None:
    put(home.history, OLD, TEAM)

    code, out, err = home.call("history", "show", "aa02")

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Run aa02cafe00 of 2026-05-02 10:00:01",
        "",
        "     0.0 s  lead: failed after 1.5 s, 10 + 5 tokens, 1 turn, 0 tool calls: boom",
        "     0.0 s  ├─ task: new",
        "     1.0 s  └─ helper: completed after 1.5 s, 10 + 5 tokens, 1 turn, 0 tool calls",
        "     1.0 s     └─ task: help",
        "",
        "2 runs, 0 + 0 tokens in all",
    ]
    _, out, _ = home.call("history", "show", "aa02", "--json")
    assert [(run["agent"], run["depth"]) for run in json.loads(out)] == [("lead", 0), ("helper", 1)]


def test_an_answer_that_is_not_whole_is_marked_in_the_tree(home: Home) -> None:
    tale = Tale("ab").begin("lead").thought("Hm").turn("Half a", incomplete="length")
    put(home.history, tale.end(incomplete="length"))

    _, out, _ = home.call("history", "show", "ab")

    run, _, turn = out.splitlines()[2:5]
    assert run.endswith("0 tool calls: the answer was cut off at the output limit")
    assert turn.endswith(
        "turn 1, 900 ms, 10 + 5 tokens, the answer was cut off at the output limit: Half a"
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["show", "cc"], "no run 'cc' is stored; `axe-lsp history list` lists the runs\n"),
        (["show", "aa"], "several runs begin with 'aa'; give more of the id\n"),
        (["tail", "cc"], "no run 'cc' is stored; `axe-lsp history list` lists the runs\n"),
        (["export", "cc"], "no run 'cc' is stored; `axe-lsp history list` lists the runs\n"),
        (["list", "--before", "cc"], "no run 'cc' is stored; "),
        (
            ["list", "--before", "2026-99-99"],
            "'2026-99-99' is not a time: month must be in 1..12\n",
        ),
        (
            ["list", "--before", "2026-02-30 10:00"],
            "is not a time: day is out of range for month\n",
        ),
        (["list", "--before", "2026-11-21T24:61Z"], "is not a time: hour must be in 0..23\n"),
        (["list", "--before", "2026-13"], "'2026-13' is not a time: month must be in 1..12\n"),
        (["list", "--limit", "-1"], "'-1' is not a whole number of runs from 0"),
        (["list", "--limit", "9" * 20], "is too large: integers have 64 bits"),
        (["prune", "--keep", "9" * 20], "is too large: integers have 64 bits"),
        (["prune", "--older-than", "1" * 5000], "is too large: integers have 64 bits"),
        (["list", "--status", "done"], "invalid choice: 'done'"),
        (["prune"], "one of the arguments --older-than --keep is required"),
    ],
)
def test_invalid_argument_is_refused_with_a_reason(
    home: Home, arguments: list[str], complaint: str
) -> None:
    put(home.history, OLD, TEAM)

    code, out, err = home.call("history", *arguments)

    is_usage = "(see `axe-lsp history" in err
    assert (code, out) == (1 if is_usage else 2, "")
    assert complaint in err


def test_export_has_all_events_in_order(home: Home) -> None:
    put(home.history, TEAM, OLD)

    _, everything, _ = home.call("history", "export")
    _, child, _ = home.call("history", "export", "bb01")

    told = [{"method": each.method, "params": each.params} for each in OLD.events + TEAM.events]
    assert jsons(everything) == told
    assert jsons(child) == told[4:6]


def test_runs_are_forgotten_by_age_or_number(home: Home) -> None:
    put(home.history, OLD, TEAM)

    assert home.call("history", "prune", "--older-than", "99999") == (0, "Forgot 0 runs.\n", "")
    assert home.call("history", "prune", "--keep", "1") == (0, "Forgot 1 run.\n", "")
    assert home.call("history", "list")[1].split()[0] == "aa02cafe"


def test_a_process_that_writes_forgets_what_is_expired(
    home: Home, provider: ScriptedProvider
) -> None:
    put(home.history, OLD, origin=replace(HERE, keep_days=-1))
    put(home.history, TEAM)
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))

    assert home.call("run", "solo")[0] == 0

    _, out, _ = home.call("history", "list", "--json")
    assert [run["agent"] for run in json.loads(out)] == ["solo", "lead"]


@pytest.mark.req("002-16")
def test_a_process_that_is_killed_leaves_all_that_happened_and_its_runs_are_killed(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("lead", sub_agents=["helper"]) | agent("helper"))
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("helper", "t")]))
    provider.script("m-helper", Answer(Says("never"), hold=hold))
    with home.start("run", "lead") as process:
        hold.wait_until_arrived()
        wait_for_event(home, "axe/turn", "helper")
        assert json.loads(home.call("history", "list", "--json")[1])[0]["status"] == "running"
        process.kill()
        process.wait()

        killed = json.loads(home.call("history", "list", "--json")[1])

    events = jsons(home.call("history", "export")[1])
    assert [run["status"] for run in killed] == ["killed"]
    assert list(lock_folder(home.history).iterdir()) == []
    assert [each["params"]["seq"] for each in events] == list(range(1, len(events) + 1))
    ends = [each["params"] for each in events if each["params"].get("status")]
    assert [(end["agent"], end["status"]) for end in ends] == [
        ("helper", "killed"),
        ("lead", "killed"),
    ]
    assert "the process that executed this run has died" in killed[0]["error"]


def wait_for_event(home: Home, method: str, name: str) -> None:
    """Until the process that makes the run has written it."""
    with home.start("history", "tail", "--json", newest(home)) as tail:
        assert tail.stdout is not None
        for line in tail.stdout:
            event = json.loads(line)
            if (event["method"], event["params"]["agent"]) == (method, name):
                break
        tail.kill()


def newest(home: Home) -> str:
    """Of the run that is written down last, which takes a moment for the first one."""
    while not (runs := json.loads(home.call("history", "list", "--json")[1])):
        pass
    run_id: str = runs[0]["runId"]
    return run_id


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_is_remembered_as_cancelled(
    home: Home, provider: ScriptedProvider, number: signal.Signals
) -> None:
    home.add(agent("solo"))
    hold = Hold()
    provider.script("m-solo", Answer(Says("never"), hold=hold))
    with home.start("run", "solo") as process:
        hold.wait_until_arrived()
        process.send_signal(number)
        process.communicate(timeout=60)

    (run,) = json.loads(home.call("history", "list", "--json")[1])
    assert (run["status"], process.returncode) == ("cancelled", 128 + number)


def test_processes_that_write_at_once_lose_nothing(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("lead", sub_agents=["helper"]) | agent("helper"))
    both = Says(calls=[calls_agent("helper", "s")] * 8)
    provider.script("m-lead", Answer(Says("done"), match='"tool"', repeat=True))
    provider.script("m-lead", Answer(both, repeat=True))
    provider.script("m-helper", Answer(Says("well"), repeat=True))

    processes = [home.start("run", "lead") for _ in range(4)]
    said = [process.communicate(timeout=60) for process in processes]

    assert said == [("done", "")] * 4
    runs = json.loads(home.call("history", "list", "--json")[1])
    assert [run["status"] for run in runs] == ["completed"] * 4
    for run in runs:
        events = jsons(home.call("history", "export", run["runId"])[1])
        assert [each["params"]["seq"] for each in events] == list(range(1, len(events) + 1))
        assert sum(each["params"].get("status") == "completed" for each in events) == 9


def has(text: str) -> Callable[[Screen], bool]:
    return lambda rows: any(text in row for row in rows)


def test_a_run_is_followed_from_its_beginning_to_its_end(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    hold = Hold()
    provider.script("m-solo", Answer(Says("ok"), hold=hold))
    with home.start("run", "solo") as process:
        hold.wait_until_arrived()
        with home.start("history", "tail", newest(home)) as tail:
            assert tail.stdout is not None
            first = tail.stdout.readline()
            hold.release()
            rest, err = tail.communicate(timeout=60)
        process.communicate(timeout=60)

    assert "solo: started on openai/m-solo" in first
    assert rest.splitlines()[-1].partition("  solo: ")[2].startswith("completed after")
    assert (tail.returncode, err) == (0, "")


def test_what_a_killed_run_has_remembered_for_itself_goes_with_its_steps(
    home: Home, provider: ScriptedProvider
) -> None:
    memory = {"enabled": True, "scope": "run"}
    home.add(agent("lead", sub_agents=["left"]) | agent("left", memory=memory))
    home.environment["XDG_CACHE_HOME"] = str(home.work / "cache")
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("left", "l")]), Answer(Says("x"), hold=hold))
    provider.script("m-left", Says("remembered"))
    with home.start("run", "lead") as process:
        hold.wait_until_arrived()
        (kept,) = (home.work / "cache" / "axe" / "memory").iterdir()
        newest(home)
        process.kill()
    assert kept.exists()
    assert "killed ↻" in home.call("history", "list")[1]
    assert kept.exists()  # It can be resumed.
    home.call("history", "prune", "--keep", "0")
    assert not kept.exists()


def test_runs_that_begin_are_followed_until_ctrl_c(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"), Says("ok"))
    going = Tale("going").begin("elsewhere")
    put(home.history, OLD, going)
    life = WriterLock(lock_folder(home.history), "somebody")
    with Terminal([*COMMAND, "history", "tail"], home.environment, home.work) as terminal:
        terminal.shows(has("1 under way; those that begin are shown as well"))
        home.call("run", "solo")
        terminal.shows(has("solo: completed after"))
        put(home.history, Tale("later").begin("other"))
        terminal.shows(has("other: started on ollama/m"))
        terminal.type(b"\x03")
        assert terminal.end()[0] == 130
    life.end()


def test_a_history_that_can_not_be_used_is_named_and_costs_no_run(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    home.history.parent.mkdir(parents=True)
    home.history.write_bytes(b"This is no database." * 100)

    code, out, err = home.call("run", "solo")

    assert (code, out) == (0, "ok")
    assert err == (
        f"Warning: this run is not stored in the history, and so can't be resumed: the history of runs ({home.history}) "
        "can't be used: file is not a database; move it away; a new one is created\n"
    )
    code, out, err = home.call("history", "list")
    assert (code, out) == (2, "")
    assert "file is not a database; move it away" in err


@pytest.mark.parametrize("streams", [[], ["--json"]])
def test_short_run_with_a_locked_history_says_that_it_is_not_stored(
    home: Home, provider: ScriptedProvider, streams: list[str]
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    home.history.parent.mkdir(parents=True)
    open_history(home.history).close()
    with closing(sqlite3.connect(home.history, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, out, err = home.call("run", "solo", *streams)
    assert code == 0
    assert "ok" in out
    assert "this run is not stored in the history, and so can't be resumed" in err
    assert "end any process that locks it" in err


def test_failed_run_with_a_locked_history_does_not_name_a_command_to_resume_it(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    home.environment["TERM"] = "xterm"
    refusal = Refuses(401, "no")
    home.history.parent.mkdir(parents=True)
    open_history(home.history).close()
    for is_locked in (True, False):
        provider.script("m-solo", refusal, refusal)
        with closing(sqlite3.connect(home.history, isolation_level=None)) as other:
            if is_locked:
                other.execute("BEGIN IMMEDIATE")
            code, _, err = home.call("run", "solo")
        assert code != 0
        assert ("is not stored in the history" in err) is is_locked
        assert ("axe-lsp resume" in err, "axe-lsp history show" in err) == (not is_locked,) * 2, err


def _without_rights_of_root() -> list[str]:
    """Return the words before a command that take from root the right to write to read-only files."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root can write to read-only files, and setpriv is not installed")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]


@pytest.mark.skipif(sys.platform == "win32", reason="the modes of files are those of POSIX")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only_history_is_one_sentence_in_each_command_and_costs_no_run(
    home: Home, provider: ScriptedProvider, what: str
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", *[Says("ok")] * 3)
    assert home.call("run", "solo")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    run_id = run["runId"]
    home.history.chmod(0o400)
    if what == "folder":
        home.history.parent.chmod(0o500)
    limited = _without_rights_of_root()

    def call(command: str) -> tuple[int, str, str]:
        return home.shell_line(shlex.join([*limited, *COMMAND, *command.split()]))

    code, out, err = call("run solo")
    assert (code, out) == (0, "ok")
    (line,) = err.splitlines()
    assert line.startswith(
        "Warning: this run is not stored in the history, and so can't be resumed: "
    )
    for command in ("history list", f"history show {run_id}", f"history export {run_id}"):
        code, out, err = call(command)
        assert "Traceback" not in err
        assert len(err.splitlines()) <= 1
    for command in ("history prune --older-than 0", f"resume {run_id}"):
        code, out, err = call(command)
        assert code != 0
        assert len(err.splitlines()) == 1, err
        assert str(home.history) in err or command.startswith("resume")
    home.history.parent.chmod(0o700)


def _foreign_table(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (title TEXT)")
        connection.execute(f"PRAGMA user_version = {version}")


def _cut(path: Path) -> None:
    open_history(path).close()
    os.truncate(path, 5000)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "random bytes": lambda path: path.write_bytes(b"This is no database." * 100),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a file that was cut": _cut,
    "tables of another program": lambda path: _foreign_table(path, 0),
    "tables of another program in the same format": lambda path: _foreign_table(path, FORMAT),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_history_is_one_sentence_in_each_command(home: Home, damage: str) -> None:
    home.history.parent.mkdir(parents=True)
    DAMAGES[damage](home.history)
    for command in ("history list", "history show aa", "history export aa", "resume aa", "undo aa"):
        code, out, err = home.call(*command.split())
        assert code in (1, 2), command
        assert out == "", command
        assert err.startswith(f"the history of runs ({home.history}) can't be used: "), command
        assert err.endswith("; move it away; a new one is created\n"), command
        assert err.count("\n") == 1, command


def test_a_history_of_a_newer_version_is_left_alone(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    home.history.parent.mkdir(parents=True)
    with closing(sqlite3.connect(home.history)) as connection:
        connection.execute("PRAGMA user_version = 99")

    code, out, err = home.call("run", "solo")

    assert (code, out) == (0, "ok")
    assert (
        f"was written by a newer axe-lsp (format 99, this one knows {FORMAT}); update axe-lsp"
        in err
    )


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_rows_fit_the_terminal_and_failures_are_red(
    home: Home, variables: dict[str, str], coloured: bool
) -> None:
    put(home.history, TEAM, Tale("cc", "2026-06-01").begin("lead", task="x" * 200).end())
    environment = {**home.environment, **variables}
    with Terminal([*COMMAND, "history", "list"], environment, home.work) as terminal:
        code, shown = terminal.end()
        raw = bytes(terminal.written)

    assert code == 0
    assert shown[0].split() == ["RUN", "BEGAN", "STATUS", "TIME", "COST", "AGENT", "TASK"]
    assert len(shown) == 3
    assert shown[1].endswith("…")
    assert re.search(r"^cc +\S+( \d\d:\d\d)? +completed +\S+ \S+ +lead +x{20}", shown[1])
    assert (b"\x1b[31mfailed\x1b[0m" in raw) == coloured


def test_times_are_local_where_they_are_shown_and_where_they_are_given(home: Home) -> None:
    put(home.history, Tale("aa", "2026-06-01").begin("a").end())
    environment = {**home.environment, "TZ": "XYZ+5"}  # Five hours behind UTC.

    def listed(*arguments: str) -> str:
        command = [*COMMAND, "history", "list", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    _, day, time, *_ = listed().split()
    stored = json.loads(listed("--json"))[0]["began"]
    began = datetime.fromisoformat(f"{day} {time}")
    assert began + timedelta(hours=5) == datetime.fromisoformat(stored[:19])
    assert listed("--before", f"{day} {time}") == ""
    assert "aa" in listed("--before", str(began + timedelta(seconds=1)))
    assert "aa" in listed("--before", f"{stored[:18]}9.999Z"), "UTC"


def test_on_a_wide_terminal_all_columns_are_shown(home: Home) -> None:
    put(home.history, TEAM)
    command = [*COMMAND, "history", "list"]
    with Terminal(command, home.environment, home.work, columns=140) as terminal:
        code, shown = terminal.end()

    assert (code, shown[0].split()) == (0, list(HEADING))
    assert re.search(r" \d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", shown[1])


def test_on_a_narrow_terminal_agent_and_task_are_shown(home: Home) -> None:
    put(home.history, TEAM)
    command = [*COMMAND, "history", "list"]
    with Terminal(command, home.environment, home.work, columns=40) as terminal:
        code, shown = terminal.end()

    assert (code, shown[0].split()) == (0, ["RUN", "STATUS", "AGENT", "TASK"])
    assert max(map(len, shown)) <= 40


def test_projects_are_shown_if_runs_have_several(home: Home, tmp_path: Path) -> None:
    put(home.history, TEAM)
    other = Tale("dd", "2026-06-01").begin("lead", task="other").end()
    put(home.history, other, origin=Origin("/work/elsewhere", 30))
    command = [*COMMAND, "history", "list"]
    with Terminal(command, home.environment, home.work, columns=120) as terminal:
        _, shown = terminal.end()

    assert "PROJECT" in shown[0].split()
    assert "elsewhere" in shown[1].split()
    assert max(map(len, shown)) <= 120


def test_newest_run_of_folder_is_shown_by_default(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("First."), Says("Second."))
    assert home.call("history", "show")[0] == 2
    home.call("run", "solo", "-p", "one")
    home.call("run", "solo", "-p", "two")
    put(home.history, Tale("dd", "2036-06-01").begin("lead", task="other folder").end())

    code, out, _ = home.call("history", "show")

    assert code == 0
    assert "Second." in out


class TestCost:
    def test_stats_has_a_row_per_agent_and_a_total(self, home: Home) -> None:
        put(home.history, OLD, TEAM)

        code, out, _ = home.call("history", "cost", "--since", "2026-05-01", "--json")

        sums = json.loads(out)
        assert (code, sums["runs"], sums["cost"], sums["unpriced"]) == (0, 2, 0.5, 1)
        assert sums["agents"]["lead"]["inputTokens"] == sums["inputTokens"] == 1210

    def test_runs_before_the_time_are_left_out(self, home: Home) -> None:
        put(home.history, OLD, TEAM)

        _, out, _ = home.call("history", "cost", "--since", "2026-05-02", "--json")
        assert json.loads(out)["runs"] == 1
        assert json.loads(home.call("history", "cost", "--json")[1])["runs"] == 0, "today"

    def test_table_ends_with_total(self, home: Home) -> None:
        put(home.history, OLD, TEAM)

        lines = home.call("history", "cost", "--since", "2026-05-01")[1].splitlines()

        assert lines[-2].endswith("in all since 2026-05-01")
        assert lines[-1].startswith("The cost of 1 run is not known")


def test_colours_of_a_list_can_be_forced(home: Home) -> None:
    put(home.history, TEAM)
    assert "\x1b[31mfailed" not in home.call("history", "list")[1]
    home.environment["FORCE_COLOR"] = "1"
    assert "\x1b[31mfailed" in home.call("history", "list")[1]


def test_closed_output_ends_history_quietly(home: Home) -> None:
    put(home.history, Tale("long").begin("a").turn("x" * 300_000).end())

    assert home.shell("history export | head -c 1") == (0, "{", "")
