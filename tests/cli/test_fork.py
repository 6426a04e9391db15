"""`axe-lsp resume RUN --from-turn N`: a new run that has the first turns of another one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from axe_lsp.hosting.history.tree_text import local_time
from support.answers import Call, Says, calls_agent
from support.command_line import COMMAND, Home
from support.scripted_provider import Refuses, ScriptedProvider
from support.terminal import Terminal

SOLO = 'name = "solo"\nmodel = "anthropic/m"\ntools = ["read_file", "write_file"]\n'


@pytest.fixture
def former(home: Home, provider: ScriptedProvider) -> dict[str, Any]:
    """Return a completed run of three turns: it has thought, read a file, written another, and answered."""
    home.add({"solo": SOLO})
    (home.work / "note.txt").write_text("x" * 40_000)
    reads = Call("read_file", {"path": "note.txt"})
    writes = Call("write_file", {"path": "made.txt", "content": "made"})
    provider.script(
        "m",
        Says("I look.", calls=[reads], thinking="Hm."),
        Says("I write.", calls=[writes]),
        Says("It is x."),
    )
    assert home.call("run", "solo", "-p", "What is it?", "--yes")[0] == 0
    return listed(home)[0]


def test_fork_warns_of_files_that_left_out_turns_have_changed_and_that_are_not_put_back(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    name = former["runId"][:8]
    provider.script("m", Says("It is x."), Says("It is x."))

    assert home.call("resume", name, "--from-turn", "2")[2] == (
        f"Warning: the files that run {name} has changed stay as they are\n"
    )
    assert home.call("undo", name, "--yes")[0] == 0
    assert home.call("resume", name, "--from-turn", "2")[2] == ""


def test_the_turns_before_are_shared_and_what_follows_is_new(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    asked = [request.raw for request in provider.requests]
    (home.work / "made.txt").unlink()
    (home.work / "note.txt").write_text("edited since")
    home.add({"solo": "this is no agent any more"})
    provider.script("m", Says("It is only x."))

    code, out, err = home.call("resume", former["runId"][:8], "--from-turn", "3")

    assert (code, out) == (0, "It is only x.")
    assert err == "", "the fork shares the turn that has changed a file"
    assert [request.raw for request in provider.requests] == [*asked, asked[2]]
    assert not (home.work / "made.txt").exists()
    fork, before = listed(home)
    assert before == former
    assert fork["forkedFrom"] == {"runId": former["runId"], "turn": 3}
    assert fork["task"] == "What is it?"
    used = {name: fork[name] for name in ("turns", "inputTokens", "outputTokens", "status")}
    [only] = turns_of(home, fork["runId"])
    assert used == {
        "turns": 3,
        "inputTokens": only["inputTokens"],
        "outputTokens": only["outputTokens"],
        "status": "completed",
    }
    assert only["turn"] == 3


def test_a_fork_at_the_first_turn_begins_again_with_the_same_request(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    asked = provider.requests[0].raw
    provider.script("m", Says("I guess x."))

    assert home.call("resume", former["runId"], "--from-turn", "1")[:2] == (0, "I guess x.")

    assert provider.requests[-1].raw == asked


def test_another_model_goes_on_without_what_the_first_one_has_signed(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    provider.script("other", Says("Many x."))

    assert home.call("resume", former["runId"], "--from-turn", "2", "--model", "openai/other")[
        :2
    ] == (0, "Many x.")

    sent = json.dumps(provider.requests[-1].body)
    assert "I look." in sent
    assert "x" * 40_000 in sent
    assert "signature" not in sent
    assert "I write." not in sent
    assert listed(home)[0]["model"] == "openai/other"


def test_usage_of_sub_agents_before_a_fork_is_not_counted_again(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(
        {
            "lead": 'name = "lead"\nmodel = "anthropic/lead"\nsub_agents = ["helper"]\n'
            "[budget]\nmax_tokens = 500\n",
            "helper": 'name = "helper"\nmodel = "anthropic/helper"\n',
        }
    )
    costly = Says("Found.", usage=(300, 100))
    provider.script("helper", costly)
    provider.script("lead", Says(calls=[calls_agent("helper", "find")]), Says("One."), Says("Two."))
    assert home.call("run", "lead", "-p", "go")[:2] == (0, "One.")
    run = listed(home)[0]["runId"]

    assert home.call("resume", run, "--from-turn", "2")[:2] == (0, "Two.")

    fork, _ = listed(home)
    assert fork.get("tree") is None
    assert len(provider.requests) == 4


def test_a_fork_can_be_resumed_continued_and_forked(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    provider.script("m", Refuses(401), Says("So."), Says("Further."), Says("Again."))
    assert home.call("resume", former["runId"], "--from-turn", "2")[0] == 3
    failed = provider.requests[-1].raw
    fork = listed(home)[0]["runId"]

    assert home.call("resume", fork)[:2] == (0, "So.")
    assert provider.requests[-1].raw == failed
    assert home.call("run", "solo", "--continue", fork, "-p", "And?")[:2] == (0, "Further.")
    sent = json.dumps(provider.requests[-1].body)
    assert ("I look." in sent, "I write." in sent, "So." in sent) == (True, False, True)
    assert home.call("resume", fork, "--from-turn", "2")[:2] == (0, "Again.")
    assert provider.requests[-1].raw == failed


def test_dry_run_shows_the_shared_turns(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    arguments = ("resume", former["runId"], "--from-turn", "2", "--dry-run")

    _, out, _ = home.call(*arguments)
    told = json.loads(home.call(*arguments, "--json")[1])

    assert out.splitlines() == [
        f"fork of run {former['runId'][:8]} of solo at turn 2",
        "kept: 1 answer, 1 result, 0 finished agents",
        "next: solo, turn 2",
    ]
    assert (told["runId"], told["fromTurn"]) == (former["runId"], 2)
    assert (told["answers"], told["results"], told["next"][0]["turn"]) == (1, 1, 2)
    assert len(provider.requests) == 3
    assert len(listed(home)) == 1


def test_what_can_not_be_forked_is_refused_with_the_reason(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    run = former["runId"]

    def refused(*arguments: str) -> str:
        code, out, err = home.call("resume", *arguments)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        return err

    assert "can be forked at turn 1 to 3, not at 4" in refused(run, "--from-turn", "4")
    for turn in ("0", "-1", "two"):
        code, out, err = home.call("resume", run, "--from-turn", turn)
        assert (code, out) == (1, "")
        assert f"{turn!r} is not the number of a turn" in err
    assert "--model needs --from-turn" in refused(run, "--model", "openai/other")
    provider.script("m", Refuses(401))
    home.call("run", "solo", "-p", "fails")
    failed = listed(home)[0]["runId"]
    assert "has no answer" in refused(failed, "--from-turn", "1")


def test_newest_run_is_forked_when_none_is_named(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    provider.script("m", Says("Again."))
    code, out, _ = home.call("resume", "--from-turn", "1")
    assert code == 0
    assert "Again." in out


def listed(home: Home) -> list[dict[str, Any]]:
    """Return the runs of the history, newest first."""
    runs: list[dict[str, Any]] = json.loads(home.call("history", "list", "--json")[1])
    return runs


def turns_of(home: Home, run: str) -> list[dict[str, Any]]:
    """Return the ends of the turns of a run."""
    lines = home.call("history", "export", run)[1].splitlines()
    events = [json.loads(line) for line in lines]
    return [
        event["params"]
        for event in events
        if event["method"] == "axe/turn" and event["params"]["kind"] == "end"
    ]


def test_the_history_shows_a_fork_beside_the_run_it_was_made_from(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    provider.script("m", Says("Only an x."))
    home.call("resume", former["runId"], "--from-turn", "3")
    fork = listed(home)[0]["runId"]

    _, both, _ = home.call("history", "show", fork)
    with Terminal(
        [*COMMAND, "history", "show", fork], home.environment, home.work, columns=160
    ) as terminal:
        code, rows = terminal.end()

    assert [line for line in both.splitlines() if line.startswith("Run ")] == [
        f"Run {former['runId']} of {local_time(former['began'])}",
        f"Run {fork} of {local_time(listed(home)[0]['began'])}",
    ]
    assert f"├─ forked from {former['runId'][:8]} at turn 3" in both
    assert code == 0
    lines = [row.rstrip() for row in rows]
    columns = [line.split(" │ ") for line in lines if " │ " in line]
    [beside] = [pair for pair in columns if "turn 3" in pair[0]]
    assert "turn 3" in beside[1]
    assert beside[1].endswith("Only an x.")
    assert {len(left) for left, *_ in columns} == {78}
    assert [line for line in lines if line.startswith("Answer of")] == [
        f"Answer of {former['runId']}:",
        f"Answer of {fork}:",
    ]
