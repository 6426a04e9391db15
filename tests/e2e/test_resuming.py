"""`kill -9` at every event of a run of three levels, and `axe-lsp resume`: the answer that would have come."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.answers import Call, Says, calls_agent
from support.command_line import Home
from support.scripted_provider import Answer, ScriptedProvider

LEAVES = 2
MIDDLES = int(os.environ.get("AXE_TEST_CHILDREN", "4")) // LEAVES
"""20 sub-agents below the middle ones in the nightly run, with `AXE_TEST_CHILDREN=20`."""

_LEAF = """
model = "openai/m-leaf"
tools = ["read_file", "run_command", "ask_user"]
"""

AGENTS = {
    "lead": """
name = "lead"
model = "anthropic/m-lead"
sub_agents = ["middle"]
system_prompt = "You lead."
[output]
type = "object"
required = ["count"]
properties.count.type = "integer"
""",
    "middle": """
name = "middle"
model = "openai/m-middle"
sub_agents = ["leaf", "apart"]
""",
    "leaf": f'name = "leaf"{_LEAF}',
    "apart": f'name = "apart"{_LEAF}[isolation]\nmode = "process"\n',
}

ANSWER = '{"count":7}'

WHEN = ("written", "unwritten")

IS_NIGHTLY = "AXE_TEST_CHILDREN" in os.environ

_STRIDE = 1 if IS_NIGHTLY else 9

_LOSSES = cycle(("edited", "deleted"))
"""Each of the about 70 events takes a second or two; over time all are met."""


class Crashes(NamedTuple):
    """A user, the provider, and what happens if nothing is interrupted."""

    home: Home
    provider: ScriptedProvider
    bodies: Counter[bytes]
    end: dict[str, Any]
    events: int

    def run(
        self, *arguments: str, number: int = 0, when: str = "unwritten"
    ) -> tuple[int, str, str]:
        """Call `axe-lsp` so that it dies after that event."""
        with subprocess.Popen(
            [sys.executable, "-m", "support.kill_at", str(number), when, *arguments],
            cwd=self.home.work,
            env=self.home.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def sent(self) -> Counter[bytes]:
        """Return the requests since the last time."""
        bodies = Counter(request.raw for request in self.provider.requests)
        self.provider.requests.clear()
        return bodies

    def effects(self) -> list[str]:
        """Return what the tools have written."""
        file = self.home.work / "effects.txt"
        return file.read_text().split() if file.exists() else []

    def history(self) -> list[dict[str, Any]]:
        """Return the events of the run, in order."""
        with closing(sqlite3.connect(self.home.history)) as connection:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return []  # It had no tables yet.
            found = connection.execute("SELECT method, params FROM events ORDER BY seq").fetchall()
        return [{"method": method, **json.loads(params)} for method, params in found]

    def forget(self) -> None:
        """Begin anew."""
        (self.home.work / "effects.txt").unlink(missing_ok=True)
        for file in self.home.history.parent.glob("history.db*"):
            file.unlink()
        self.home.add(AGENTS)

    def lose_agent(self) -> None:
        """The root's agent file is edited or deleted while nobody executes the run.

        A run that was killed before its agent was stored needs the file as it was.
        """
        with closing(sqlite3.connect(self.home.history)) as connection:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return
            if not connection.execute("SELECT 1 FROM steps WHERE kind = 'agent'").fetchone():
                return
        if next(_LOSSES) == "edited":
            self.home.add({"lead": 'name = "lead"\nmodel = "anthropic/another"\n'})
        else:
            (self.home.config / "agents" / "lead.toml").unlink(missing_ok=True)


@pytest.fixture
def crashes(tmp_path: Path, provider: ScriptedProvider) -> Crashes:
    home = Home(tmp_path, provider.environment)
    home.environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    home.add(AGENTS)
    (home.work / "long.txt").write_text("x" * 60_000)
    script(provider)
    crashes = Crashes(home, provider, Counter(), {}, 0)
    assert crashes.run("run", "lead", "-p", "go", "--yes") == (0, ANSWER, "")
    events = crashes.history()
    whole = Crashes(home, provider, crashes.sent(), events[-1], len(events))
    assert len(crashes.effects()) == MIDDLES * LEAVES
    crashes.forget()
    return whole


def script(provider: ScriptedProvider) -> None:
    """What each model answers depends on nothing but the request, however often it comes."""

    def says(model: str, match: str, what: Says) -> None:
        provider.script(model, Answer(what, match=match, repeat=True))

    delegates = [calls_agent("middle", f"part {n}.") for n in range(MIDDLES)]
    says("m-lead", "not the result that was asked for", Says(ANSWER))
    says("m-lead", "tool_result", Says("seven of them", thinking="I count them."))
    says("m-lead", "", Says("I ask them.", calls=delegates, thinking="I have to delegate."))
    says("m-middle", "tool_call_id", Says("All parts are done."))
    says("m-leaf", "tool_call_id", Says("It is done."))
    for part in range(MIDDLES):
        # One leaf of all has a process of its own, as each takes a second to start.
        agents = ["apart" if part == n == 0 else "leaf" for n in range(LEAVES)]
        calls = [calls_agent(agent, f"leaf {part}-{n}.") for n, agent in enumerate(agents)]
        says("m-middle", f"part {part}.", Says(calls=calls))
        for leaf in range(LEAVES):
            name = f"{part}-{leaf}"
            reads = Call("read_file", {"path": "long.txt"})
            writes = Call("run_command", {"command": f"echo {name} >> effects.txt; sleep 0.03"})
            asks = Call("ask_user", {"question": f"Is {name} right?"})
            says("m-leaf", f"leaf {name}.", Says(calls=[reads, asks, writes]))


@pytest.mark.parametrize("when", WHEN)
def test_a_run_that_was_killed_at_any_event_comes_to_the_same_end(
    crashes: Crashes, when: str
) -> None:
    for number in range(1, crashes.events, _STRIDE):
        code, out, err = crashes.run("run", "lead", "-p", "go", "--yes", number=number, when=when)
        assert (code, out) == (-signal.SIGKILL, ""), f"event {number}: {err}"
        resume_to_the_end(crashes, f"killed at event {number}, {when}", kills=1)
        crashes.forget()


def test_a_run_that_is_killed_again_while_it_is_resumed_comes_to_the_same_end(
    crashes: Crashes,
) -> None:
    for number in range(2, 12, 1 if IS_NIGHTLY else 4):
        crashes.run("run", "lead", "-p", "go", "--yes", number=30, when="written")
        kills = 1
        for when in WHEN:
            crashes.lose_agent()
            code, out, err = crashes.run("resume", "--yes", number=number, when=when)
            assert (code, out) == (-signal.SIGKILL, ""), err
            kills += 1
        resume_to_the_end(crashes, f"killed at 30 and twice at {number}", kills=kills)
        crashes.forget()


def resume_to_the_end(crashes: Crashes, what: str, kills: int) -> None:
    """Resume a run and compare it with one that nothing has interrupted."""
    crashes.lose_agent()
    code, out, err = crashes.run("resume", "--yes")
    if code == 2 and "no run of this folder can be resumed" in err:  # It was not even stored.
        assert crashes.history() == [], f"{what}: {err}"
        assert not crashes.effects(), what
        crashes.home.add(AGENTS)
        code, out, err = crashes.run("run", "lead", "-p", "go", "--yes")
    assert (code, out) == (0, ANSWER), f"{what}: {err}"

    effects = crashes.effects()
    assert len(effects) == len(set(effects)), f"{what}: done twice: {effects}"
    for body, count in crashes.sent().items():
        is_told = b"this call was interrupted" in body
        assert body in crashes.bodies or is_told, f"{what}: another request: {body[:3000]!r}"
        assert count <= 1 + kills, f"{what}: sent {count} times: {body[:3000]!r}"
    events = crashes.history()
    numbers = [event["seq"] for event in events]
    assert numbers == list(range(1, len(numbers) + 1)), f"{what}: the history has gaps: {numbers}"
    used = ("status", "inputTokens", "outputTokens", "turns", "toolCalls", "tree", "cost")
    end = {key: events[-1].get(key) for key in used}
    assert end == {key: crashes.end.get(key) for key in used}, what
