"""What a person is told beyond axe's words, which programs without a person get alone."""

from __future__ import annotations

import re
import shlex

import pytest

from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import Refuses, ScriptedProvider
from support.terminal import Terminal


def told(home: Home, *arguments: str) -> str:
    """Return all that stands on the terminal in the end, in one line."""
    with Terminal([*COMMAND, *arguments], home.environment, home.work, columns=2000) as terminal:
        return " ".join(terminal.end()[1])


@pytest.mark.parametrize("columns", [24, 40, 80])
@pytest.mark.parametrize(
    "arguments", [["run", "nobody-here"], ["check", "--strict"], ["run", "solo", "--modle", "x"]]
)
def test_messages_on_narrow_terminal_break_between_words(
    home: Home, arguments: list[str], columns: int
) -> None:
    command = [*COMMAND, *arguments]
    with Terminal(command, home.environment, home.work, columns=2000) as wide:
        words = " ".join(wide.end()[1]).split()
    with Terminal(command, home.environment, home.work, columns=columns) as terminal:
        rows = terminal.end()[1]

    broken = {word for row in rows for word in row.split()} - set(words)
    # What is longer than a row, such as a command in backticks, is left to the terminal.
    assert not [word for word in broken if not _is_part_of_long(word, rows, columns)]
    assert "".join("".join(rows).split()) == "".join(words)


def _is_part_of_long(word: str, rows: list[str], columns: int) -> bool:
    """Return whether a word begins after a row that is full, or ends one."""
    number = next(n for n, row in enumerate(rows) if word in row.split())
    row_before = rows[number - 1] if number else ""
    return len(rows[number]) == columns or len(row_before) == columns


@pytest.mark.parametrize("command", [["run"], ["agents", "show"], ["gc"]])
@pytest.mark.parametrize("name", ["sollo", "solo.toml"])
def test_a_wrong_name_leads_to_the_right_one(home: Home, command: list[str], name: str) -> None:
    home.add(agent("solo"))
    message = f"agent config not found: {name}"
    assert told(home, *command, name) == f"{message} Did you mean `solo`?"
    assert home.call(*command, name)[2] == f"{message}\n"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('name = "bad"\nmodel = \n', "failed to parse agent config", "2:7"),
        ('name = "bad"\nmodel = 5\n', "failed to parse agent config", "2:9"),
        ('name = "bad"\nmodel = "a/b"\n\ntimeout = -1\n', "timeout must be", "4:11"),
        ("# No model.\nname = 'bad'\n", "missing required field: model", "2:1"),
    ],
)
@pytest.mark.parametrize("command", [["run"], ["agents", "show"]])
def test_the_place_of_an_error_in_an_agent_file_is_told(
    home: Home, command: list[str], text: str, message: str, place: str
) -> None:
    home.add({"bad": text})
    assert message in (shown := told(home, *command, "bad"))
    path = f"{home.config}/agents/bad.toml"
    hint = f"The error is at {path}:{place}. `axe-lsp check {path}` shows it."
    assert shown.endswith(f" {hint}")
    for variable in ("TERM", "CI"):
        home.environment[variable] = "dumb"
        assert home.call(*command, "bad")[2].endswith(f"\n{hint}\n"), "in a pipe, too"
        del home.environment[variable]
    is_known_to_axe = "parse" not in message
    assert (hint in home.call(*command, "bad")[2]) is not is_known_to_axe


def test_the_hint_at_an_agent_file_names_a_command_that_works(home: Home) -> None:
    folder = home.work / "mein projekt" / "axe" / "agents"
    folder.mkdir(parents=True)
    (folder / "bad.toml").write_bytes(b'name = "b\xff"\n')
    told = home.call("run", str(folder / "bad.toml"))[2]
    command = re.search(r"`axe-lsp (check .+)` shows it", told)
    assert command, told
    code, out, _ = home.shell(command[1])
    assert (code, "bad.toml" in out) == (1, True)


def test_check_of_an_agent_in_no_known_folder_leads_to_its_conversion(home: Home) -> None:
    home.environment["TERM"] = "xterm"
    project = home.work / "mein projekt"
    folder = project / ".claude" / "agents"
    folder.mkdir(parents=True)
    (project / "other.md").write_text("---\nname: solo\ndescription: d\n---\nGo.\n")
    start = f"cd {shlex.quote(str(project))} && {shlex.join(COMMAND)}"
    code, _, told = home.shell_line(f"{start} check other.md")
    advice = re.search(r"`axe-lsp (import .*\.md'?)` ", told)
    assert code == 2
    assert advice, told
    assert home.shell_line(f"{start} {advice[1]}")[0] == 0
    assert (project / "axe" / "agents" / "solo.toml").is_file()


def test_hints_do_not_depend_on_a_terminal(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    home.environment["TERM"] = "xterm"
    assert home.call("run", "sollo")[2].endswith("\nDid you mean `solo`?\n")
    provider.script("m-solo", Refuses(401, "who?"))
    told = home.call("run", "solo")[2]
    assert re.search(r"\n`axe-lsp history show \w{8}` shows what happened\.\n", told), told


def test_where_agents_are_looked_for_is_told(home: Home) -> None:
    text = told(home, "run", "solo")
    assert f"Searched folders: {home.work}/axe/agents, {home.work}/.axe/agents, " in text
    assert text.endswith(f"{home.config}/agents. `axe-lsp init` creates one.")
    home.add(agent("other"))
    assert told(home, "run", "solo").endswith("`axe-lsp agents list` lists the agents.")


def test_a_missing_key_is_told_with_the_command_that_stores_it(home: Home) -> None:
    home.add(agent("solo"))
    del home.environment["OPENAI_API_KEY"]
    hint = "`axe-lsp config key openai` asks for it, and stores it."
    assert hint in told(home, "run", "solo")


def test_a_home_that_is_not_set_is_told_with_what_can_be_set(home: Home) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME"):
        del home.environment[name]
    home.environment["TERM"] = "xterm"
    code, _, err = home.call("run", "solo")
    assert code == 2
    assert err.startswith("unable to determine home directory: $HOME is not set\nSet HOME, or ")
    for name in re.findall(r"XDG_\w+", err):
        home.environment[name] = str(home.config.parent)
    (home.config / "agents" / "solo.toml").write_text(agent("solo")["solo"])
    assert home.call("run", "solo", "--dry-run")[0] == 0


def test_the_list_tells_of_files_that_hold_no_agent(home: Home) -> None:
    home.add(agent("solo") | {"bad": 'name = "bad"\n'})
    text = told(home, "agents", "list")
    assert text.startswith(
        f"solo {home.config}/agents/bad.toml contains no agent that can be run: "
    )
    assert text.endswith("missing required field: model")
    assert home.call("agents", "list") == (0, "solo\n", "")


def test_an_empty_list_is_explained(home: Home) -> None:
    assert "`axe-lsp init` creates an agent." in told(home, "agents", "list")
    (home.work / ".claude" / "agents").mkdir(parents=True)
    assert f"`axe-lsp import {home.work}/.claude/agents` converts" in told(home, "agents", "list")
    assert home.call("agents", "list") == (0, "", "")


def test_a_missing_working_directory_is_told_with_what_can_be_done(home: Home) -> None:
    home.add(agent("solo", tools=["read_file"]))
    text = told(home, "run", "solo", "--dry-run", "--workdir", "gone")
    message = f"the working directory {home.work}/gone does not exist"
    assert text == f"{message} Create it, or name another one."


def test_a_run_that_fails_leads_to_what_happened_in_it(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    for _ in range(2):
        provider.script("m-solo", Refuses(401, "who?"))
    text = told(home, "run", "solo")
    found = re.search(
        r"`axe-lsp (history show \w{8})` shows what happened\. continue with: axe-lsp resume \w{8}$",
        text,
    )
    assert found
    assert "solo: failed" in home.call(*found[1].split())[1]
    assert "axe-lsp history" not in told(home, "run", "solo", "--no-history")


def test_a_refused_key_is_told_by_where_it_is_from(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Refuses(401, "no"), Refuses(401, "no"))
    assert told(home, "run", "solo").startswith(
        "auth: no Check the key, which is that of $OPENAI_API_KEY "
    )
    assert home.call("run", "solo")[2] == "auth: no\n"
