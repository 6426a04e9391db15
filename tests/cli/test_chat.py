"""`axe-lsp chat`: each line is a message in one conversation."""

from __future__ import annotations

import json
from typing import Any

from support.command_line import COMMAND, Home
from support.scripted_provider import Refuses, Says, ScriptedProvider
from support.terminal import Screen, Terminal

SOLO = 'name = "solo"\nmodel = "anthropic/m"\n'


def sent(provider: ScriptedProvider) -> list[Any]:
    """The messages of the last request."""
    told = json.dumps(provider.requests[-1].body["messages"])
    return [text for text in ("Hello?", "Sure?", "Lost?", "Yes.", "Very.") if text in told]


def test_each_line_goes_on_with_the_conversation(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Refuses(401), Says("Very."))

    code, out, err = home.call("chat", "solo", stdin="Hello?\n\nLost?\nSure?\n")

    assert (code, out) == (0, "Yes.\nVery.\n")
    assert err.splitlines()[-1] == "this message is not part of the conversation"
    assert sent(provider) == ["Hello?", "Sure?", "Yes."]


def test_a_conversation_of_before_goes_on(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Says("Very."))
    home.call("run", "solo", "-p", "Hello?")
    (run,) = json.loads(home.call("history", "list", "--json")[1])

    code, out, _ = home.call("chat", "solo", "--continue", run["runId"][:8], stdin="Sure?\n")

    assert (code, out) == (0, "Very.\n")
    assert sent(provider) == ["Hello?", "Sure?", "Yes."]


def test_at_a_terminal_there_is_a_prompt_and_ctrl_d_ends(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Says("Very."))
    shell = ["/bin/sh", "-c", f"exec {' '.join(COMMAND)} chat solo </dev/tty"]

    def waits_after(text: str) -> Any:
        def test(rows: Screen) -> bool:
            lines = [row.rstrip() for row in rows if row.strip()]
            return text in lines and lines[-1] == ">"

        return test

    with Terminal(shell, home.environment, home.work) as terminal:
        terminal.shows(lambda rows: [row.rstrip() for row in rows[:1]] == [">"])
        terminal.type(b"Hello?\n")
        terminal.shows(waits_after("Yes."))
        terminal.type(b"Sure?\n")
        terminal.shows(waits_after("Very."))
        terminal.type(b"\x04")
        code, _ = terminal.end()

    assert code == 0
    assert sent(provider) == ["Hello?", "Sure?", "Yes."]
