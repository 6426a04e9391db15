"""`axe-lsp run`, as a process: what goes in, what comes out, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import pytest

from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Raw,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.terminal import Terminal

TEAM = agent("parent", sub_agents=["helper"]) | agent("helper")


def test_the_answer_goes_to_standard_output_as_it_is(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("Hello <b>& é 😀\nline2"))
    assert home.call("run", "solo") == (0, "Hello <b>& é 😀\nline2", "")
    assert "stream" not in provider.requests[0].body


@pytest.mark.req("001-8.6", "001-T2")
def test_json_is_the_answer_with_its_cost(home: Home, provider: ScriptedProvider) -> None:
    home.add(TEAM)
    call = calls_agent("helper", "t")
    provider.script("m-parent", Says(calls=[call], usage=(1, 2)), Says("<é>", usage=(3, 4)))
    provider.script("m-helper", Says("r", usage=(100, 100)))
    code, out, err = home.call("run", "parent", "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer.pop("duration_ms") >= 0
    assert answer == {
        "content": "<é>",
        "input_tokens": 4,
        "model": "m-parent",
        "output_tokens": 6,
        "stop_reason": "stop",
        "tool_calls": 1,
    }
    assert list(json.loads(out)) == sorted(json.loads(out))
    assert out.startswith('{"content":"<é>",')
    assert out.endswith("}\n")


@pytest.mark.req("001-8.7", "001-8.8", "001-N9", "001-7.5", "001-T2", "001-C5")
def test_verbose_tells_on_standard_error_what_is_going_on(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(TEAM)
    provider.script(
        "m-parent",
        Says(calls=[calls_agent("helper", "é" * 81), calls_agent("nobody", "x")]),
        Says("F"),
    )
    provider.script("m-helper", Says("réß"))
    code, out, err = home.call("run", "parent", "-v", stdin="some input")
    assert (code, out) == (0, "F")
    lines = err.splitlines()
    assert lines[:9] == [
        "Model:    openai/m-parent",
        f"Workdir:  {home.work}",
        "Skill:    (none)",
        "Files:    0 file(s)",
        "Stdin:    yes",
        "Timeout:  120s",
        "Params:   temperature=0, max_tokens=0",
        "[turn 1] Sending request (1 messages, 0 tool calls pending)",
        "[turn 1] Received response: tool_calls (2 tool calls)",
    ]
    assert lines[9] == f'[sub-agent] Calling "helper" (depth 1) with task: {"é" * 80}...'
    assert lines[10].startswith('[sub-agent] "helper" completed in ')
    assert lines[10].endswith("ms (3 chars returned)")
    assert lines[11] == "[turn 2] Sending request (3 messages, 2 tool calls pending)"
    assert lines[12] == "[turn 2] Received response: stop (0 tool calls)"
    assert lines[13].startswith("Duration: ")
    assert lines[14:] == ["Tokens:   20 input, 10 output (cumulative)", "Stop:     stop"]


@pytest.mark.req("001-7.5")
def test_verbose_tells_why_a_child_failed(home: Home, provider: ScriptedProvider) -> None:
    home.add(TEAM)
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]), Says("coped"))
    provider.script("m-helper", Refuses(500, "boom"))
    code, out, err = home.call("run", "parent", "-v")
    assert (code, out) == (0, "coped")
    assert '[sub-agent] "helper" failed: server: boom\n' in err


def test_verbose_tells_about_memory_and_of_failures(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo", memory={"enabled": True}))
    provider.script("m-solo", Says("fine"), Refuses(500, "boom"))
    _, _, err = home.call("run", "solo", "-v")
    assert "Memory:   0 entries (no memory file)\n" in err
    assert "Tokens:   10 input, 5 output\n" in err
    code, out, err = home.call("run", "solo", "-v")
    assert (code, out) == (3, "")
    assert f"Memory:   1 entries loaded from {home.data}/memory/solo.md\n" in err
    assert err.splitlines()[-2].startswith("Duration: ")
    assert err.splitlines()[-1] == "server: boom"


@pytest.mark.parametrize(
    ("options", "stdin", "message"),
    [
        ([], None, "Execute the task described in your instructions."),
        ([], "  piped\n", "  piped\n"),
        ([], " \n", "Execute the task described in your instructions."),
        (["-p", "asked"], "piped", "asked"),
        (["--prompt=asked"], None, "asked"),
        (["-p", ""], "piped", "piped"),
        (["-p", " \n"], "piped", "piped"),
        (["-p", " "], None, "Execute the task described in your instructions."),
        (["-p", " asked "], None, " asked "),
    ],
)
def test_the_task_is_the_prompt_or_standard_input_or_the_default(
    home: Home, provider: ScriptedProvider, options: list[str], stdin: str | None, message: str
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    assert home.call("run", "solo", *options, stdin=stdin)[0] == 0
    assert provider.requests[0].body["messages"][0]["content"] == message


@pytest.mark.parametrize("flags", [["-p", "asked"], ["--input", "{}"]])
@pytest.mark.parametrize(("source", "is_lost"), [("file", True), ("pipe", True), ("none", False)])
def test_standard_input_that_is_not_read_is_mentioned(
    home: Home, provider: ScriptedProvider, flags: list[str], source: str, is_lost: bool
) -> None:
    home.add(agent("solo", input={"properties": {}}))
    provider.script("m-solo", Says("ok"))
    ours, theirs = os.pipe()
    os.write(theirs, b"piped" if source == "pipe" else b"")
    (home.work / "task.txt").write_text("from a file")
    stdin = os.open(home.work / "task.txt", os.O_RDONLY) if source == "file" else ours
    with home.start("run", "solo", *flags, stdin=stdin) as process:  # Nobody closes the pipe.
        out, err = process.communicate(timeout=60)
    for descriptor in {ours, theirs, stdin}:
        os.close(descriptor)
    flag = {"-p": "--prompt"}.get(flags[0], flags[0])
    warning = f"Warning: standard input is not read, because of {flag}\n" if is_lost else ""
    assert (process.returncode, out, err) == (0, "ok", warning)


def test_standard_input_that_is_closed_or_not_utf8(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"), Says("ok"))
    closed = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "run", "solo"]
    subprocess.run(closed, cwd=home.work, env=home.environment, check=True, capture_output=True)
    bad = [*COMMAND, "run", "solo"]
    subprocess.run(
        bad, cwd=home.work, env=home.environment, check=True, capture_output=True, input=b"a\xffb"
    )
    told = [request.body["messages"][0]["content"] for request in provider.requests]
    assert told == [
        "Execute the task described in your instructions.",
        "a\N{REPLACEMENT CHARACTER}b",
    ]


def test_flags_take_the_place_of_what_the_file_says(home: Home, provider: ScriptedProvider) -> None:
    (home.config / "other.md").write_text("other skill")
    (home.work / "sub").mkdir()
    (home.work / "sub" / "x.txt").write_text("below")
    home.add(agent("solo", skill="none.md", workdir="/nowhere", files=["*.txt"], timeout=9))
    provider.script("asked", Says("ok"))
    arguments = ["--timeout=5", "solo", "--model", "openai/asked", "--skill", "other.md"]
    code, _, err = home.call("run", *arguments, "--workdir", "sub", "--timeout", "6", "--verbose")
    assert code == 0
    assert "Timeout:  6s" in err
    system = provider.requests[0].body["messages"][0]["content"]
    assert "other skill" in system
    assert "below" in system


@pytest.mark.req("001-8.5", "001-T2")
def test_a_dry_run_sends_nothing_and_needs_no_key(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo", sub_agents=["a", "b"], tools=["read_file"]))
    home.environment["OPENAI_API_KEY"] = ""
    code, out, err = home.call("run", "solo", "--dry-run", "-p", "my task")
    assert code == 0
    assert out.startswith("=== Dry Run ===\n")
    assert "--- Sub-Agents ---\na, b\nMax Depth: 3\n" in out
    assert "--- Stdin ---\nmy task\n" in out
    assert err == ""
    assert provider.requests == []


@pytest.mark.parametrize(
    ("agents", "arguments", "code", "message"),
    [
        ({}, ["nobody"], 2, "agent config not found: nobody"),
        ({"a": "name = "}, ["a"], 2, 'failed to parse agent config "a": line 1'),
        ({"a": ""}, ["a"], 2, "agent config missing required field: name"),
        (agent("a"), ["a", "--model", "x"], 1, 'invalid model format "x"'),
        (agent("a", model="google/x"), ["a"], 1, 'unsupported provider "google"'),
        (agent("a", skill="no"), ["a"], 2, "skill not found"),
        (agent("a", files=["["]), ["a"], 2, "invalid glob pattern"),
        (agent("a"), ["a", "--replay", "none.toml"], 2, "recording not found: none.toml"),
        (agent("a"), ["a", "--record", "no/such/file"], 2, "failed to write recording: "),
        (agent("a"), ["a", "--record", "."], 2, "failed to write recording: . is a folder"),
        (agent("a"), ["../a"], 2, "must not contain path separators"),
    ],
)
def test_what_is_wrong_is_one_line_and_an_exit_code(
    home: Home,
    provider: ScriptedProvider,
    agents: dict[str, str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    home.add(agents)
    result = home.call("run", *arguments)
    assert (result[0], result[1]) == (code, "")
    assert message in result[2]
    assert result[2].count("\n") == 1
    assert provider.requests == []


@pytest.mark.req("001-13.5", "001-T2")
@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (Refuses(400, "no"), 1, "bad_request: no\n"),
        (Refuses(401, "no"), 3, "auth: no\n"),
        (Refuses(429, "no"), 3, "rate_limit: no\n"),
        (Refuses(529, "no"), 3, "overloaded: no\n"),
        (Raw(b"\0\xff garbage"), 3, "server: failed to parse response: "),
        (Raw(cut=0), 3, "server: the connection was closed before an answer arrived (openai at "),
    ],
)
def test_a_failing_provider_is_one_line_and_an_exit_code(
    home: Home, provider: ScriptedProvider, answer: Refuses | Raw, code: int, message: str
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", answer)
    result = home.call("run", "solo")
    assert (result[0], result[1]) == (code, "")
    assert result[2].startswith(message)
    assert "Traceback" not in result[2]


def test_a_missing_key_is_exit_code_3(home: Home) -> None:
    home.add(agent("solo"))
    home.environment.pop("OPENAI_API_KEY")
    assert home.call("run", "solo")[0] == 3


@pytest.mark.parametrize("command", [["run", "solo"], ["check"]])
def test_a_deleted_working_directory_is_a_clear_error(home: Home, command: list[str]) -> None:
    gone = home.work / "gone"
    gone.mkdir()
    script = f'cd {gone} && rmdir {gone} && exec "$@"'
    result = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND, *command],
        env={**home.environment, "PYTHONPATH": str(Path(__file__).parents[2] / "server")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "failed to get working directory: it has been deleted" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("flag", "keys"), [("--stream", {}), ("-v", {"stream": True})])
def test_text_is_printed_as_it_arrives(
    home: Home, provider: ScriptedProvider, flag: str, keys: dict[str, bool]
) -> None:
    home.add(agent("solo", **keys))
    hold = Hold(chunk=3)
    provider.script("m-solo", Answer(Says("one two three"), hold=hold))
    with home.start("run", "solo", flag) as process:
        assert process.stdout is not None
        assert process.stdout.read(8) == "one two "
        hold.wait_until_arrived()
        hold.release()
        assert process.stdout.read() == "three"
        assert process.wait(30) == 0


@pytest.mark.parametrize(("agents", "flag"), [(TEAM, "--stream"), (agent("parent"), "--json")])
def test_nothing_is_streamed_with_tools_or_json(
    home: Home, provider: ScriptedProvider, agents: dict[str, str], flag: str
) -> None:
    home.add(agents)
    provider.script("m-parent", Says("whole"))
    code, out, _ = home.call("run", "parent", flag, "--stream")
    assert code == 0
    assert "whole" in out
    assert "stream" not in provider.requests[0].body


def test_a_terminal_gets_a_stream_and_a_line_end(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("to a terminal"))
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "run", "solo"],
        cwd=home.work,
        env=home.environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
    ) as process:
        assert process.wait(30) == 0
    os.close(theirs)
    assert os.read(ours, 1000) == b"to a terminal\r\n"
    os.close(ours)
    assert provider.requests[0].body["stream"] is True


def test_ctrl_c_ends_the_whole_tree(home: Home, provider: ScriptedProvider) -> None:
    home.add(TEAM)
    hold = Hold()
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]))
    provider.script("m-helper", Answer(Says("late"), hold=hold))
    with home.start("run", "parent", "--record", "r.toml") as process:
        hold.wait_until_arrived()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    hold.wait_until_hung_up()
    assert (process.returncode, out) == (130, "")
    assert re.fullmatch(r"cancelled after \d+(\.\d)? m?s\n", err)
    assert 'agent = "parent"' in (home.work / "r.toml").read_text()


@pytest.mark.parametrize("flags", [[], ["--no-history"]])
def test_ctrl_c_leaves_a_word_and_the_way_to_what_happened(
    home: Home, provider: ScriptedProvider, flags: list[str]
) -> None:
    home.add(agent("solo"))
    hold = Hold()
    provider.script("m-solo", Answer(Says("late"), hold=hold))
    command = [*COMMAND, "run", "solo", *flags]
    with Terminal(command, home.environment, home.work, columns=200) as terminal:
        hold.wait_until_arrived()
        terminal.type(b"\x03")
        code, screen = terminal.end()
    hold.wait_until_hung_up()
    assert code == 130
    text = "\n".join(screen)
    assert re.search(r"cancelled after \d+(\.\d)? m?s$", text, re.MULTILINE)
    found = re.search(r"^`axe-lsp (history show \w{8})` shows what happened\.$", text, re.MULTILINE)
    assert (found is None) == bool(flags)
    if found:
        assert "solo: cancelled" in home.call(*found[1].split())[1]


FINDER = agent("finder", output={"type": "object", "required": ["found"]})


def test_an_answer_that_does_not_fit_is_not_lost(home: Home, provider: ScriptedProvider) -> None:
    home.add(FINDER)
    provider.script("m-finder", *[Says("I found it in\nsrc/a.py.")] * 3)
    code, out, err = home.call("run", "finder")
    assert (code, out) == (1, "")
    error, *rest = err.split("\n")
    assert error.startswith("the answer does not fit [output]: ")
    assert rest == ["Its last answer was:", "", "I found it in", "src/a.py.", ""]


def test_an_answer_that_does_not_fit_is_in_json(home: Home, provider: ScriptedProvider) -> None:
    home.add(FINDER)
    provider.script("m-finder", *[Says('{"lost": 1}', usage=(1, 2))] * 3)
    code, out, err = home.call("run", "finder", "--json")
    assert (code, err) == (1, "the answer does not fit [output]: output.found is missing\n")
    answer = json.loads(out)
    assert (answer["content"], answer["error"]) == ('{"lost": 1}', err.strip())
    assert (answer["input_tokens"], "output" in answer) == (3, False)


def test_a_reader_who_goes_away_ends_the_run_quietly(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    hold = Hold(chunk=3)
    provider.script("m-solo", Answer(Says("one two three"), hold=hold))
    with home.start("run", "solo", "--stream") as process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.stdout.close()
        hold.wait_until_arrived()
        hold.release()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(30) == 141


def test_a_run_is_recorded_and_replayed(home: Home, provider: ScriptedProvider) -> None:
    home.add(TEAM)
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]), Says("Final"))
    provider.script("m-helper", Says("r"))
    assert home.call("run", "parent", "--record", "r.toml") == (0, "Final", "")
    home.environment.pop("OPENAI_API_KEY")
    replay = ["run", "parent", "--replay", "r.toml"]
    assert home.call(*replay) == (0, "Final", "")
    assert home.call(*replay, "--model", "anthropic/another") == (0, "Final", "")
    assert home.call(*replay, "--stream", "--record", "again.toml") == (0, "Final", "")
    assert home.call("run", "parent", "--replay", "again.toml") == (0, "Final", "")
    code, out, err = home.call(*replay, "-p", "something else")
    assert (code, out) == (1, "")
    assert err.startswith("bad_request: the request is not the recorded one: run 1 ")
    assert len(provider.requests) == 3


def test_a_recorded_run_says_that_nobody_gets_a_process_of_their_own(
    home: Home, provider: ScriptedProvider
) -> None:
    own = {"mode": "process"}
    home.add(agent("lead", sub_agents=["apart"], isolation=own) | agent("apart", isolation=own))
    told = []
    for flags in (["--record", "r.toml"], ["--replay", "r.toml"], []):
        provider.script("m-lead", Says(calls=[calls_agent("apart", "t")]), Says("done"))
        provider.script("m-apart", Says("r"))
        assert home.call("run", "lead", *flags) == (0, "done", "")
        events = [json.loads(line) for line in home.call("history", "export")[1].splitlines()]
        begins = [each["params"] for each in events if each["params"].get("kind") == "begin"]
        agents = [each for each in begins if "task" in each][-2:]
        told.append([each.get("isolation") for each in agents])
    assert told == [[None, "inline"], [None, "inline"], [None, None]]


def test_a_failed_run_is_recorded_as_far_as_it_came(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Refuses(429, "slow down, key-openai"))
    assert home.call("run", "solo", "--record", "r.toml")[0] == 3
    text = (home.work / "r.toml").read_text()
    assert 'category = "rate_limit"' in text
    assert "key-openai" not in text
    assert home.call("run", "solo", "--replay", "r.toml") == (
        3,
        "",
        "rate_limit: slow down, [redacted]\n",
    )


@pytest.mark.req("001-DD7")
def test_agents_of_the_project_come_first(home: Home, provider: ScriptedProvider) -> None:
    """Children are looked for where their parent works, then where the run was started."""
    home.add(agent("parent", sub_agents=["helper"]) | agent("helper", model="openai/of-user"))
    local = home.work / "axe" / "agents"
    local.mkdir(parents=True)
    (local / "parent.toml").write_text(
        agent("parent", model="openai/local", sub_agents=["helper"], workdir="sub")["parent"]
    )
    deeper = home.work / "sub" / ".axe" / "agents"
    deeper.mkdir(parents=True)
    (deeper / "helper.toml").write_text(agent("helper", model="openai/deeper")["helper"])
    provider.script("local", Says(calls=[calls_agent("helper", "t")]), Says("F"))
    provider.script("deeper", Says("r"))
    assert home.call("run", "parent") == (0, "F", "")
    assert [request.model for request in provider.requests] == ["local", "deeper", "local"]


def test_a_named_folder_that_is_not_there_is_passed_over_but_named(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    code, out, err = home.call("run", "solo", "--agents-dir", "away")
    assert (code, out) == (0, "ok")
    assert err == "Warning: there is no folder away (--agents-dir); it is passed over\n"


@pytest.mark.parametrize("place", ["flag", "file"])
def test_a_working_directory_that_is_not_there_is_no_place_for_tools(
    home: Home, provider: ScriptedProvider, place: str
) -> None:
    gone = home.work / "gone"
    flags, keys = ([], {"workdir": "gone"}) if place == "file" else (["--workdir", str(gone)], {})
    home.add(agent("solo", tools=["write_file"], **keys) | agent("bare", **keys))
    write = Call("write_file", {"path": "a.txt", "content": "lost"})
    provider.script("m-solo", Says(calls=[write]), Says("done"))
    message = f"the working directory {gone} does not exist\n"
    assert home.call("run", "solo", "--yes", *flags) == (2, "", message)
    assert not gone.exists()
    provider.script("m-bare", Says("without tools"))
    assert home.call("run", "bare", *flags) == (0, "without tools", "")


def test_a_working_directory_that_is_a_file_is_called_one(home: Home) -> None:
    home.add(agent("solo", tools=["write_file"], workdir="taken"))
    (home.work / "taken").write_text("")
    message = f"the working directory {home.work}/taken is a file\n"
    assert home.call("run", "solo", "--yes") == (2, "", message)


def test_a_named_folder_comes_before_all_others(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    mine = home.work / "mine"
    mine.mkdir()
    (mine / "solo.toml").write_text(agent("solo", model="openai/mine")["solo"])
    provider.script("mine", Says("mine"))
    assert home.call("run", "solo", "--agents-dir", "mine") == (0, "mine", "")


def test_sigterm_ends_the_whole_tree_and_loses_no_recording(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(TEAM)
    hold = Hold()
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]))
    provider.script("m-helper", Answer(Says("late"), hold=hold))
    with home.start("run", "parent", "--record", "r.toml") as process:
        hold.wait_until_arrived()
        process.terminate()
        out, err = process.communicate(timeout=30)
    hold.wait_until_hung_up()
    assert (process.returncode, out) == (143, "")
    assert err.startswith("cancelled after ")
    assert 'agent = "parent"' in (home.work / "r.toml").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("flags", [[], ["--stream"], ["--json"]])
def test_an_answer_that_cannot_be_written_is_an_error(
    home: Home, provider: ScriptedProvider, flags: list[str]
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("precious"))
    outcome = home.shell(f"run solo {' '.join(flags)} >/dev/full")
    assert outcome == (1, "", "axe-lsp: the output can't be written: No space left on device\n")


def test_streams_that_are_closed_lose_no_answer_unnoticed(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("answer"), Says("answer"))
    assert home.shell("run solo 2>&-") == (0, "answer", "")
    outcome = home.shell("run solo >&-")
    assert outcome == (1, "", "axe-lsp: the output can't be written: Bad file descriptor\n")


@pytest.mark.parametrize("seconds", ["-1", "soon", "1.5", ""])
def test_a_timeout_that_is_no_time_is_a_usage_error(home: Home, seconds: str) -> None:
    home.add(agent("solo"))
    code, out, err = home.call("run", "solo", f"--timeout={seconds}")
    assert (code, out) == (1, "")
    assert f"{seconds!r} is not a whole number of seconds from 0" in err


def test_verbose_tells_what_is_sent_again_and_nobody_else_hears_of_it(
    home: Home, provider: ScriptedProvider
) -> None:
    retry = {"max_retries": 3, "backoff": "linear", "initial_delay_ms": 1}
    home.add(agent("solo", retry=retry))
    provider.script("m-solo", Refuses(429), Refuses(500), Says("done"))
    code, out, err = home.call("run", "solo", "-v")
    assert (code, out) == (0, "done")
    lines = [line for line in err.splitlines() if line.startswith("[retry]")]
    assert lines == [
        "[retry] Attempt 1/3 after rate_limit, waiting 1ms",
        "[retry] Attempt 2/3 after server, waiting 2ms",
    ]
    provider.script("m-solo", Refuses(429), Says("done"))
    assert home.call("run", "solo") == (0, "done", "")


@pytest.mark.parametrize(
    ("read", "written", "reported"),
    [
        (0, 0, {}),
        (0, 70, {"cache_read_tokens": 0, "cache_status": "MISS", "cache_write_tokens": 70}),
        (70, 5, {"cache_read_tokens": 70, "cache_status": "HIT", "cache_write_tokens": 5}),
    ],
)
def test_what_came_from_the_provider_s_cache_is_reported(
    home: Home, provider: ScriptedProvider, read: int, written: int, reported: dict[str, object]
) -> None:
    home.add(agent("solo", "anthropic"))
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }
    provider.script("m-solo", Says("ok", extra={"usage": usage}))
    code, out, err = home.call("run", "solo", "--json", "--verbose")
    assert code == 0
    envelope = json.loads(out)
    assert list(envelope) == sorted(envelope)
    assert {key: value for key, value in envelope.items() if "cache" in key} == reported
    assert envelope["input_tokens"] == 10 + read + written
    assert (f"Cache:    {read} read, {written} written\n" in err) == bool(reported)


def test_a_run_ends_when_its_budget_is_used_up(home: Home, provider: ScriptedProvider) -> None:
    parts = agent("parent", sub_agents=["helper"], budget={"max_tokens": 1000}) | agent("helper")
    home.add(parts)
    for _ in range(3):
        provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]))
        provider.script("m-helper", Says("r", usage=(100, 1)))
    told = "budget exceeded: used 116 of 20 tokens\n"
    assert home.call("run", "parent", "--max-tokens", "20") == (4, "Asking.", told)
    code, out, err = home.call("run", "parent", "--max-tokens=20", "-v")
    assert (code, out) == (4, "Asking.")
    assert "\nTokens:   10 input, 5 output (cumulative, budget: 116/20)\nStop:" in err
    assert err.endswith(told)
    code, out, err = home.call("run", "parent", "--max-tokens=20", "--json")
    assert (code, err) == (4, told)
    answer = json.loads(out)
    assert answer["content"] == "Asking."
    assert answer["budget_exceeded"] is True
    assert answer["budget_max_tokens"] == 20
    assert answer["budget_used_tokens"] == 116
    assert list(answer) == sorted(answer)


def test_a_run_within_its_budget_says_what_it_has_used(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", budget={"max_tokens": 1000}))
    provider.script("m-solo", Says("done"), Says("done"))
    code, out, _ = home.call("run", "solo", "--json", "--max-tokens", "0")
    answer = json.loads(out)
    assert (code, answer["budget_exceeded"], answer["budget_max_tokens"]) == (0, False, 1000)
    _, _, err = home.call("run", "solo", "-v")
    assert "Tokens:   10 input, 5 output (cumulative, budget: 15/1000)\n" in err


def test_a_budget_is_a_whole_number(home: Home) -> None:
    code, out, err = home.call("run", "solo", "--max-tokens", "-5")
    assert (code, out) == (1, "")
    assert "'-5' is not a whole number of tokens from 0" in err


def test_an_agent_beyond_the_first_axe_tells_its_tool_calls_one_by_one(
    home: Home, provider: ScriptedProvider
) -> None:
    (home.work / "long.txt").write_text("é" * 2000)
    calls = [
        Call("read_file", {"path": "long.txt", "offset": 1}, "same"),
        Call("read_file", {"path": "none.txt"}, "same"),
    ]
    retry = {"max_retries": 1, "initial_delay_ms": 1}
    # Calls of the same id can be told apart only if they are executed one after the other.
    in_order = {"parallel": False}
    home.add(agent("solo", tools=["read_file"], retry=retry, sub_agents_config=in_order))
    provider.script("m-solo", Refuses(500), Says(calls=calls), Says(calls=calls[1:]), Says("done"))
    code, out, _ = home.call("run", "solo", "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["refused"], answer["retry_attempts"], answer["tool_calls"]) == (False, 1, 3)
    long, none, again = answer["tool_call_details"]
    assert all(call.pop("duration_ms") >= 0 for call in (long, none, again))
    assert long["output"].startswith("1: éé")
    assert long.pop("output").endswith("é... (truncated)")
    assert long == {
        "input": {"path": "long.txt", "offset": "1"},
        "is_error": False,
        "name": "read_file",
        "turn": 0,
    }
    assert (none["input"], none["is_error"], none["turn"]) == ({"path": "none.txt"}, True, 0)
    assert (again["turn"], again["output"]) == (1, none["output"])
    assert "cost" not in answer


def test_a_refusal_is_told_in_json(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("I cannot do that."), Says("Done."))
    assert json.loads(home.call("run", "solo", "--json")[1])["refused"] is True
    assert "refused" not in json.loads(home.call("run", "solo", "--json")[1])


def test_the_cost_of_a_run_and_of_all_that_it_called(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("parent", sub_agents=["helper"]) | agent("helper"))
    for name, model in (("parent", "gpt-6.1-sol"), ("helper", "gpt-6-luna")):
        path = home.config / "agents" / f"{name}.toml"
        path.write_text(path.read_text().replace(f"m-{name}", model))
    for _ in range(2):
        call = calls_agent("helper", "t")
        provider.script("gpt-6.1-sol", Says(calls=[call], usage=(1000, 0)), Says("done"))
        provider.script("gpt-6-luna", Says("helped", usage=(1_000, 1_000)))
    answer = json.loads(home.call("run", "parent", "--json")[1])
    assert answer["cost"] == 0.00207
    assert answer["tree"] == {"cost": 0.00267, "input_tokens": 2010, "output_tokens": 1005}
    _, _, err = home.call("run", "parent", "-v")
    assert "Cost:     $0.0021 ($0.0027 with all sub-agents)\n" in err


def test_a_dry_run_as_json_is_the_preview_of_editors(home: Home) -> None:
    home.add(agent("solo", files=["*.md"], system_prompt="Be brief."))
    (home.work / "a.md").write_text("é")
    code, out, err = home.call("run", "solo", "--dry-run", "--json", "-p", "go")
    assert (code, err) == (0, "")
    preview = json.loads(out)
    assert preview["text"] == home.call("run", "solo", "--dry-run", "-p", "go")[1]
    assert preview["files"] == [{"path": "a.md", "bytes": 2}]
    assert (preview["userMessage"], preview["model"]) == ("go", "openai/m-solo")


def test_a_dry_run_shows_the_budget_in_force(home: Home) -> None:
    home.add(agent("solo", budget={"max_tokens": 500}) | agent("free"))
    line = "max_tokens=0\nBudget:   {} tokens (0 = unlimited)\n\n--- System"
    assert line.format(500) in home.call("run", "solo", "--dry-run")[1]
    assert line.format(20) in home.call("run", "solo", "--dry-run", "--max-tokens", "20")[1]
    assert "Budget:" not in home.call("run", "free", "--dry-run")[1]
