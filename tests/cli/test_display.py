"""What `axe-lsp run` shows on a real terminal while agents are at work."""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pyte
import pytest

from axe_lsp.cli import live_run
from axe_lsp.cli.run_report import CallDetails
from axe_lsp.runtime.events import AgentBegin, RunIds, TextDelta
from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import (
    Answer,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.terminal import Screen, Terminal

TEAM = agent("lead", sub_agents=["scout", "smith"]) | agent("scout") | agent("smith")
DEEP = agent("lead", sub_agents=["scout"]) | agent("scout", sub_agents=["smith"]) | agent("smith")

SMITH = Says("the smith's words")

Team = Callable[..., tuple[Hold, Hold]]


@pytest.fixture
def team(home: Home, provider: ScriptedProvider) -> Team:
    """Return a lead that asks a scout and a smith at the same time; each answers when it is allowed to."""

    def team(smith: Says | Refuses = SMITH) -> tuple[Hold, Hold]:
        home.add(TEAM)
        calls = [
            calls_agent("scout", "explore codebase", call_id="1"),
            calls_agent("smith", "forge 剣", call_id="2"),
        ]
        holds = Hold(), Hold()
        provider.script("m-lead", Says("I will ask.", calls), Says("All is well."))
        provider.script("m-scout", Answer(Says("the scout's words"), hold=holds[0]))
        provider.script("m-smith", Answer(smith, hold=holds[1]))
        return holds

    return team


def on_terminal(home: Home, *arguments: str, columns: int = 80, **variables: str) -> Terminal:
    """`axe-lsp` with these arguments in front of a person."""
    return Terminal([*COMMAND, *arguments], home.environment | variables, home.work, columns)


def steady(screen: Screen) -> Screen:
    """Return the screen as it is at any time."""
    return [re.sub(r"\d+\.\d+s", "9.9s", row) for row in screen]


def shows(*rows: str) -> Callable[[Screen], bool]:
    """Return whether the screen holds exactly these rows, whatever the time."""
    return lambda screen: steady(screen) == list(rows)


@pytest.mark.req("004-19", "004-20", "004-21", "004-22")
def test_parallel_children_each_have_a_line_of_their_own(home: Home, team: Team) -> None:
    scout, smith = team()
    with on_terminal(home, "run", "lead") as terminal:
        first = terminal.shows(
            shows(
                "> Task: explore codebase",
                "  [scout] explore codebase ... 9.9s",
                "> Task: forge 剣",
                "  [smith] forge 剣 ... 9.9s",
                "[lead] turn 1, waiting for 2 sub-agents ... 2 tools, 9.9s",
            )
        )
        terminal.shows(lambda screen: screen != first and steady(screen) == steady(first))
        smith.release()
        terminal.shows(lambda screen: "[smith] forge 剣 - done (" in str(screen))
        scout.release()
        code, screen = terminal.end()
    assert code == 0
    assert steady(screen) == [
        "> Task: explore codebase",
        "  [scout] explore codebase - done (9.9s)",
        "> Task: forge 剣",
        "  [smith] forge 剣 - done (9.9s)",
        "[lead] done (2 tools, 9.9s; all agents: 40 tokens in, 20 out)",
        "All is well.",
    ]
    assert b"words" not in terminal.written


@pytest.mark.req("004-21")
def test_a_failure_is_shown_with_its_reason(home: Home, team: Team) -> None:
    scout, smith = team(Refuses(400, "no such thing"))
    with on_terminal(home, "run", "lead") as terminal:
        scout.release()
        smith.release()
        _, screen = terminal.end()
    assert "  [smith] forge 剣 - failed (9.9s): bad_request: no such thing" in steady(screen)


def test_grandchildren_are_indented(home: Home, provider: ScriptedProvider) -> None:
    home.add(DEEP)
    provider.script("m-lead", Says("", [calls_agent("scout", "look around")]), Says("Done."))
    provider.script("m-scout", Says("", [calls_agent("smith", "hit it")]), Says("seen"))
    provider.script("m-smith", Says("hit"))
    with on_terminal(home, "run", "lead") as terminal:
        _, screen = terminal.end()
    assert steady(screen) == [
        "> Task: look around",
        "  [scout] look around - done (1 tool, 9.9s)",
        "  > Task: hit it",
        "    [smith] hit it - done (9.9s)",
        "[lead] done (1 tool, 9.9s; all agents: 50 tokens in, 25 out)",
        "Done.",
    ]


def test_a_streamed_answer_takes_the_place_of_the_status_line(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    hold = Hold()
    provider.script("m-solo", Answer(Says("one two"), hold=hold))
    with on_terminal(home, "run", "solo") as terminal:
        terminal.shows(shows("[solo] turn 1, waiting for openai/m-solo ... 9.9s"))
        hold.release()
        assert terminal.end() == (0, ["one two"])


def test_live_lines_fit_a_narrow_window_and_a_resized_one(home: Home, team: Team) -> None:
    scout, smith = team()
    with on_terminal(home, "run", "lead", columns=34) as terminal:
        narrow = terminal.shows(lambda screen: len(screen) == 5)
        assert re.fullmatch(r"  \[scout\] explore co\w*… \.\.\. \d+\.\ds", narrow[1])
        terminal.resize(columns=60)
        terminal.shows(lambda screen: "explore codebase ... " in str(screen))
        scout.release()
        smith.release()
        _, screen = terminal.end()
    assert steady(screen)[-6:] == [
        "> Task: explore codebase",
        "  [scout] explore codebase - done (9.9s)",
        "> Task: forge 剣",
        "  [smith] forge 剣 - done (9.9s)",
        "[lead] done (2 tools, 9.9s; all agents: 40 tokens in, 20 o…",
        "All is well.",
    ]


def test_ctrl_c_leaves_the_terminal_in_order(home: Home, team: Team) -> None:
    team()
    with on_terminal(home, "run", "lead") as terminal:
        terminal.shows(lambda screen: len(screen) == 5)
        terminal.type(b"\x03")
        code, screen = terminal.end()
        assert terminal.cursor == (len(screen) + 1, 0), "below a free line"
    assert code == 130
    *shown, ended, advice, last = steady(screen)
    assert shown == [
        "> Task: explore codebase",
        "  [scout] explore codebase - cancelled (9.9s)",
        "> Task: forge 剣",
        "  [smith] forge 剣 - cancelled (9.9s)",
        "[lead] cancelled (2 tools, 9.9s; all agents: 10 tokens in, 5 out)",
    ]
    assert ended.startswith("cancelled after ")
    assert advice.startswith("`axe-lsp history show ")
    assert last.startswith("continue with: axe-lsp resume ")
    assert b"\x1b[?25l" not in terminal.written, "the cursor is never hidden"


def test_a_run_that_fails_leaves_the_children_and_the_reason(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(TEAM)
    provider.script("m-lead", Says("", [calls_agent("scout", "go")]), Refuses(401, "who?"))
    provider.script("m-scout", Says("seen"))
    with on_terminal(home, "run", "lead") as terminal:
        code, screen = terminal.end()
    assert code == 3
    assert screen[-2].startswith("`axe-lsp history show ")
    assert screen[-1].startswith("continue with: axe-lsp resume ")
    assert steady(screen[:-2]) == [
        "> Task: go",
        "  [scout] go - done (9.9s)",
        "[lead] failed (1 tool, 9.9s; all agents: 20 tokens in, 10 out)",
        "auth: who?",
        "Check the key, which is that of $OPENAI_API_KEY",
    ]


def test_colours_are_off_with_no_color(home: Home, team: Team) -> None:
    def written(**variables: str) -> bytes:
        for hold in team():
            hold.release()
        with on_terminal(home, "run", "lead", **variables) as terminal:
            terminal.end()
        return terminal.written

    assert b"\x1b[32mdone\x1b[0m" in written()
    assert re.search(rb"\x1b\[[0-9;]*m", written(NO_COLOR="1")) is None


def test_a_dumb_terminal_gets_a_line_for_each_start_and_end(home: Home, team: Team) -> None:
    for hold in team():
        hold.release()
    with on_terminal(home, "run", "lead", TERM="dumb") as terminal:
        _, screen = terminal.end()
    assert b"\x1b" not in terminal.written
    assert steady(screen)[:2] == ["> Task: explore codebase", "> Task: forge 剣"]
    assert sorted(steady(screen)[2:4]) == [
        "  [scout] explore codebase - done (9.9s)",
        "  [smith] forge 剣 - done (9.9s)",
    ]
    assert steady(screen)[4:] == [
        "[lead] done (2 tools, 9.9s; all agents: 40 tokens in, 20 out)",
        "All is well.",
    ]


@pytest.mark.parametrize("tools", [[], ["read_file"]], ids=["streamed", "at once"])
def test_a_terminal_obeys_nothing_in_an_answer(
    home: Home, provider: ScriptedProvider, tools: list[str]
) -> None:
    home.add(agent("solo", tools=tools))
    provider.script("m-solo", Says("one\n\x1b]0;two\x07 \x1b[31mthree"))
    with on_terminal(home, "run", "solo") as terminal:
        code, screen = terminal.end()
    assert (code, screen[-2:]) == (0, ["one", "␛]0;two␇ ␛[31mthree"])


def test_a_terminal_obeys_nothing_in_an_error(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Refuses(400, "one\n\x1b[31mtwo"))
    with on_terminal(home, "run", "solo") as terminal:
        code, screen = terminal.end()
    assert (code, screen[:2]) == (1, ["bad_request: one", "␛[31mtwo"])


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_the_answer_can_be_redirected_while_progress_is_watched(
    home: Home, team: Team, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    for hold in team():
        hold.release()
    with (tmp_path / "out").open("wb") as out:
        command = [*COMMAND, "run", "lead", *arguments]
        with Terminal(command, home.environment, home.work, redirected=out.fileno()) as terminal:
            _, screen = terminal.end()
    assert len(screen) == 5
    assert b"All is well." in (tmp_path / "out").read_bytes()


def test_a_warning_stands_above_the_lines_that_change(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", params={"num_ctx": 8192}))
    hold = Hold()
    provider.script("m-solo", Answer(Says("answer"), hold=hold))
    with on_terminal(home, "run", "solo") as terminal:
        screen = terminal.shows(lambda screen: len(screen) > 1 and "[solo]" in screen[-1])
        assert screen[0].startswith("Warning: params.num_ctx is not sent")
        hold.release()
        terminal.end()


def test_progress_goes_on_below_the_text_of_a_turn(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo", sub_agents=["helper"]) | agent("helper"))
    hold = Hold()
    provider.script("m-solo", Says("I ask.", calls=[calls_agent("helper", "t")]), Says("Done."))
    provider.script("m-helper", Answer(Says("r"), hold=hold))
    with on_terminal(home, "run", "solo", "--stream") as terminal:
        terminal.shows(lambda rows: rows[:1] == ["I ask."] and "[helper]" in "".join(rows))
        hold.release()
        code, screen = terminal.end()
    assert (code, screen[0], screen[-2]) == (0, "I ask.", "Done.")


def test_verbose_prints_line_by_line(home: Home, team: Team) -> None:
    for hold in team():
        hold.release()
    with on_terminal(home, "run", "lead", "--verbose") as terminal:
        _, screen = terminal.end()
    assert b"> Task" not in terminal.written
    assert any(row.startswith("[sub-agent] Calling") for row in screen)


def test_verbose_does_not_go_on_in_a_line_of_the_answer(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", sub_agents=["helper"]) | agent("helper"))
    provider.script("m-solo", Says("I ask.", calls=[calls_agent("helper", "t")]), Says("Done."))
    provider.script("m-helper", Says("r"))
    with on_terminal(home, "run", "solo", "--stream", "--verbose") as terminal:
        code, screen = terminal.end()
    assert code == 0
    at = screen.index("I ask.")
    assert screen[at + 1] == "[turn 1] Received response: tool_calls (1 tool calls)"
    at = screen.index("Done.")
    assert screen[at + 1] == "[turn 2] Received response: stop (0 tool calls)"


@pytest.mark.parametrize("options", [[], ["--verbose"]])
async def test_a_warning_inside_an_answer_is_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    made = argparse.ArgumentParser()
    for option in ("--json", "--stream", "--verbose", "--plain"):
        made.add_argument(option, action="store_true")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 40, 0, 0))
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal, os.fdopen(ours, "rb", 0) as seen:
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setattr(sys, "stdout", terminal)
        monkeypatch.setattr(sys, "stderr", terminal)
        output = live_run._Output(made.parse_args(options), CallDetails())
        run = RunIds("1", "1", "solo")
        output.event(AgentBegin(run=run, model="m", task="go"))
        output.event(TextDelta(run=run, turn=1, delta="A long answer that is not"))
        output.warn("the disk is slow")
        output.event(TextDelta(run=run, turn=1, delta="over, and goes on in a new line."))
        output.close()
        written = b""
        while not written.endswith(b"line.\r\n"):
            written += seen.read(65536)
    screen = pyte.Screen(40, 20)
    pyte.ByteStream(screen).feed(written)
    assert [row.rstrip() for row in screen.display if row.strip()] == [
        "A long answer that is not",
        "Warning: the disk is slow",
        "over, and goes on in a new line.",
    ]


def test_without_a_terminal_nothing_is_shown(home: Home, team: Team) -> None:
    for hold in team():
        hold.release()
    assert home.call("run", "lead") == (0, "All is well.", "")


@pytest.mark.process
def test_run_command_does_not_import_the_display() -> None:
    """`axe-lsp run --help` and `--dry-run` do not pay for the display."""
    code = "import sys, axe_lsp.cli.run; print('axe_lsp.cli.display' in sys.modules)"
    assert subprocess.check_output([COMMAND[0], "-c", code], text=True) == "False\n"
