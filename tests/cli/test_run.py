"""`axe-lsp run`, as a process: what goes in, what comes out, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import (
    Answer,
    Hold,
    Says,
    ScriptedProvider,
    calls_agent,
)

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


@pytest.mark.parametrize(
    ("options", "stdin", "message"),
    [
        ([], None, "Execute the task described in your instructions."),
        ([], "  piped\n", "  piped\n"),
        ([], " \n", "Execute the task described in your instructions."),
        (["-p", "asked"], "  piped\n", "asked\n\n  piped\n"),
        (["-p", "asked"], " \n", "asked"),
        (["--prompt=asked"], None, "asked"),
        (["-p", ""], "piped", "piped"),
        (["-p", " \n"], "piped", "piped"),
        (["-p", " "], None, "Execute the task described in your instructions."),
        (["-p", " asked "], None, " asked "),
    ],
)
def test_the_task_is_the_prompt_with_standard_input_or_the_default(
    home: Home, provider: ScriptedProvider, options: list[str], stdin: str | None, message: str
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    assert home.call("run", "solo", *options, stdin=stdin)[0] == 0
    assert provider.requests[0].body["messages"][0]["content"] == message


@pytest.mark.parametrize(("source", "is_lost"), [("file", True), ("pipe", True), ("none", False)])
def test_standard_input_that_is_not_read_is_mentioned(
    home: Home, provider: ScriptedProvider, source: str, is_lost: bool
) -> None:
    home.add(agent("solo", input={"properties": {}}))
    provider.script("m-solo", Says("ok"))
    outcome = with_open_input(home, source, "--input", "{}")
    warning = "Warning: standard input is not read, because of --input\n" if is_lost else ""
    assert outcome == (0, "ok", warning)


def test_a_file_as_standard_input_is_appended_to_the_prompt(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    assert with_open_input(home, "file", "-p", "asked") == (0, "ok", "")
    assert provider.requests[0].body["messages"][0]["content"] == "asked\n\nfrom a file"


def test_a_prompt_waits_only_for_a_while_for_standard_input_that_stays_open(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    code, out, err = with_open_input(home, "none", "-p", "asked")
    assert (code, out) == (0, "ok")
    assert err.startswith("Warning: standard input is open, but nothing came from it")
    assert provider.requests[0].body["messages"][0]["content"] == "asked"


def with_open_input(home: Home, source: str, *flags: str) -> tuple[int, str, str]:
    """Run `solo` with a file, a pipe that nobody closes, or one that nobody even writes to."""
    ours, theirs = os.pipe()
    os.write(theirs, b"piped" if source == "pipe" else b"")
    (home.work / "task.txt").write_text("from a file")
    stdin = os.open(home.work / "task.txt", os.O_RDONLY) if source == "file" else ours
    with home.start("run", "solo", *flags, stdin=stdin) as process:
        out, err = process.communicate(timeout=60)
    for descriptor in {ours, theirs, stdin}:
        os.close(descriptor)
    return process.returncode, out, err


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


def test_flags_override_the_file(home: Home, provider: ScriptedProvider) -> None:
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
        assert process.wait(60) == 0


def test_every_turn_of_an_agent_with_tools_is_printed_as_it_arrives(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(TEAM)
    hold = Hold(chunk=3)
    call = calls_agent("helper", "t")
    provider.script(
        "m-parent",
        Says("I ask the helper.", calls=[call]),
        Answer(Says("one two three"), hold=hold),
    )
    provider.script("m-helper", Says("r"))
    with home.start("run", "parent", "--stream") as process:
        assert process.stdout is not None
        begun = "I ask the helper.\n\none two "
        assert process.stdout.read(len(begun)) == begun
        hold.wait_until_arrived()
        hold.release()
        assert process.stdout.read() == "three"
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("agents", "flags"),
    [
        (agent("parent"), ["--json", "--stream"]),
        (agent("parent", stream=True, sub_agents=["helper"]), []),
    ],
)
def test_nothing_is_streamed_as_json_or_with_tools_unless_asked_for(
    home: Home, provider: ScriptedProvider, agents: dict[str, str], flags: list[str]
) -> None:
    home.add(agents)
    provider.script("m-parent", Says("whole"))
    code, out, _ = home.call("run", "parent", *flags)
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
        assert process.wait(60) == 0
    os.close(theirs)
    assert os.read(ours, 1000) == b"to a terminal\r\n"
    os.close(ours)
    assert provider.requests[0].body["stream"] is True


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
    code, out, err = home.call("run", "parent")
    assert (code, out) == (0, "F")
    assert err.count("is the one of this workspace") == 2  # The user has others of these names.
    assert [request.model for request in provider.requests] == ["local", "deeper", "local"]


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry run"])
def test_agents_are_looked_for_where_a_flag_says_that_the_run_works(
    home: Home, provider: ScriptedProvider, more: tuple[str, ...]
) -> None:
    home.environment["HOME"] = str(home.work.parent)
    for folder, model in (("work", "openai/here"), ("project", "openai/there")):
        agents = home.work.parent / folder / "axe" / "agents"
        agents.mkdir(parents=True)
        (agents / "solo.toml").write_text(agent("solo", model=model)["solo"])
        (agents / f"only-{folder}.toml").write_text(agent("solo", model=model)["solo"])
    for model in ("here", "there"):
        provider.script(model, Answer(Says(f"Model:    openai/{model}"), repeat=True))
    for place in ("~/project", "../project", str(home.work.parent / "project")):
        code, out, _ = home.call("run", "solo", "--workdir", place, *more)
        assert (code, "Model:    openai/there" in out) == (0, True)
    assert home.call("run", "only-project", "--workdir", "../project", *more)[0] == 0
    assert home.call("run", "only-work", "--workdir", "../project", *more)[0] == 0


def test_a_named_folder_that_is_not_there_is_passed_over_but_named(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("ok"))
    code, out, err = home.call("run", "solo", "--agents-dir", "away")
    assert (code, out) == (0, "ok")
    assert err == "Warning: there is no folder away (--agents-dir); it is ignored\n"


def test_a_named_folder_comes_before_all_others(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    mine = home.work / "mine"
    mine.mkdir()
    (mine / "solo.toml").write_text(agent("solo", model="openai/mine")["solo"])
    provider.script("mine", Says("mine"))
    code, out, err = home.call("run", "solo", "--agents-dir", "mine")
    assert (code, out) == (0, "mine")
    assert "is the one of this workspace (mine/solo.toml)" in err


def put(folder: Path, agents: Mapping[str, str]) -> Path:
    """Write agents into the `axe/agents` of a folder; the path of the last one."""
    agents_folder = folder / "axe" / "agents"
    agents_folder.mkdir(parents=True, exist_ok=True)
    for name, text in agents.items():
        (agents_folder / f"{name}.toml").write_text(text)
    return agents_folder / f"{[*agents][-1]}.toml"


def test_an_agent_calls_one_that_check_finds_in_a_folder_below_the_workspace(
    home: Home, provider: ScriptedProvider
) -> None:
    put(home.work, agent("local", sub_agents=["deep"]))
    put(home.work / "sub", agent("deep"))
    provider.script("m-local", Says(calls=[calls_agent("deep", "go")]), Says("done"))
    provider.script("m-deep", Says("found"))
    assert home.call("check")[:2] == (0, "No problems in 2 files.\n")
    assert home.call("run", "local", "-p", "hi")[:2] == (0, "done")
    assert "found" in json.dumps(provider.asked("m-local")[-1].body)
    assert home.call("agents", "list")[1] == "deep\nlocal\n"


def test_an_agent_is_run_by_the_path_of_its_file(home: Home) -> None:
    home.add(agent("solo"))
    file = put(home.work.parent / "else where", agent("solo", model="openai/there"))
    code, out, _ = home.call("run", str(file), "--dry-run")
    assert (code, "Model:    openai/there" in out) == (0, True)
    assert f"Workdir:  {home.work.parent / 'else where'}" in out
    code, _, err = home.call("run", str(file.with_name("gone.toml")), "--dry-run")
    assert (code, "agent file not found" in err) == (2, True)


def test_a_workspace_is_found_from_its_subfolders(home: Home) -> None:
    home.add(agent("users"))
    put(home.work, agent("local", files=["*.md"]))
    (home.work / "a.md").write_text("read me")
    (home.work / "src").mkdir()
    lines = f"cd src && {shlex.join(COMMAND)}"
    code, out, _ = home.shell_line(f"{lines} run local --dry-run")
    assert (code, f"Workdir:  {home.work}\n" in out, "a.md" in out) == (0, True, True)
    code, out, _ = home.shell_line(f"{lines} run users --dry-run")
    assert (code, f"Workdir:  {home.work / 'src'}\n" in out) == (0, True)
    code, out, _ = home.shell_line(f"{lines} run local --workdir . --dry-run")
    assert (code, f"Workdir:  {home.work / 'src'}\n" in out) == (0, True)
    assert home.shell_line(f"{lines} agents list")[1] == "local\nusers\n"


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
