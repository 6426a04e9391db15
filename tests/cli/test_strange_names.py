"""Names that are no UTF-8 and texts that a terminal would obey: from a clone, through every command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.command_line import COMMAND, Home
from support.scripted_provider import Says, ScriptedProvider

NO_UTF8 = os.fsdecode(b"b\xffd")
ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\r"
STRANGE = f"""\
name = "strange"
model = "ollama/m"
description = {json.dumps("harmless" + ESCAPES)}
system_prompt = {json.dumps("one" + ESCAPES + chr(10) + "two")}
skill = {json.dumps(ESCAPES + "skill")}
{json.dumps(ESCAPES)} = 1
"""


@pytest.fixture
def clone(tmp_path: Path, provider: ScriptedProvider) -> Home:
    """Return a project of a stranger, in a folder whose name is no UTF-8."""
    home = Home(tmp_path, provider.environment)
    home.work = tmp_path / NO_UTF8
    agents = home.work / "axe" / "agents"
    agents.mkdir(parents=True)
    (agents / f"{NO_UTF8}.toml").write_text('name = "x"\nmodel = "ollama/m"\nzzz = 1\n')
    (agents / f"esc{ESCAPES}.toml").write_text('name = "x"\nmodel = "ollama/m"\nzzz = 1\n')
    (agents / "strange.toml").write_text(STRANGE)
    (home.work / f"{NO_UTF8}.md").write_text("note")
    return home


def call(home: Home, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    ended = subprocess.run(
        [*COMMAND, *arguments],
        cwd=home.work,
        env=home.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in ended.stderr, ended.stderr.decode(errors="replace")
    return ended


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--format", "human"),
        ("check", "--format", "github"),
        ("check", "--format", "sarif"),
        ("agents", "list"),
        ("agents", "show", "strange"),
    ],
)
def test_a_terminal_and_a_log_obey_nothing(clone: Home, arguments: tuple[str, ...]) -> None:
    out = call(clone, *arguments).stdout.decode()
    assert "strange" in out
    assert [each for each in out if each in "\x1b\x07\x9b\u202e\r"] == []


def test_dry_run_shows_what_a_terminal_would_obey_as_signs(clone: Home) -> None:
    agent = STRANGE.replace("\nskill = ", "\n# skill = ")
    (clone.work / "axe" / "agents" / "strange.toml").write_text(agent)
    out = call(clone, "run", "strange", "-p", "x", "--dry-run").stdout.decode()
    assert "\none␛" in out
    assert "\ntwo\n" in out
    assert [each for each in out if each in "\x1b\x07\x9b\u202e\r"] == []


def test_a_prompt_keeps_its_lines(clone: Home) -> None:
    out = call(clone, "agents", "show", "strange").stdout.decode()
    assert "\ntwo\n" in out


def test_a_description_is_one_line_of_the_list(clone: Home) -> None:
    path = clone.work / "axe/agents/forged.toml"
    path.write_text('name = "forged"\nmodel = "ollama/m"\ndescription = "a\\nreviewer - b"\n')
    out = call(clone, "agents", "list").stdout.decode()
    assert "forged - a␊reviewer - b" in out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check", "--format", "json"), 0),
        (("check", f"axe/agents/{NO_UTF8}.toml", "--format", "sarif"), 0),
        (("check", NO_UTF8), 2),
        (("agents", "show", NO_UTF8), 0),
        (("agents", "show", f"no{NO_UTF8}"), 1),
        (("agents", "init", NO_UTF8 + "2"), 1),
        (("run", f"no{NO_UTF8}"), 2),
        (("run", "strange", "--skill", NO_UTF8), 2),
        (("run", "strange", "--workdir", NO_UTF8), 2),
        (("history", "show", NO_UTF8), 2),
    ],
)
def test_name_that_is_not_utf8_is_no_internal_error(
    clone: Home, arguments: tuple[str, ...], code: int
) -> None:
    assert call(clone, *arguments).returncode == code


def test_run_in_a_folder_with_such_a_name_is_stored(
    clone: Home, provider: ScriptedProvider
) -> None:
    provider.script("m", Says("well"))
    ended = call(clone, "run", NO_UTF8, "-p", f"go {NO_UTF8}")
    assert (ended.returncode, ended.stdout.rstrip()) == (0, b"well")
    assert b"completed" in call(clone, "history", "list").stdout
