"""`axe-lsp chat`: each line is a message in one conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.command_line import COMMAND, Home
from support.scripted_provider import Answer, Hold, Refuses, Says, ScriptedProvider
from support.terminal import Screen, Terminal

SOLO = 'name = "solo"\nmodel = "anthropic/m"\n'


def sent(provider: ScriptedProvider) -> list[Any]:
    """The messages of the last request."""
    told = json.dumps(provider.requests[-1].body["messages"])
    return [text for text in ("Hello?", "Lost?", "Sure?", "Yes.", "Very.") if text in told]


def test_each_line_goes_on_with_the_conversation(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Refuses(401), Says("Very."))

    code, out, err = home.call("chat", "solo", stdin="Hello?\n\nLost?\nSure?\n")

    assert (code, out) == (0, "Yes.\nVery.\n")
    assert "auth" in err
    assert sent(provider) == ["Hello?", "Lost?", "Sure?", "Yes."]


def test_a_message_that_was_never_sent_is_not_part_of_the_conversation(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": f'{SOLO}skill = "no-such-skill"\n'})

    code, out, err = home.call("chat", "solo", stdin="Hello?\n")

    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "this message is not part of the conversation"
    assert not provider.requests


def test_the_agent_is_read_anew_for_each_message(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Says("Very."))
    home.call("run", "solo", "-p", "Hello?")
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    home.add({"solo": f'{SOLO}system_prompt = "Be kind."\n'})

    home.call("chat", "solo", "--continue", run["runId"][:8], stdin="Sure?\n")

    assert "Be kind." in str(provider.requests[-1].body["system"])
    assert sent(provider) == ["Hello?", "Sure?", "Yes."]


def test_a_conversation_of_before_goes_on(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Says("Very."))
    home.call("run", "solo", "-p", "Hello?")
    (run,) = json.loads(home.call("history", "list", "--json")[1])

    code, out, _ = home.call("chat", "solo", "--continue", run["runId"][:8], stdin="Sure?\n")

    assert (code, out) == (0, "Very.\n")
    assert sent(provider) == ["Hello?", "Sure?", "Yes."]


def test_at_a_terminal_ctrl_c_stops_an_answer_and_ctrl_d_ends_the_conversation(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Says("Yes."), Answer(Says("Never."), hold=hold), Says("Very."))
    shell = ["/bin/sh", "-c", f"exec {' '.join(COMMAND)} chat solo </dev/tty"]

    def waits_after(text: str) -> Any:
        def test(rows: Screen) -> bool:
            lines = [row.rstrip() for row in rows if row.strip()]
            return any(line.startswith(text) for line in lines) and lines[-1] == ">"

        return test

    with Terminal(shell, home.environment, home.work) as terminal:
        terminal.shows(lambda rows: [row.rstrip() for row in rows[:1]] == [">"])
        terminal.type(b"Hello?\n")
        terminal.shows(waits_after("Yes."))
        terminal.type(b"Lost?\n")
        hold.wait_until_arrived()
        terminal.type(b"\x03")
        terminal.shows(waits_after("cancelled"))
        terminal.type(b"Sure?\n")
        terminal.shows(waits_after("Very."))
        terminal.type(b"\x04")
        code, rows = terminal.end()

    assert code == 0
    (newest, *_) = json.loads(home.call("history", "list", "--json")[1])
    advice = [row.rstrip() for row in rows if "continue with" in row]
    assert advice == [f"continue with: axe-lsp chat solo --continue {newest['runId'][:8]}"]
    assert sent(provider) == ["Hello?", "Lost?", "Sure?", "Yes."]


@pytest.mark.parametrize("name", ["sol", "gone/solo.toml"])
def test_an_agent_that_is_not_there_is_told_before_anybody_writes_to_it(
    home: Home, name: str
) -> None:
    home.add({"solo": SOLO})

    code, out, err = home.call("chat", name, stdin="")

    assert (code, out) == (2, "")
    assert "not found" in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model = 3\n", "solo.toml:1:9"),
        ('model = "nobody/m"\n', 'provider "nobody"'),
        ('model = "anthropic/m"\n', "ANTHROPIC_API_KEY"),
    ],
)
def test_an_agent_that_can_not_be_run_is_told_before_anybody_writes_to_it(
    home: Home, text: str, words: str
) -> None:
    home.add({"solo": f'{text}name = "solo"\n'})

    home.environment.pop("ANTHROPIC_API_KEY")

    code, out, err = home.call("chat", "solo", stdin="")

    assert (code, out) == (home.call("run", "solo", "-p", "Hello?")[0], "")
    assert code != 0
    assert words in err
