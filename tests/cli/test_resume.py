"""`axe-lsp resume`: what it goes on with, what it refuses, and what it says before."""

from __future__ import annotations

import json
import shlex
import signal
import sqlite3
import sys
from contextlib import closing
from typing import Any

import pytest

from support.answers import Call, Says, calls_agent
from support.command_line import COMMAND, Home
from support.scripted_provider import Answer, Hold, Refuses, ScriptedProvider

SOLO = 'name = "solo"\nmodel = "anthropic/m"\ntools = ["run_command", "read_file"]\n'
EFFECT = "echo once >> effects.txt"
KILLS = f"{EFFECT}; until [ -s pid ]; do sleep 0.01; done; kill -9 $(cat pid); sleep 60"
"""A command that takes effect and then ends the process that executes it."""


def killed_within_a_call(home: Home, provider: ScriptedProvider) -> None:
    """A run whose process dies while its second call is executed, which changes something."""
    home.add({"solo": SOLO})
    (home.work / "note.txt").write_text("a note")
    reads, changes = (
        Call("read_file", {"path": "note.txt"}),
        Call("run_command", {"command": KILLS}),
    )
    provider.script("m", Says("I look.", calls=[reads], thinking="Hm."), Says(calls=[changes]))
    process = home.start("run", "solo", "-p", "go", "--yes")
    (home.work / "pid").write_text(str(process.pid))
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert (home.work / "effects.txt").read_text() == "once\n"


def test_interrupted_changing_call_is_reported_and_not_repeated(
    home: Home, provider: ScriptedProvider
) -> None:
    killed_within_a_call(home, provider)
    home.add({"solo": "this is no agent any more"})
    before = provider.requests[-1].body["messages"]
    provider.script("m", Says("I have looked."))

    assert home.call("resume") == (0, "I have looked.", "")

    assert (home.work / "effects.txt").read_text() == "once\n"
    asked = provider.requests[-1].body["messages"]
    assert [each["role"] for each in asked] == ["user", "assistant"] * 2 + ["user"]
    assert json.dumps(asked[1]["content"]) == json.dumps(before[1]["content"])
    assert asked[1]["content"][0]["signature"] == "of Hm."
    [result] = asked[-1]["content"]
    assert result["is_error"]
    assert "Whether it took effect is not known" in json.dumps(result)
    assert len(provider.requests) == 3


def test_a_dry_run_says_what_is_kept_and_what_is_not_known(
    home: Home, provider: ScriptedProvider
) -> None:
    killed_within_a_call(home, provider)

    _, out, _ = home.call("resume", "--dry-run")
    _, as_json, _ = home.call("resume", "--dry-run", "--json")

    told = json.loads(as_json)
    [unknown], [coming] = told["unknown"], told["next"]
    assert (told["answers"], told["results"], told["finishedAgents"]) == (2, 1, 0)
    assert (unknown["tool"], unknown["arguments"]) == ("run_command", {"command": KILLS})
    assert (coming["agent"], coming["turn"]) == ("solo", 3)
    assert out.splitlines()[1] == "kept: 2 answers, 1 result, 0 finished agents"
    assert "not known: whether solo's run_command took effect" in out
    assert out.splitlines()[-1] == "next: solo, turn 3"
    assert len(provider.requests) == 2
    assert listed(home)[0]["resumable"] is True


def test_a_run_that_a_provider_has_failed_goes_on(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    (home.work / "note.txt").write_text("a note")
    reads = Call("read_file", {"path": "note.txt"})
    provider.script("m", Says("I look.", calls=[reads]), Refuses(401, "no"), Says("done"))
    code, _, _ = home.call("run", "solo", "-p", "go")
    assert code == 3

    code, out, _ = home.call("resume", "--json")

    result = json.loads(out)
    assert (code, result["content"]) == (0, "done")
    assert [run["status"] for run in listed(home)] == ["completed"]
    assert listed(home)[0]["continuable"] is True
    assert steps(home) == ["order", "size", "agent", "first", "answer", "result", "answer"]


def test_an_agent_in_a_process_of_its_own_goes_on_where_it_was(
    home: Home, provider: ScriptedProvider
) -> None:
    lead = 'name = "lead"\nmodel = "anthropic/m-lead"\nsub_agents = ["solo"]\n'
    home.add({"lead": lead, "solo": SOLO + '[isolation]\nmode = "process"\n'})
    provider.script("m-lead", Says(calls=[calls_agent("solo", "go")]), Says("done"))
    changes = [Call("run_command", {"command": command}) for command in (EFFECT, KILLS)]
    provider.script("m", *[Says(calls=[call]) for call in changes], Says("I have looked."))
    process = home.start("run", "lead", "-p", "go", "--yes")
    (home.work / "pid").write_text(str(process.pid))
    process.communicate(timeout=60)
    home.add({"solo": "this is no agent any more"})

    assert home.call("resume", "--yes") == (0, "done", "")

    assert (home.work / "effects.txt").read_text() == "once\n" * 2
    assert [each.model for each in provider.requests] == ["m-lead", "m", "m", "m", "m-lead"]
    assert "Whether it took effect is not known" in json.dumps(provider.asked("m")[-1].body)
    assert listed(home)[0]["tree"]["inputTokens"] == 50


def test_a_used_up_budget_is_a_new_total(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    reads = Call("read_file", {"path": "note.txt"})
    provider.script("m", Says(calls=[reads], usage=(100, 5)), Says("done", usage=(100, 5)))
    assert home.call("run", "solo", "-p", "go", "--max-tokens", "50")[0] == 4
    assert home.call("resume")[0] == 4
    assert len(provider.requests) == 1

    code, out, _ = home.call("resume", "--max-tokens", "500", "--json")

    assert (code, json.loads(out)["content"]) == (0, "done")
    assert listed(home)[0]["inputTokens"] == 200


def test_what_a_sub_agent_has_used_counts_for_the_budget_of_its_caller(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(
        {
            "lead": 'name = "lead"\nmodel = "anthropic/m-lead"\nsub_agents = ["solo"]\n',
            "solo": SOLO,
        }
    )
    provider.script("m-lead", Says(calls=[calls_agent("solo", "go")]), Refuses(401), Says("done"))
    provider.script("m", Says("found", usage=(1000, 5)))
    assert home.call("run", "lead", "-p", "go")[0] == 3

    code, _, err = home.call("resume", "--max-tokens", "1000")

    assert code == 4
    assert "used 1020 of 1000 tokens" in err
    assert len(provider.asked("m-lead")) == 2


def test_a_timeout_is_for_the_time_from_now_on(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Answer(Says("late"), hold=Hold()), Says("done"))
    assert home.call("run", "solo", "-p", "go", "--timeout", "1")[0] == 3

    assert home.call("resume", "--timeout", "60")[:2] == (0, "done")


@pytest.mark.parametrize("run", ["nosuch", None])
def test_without_a_run_there_is_nothing_to_resume(home: Home, run: str | None) -> None:
    code, out, err = home.call("resume", *([run] if run else []))

    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


def test_a_completed_run_is_refused(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("done"))
    home.call("run", "solo", "-p", "go")

    code, _, err = home.call("resume", listed(home)[0]["runId"])

    assert (code, len(err.splitlines())) == (2, 1)
    assert "is completed; there is nothing to resume" in err


def test_a_run_that_can_only_end_in_the_same_way_is_refused(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": f'{SOLO}[output]\ntype = "object"\n'})
    provider.script("m", *[Says("no JSON")] * 3)
    assert home.call("run", "solo", "-p", "go")[0] == 1

    code, _, err = home.call("resume", listed(home)[0]["runId"])

    assert (code, len(err.splitlines())) == (2, 1)
    assert "would end in the same way again" in err
    assert "resumable" not in listed(home)[0]


def test_second_resume_of_the_same_run_is_refused(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    hold = Hold()
    provider.script("m", Refuses(401), Answer(Says("done"), hold=hold))
    home.call("run", "solo", "-p", "go")
    run = listed(home)[0]["runId"]

    first = home.start("resume", run)
    hold.wait_until_arrived()
    code, _, err = home.call("resume", run)
    hold.release()

    assert first.communicate(timeout=60)[0] == "done"
    assert (code, len(err.splitlines())) == (2, 1)
    assert "is being executed by another process" in err


def test_without_a_history_nothing_is_kept(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Refuses(401))
    home.call("run", "solo", "-p", "go", "--no-history")

    assert not home.history.exists()


def test_stored_steps_have_no_api_key(home: Home, provider: ScriptedProvider) -> None:
    key = provider.environment["ANTHROPIC_API_KEY"]
    home.add({"solo": SOLO})
    (home.work / "note.txt").write_text(f"the key is {key}")
    provider.script("m", Says(f"It is {key}", calls=[Call("read_file", {"path": "note.txt"})]))
    home.call("run", "solo", "-p", f"take {key}")

    with closing(sqlite3.connect(home.history)) as connection:
        kept = [data for (data,) in connection.execute("SELECT data FROM steps")]
    assert len(kept) == 5
    assert not [data for data in kept if key in data]
    assert sum("[redacted]" in data for data in kept) == 4


def listed(home: Home) -> list[dict[str, Any]]:
    """Return the runs of the history."""
    runs: list[dict[str, Any]] = json.loads(home.call("history", "list", "--json")[1])
    return runs


def steps(home: Home) -> list[str]:
    """Return the kinds of steps that are kept, by turn."""
    order = "ORDER BY turn, kind = 'result', kind = 'first', kind = 'agent'"
    with closing(sqlite3.connect(home.history)) as connection:
        return [kind for (kind,) in connection.execute(f"SELECT kind FROM steps {order}")]


def test_a_history_that_can_not_be_written_stops_no_call_and_is_told_once(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    home.history.parent.parent.mkdir(parents=True)
    home.history.parent.write_text("no folder")
    changes = Call("run_command", {"command": EFFECT})
    provider.script("m", Says(calls=[changes, changes]), Says("done"))

    code, out, err = home.call("run", "solo", "-p", "go", "--yes", "--json")

    result = json.loads(out)
    assert (code, result["content"]) == (0, "done")
    assert (home.work / "effects.txt").read_text() == "once\n" * 2
    assert err.count("can't be resumed") == 1


def test_a_disk_that_gets_full_stops_no_run_and_repeats_no_call(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    (home.work / "long.txt").write_text("x" * 60_000)
    changes, reads = (
        Call("run_command", {"command": EFFECT}),
        Call("read_file", {"path": "long.txt"}),
    )
    stored = Call("run_command", {"command": "echo stored >> effects.txt"})
    provider.script("m", Says(calls=[stored]), *[Says(calls=[reads])] * 6, Says(calls=[changes]))
    most = 250_000
    program = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))\n"
        "import sys; from axe_lsp.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    run = [sys.executable, "-c", program, "run", "solo", "-p", "go", "--yes"]

    code, _, err = home.shell_line(shlex.join(run))

    assert code == 3
    assert (home.work / "effects.txt").read_text() == "stored\nonce\n"
    assert err.count("can't be resumed") == 1
    provider.script("m", *[Says(calls=[changes]), Says("done")] * 3)
    code, _, err = home.call("resume", "--yes")
    assert (home.work / "effects.txt").read_text() == "stored\nonce\n"
    assert (code, len(err.splitlines())) == (2, 1), err


def test_a_run_in_a_folder_that_looks_like_a_key_is_not_resumed_elsewhere(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    folder = home.work / "sk-learn-experiments-2024"
    folder.mkdir()
    provider.script("m", Refuses(401, "no"))
    inside = shlex.join([*COMMAND, "run", "solo", "-p", "go"])
    home.shell_line(f"cd {folder.name}; {inside}")
    (run,) = listed(home)

    code, out, err = home.call("resume", run["runId"])

    assert (code, out) == (2, "")
    assert "the name of its folder looks like a key" in err
    assert len(provider.requests) == 1
