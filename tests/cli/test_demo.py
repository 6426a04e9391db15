"""`axe-lsp demo`: the examples that ship with the package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from axe_lsp.cli.demo import EXAMPLES, Example
from support.command_line import COMMAND, Home
from support.terminal import Screen, Terminal

EXAMPLE = EXAMPLES["release-check"]


def files(folder: Path) -> dict[str, bytes]:
    """Return what lies below a folder, without what Python leaves behind."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture
def copy(home: Home) -> Path:
    """Return the example in a folder of its own, which takes no time there."""
    assert home.call("demo", "--copy", "duro")[0] == 0
    home.work = home.work / "duro"
    unpaced(home.work / EXAMPLE.recording)
    return home.work


@pytest.mark.req("004-19", "004-21", "004-22")
def test_without_a_terminal_each_start_and_end_has_a_line(home: Home) -> None:
    code, out, err = home.call("demo", "--fast")
    assert code == 0
    assert out.startswith("Not ready. ")
    told = [re.sub(r"\d+\.\ds", "9.9s", line) for line in err.splitlines()]
    assert sorted(line for line in told if line.lstrip().startswith((">", "["))) == [
        "    [test-reader] List what the tests check - done (9.9s)",
        "  > Task: List what the tests check",
        "  [api-reviewer] Review the public API for surprises - done (9.9s)",
        "  [changelog-reviewer] Compare the changelog with the code - done (9.9s)",
        "  [test-reviewer] Find behaviour that no test covers - done (1 tool, 9.9s)",
        "> Task: Compare the changelog with the code",
        "> Task: Find behaviour that no test covers",
        "> Task: Review the public API for surprises",
        "[release-check] done (3 tools, 9.9s; all agents: 2,320 tokens in, 574 out)",
    ]


def test_demo_begins_with_its_origin_and_ends_with_next_steps(home: Home) -> None:
    _, _, err = home.call("demo", "--fast")
    recorded, example, further = (
        err.index("The model's answers are recorded"),
        err.index("> Task"),
        err.index("To try it yourself:"),
    )
    assert recorded < example < further


def test_next_steps_work_without_axe_lsp_on_path(home: Home) -> None:
    _, _, err = home.call("demo", "--fast")
    steps = err.partition("To try it yourself:\n")[2].partition("and open")[0].splitlines()
    commands = [step.strip().partition("   ")[0] for step in steps]
    assert [command.split()[1:] for command in commands] == [
        ["demo", "--copy", "duro"],
        ["duro"],
        ["run", "release-check"],
        ["check"],
        ["test"],
    ]
    del commands[2]  # It takes the recorded time.
    script = " && ".join(commands)
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=home.work,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "\nNo problems in 6 files.\n" in done.stdout, done.stderr
    assert "\n1 passed in " in done.stdout, done.stderr


def test_next_steps_use_the_command_name_if_it_is_on_path(home: Home, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "axe-lsp").symlink_to(Path(sys.executable).with_name("axe-lsp"))
    home.environment["PATH"] = f"{programs}{os.pathsep}{home.environment['PATH']}"
    _, out, _ = home.call("demo", "--copy", "duro")
    assert "\n  axe-lsp run release-check   run it again" in out
    assert "\n  axe-lsp test                replay the test of its agents" in out
    _, out, _ = home.call("demo", "--copy", "plan", "plan-execute-review")
    assert "\n  axe-lsp test --trust " in out, "its test changes files"


def running(screen: Screen) -> set[str]:
    """Return the agents that are at work."""
    rows = (re.fullmatch(r" +\[(.+)\] .* \.\.\. .*\d\.\ds", row) for row in screen)
    return {row[1] for row in rows if row}


def test_the_list_names_every_example(home: Home) -> None:
    code, out, _ = home.call("demo", "--list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(EXAMPLES)
    assert len({line.index(EXAMPLES[line.split()[0]].shows) for line in out.splitlines()}) == 1


def test_an_example_that_is_not_there_leads_to_the_nearest(home: Home) -> None:
    message = 'there is no example "debats". Did you mean debate?\n'
    assert home.call("demo", "debats") == (2, "", message)
    assert "There are release-check, " in home.call("demo", "x")[2]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=list(EXAMPLES))
def test_each_example_runs_without_key_or_network_as_a_demo_and_as_a_copy(
    home: Home, example: Example
) -> None:
    code, answer, err = home.call("demo", example.name, "--fast")
    assert (code, "run it" in err) == (0, True)
    assert example.introduction in err
    assert home.call("demo", example.name, "--copy", "copy")[0] == 0
    home.work = home.work / "copy"
    assert {"axe/README.md", f"axe/replays/{example.name}.toml"} <= files(home.work).keys()
    assert home.call("check", "--strict")[:2] == (0, f"No problems in {files_in(home)}.\n")
    unpaced(home.work / example.recording)
    flags = ["--yes"] if example.writes else []
    code, again, err = home.call("run", example.name, *flags)
    assert (code, again) == (0, answer)
    # One patch of those in copies conflicts, which everybody is told.
    assert [line for line in err.splitlines() if "It worked in a copy" not in line] == []


def files_in(home: Home) -> str:
    """Return how many agents and files of tests there are, in words."""
    count = sum(len(list((home.work / "axe" / each).iterdir())) for each in ("agents", "tests"))
    return f"{count} file{'' if count == 1 else 's'}"


def unpaced(recording: Path) -> None:
    """Have a recording take no time."""
    recording.write_text(recording.read_text("utf-8").replace("paced = true", ""), "utf-8")


@pytest.mark.req("004-20")
def test_on_a_terminal_the_children_work_side_by_side_in_recorded_time(home: Home) -> None:
    with Terminal([*COMMAND, "demo"], home.environment, home.work, columns=100) as terminal:
        terminal.shows(
            lambda screen: (
                {"api-reviewer", "changelog-reviewer", "test-reviewer"} <= running(screen)
            )
        )
        code, screen = terminal.end()
    assert code == 0
    assert running(screen) == set()


def test_demo_reads_nothing_of_the_user(home: Home) -> None:
    (home.config / "config.toml").write_text("[broken")
    home.add({"api-reviewer": "broken", "release-check": "broken"})
    home.environment = {name: home.environment[name] for name in ("PATH", "XDG_CONFIG_HOME")}
    assert home.call("demo", "--fast")[0] == 0


@pytest.mark.parametrize("name", [EXAMPLE.name, "copies"])
def test_demo_leaves_no_files(home: Home, tmp_path: Path, name: str) -> None:
    folder = EXAMPLES[name].folder
    before = files(folder)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    home.environment["TMPDIR"] = str(temporary)
    state = tmp_path / "state"
    home.environment["XDG_STATE_HOME"] = str(state)
    assert home.call("demo", name, "--fast")[0] == 0
    assert files(folder) == before
    assert files(home.work) == {}
    assert not state.exists()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("flags", [["--list", "--copy", "x"], ["--fast", "--copy", "x"]])
def test_options_of_demo_exclude_each_other(home: Home, flags: list[str]) -> None:
    code, out, err = home.call("demo", *flags)
    assert (code, out) == (1, "")
    assert "not allowed with argument" in err
    assert not (home.work / "x").exists()


def test_the_copy_is_the_example(home: Home) -> None:
    code, out, _ = home.call("demo", "--copy", "new/duro")
    assert code == 0
    assert "cd new/duro" in out
    assert files(home.work / "new" / "duro") == files(EXAMPLE.folder)
    assert "axe/agents/release-check.toml" in files(EXAMPLE.folder)


def test_existing_folder_is_not_overwritten(home: Home) -> None:
    (home.work / "mine").mkdir()
    assert home.call("demo", "--copy", "mine")[0] == 0, "an empty folder will do"
    (home.work / "mine" / "README.md").write_text("my own")
    message = '"mine" exists and is not empty; name a new folder\n'
    assert home.call("demo", "--copy", "mine") == (2, "", message)
    assert (home.work / "mine" / "README.md").read_text() == "my own"


def test_a_folder_that_cannot_be_made_is_a_clear_error(home: Home) -> None:
    (home.work / "file").touch()
    code, out, err = home.call("demo", "--copy", "file/duro")
    assert (code, out) == (2, "")
    assert err.startswith("failed to copy the example: ")


def test_the_copy_has_no_problems(home: Home, copy: Path) -> None:
    assert home.call("check") == (0, "No problems in 6 files.\n", "")


@pytest.mark.parametrize("arguments", [(), ("-p", "May it be released?")])
def test_the_copy_runs_like_any_project_whatever_it_is_told(
    home: Home, copy: Path, arguments: tuple[str, ...]
) -> None:
    code, out, err = home.call("run", "release-check", *arguments)
    assert (code, err) == (0, "")
    assert out.startswith("Not ready. ")


@pytest.mark.parametrize(
    ("file", "old", "new", "agent"),
    [
        ("src/duro/parsing.py", "strict: bool", "lax: bool", r"[\w-]+"),
        ("tests/test_printing.py", "1d 1h", "25h", "test-reader"),
        ("axe/agents/api-reviewer.toml", "Be brief", "Take your time", "api-reviewer"),
        ("pyproject.toml", "2.0.0", "2.0.1", "[a-z-]+"),
    ],
)
def test_after_a_change_the_run_says_what_differs_and_what_to_do(
    home: Home, copy: Path, file: str, old: str, new: str, agent: str
) -> None:
    path = copy / file
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    code, out, err = home.call("run", "release-check")
    assert (code, out) == (1, "")
    assert re.match(
        rf'bad_request: the request is not the recorded one: run \d \(agent "{agent}"\), turn 1, '
        rf'system differs at character \d+: recorded ".*{old}.*", sent ".*{new}.*"\. '
        "Undo what has changed, or record again with a real model and --record\n",
        err,
    )
