"""How `axe-lsp run` ends when it is told to."""

from __future__ import annotations

import re
import signal

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
from support.terminal import Terminal

TEAM = agent("parent", sub_agents=["helper"]) | agent("helper")


def test_ctrl_c_ends_the_whole_tree(home: Home, provider: ScriptedProvider) -> None:
    home.add(TEAM)
    hold = Hold()
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]))
    provider.script("m-helper", Answer(Says("late"), hold=hold))
    with home.start("run", "parent", "--record", "r.toml") as process:
        hold.wait_until_arrived()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
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
        out, err = process.communicate(timeout=60)
    hold.wait_until_hung_up()
    assert (process.returncode, out) == (143, "")
    assert err.startswith("cancelled after ")
    assert 'agent = "parent"' in (home.work / "r.toml").read_text()
