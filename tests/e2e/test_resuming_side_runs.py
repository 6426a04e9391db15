"""`kill -9` at every event and step of a run with side runs, messages and a wait, and `axe-lsp resume`."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.answers import Call, Says
from support.bodies import messages_of, text_of
from support.command_line import Home
from support.scripted_provider import Answer, ScriptedProvider

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.req("002-3")]

AGENTS = {
    "lead": """
name = "lead"
model = "openai/m-lead"
tools = ["run_command"]
sub_agents = ["lint", "scan"]
[sub_agents_config]
background = "optional"
""",
    "lint": 'name = "lint"\nmodel = "openai/m-lint"\ntools = ["run_command"]\n',
    "scan": 'name = "scan"\nmodel = "openai/m-scan"\n',
}

MESSAGE = "A word of a person."

_STRIDE = 1 if "AXE_TEST_CHILDREN" in os.environ else 11
"""Each of the about 110 events and steps takes a second or two."""


class Crashes(NamedTuple):
    """A user and the provider."""

    home: Home
    provider: ScriptedProvider

    def run(
        self, *arguments: str, number: int = 0, when: str = "unwritten"
    ) -> tuple[int, str, str]:
        """Call `axe-lsp` so that it dies after that event or step."""
        command = [sys.executable, "-m", "support.kill_at", str(number), when, *arguments]
        done = subprocess.run(
            command,
            cwd=self.home.work,
            env=self.home.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def stored(self, query: str) -> list[Any]:
        """Return what the history has; nothing before it has tables."""
        if not self.home.history.exists():
            return []
        with closing(sqlite3.connect(self.home.history)) as connection:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return []
            return connection.execute(query).fetchall()

    def forget(self) -> None:
        """Begin anew."""
        self.provider.requests.clear()
        (self.home.work / "go").unlink(missing_ok=True)
        for file in self.home.history.parent.glob("history.db*"):
            file.unlink()


@pytest.fixture
def crashes(tmp_path: Path, provider: ScriptedProvider) -> Crashes:
    home = Home(tmp_path, provider.environment)
    home.environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    home.environment["AXE_TEST_MESSAGE"] = MESSAGE
    home.add(AGENTS)
    script(provider)
    return Crashes(home, provider)


def script(provider: ScriptedProvider) -> None:
    """What each model answers depends on nothing but the request, however often it comes.

    The first side run is at work until it has a message.
    """

    def says(model: str, match: str, text: str = "", *calls: Call) -> None:
        provider.script(model, Answer(Says(text, calls=calls), match=match, repeat=True))

    def starts(agent: str, task: str) -> Call:
        return Call("call_agent", {"agent": agent, "task": task, "background": True})

    says("m-lead", "c-wait", "done")
    says("m-lead", "c-go", "", Call("wait_agents", {"agents": ["lint-1"]}, id="c-wait"))
    says("m-lead", "c-message", "", Call("run_command", {"command": "touch go"}, id="c-go"))
    message = {"agent": "lint-1", "message": "Only src."}
    says("m-lead", "Started the side run", "", Call("message_agent", message, id="c-message"))
    says("m-lead", "", "", starts("lint", "one"), starts("scan", "two"), starts("scan", "three"))
    says("m-lint", "tool_call_id", "lint ok")
    says("m-lint", "", "", Call("run_command", {"command": "until [ -e go ]; do sleep 0.02; done"}))
    says("m-scan", "two", "second ok")
    says("m-scan", "three", "third ok")


def last_texts(crashes: Crashes, model: str = "m-lead") -> list[str]:
    """Return the texts of the last request to a model."""
    return [text_of(each) for each in messages_of(crashes.provider.asked(model)[-1].body)]


def test_run_that_is_not_killed_gives_everything_once(crashes: Crashes) -> None:
    assert crashes.run("run", "lead", "-p", "go", "--yes")[:2] == (0, "done")
    check_given(crashes, kills=0, has_message=True)


@pytest.mark.parametrize("when", ["steps", "written"])
def test_run_that_was_killed_anywhere_gives_everything_once(crashes: Crashes, when: str) -> None:
    number = 1
    while True:
        code, out, err = crashes.run("run", "lead", "-p", "go", "--yes", number=number, when=when)
        if code == 0:
            break
        what = f"killed at {number}, {when}: {err}"
        assert (code, out) == (-signal.SIGKILL, ""), what
        resume(crashes, what)
        crashes.forget()
        number += _STRIDE
    assert number > 30


def resume(crashes: Crashes, what: str) -> None:
    accepted = crashes.stored("SELECT 1 FROM steps WHERE kind = 'message' AND call = 'word'")
    code, out, err = crashes.run("resume", "--yes")
    if code == 2 and "can be resumed" in err:  # It was not even stored.
        code, out, err = crashes.run("run", "lead", "-p", "go", "--yes")
    assert (code, out) == (0, "done"), f"{what}\n{err}"
    try:
        check_given(crashes, kills=1, has_message=bool(accepted))
    except AssertionError as error:
        raise AssertionError(f"{what}\n{error}") from error


def check_given(crashes: Crashes, kills: int, *, has_message: bool) -> None:
    """Compare the end of the conversations with what was to be given."""
    text = "\n".join(last_texts(crashes))
    for answer in ("lint ok", "second ok", "third ok"):
        assert text.count(answer) == 1, f"{answer}: {text}"
    assert text.count(MESSAGE) in ((1,) if has_message else (0, 1)), text
    assert "\n".join(last_texts(crashes, "m-lint")).count("Only src.") == 1
    for body, count in Counter(each.raw for each in crashes.provider.requests).items():
        assert count <= 1 + kills, f"sent {count} times: {body!r}"
    events = [json.loads(params) for (params,) in crashes.stored("SELECT params FROM events")]
    ends = {
        each["runId"]: each["status"]
        for each in events
        if each.get("kind") == "end" and "status" in each
    }
    assert [*ends.values()] == ["completed"] * 4, ends
