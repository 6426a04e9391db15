"""`axe-lsp run` asks whoever sits at the terminal before an agent changes something."""

from __future__ import annotations

import json
import os
import time
from contextlib import nullcontext

import anyio
import pytest

from axe_lsp.cli.terminal_questions import TerminalQuestions
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.safety.approval import Approval, ApprovalRequest, Rehearsal
from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.terminal import Screen, Terminal
from support.waiting import wait_until

WRITE = Call("write_file", {"path": "a.txt", "content": "new\n"}, "1")
COMMAND_CALL = Call("run_command", {"command": "echo done\necho \x1b[2Jmore"}, "2")
PROMPT = "Allow {0}? [y]es, [a]lways {1} in this run, [N]o, or what to do instead:"
TOOLS = ["write_file", "run_command"]


def on_terminal(home: Home, *arguments: str, **variables: str) -> Terminal:
    environment = home.environment | variables
    return Terminal([*COMMAND, *arguments], environment, home.work, columns=100)


def asks(screen: Screen) -> bool:
    return bool(screen) and PROMPT[-25:] in " ".join(screen[-2:])


def told(provider: ScriptedProvider, name: str) -> list[str]:
    """Return what the model was told last about its calls."""
    messages = provider.asked(f"m-{name}")[-1].body["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_the_exact_change_is_shown_and_happens_after_a_yes(
    home: Home, provider: ScriptedProvider
) -> None:
    (home.work / "a.txt").write_text("old\n")
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    with on_terminal(home, "run", "writer") as terminal:
        screen = terminal.shows(asks)
        assert screen == [
            'agent "writer" wants to write a.txt:',
            "  --- a.txt",
            "  +++ a.txt",
            "  @@ -1 +1 @@",
            "  -old",
            "  +new",
            PROMPT.format("write_file", "this file"),
        ]
        assert (home.work / "a.txt").read_text() == "old\n"
        terminal.type(b"y\n")
        code, screen = terminal.end()
    assert (code, screen[-1]) == (0, "done")
    assert screen[-2] == f"{PROMPT.format('write_file', 'this file')} y"
    assert (home.work / "a.txt").read_text() == "new\n"


def test_protected_place_can_be_allowed_this_once_only(
    home: Home, provider: ScriptedProvider
) -> None:
    prompt = "Allow write_file this once? [y]es, [N]o, or what to do instead:"
    home.add(agent("writer", tools=TOOLS))
    write = Call("write_file", {"path": ".envrc", "content": "x"}, "1")
    provider.script("m-writer", Says(calls=[write]), Says("done"))
    with on_terminal(home, "run", "writer") as terminal:
        terminal.shows(lambda screen: bool(screen) and screen[-1] == prompt)
        terminal.type(b"a\n")
        terminal.shows(lambda screen: bool(screen) and screen[-1] == "Please answer y or n:")
        terminal.type(b"y\n")
        assert terminal.end()[0] == 0
    assert (home.work / ".envrc").read_text() == "x"


def test_a_command_is_shown_as_it_is_and_can_not_deceive(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[COMMAND_CALL]), Says("done"))
    with on_terminal(home, "run", "writer") as terminal:
        screen = terminal.shows(asks)
        assert screen == [
            'agent "writer" wants to run a command:',
            "  echo done",
            "  echo \\x1b[2Jmore",
            PROMPT.format("run_command", "this command"),
        ]
        terminal.type(b"y\n")
        assert terminal.end()[0] == 0
    assert told(provider, "writer")[0].startswith("done\n")


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (b"n\n", "the user said no"),
        (b"\n", "the user said no"),
        (b"No, use b.txt\n", "the user said no: use b.txt"),
        (b"use b.txt\n", "the user said no: use b.txt"),
        (b"yes but in b.txt\n", "the user said no: yes but in b.txt"),
        (b"\x04", "the user said no"),
    ],
)
def test_denial_reaches_the_model_with_the_users_words(
    home: Home, provider: ScriptedProvider, typed: bytes, why: str
) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    with on_terminal(home, "run", "writer") as terminal:
        terminal.shows(asks)
        terminal.type(typed)
        code, screen = terminal.end()
    assert (code, screen[-1]) == (0, "done")
    assert told(provider, "writer") == [f"write_file was not allowed: {why}"]
    assert not (home.work / "a.txt").exists()


@pytest.mark.parametrize("columns", [40, 80])
def test_prompt_breaks_between_words(home: Home, provider: ScriptedProvider, columns: int) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[COMMAND_CALL]), Says("done"))
    with Terminal([*COMMAND, "run", "writer"], home.environment, home.work, columns) as terminal:
        screen = terminal.shows(lambda rows: bool(rows) and rows[-1].endswith("instead:"))

    prompt = " ".join(screen[-3:] if columns == 40 else screen[-2:])
    assert PROMPT.format("run_command", "this command") in prompt


def test_always_is_for_one_file_in_this_run(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("writer", tools=TOOLS))
    again = Call("write_file", {"path": "./a.txt", "content": "again"}, "3")
    other = Call("write_file", {"path": "b.txt", "content": ""}, "4")
    provider.script(
        "m-writer",
        Says(calls=[WRITE]),
        Says(calls=[again]),
        Says(calls=[other]),
        Says("done"),
    )
    with on_terminal(home, "run", "writer") as terminal:
        terminal.shows(asks)
        terminal.type(b"a\n")
        terminal.shows(lambda screen: asks(screen) and "write b.txt:" in str(screen))
        assert (home.work / "a.txt").read_text() == "again"
        terminal.type(b"n\n")
        assert terminal.end()[0] == 0


TEAM = (
    agent("lead", sub_agents=["left", "right"])
    | agent("left", tools=TOOLS)
    | agent("right", tools=TOOLS)
)
BOTH = Says(
    calls=[calls_agent("left", "do l", call_id="1"), calls_agent("right", "do r", call_id="2")]
)


def test_parallel_children_ask_one_after_the_other_and_the_live_lines_come_back(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(TEAM)
    hold = Hold()
    provider.script("m-lead", BOTH, Says("All is well."))
    provider.script("m-left", Says(calls=[WRITE]), Answer(Says("l"), hold=hold))
    command = Call("run_command", {"command": "echo done"})
    provider.script("m-right", Says(calls=[command]), Says("r"))
    with on_terminal(home, "run", "lead") as terminal:
        first = terminal.shows(asks)
        assert not any("..." in row for row in first), "live lines are away"
        terminal.type(b"n\n")
        second = terminal.shows(lambda screen: asks(screen) and str(screen).count("Allow ") == 2)
        assert ('agent "left" wants' in str(second)) + ('agent "right" wants' in str(second)) == 2
        terminal.type(b"n\n")
        terminal.shows(lambda screen: "[left] do l ..." in str(screen) and "[lead]" in screen[-1])
        hold.release()
        code, screen = terminal.end()
    assert (code, screen[-1]) == (0, "All is well.")
    assert "[right] do r - done" in str(screen)


def test_one_answer_for_the_run_answers_those_who_wait_for_their_turn(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(TEAM)
    provider.script("m-lead", BOTH, Says("All is well."))
    hold = Hold()
    provider.script("m-left", Says(calls=[WRITE]), Says("l"))
    same = Call("write_file", {"path": "a.txt", "content": "right"})
    provider.script("m-right", Answer(Says(calls=[same]), hold=hold), Says("r"))
    with on_terminal(home, "run", "lead") as terminal:
        terminal.shows(asks)
        hold.release()
        terminal.type(b"a\n")
        code, screen = terminal.end()
    assert code == 0
    assert str(screen).count("Allow ") == 1
    # Both were allowed, and each waits for the disk by itself.
    assert (home.work / "a.txt").read_text() in {"right", "new\n"}


async def test_a_question_that_was_answered_with_another_one_is_never_shown(
    capfd: pytest.CaptureFixture[str],
) -> None:
    ours, terminal = os.openpty()
    approval = Approval(TerminalQuestions(terminal, nullcontext, False))
    run = RunIds("r", "r", "lead")

    async def rehearse() -> Rehearsal:
        return Rehearsal("write a.txt", subject="a.txt")

    request = ApprovalRequest(run, "write_file", {}, rehearse)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(approval, request)
        await anyio.wait_all_tasks_blocked()
        os.write(ours, b"a\n")
    assert capfd.readouterr().err.count("Allow ") == 1
    os.close(ours)
    os.close(terminal)


def test_input_before_the_question_is_discarded(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("writer", tools=TOOLS))
    hold = Hold()
    provider.script("m-writer", Answer(Says(calls=[WRITE]), hold=hold), Says("done"))
    with on_terminal(home, "run", "writer") as terminal:
        hold.wait_until_arrived()
        terminal.type(b"y\n")
        hold.release()
        terminal.shows(
            lambda screen: asks(screen) and screen[-1] == PROMPT.format("write_file", "this file")
        )
        terminal.type(b"n\n")
        assert terminal.end()[0] == 0
    assert not (home.work / "a.txt").exists()


@pytest.mark.parametrize("flags", [[], ["-v"]])
def test_ctrl_c_at_a_question_ends_the_run_in_order(
    home: Home, provider: ScriptedProvider, flags: list[str]
) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[WRITE]))
    with on_terminal(home, "run", "writer", *flags) as terminal:
        terminal.shows(asks)
        terminal.type(b"\x03")
        code, screen = terminal.end()
    assert code == 130
    assert any(row.endswith("what to do instead: ^C") for row in screen), screen
    assert not (home.work / "a.txt").exists()


def test_a_person_may_think_longer_than_the_run_may_take(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    with on_terminal(home, "run", "writer", "--timeout", "6") as terminal:
        terminal.shows(asks)
        time.sleep(6.1)
        terminal.type(b"y\n")
        assert terminal.end()[0] == 0
    assert (home.work / "a.txt").exists()


@pytest.mark.parametrize(
    ("variables", "has_colours"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_a_diff_is_coloured_where_that_is_wanted(
    home: Home, provider: ScriptedProvider, variables: dict[str, str], has_colours: bool
) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    with on_terminal(home, "run", "writer", **variables) as terminal:
        terminal.shows(asks)
        terminal.type(b"y\n")
        assert terminal.end()[0] == 0
    assert (b"\x1b[32m+new" in terminal.written) == has_colours


@pytest.mark.parametrize("variables", [{}, {"TERM": "dumb"}])
@pytest.mark.parametrize("flags", [[], ["-v"]])
def test_nothing_is_written_between_a_question_and_its_answer(
    home: Home, provider: ScriptedProvider, flags: list[str], variables: dict[str, str]
) -> None:
    home.add(TEAM)
    first, second = Hold(), Hold()
    provider.script("m-lead", BOTH, Says("All is well."))
    provider.script("m-left", Says(calls=[WRITE]), Says("l"))
    more = Says(calls=[Call("run_command", {"command": ""})])
    provider.script("m-right", Answer(more, hold=first), Answer(Refuses(400), hold=second))
    with on_terminal(home, "run", "lead", *flags, **variables) as terminal:
        terminal.shows(asks)
        first.release()
        second.wait_until_arrived()
        terminal.type(b"y\n")
        answered = f"{PROMPT.format('write_file', 'this file')} y"
        terminal.shows(lambda screen: answered in screen)
        second.release()
        code, screen = terminal.end()
    assert code == 0
    if flags:
        asked = screen.index(answered)
        assert any(row.startswith("[tool] run_command") for row in screen[asked:])


def test_the_person_is_asked_also_when_the_task_comes_from_a_pipe(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    command = ["/bin/sh", "-c", 'echo "the task" | "$@"', "sh", *COMMAND, "run", "writer"]
    with Terminal(command, home.environment, home.work) as terminal:
        terminal.shows(asks)
        terminal.type(b"y\n")
        assert terminal.end()[0] == 0
    assert "the task" in str(provider.asked("m-writer")[0].body)
    assert (home.work / "a.txt").exists()


def test_yes_asks_no_questions(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("writer", tools=TOOLS))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    with on_terminal(home, "run", "writer", "--yes") as terminal:
        code, screen = terminal.end()
    assert (code, screen) == (0, ["done"])
    assert (home.work / "a.txt").exists()


NUMBERED = "The number of an answer, or your own (empty: none):"
WHICH = Call("ask_user", {"question": "Which\none\x1b[2J?", "choices": ["Postgres", "SQLite"]}, "3")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (b"2\n", "SQLite"),
        (b"3\n", "3"),
        (b" Duck DB \n", "Duck DB"),
        (b"y\n", "y"),
        (b"\n", "the user dismissed the question"),
        (b"\x04", "the user dismissed the question"),
    ],
)
def test_a_question_of_the_model_is_answered_by_number_or_in_own_words(
    home: Home, provider: ScriptedProvider, typed: bytes, expected: str
) -> None:
    home.add(agent("asker", tools=["ask_user"]))
    provider.script("m-asker", Says(calls=[WHICH]), Says("done"))
    with on_terminal(home, "run", "asker") as terminal:
        assert terminal.shows(lambda screen: screen[-1:] == [NUMBERED]) == [
            'agent "asker" asks:',
            "  Which",
            "  one\\x1b[2J?",
            "  1. Postgres",
            "  2. SQLite",
            NUMBERED,
        ]
        terminal.type(typed)
        code, screen = terminal.end()
    assert (code, screen[-1]) == (0, "done")
    assert told(provider, "asker") == [expected]


@pytest.mark.parametrize("flags", [[], ["--yes"]])
def test_a_question_of_an_isolated_child_comes_to_the_terminal_also_with_yes(
    home: Home, provider: ScriptedProvider, flags: list[str]
) -> None:
    own = {"mode": "process"}
    home.add(
        agent("lead", sub_agents=["apart"]) | agent("apart", tools=["ask_user"], isolation=own)
    )
    provider.script("m-lead", Says(calls=[calls_agent("apart", "go")]), Says("done"))
    question = Call("ask_user", {"question": "Which one?"})
    provider.script("m-apart", Says(calls=[question]), Says("well"))
    with on_terminal(home, "run", "lead", *flags) as terminal:
        terminal.shows(lambda screen: screen[-1:] == ["Your answer (empty: none):"])
        terminal.type(b"DuckDB\n")
        assert terminal.end()[0] == 0
    assert told(provider, "apart") == ["DuckDB"]


@pytest.mark.parametrize("flags", [[], ["--yes"]])
def test_without_a_terminal_the_model_decides(
    home: Home, provider: ScriptedProvider, flags: list[str]
) -> None:
    home.add(agent("asker", tools=["ask_user"]))
    provider.script("m-asker", Says(calls=[WHICH]), Says("done"))
    assert home.call("run", "asker", *flags) == (0, "done", "")
    expected = "nobody can be asked here; decide yourself and say what you assumed"
    assert told(provider, "asker") == [expected]


def test_other_processes_see_that_a_run_waits_for_an_answer(
    home: Home, provider: ScriptedProvider
) -> None:
    agents = agent("lead", sub_agents=["writer", "idle"]) | agent("idle")
    home.add(agents | agent("writer", tools=["run_command"]))
    both = [calls_agent("writer", "w", call_id="w"), calls_agent("idle", "i", call_id="i")]
    provider.script("m-lead", Says(calls=both))
    provider.script("m-writer", Says(calls=[COMMAND_CALL]), Says("made"))
    held, last = Hold(), Hold()
    provider.script("m-idle", Answer(Says("slow"), hold=held), Says("slow"))
    provider.script("m-lead", Answer(Says("done"), hold=last))
    with on_terminal(home, "run", "lead") as terminal:
        terminal.shows(asks)
        held.wait_until_arrived()
        wait_for_list(home, "lead", ["running", True])
        assert listed(home, "writer") == ["running", True]
        wait_for_list(home, "idle", ["running", None])
        assert " running: waiting " in home.call("history", "list")[1]
        terminal.process.kill()
        terminal.process.wait()
    assert listed(home, "lead") == ["killed", None]

    held.release()
    with home.start("resume", "--yes") as process:
        last.wait_until_arrived()
        wait_for_list(home, "writer", ["completed", None])
        assert listed(home, "lead") == ["running", None]
        last.release()
        assert process.wait() == 0
    assert listed(home, "lead") == ["completed", None]


def listed(home: Home, name: str) -> list[object]:
    """Return the status of the newest run of an agent, and whether it waits."""
    runs = json.loads(home.call("history", "list", "--agent", name, "--json")[1])
    return [runs[0]["status"], runs[0].get("waits")] if runs else []


def wait_for_list(home: Home, name: str, expected: list[object]) -> None:
    """Until the process that executes the run has written that it waits, or does not."""
    wait_until(lambda: listed(home, name) == expected, lambda: listed(home, name))
