"""`axe-lsp changes`: lists the files that a run has changed; undo of a turn and of a file."""

from __future__ import annotations

import json
from pathlib import Path

from cli.test_undo import changed, root_of
from support.answers import Call, Says, calls_agent
from support.command_line import Home
from support.scripted_provider import ScriptedProvider

__all__ = ["changed"]

LEAD = 'name = "lead"\nmodel = "anthropic/m"\ntools = ["write_file"]\nsub_agents = ["helper"]\n'
HELPER = 'name = "helper"\nmodel = "anthropic/h"\ntools = ["write_file"]\n[isolation]\nmode = "copy"\nchanges = "apply"\n'


def test_files_are_listed_with_lines_and_what_is_not_known(home: Home, changed: str) -> None:
    code, out, _ = home.call("changes")
    assert code == 0
    assert out.splitlines() == [
        "M a.txt +2 -2",
        "A new.txt +1 -0",
        f"2 files +3 -2 by run {changed[:8]}. Changes by commands are not known.",
    ]


def test_turn_includes_the_changes_of_the_agent_that_it_has_called(
    home: Home, changed: str
) -> None:
    out = home.call("changes", changed[:8], "--turn", "2", "--diff")[1]
    assert out.splitlines()[0] == "M a.txt +1 -1"
    assert "--- a.txt\n+++ a.txt" in out
    assert "-one\n+1\n" in out


def test_json_has_all_facts(home: Home, changed: str) -> None:
    (home.work / "new.txt").write_text("mine\n")
    changes = json.loads(home.call("changes", "--json")[1])
    assert [Path(each["path"]).name for each in changes["files"]] == ["a.txt", "new.txt"]
    assert (changes["run_id"], changes["has_commands"]) == (changed, True)
    assert [each["reason"] for each in changes["left"]] == ["it has changed since"]


def test_changes_applied_from_a_copy_belong_to_the_turn_of_the_call(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"lead": LEAD, "helper": HELPER})
    (home.work / "a.txt").write_text("one\n")
    provider.script("m", Says("…", [calls_agent("helper", "go on")]), Says("done"))
    write = Call("write_file", {"path": "a.txt", "content": "1\n2\n"})
    provider.script("h", Says(calls=[write]), Says("written"))
    assert home.call("run", "lead", "-p", "go", "--yes")[:2] == (0, "done")
    assert (home.work / "a.txt").read_text() == "1\n2\n"

    assert home.call("changes", "--turn", "1")[1].splitlines()[0] == "M a.txt +2 -1"
    assert home.call("undo", root_of(home), "--turn", "1", "--yes")[0] == 0
    assert (home.work / "a.txt").read_text() == "one\n"


def test_undo_of_a_turn_and_of_a_file_leaves_the_others(home: Home, changed: str) -> None:
    assert home.call("undo", changed, "--turn", "2", "--yes")[0] == 0
    assert (home.work / "a.txt").read_text() == "one\n2\n"
    assert (home.work / "new.txt").exists()
    assert home.call("undo", changed, "--file", "new.txt", "--yes")[0] == 0
    assert (home.work / "a.txt").read_text() == "one\n2\n"
    assert not (home.work / "new.txt").exists()
    assert home.call("changes")[1].splitlines()[1] == "A new.txt +1 -0 (put back)"


def test_run_that_is_not_stored_is_refused(home: Home) -> None:
    code, _, error = home.call("changes", "0123")
    assert code == 2
    assert "no run '0123' is stored" in error
