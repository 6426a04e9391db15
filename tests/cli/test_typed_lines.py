"""Lines that a person types while a run works: messages, commands, and what a question does to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from axe_lsp.cli.typed_lines import is_typed_at
from support.answers import calls_agent
from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider
from support.terminal import Screen, Terminal

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
]

SOLO = 'name = "solo"\nmodel = "anthropic/m"\n'


def at_terminal(home: Home, *arguments: str, columns: int = 80, **variables: str) -> Terminal:
    """Return a command whose standard streams are the terminal, as a shell starts it."""
    line = " ".join([*COMMAND, *arguments])
    shell = ["/bin/sh", "-c", f"exec {line} </dev/tty"]
    return Terminal(shell, {**home.environment, **variables}, home.work, columns)


def sent_texts(provider: ScriptedProvider, number: int) -> list[str]:
    """Return the texts of the user in a request."""
    texts = []
    for message in provider.requests[number].body["messages"]:
        if message["role"] == "user":
            content = message["content"]
            parts = [content] if isinstance(content, str) else content
            texts += [each if isinstance(each, str) else each.get("text", "") for each in parts]
    return texts


def shows(text: str) -> Callable[[Screen], bool]:
    return lambda rows: any(text in row for row in rows)


@pytest.mark.parametrize("variables", [{}, {"TERM": "dumb"}])
def test_typed_line_is_given_before_next_request(
    home: Home, provider: ScriptedProvider, variables: dict[str, str]
) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Answer(Says("First."), hold=hold), Says("Second."))

    with at_terminal(home, "run", "solo", "go", **variables) as terminal:
        hold.wait_until_arrived()
        terminal.type(b"Look at b.py, too\r")
        terminal.shows(shows("queued, given before the next request: Look at b.py, too"))
        hold.release()
        code, rows = terminal.end()

    assert code == 0
    assert "> Look at b.py, too" in rows
    assert rows[-1] == "Second."
    assert "First." in rows
    assert sent_texts(provider, 1)[-1] == "Look at b.py, too"


def test_commands_list_drop_and_order_messages(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Answer(Says("First."), hold=hold), Says("Second."))

    with at_terminal(home, "run", "solo", "go") as terminal:
        hold.wait_until_arrived()
        terminal.type(b"/after last\r")
        terminal.shows(shows("queued, given at the end: last"))
        terminal.type(b"wrong\r")
        terminal.shows(shows("queued, given before the next request: wrong"))
        terminal.shows(shows("2 messages queued"))
        terminal.type(b"/queue\r")
        terminal.shows(shows("2. (before the next request) wrong"))
        terminal.type(b"/drop 2\r")
        terminal.shows(shows("taken back: wrong"))
        terminal.type(b"/drop 7\r")
        terminal.shows(shows("`/queue` lists them"))
        terminal.type(b"/modle x\r")
        terminal.shows(shows("nothing was sent"))
        hold.release()
        assert terminal.end()[0] == 0

    assert sent_texts(provider, 1)[-1] == "last"
    assert "wrong" not in json.dumps(provider.requests[1].body)


def test_message_now_breaks_off_answer(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Answer(Says("Never."), hold=hold), Says("Second."))

    with at_terminal(home, "run", "solo", "go") as terminal:
        hold.wait_until_arrived()
        terminal.type(b"/now Stop that.\r")
        code, rows = terminal.end()
        hold.release()

    assert (code, rows[-1]) == (0, "Second.")
    assert sent_texts(provider, 1)[-1] == "Stop that."


def test_stop_ends_called_agent_or_run(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("lead", sub_agents=["left"]) | agent("left"))
    first, second = Hold(), Hold()
    provider.script("m-lead", Says(calls=[calls_agent("left", "l")]))
    provider.script("m-left", Answer(Says("l"), hold=first))
    provider.script("m-lead", Answer(Says("done"), hold=second))

    with at_terminal(home, "run", "lead") as terminal:
        first.wait_until_arrived()
        terminal.type(b"/stop nobody\r")
        terminal.shows(shows("no agent nobody works; at work: left"))
        terminal.type(b"/stop left\r")
        second.wait_until_arrived()
        terminal.type(b"/stop\r")
        code, rows = terminal.end()
        first.release()
        second.release()

    assert code != 0
    assert any("axe-lsp resume" in row for row in rows)


def test_line_that_is_typed_is_not_torn_by_streamed_text(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    first, second = Hold(), Hold()
    provider.script(
        "m",
        Answer(Says("One line.\nHalf"), hold=first),
        Answer(Says("Two lines.\nThe end.\n"), hold=second),
    )

    with at_terminal(home, "run", "solo", "go") as terminal:
        first.wait_until_arrived()
        terminal.type(b"/after more\r")
        terminal.shows(shows("queued, given at the end: more"))
        terminal.type(b"typing")
        terminal.shows(lambda rows: "> typing" in rows)
        first.release()
        terminal.shows(lambda rows: "One line." in rows and "> typing" in rows)
        terminal.type(b" on")
        terminal.shows(lambda rows: "> typing on" in rows)
        second.wait_until_arrived()
        second.release()
        code, rows = terminal.end()

    assert code == 0
    expected = ["One line.", "Half", "> more", "Two lines.", "The end.", "not sent: typing on"]
    assert [row for row in rows if row in expected] == expected
    assert not any("typing" in row and row != "not sent: typing on" for row in rows)


WRITE = Call("write_file", {"path": "a.txt", "content": "new\n"})


@pytest.mark.parametrize("variables", [{}, {"TERM": "dumb"}])
def test_question_gets_no_key_of_the_line_that_is_typed(
    home: Home, provider: ScriptedProvider, variables: dict[str, str]
) -> None:
    home.add(agent("writer", tools=["write_file"]))
    hold, last = Hold(), Hold()
    provider.script(
        "m-writer", Answer(Says(calls=[WRITE]), hold=hold), Answer(Says("a"), hold=last)
    )
    provider.script("m-writer", Says("done"))

    with at_terminal(home, "run", "writer", columns=100, **variables) as terminal:
        hold.wait_until_arrived()
        terminal.type(b"y")
        terminal.shows(lambda rows: any(row.endswith("y") for row in rows))
        hold.release()
        terminal.shows(lambda rows: rows[-1].endswith("what to do instead:"))
        assert not (home.work / "a.txt").exists()
        terminal.type(b"n\r")
        last.wait_until_arrived()
        terminal.shows(lambda rows: rows[-1] == "> y" or "> y" in rows[-3:])
        terminal.type(b"es, and b.txt\r")
        terminal.shows(shows("queued, given before the next request: yes, and b.txt"))
        last.release()
        assert terminal.end()[0] == 0

    assert not (home.work / "a.txt").exists()
    assert sent_texts(provider, 2)[-1] == "yes, and b.txt"


def test_reply_to_line_comes_while_text_of_agent_with_tools_streams(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("reader", tools=["read_file"]))
    hold = Hold(chunk=2)
    provider.script("m-reader", Answer(Says("One two three four five."), hold=hold), Says("Last."))

    with at_terminal(home, "chat", "reader") as terminal:
        terminal.shows(lambda rows: bool(rows) and rows[-1] == ">")
        terminal.type(b"Hello?\r")
        hold.wait_until_arrived()
        terminal.type(b"/queue\r")
        terminal.shows(shows("No message waits."))
        hold.release()
        terminal.shows(lambda rows: rows[-1] == ">" and "five" in " ".join(rows))


def test_paste_of_several_lines_is_one_message(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Answer(Says("First."), hold=hold), Says("Second."))

    with at_terminal(home, "run", "solo", "go") as terminal:
        hold.wait_until_arrived()
        terminal.shows(lambda _: b"\x1b[?2004h" in terminal.written)
        terminal.type(b"\x1b[200~one\rtwo\x1b[201~\r")
        terminal.shows(shows("queued"))
        hold.release()
        assert terminal.end()[0] == 0

    assert sent_texts(provider, 1)[-1] == "one\ntwo"
    assert len(provider.requests) == 2


def test_ctrl_c_clears_line_then_ends_run_and_terminal_is_as_before(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Answer(Says("Never."), hold=hold))
    line = f"stty -a >before; {' '.join(COMMAND)} run solo go; stty -a >after; exit 7"
    shell = ["/bin/sh", "-c", f"trap : INT; exec </dev/tty; {line}"]

    with Terminal(shell, home.environment, home.work) as terminal:
        hold.wait_until_arrived()
        terminal.type(b"half")
        terminal.shows(lambda rows: "> half" in rows)
        terminal.type(b"\x03")
        terminal.shows(lambda rows: not any(row.startswith(">") for row in rows))
        terminal.type(b"\x03")
        code, rows = terminal.end()
        hold.release()

    assert code == 7
    assert any(row.endswith("cancelled after") or "cancelled after" in row for row in rows)
    assert (home.work / "before").read_text() == (home.work / "after").read_text()


def test_lines_that_wait_before_run_are_left_to_shell(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Answer(Says("Yes."), hold=hold))
    line = f"read go; {' '.join(COMMAND)} run solo go; read next; echo next=$next"

    with Terminal(
        ["/bin/sh", "-c", f"exec </dev/tty; {line}"], home.environment, home.work
    ) as terminal:
        terminal.type(b"go\nfor the shell\n")
        hold.wait_until_arrived()
        hold.release()
        code, rows = terminal.end()

    assert (code, rows[-1]) == (0, "next=for the shell")
    assert len(provider.requests) == 1


def test_line_editor_is_not_imported_before_first_key() -> None:
    code = "import sys, axe_lsp.cli.live_run, axe_lsp.cli.typed_lines; print('prompt_toolkit' in sys.modules)"
    assert subprocess.check_output([COMMAND[0], "-c", code], text=True) == "False\n"


def test_terminal_of_others_is_not_typed_at() -> None:
    ours, theirs = os.openpty()
    try:
        assert not is_typed_at(theirs), "it is not the terminal of this process"
    finally:
        os.close(ours)
        os.close(theirs)


class TestChat:
    def test_line_typed_during_answer_is_message_and_unsent_one_comes_back(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO})
        first, second = Hold(), Hold()
        provider.script(
            "m",
            Answer(Says("Yes."), hold=first),
            Answer(Says("Very."), hold=second),
            Says("Third."),
        )

        with at_terminal(home, "chat", "solo") as terminal:
            terminal.shows(lambda rows: bool(rows) and rows[-1] == ">")
            terminal.type(b"Hello?\r")
            first.wait_until_arrived()
            terminal.type(b"Sure?\r")
            terminal.shows(shows("queued, given before the next request: Sure?"))
            first.release()
            second.wait_until_arrived()
            terminal.type(b"And th")
            terminal.shows(lambda rows: "> And th" in rows)
            second.release()
            terminal.shows(lambda rows: "Very." in rows and rows[-1] == "> And th")
            terminal.type(b"en?\r")
            terminal.shows(lambda rows: "Third." in rows and rows[-1] == ">")
            terminal.type(b"\x04")
            code, rows = terminal.end()

        assert code == 0
        answers = [row for row in rows if row in ("Yes.", "> Sure?", "Very.", "Third.")]
        assert answers == ["Yes.", "> Sure?", "Very.", "Third."]
        assert sent_texts(provider, 1)[-1] == "Sure?"
        assert sent_texts(provider, 2)[-1] == "And then?"
        assert len(provider.requests) == 3

    def test_command_of_chat_is_not_sent_during_answer(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO})
        hold = Hold()
        provider.script("m", Answer(Says("Yes."), hold=hold))

        with at_terminal(home, "chat", "solo") as terminal:
            terminal.shows(lambda rows: bool(rows) and rows[-1] == ">")
            terminal.type(b"Hello?\r")
            hold.wait_until_arrived()
            terminal.type(b"/model\r")
            terminal.shows(shows("nothing was sent"))
            hold.release()
            terminal.shows(lambda rows: "Yes." in rows and rows[-1] == ">")

        assert len(provider.requests) == 1
