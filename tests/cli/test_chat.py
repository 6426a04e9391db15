"""`axe-lsp chat`: each line is a message in one conversation."""

from __future__ import annotations

import json
import re
import stat
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.command_line import COMMAND, Home
from support.scripted_provider import Answer, Call, Hold, Refuses, Says, ScriptedProvider
from support.terminal import Screen, Terminal

WHEN_THE_PROCESS_WOULD_HAVE_ENDED = 3.0
"""Seconds after Ctrl-C: a run that does not end in order is killed after 1.8."""

SOLO = 'name = "solo"\nmodel = "anthropic/m"\n'


def sent(provider: ScriptedProvider) -> list[Any]:
    """Return the messages of the last request."""
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


def test_former_conversation_is_continued(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Says("Very."))
    home.call("run", "solo", "-p", "Hello?")
    (run,) = json.loads(home.call("history", "list", "--json")[1])

    code, out, _ = home.call("chat", "solo", "--continue", run["runId"][:8], stdin="Sure?\n")

    assert (code, out) == (0, "Very.\n")
    assert sent(provider) == ["Hello?", "Sure?", "Yes."]


def chat(home: Home, *options: str, columns: int = 80, **environment: str) -> Terminal:
    """Return a person in a conversation with the agent solo."""
    line = " ".join([*COMMAND, "chat", "solo", *options])
    shell = ["/bin/sh", "-c", f"exec {line} </dev/tty"]
    return Terminal(shell, {**home.environment, **environment}, home.work, columns)


def has_prompt(rows: Screen) -> bool:
    return bool(rows) and rows[-1] == ">"


def waits_after(text: str) -> Callable[[Screen], bool]:
    """Return whether a line that begins so is shown, and the prompt below it."""

    def test(rows: Screen) -> bool:
        return has_prompt(rows) and any(row.startswith(text) for row in rows)

    return test


def newest_run(home: Home) -> str:
    (newest, *_) = json.loads(home.call("history", "list", "--json")[1])
    return str(newest["runId"][:8])


def last_message(provider: ScriptedProvider) -> str:
    """Return the text of the message that was sent last."""
    content = provider.requests[-1].body["messages"][-1]["content"]
    return (
        content if isinstance(content, str) else "".join(each.get("text", "") for each in content)
    )


class Talk:
    """A person who types messages one after another."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        terminal.shows(has_prompt)

    def after(self, message: str, text: str) -> Screen:
        """Send a message, and return the rows when the text is shown with the prompt below it."""
        self.terminal.type(f"{message}\r".encode())
        return self.terminal.shows(
            lambda rows: has_prompt(rows) and any(text in row for row in rows)
        )


class TestAtTerminal:
    def test_ctrl_c_stops_answer_and_conversation_goes_on(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO})
        hold = Hold()
        provider.script("m", Says("Yes."), Answer(Says("Never."), hold=hold), Says("Very."))

        with chat(home) as terminal:
            terminal.shows(has_prompt)
            terminal.type(b"Hello?\r")
            terminal.shows(waits_after("Yes."))
            terminal.type(b"Lost?\r")
            hold.wait_until_arrived()
            terminal.type(b"\x03")
            terminal.shows(waits_after("cancelled"))
            time.sleep(WHEN_THE_PROCESS_WOULD_HAVE_ENDED)
            terminal.type(b"Sure?\r")
            terminal.shows(waits_after("Very."))
            terminal.type(b"\x04")
            code, rows = terminal.end()

        assert code == 0
        advice = [row for row in rows if "continue with" in row]
        assert advice == [f"continue with: axe-lsp chat solo --continue {newest_run(home)}"]
        assert sent(provider) == ["Hello?", "Lost?", "Sure?", "Yes."]

    def test_ctrl_c_clears_line_and_ends_when_pressed_twice_on_empty_one(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Says("Yes."))

        with chat(home) as terminal:
            terminal.shows(has_prompt)
            terminal.type(b"Hello?\r")
            terminal.shows(waits_after("Yes."))
            terminal.type(b"half a li")
            terminal.shows(lambda rows: rows[-1] == "> half a li")
            terminal.type(b"\x03")
            terminal.shows(has_prompt)
            terminal.type(b"\x03")
            terminal.shows(waits_after("Ctrl-C again, or Ctrl-D"))
            terminal.type(b"\x03")
            code, rows = terminal.end()

        assert code == 0
        assert f"continue with: axe-lsp chat solo --continue {newest_run(home)}" in rows
        assert len(provider.requests) == 1

    @pytest.mark.parametrize("mode", [(), ("--plain",)])
    def test_paste_of_several_lines_is_one_message(
        self, home: Home, provider: ScriptedProvider, mode: tuple[str, ...]
    ) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Says("Yes."))
        lines = [b"one", b"two", b"", b"four"]
        pasted = (
            b"\x1b[200~" + b"\r".join(lines) + b"\x1b[201~\r"
            if not mode
            else b"\r".join([*lines, b""])
        )

        with chat(home, *mode) as terminal:
            terminal.shows(has_prompt)
            terminal.type(pasted)
            terminal.shows(waits_after("Yes."))

        assert len(provider.requests) == 1
        assert last_message(provider) == "one\ntwo\n\nfour"

    @pytest.mark.parametrize("key", [b"\n", b"\x1b\r", b"\\\r"])
    def test_keys_for_new_line_do_not_send(
        self, home: Home, provider: ScriptedProvider, key: bytes
    ) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Says("Yes."))

        with chat(home) as terminal:
            terminal.shows(has_prompt)
            terminal.type(b"one" + key + b"two\r")
            terminal.shows(waits_after("Yes."))

        assert last_message(provider) == "one\ntwo"

    def test_banner_has_two_lines_within_40_columns(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO.replace("/m", "/a-model-with-a-name-longer-than-forty-columns")})

        with chat(home, columns=40) as terminal:
            rows = terminal.shows(has_prompt)

        assert len(rows) == 3
        assert rows[0].startswith("solo · anthropic/a-model")
        assert rows[1].startswith("/help")

    def test_messages_of_former_conversations_return_with_up_and_hold_no_key(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Says("Yes."), Says("Very."))
        key = home.environment["ANTHROPIC_API_KEY"]
        with chat(home) as terminal:
            terminal.shows(has_prompt)
            terminal.type(f"Is {key} a key?\r".encode())
            terminal.shows(waits_after("Yes."))
            terminal.type(b"\x04")
            terminal.end()

        with chat(home) as terminal:
            terminal.shows(has_prompt)
            terminal.type(b"\x1b[A")
            rows = terminal.shows(lambda rows: rows[-1].startswith("> Is"))

        assert rows[-1].endswith("a key?")
        assert key not in rows[-1]
        file = home.history.with_name("chat-messages.jsonl")
        assert key not in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

    @pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
    def test_terminal_without_colours_gets_none(
        self, home: Home, provider: ScriptedProvider, environment: dict[str, str]
    ) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Says("**Yes.**"))

        with chat(home, **environment) as terminal:
            terminal.shows(has_prompt)
            terminal.type(b"Hello?\r")
            terminal.shows(waits_after("**Yes.**"))
            terminal.type(b"\x04")
            terminal.end()

        if environment.get("TERM") == "dumb":
            assert b"\x1b" not in terminal.written
        assert not re.search(rb"\x1b\[[0-9;]*(3[0-7]|38|48)[0-9;]*m", terminal.written)


class TestCommands:
    @pytest.fixture
    def talk(self, home: Home, provider: ScriptedProvider) -> Iterator[Talk]:
        home.add({"solo": SOLO, "other": SOLO.replace("solo", "other").replace("/m", "/n")})
        with chat(home) as terminal:
            yield Talk(terminal)

    def test_help_lists_every_command_and_sends_nothing(
        self, talk: Talk, provider: ScriptedProvider
    ) -> None:
        rows = talk.after("/help", "@path")

        assert {row.split()[0] for row in rows if row.startswith("/")} >= {
            "/help",
            "/exit",
            "/model",
            "/agent",
            "/cost",
            "/undo",
            "/tools",
            "/files",
            "/new",
        }
        assert not provider.requests

    def test_unknown_command_is_not_sent_and_gets_suggestion(
        self, talk: Talk, provider: ScriptedProvider
    ) -> None:
        rows = talk.after("/modle", "Did you mean")

        assert "Did you mean `/model`?" in rows
        assert not provider.requests

    def test_path_at_beginning_of_message_is_sent(
        self, talk: Talk, provider: ScriptedProvider
    ) -> None:
        provider.script("m", Says("Yes."))

        talk.after("/usr/bin is full", "Yes.")

        assert last_message(provider) == "/usr/bin is full"

    def test_exit_ends(self, talk: Talk) -> None:
        talk.terminal.type(b"/exit\r")

        assert talk.terminal.end()[0] == 0

    def test_model_and_agent_answer_the_same_conversation(
        self, talk: Talk, provider: ScriptedProvider
    ) -> None:
        provider.script("m", Says("Yes."))
        provider.script("x", Says("Very."))
        provider.script("n", Says("Surely."))
        talk.after("Hello?", "Yes.")

        talk.after("/model anthropic/x", "The model is now")
        talk.after("Sure?", "Very.")
        talk.after("/agent other", "The agent is now")
        talk.after("/model nobody/x", 'unsupported provider "nobody"')
        talk.after("Lost?", "Surely.")

        assert [each.body["model"] for each in provider.requests] == ["m", "x", "n"]
        assert sent(provider) == ["Hello?", "Lost?", "Sure?", "Yes.", "Very."]

    def test_new_begins_conversation_without_former_messages(
        self, talk: Talk, provider: ScriptedProvider
    ) -> None:
        provider.script("m", Says("Yes."), Says("Very."))
        talk.after("Hello?", "Yes.")

        talk.after("/new", "A new conversation.")
        talk.after("Sure?", "Very.")

        assert sent(provider) == ["Sure?"]

    def test_cost_is_that_of_all_answers(self, talk: Talk, provider: ScriptedProvider) -> None:
        provider.script("m", Says("Yes."), Says("Very."))
        talk.after("Hello?", "Yes.")
        talk.after("Sure?", "Very.")

        # `Says` reports 10 and 5.
        talk.after("/cost", "20 tokens in, 10 tokens out")


class TestFiles:
    def test_mentioned_file_goes_with_message(self, home: Home, provider: ScriptedProvider) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Says("Yes."))
        (home.work / "notes.txt").write_text("Buy milk.")
        (home.work.parent / "secret.txt").write_text("Sesame.")

        with chat(home) as terminal:
            talk = Talk(terminal)
            rows = talk.after("Read @notes.txt, @../secret.txt and @nothing.txt.", "Yes.")
            listed = talk.after("/files", "(attached)")

        message = last_message(provider)
        assert message.startswith("Read @notes.txt, @../secret.txt and @nothing.txt.")
        assert "### notes.txt\n```txt\nBuy milk.\n```" in message
        assert "Sesame." not in message
        assert "attached notes.txt (9 bytes)" in rows
        assert any("@../secret.txt: it is outside" in row for row in rows)
        assert any("there is no such file" in row for row in rows)
        assert "notes.txt (attached)" in listed

    def test_tab_completes_names_of_files_and_commands(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO})
        (home.work / "src").mkdir()
        (home.work / "src" / "application.py").write_text("")

        with chat(home) as terminal:
            terminal.shows(has_prompt)
            terminal.type(b"see @src/app")
            terminal.shows(lambda rows: any("@src/application.py" in row for row in rows))
            terminal.type(b"\t\x03/mod")
            terminal.shows(lambda rows: any("show or change the model" in row for row in rows))
            terminal.type(b"\t")
            terminal.shows(lambda rows: "> /model" in rows)

    def test_undo_puts_files_back_and_next_message_says_so(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO + 'tools = ["write_file"]\n'})
        (home.work / "a.txt").write_text("before\n")
        write = Says(calls=[Call("write_file", {"path": "a.txt", "content": "after\n"})])
        provider.script("m", write, Says("Yes."), Says("Very."))

        with chat(home, "--yes") as terminal:
            talk = Talk(terminal)
            talk.after("Hello?", "Yes.")
            assert (home.work / "a.txt").read_text() == "after\n"
            terminal.type(b"/undo\r")
            terminal.shows(lambda rows: any("Put back 1 file?" in row for row in rows))
            terminal.type(b"y\r")
            terminal.shows(waits_after("Put back: 1 file."))
            talk.after("Sure?", "Very.")

        assert (home.work / "a.txt").read_text() == "before\n"
        assert "has undone the changes" in last_message(provider)


def test_pipe_sends_commands_and_mentions_as_they_are(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    (home.work / "notes.txt").write_text("Buy milk.")
    provider.script("m", Says("Yes."), Says("Very."))

    home.call("chat", "solo", stdin="/exit\n@notes.txt\n")

    assert last_message(provider) == "@notes.txt"


@pytest.mark.parametrize("name", ["sol", "gone/solo.toml"])
def test_missing_agent_is_reported_before_the_first_message(home: Home, name: str) -> None:
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
def test_agent_that_cannot_run_is_reported_before_the_first_message(
    home: Home, text: str, words: str
) -> None:
    home.add({"solo": f'{text}name = "solo"\n'})

    home.environment.pop("ANTHROPIC_API_KEY")

    code, out, err = home.call("chat", "solo", stdin="")

    assert (code, out) == (home.call("run", "solo", "-p", "Hello?")[0], "")
    assert code != 0
    assert words in err
