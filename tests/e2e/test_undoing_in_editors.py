"""`axe/undo`: an editor shows what a run has changed, and puts back what its user has agreed to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.raw_client import ServerError
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider
from support.session import Editor, Project

Json = Any

SOLO = 'name = "solo"\nmodel = "ollama/m-solo"\ntools = ["write_file", "run_command"]\n'


@pytest.fixture
def editor(tmp_path: Path, provider: ScriptedProvider) -> Iterator[Editor]:
    project = Project(tmp_path, provider.environment)
    project.write("solo", SOLO)
    (project.root / "a.txt").write_text("one\n")
    (project.root / "b.txt").write_bytes(b"kept \xff\n")
    allows = {"tools": {"allow": ["write_file", "run_command"]}}
    with project.editor(initializationOptions=allows) as editor:
        yield editor


def changed(editor: Editor, provider: ScriptedProvider, *more: Call) -> str:
    """Return the id of a run that has changed two files and made one."""
    calls = [
        Call("write_file", {"path": name, "content": f"new {name}\n"})
        for name in ("a.txt", "b.txt", "c.txt")
    ]
    provider.script("m-solo", Says(calls=[*calls, *more]), Says("Done."))
    run: str = editor.client.request("axe/run", {"agent": "solo"})["runId"]
    return run


def test_agreed_files_are_restored(editor: Editor, provider: ScriptedProvider) -> None:
    run = changed(editor, provider, Call("run_command", {"command": "true"}))
    root = editor.project.root

    shown = editor.client.request("axe/undo", {"runId": run})
    texts = {Path(each["path"]).name: (each["before"], each["after"]) for each in shown["files"]}
    assert texts == {
        "a.txt": ("new a.txt\n", "one\n"),
        "b.txt": ("new b.txt\n", "kept \ufffd\n"),
        "c.txt": ("new c.txt\n", None),
    }
    assert shown["hasCommands"] is True
    assert [each["uri"] for each in shown["files"]] == [
        (root / name).as_uri() for name in ("a.txt", "b.txt", "c.txt")
    ]
    assert (root / "a.txt").read_text() == "new a.txt\n"

    agreed = [{"path": each["path"], "digest": each["digest"]} for each in shown["files"]]
    done = editor.client.request("axe/undo", {"runId": run, "agreed": agreed})
    assert done == {"undone": [each["path"] for each in shown["files"]], "left": []}
    assert (root / "a.txt").read_text() == "one\n"
    assert (root / "b.txt").read_bytes() == b"kept \xff\n"
    assert not (root / "c.txt").exists()
    assert editor.client.request("axe/undo", {"runId": run})["files"] == []


def test_file_changed_after_it_was_shown_is_not_restored(
    editor: Editor, provider: ScriptedProvider
) -> None:
    run = changed(editor, provider)
    root = editor.project.root
    (root / "b.txt").write_text("edited since\n")
    first, second, third = editor.client.request("axe/undo", {"runId": run})["files"]
    assert (second["reason"], "digest" in second) == ("it has changed since", False)

    (root / "c.txt").write_text("edited after it was shown\n")
    agreed = [{"path": third["path"], "digest": third["digest"]}]
    agreed.append({"path": str(root / "never.txt"), "digest": ""})
    done = editor.client.request("axe/undo", {"runId": run, "agreed": agreed})

    assert done == {
        "undone": [],
        "left": [{"path": third["path"], "reason": "it has changed since"}],
    }
    assert (root / "a.txt").read_text() == "new a.txt\n", first["path"]
    assert (root / "c.txt").read_text() == "edited after it was shown\n"


def test_agreement_with_another_digest_restores_nothing(
    editor: Editor, provider: ScriptedProvider
) -> None:
    run = changed(editor, provider)
    root = editor.project.root
    agreed = [{"path": str(root / "a.txt"), "digest": "0" * 32}]

    done = editor.client.request("axe/undo", {"runId": run, "agreed": agreed})

    assert (done["undone"], len(done["left"])) == ([], 1)
    assert (root / "a.txt").read_text() == "new a.txt\n"


def test_undo_of_a_running_or_unknown_run_is_refused(
    editor: Editor, provider: ScriptedProvider
) -> None:
    def refused(**params: Json) -> ServerError:
        with pytest.raises(ServerError) as failure:
            editor.client.request("axe/undo", params)
        return failure.value

    hold = Hold()
    provider.script("m-solo", Answer(Says("late"), hold=hold))
    request = editor.client.start_request("axe/run", {"agent": "solo"})
    hold.wait_until_arrived()
    editor.client.wait_for("axe/turn", lambda params: params["kind"] == "begin")
    (going,) = editor.client.request("axe/runs", {})
    running = refused(runId=going["runId"])
    hold.release()
    editor.client.result(request)

    assert running.data == {"kind": "config", "exitCode": 2, "reason": "running"}
    assert "is stored" in refused(runId="0" * 32).message
    assert '"runId": string' in refused().message
    assert '"agreed" must be' in refused(runId=going["runId"], agreed=["a.txt"]).message


def test_changes_name_files_and_the_turns_that_changed_them(
    editor: Editor, provider: ScriptedProvider
) -> None:
    calls = [Call("write_file", {"path": "a.txt", "content": "two\nthree\n"})]
    again = [Call("write_file", {"path": "b.txt", "content": "new\n"})]
    command = Call("run_command", {"command": "true"})
    provider.script("m-solo", Says(calls=calls), Says(calls=[*again, command]), Says("Done."))
    run = editor.client.request("axe/run", {"agent": "solo"})["runId"]

    changes = editor.client.request("axe/changes", {"runId": run})

    shown = [(Path(each["path"]).name, each["kind"]) for each in changes["files"]]
    assert shown == [("a.txt", "modified"), ("b.txt", "modified")]
    assert (changes["files"][0]["added"], changes["files"][0]["removed"]) == (2, 1)
    assert "before" not in changes["files"][0]
    assert [(each["turn"], each["files"], each["added"]) for each in changes["turns"]] == [
        (1, 1, 2),
        (2, 1, 1),
    ]
    assert (changes["hasCommands"], changes["isRunning"], changes["left"]) == (True, False, [])

    (second,) = editor.client.request("axe/changes", {"runId": run, "turn": 2, "texts": True})[
        "files"
    ]
    assert (second["before"], second["after"]) == ("kept \ufffd\n", "new\n")
    later = editor.client.request("axe/changes", {"runId": run, "fromTurn": 2})
    assert [Path(each["path"]).name for each in later["files"]] == ["b.txt"]


def test_changes_of_a_run_at_work_are_told(editor: Editor, provider: ScriptedProvider) -> None:
    hold = Hold()
    write = Call("write_file", {"path": "new.txt", "content": "new\n"})
    provider.script("m-solo", Says(calls=[write]), Answer(Says("late"), hold=hold))
    request = editor.client.start_request("axe/run", {"agent": "solo"})
    hold.wait_until_arrived()
    (going,) = editor.client.request("axe/runs", {})

    changes = editor.client.request("axe/changes", {"runId": going["runId"]})

    assert [each["kind"] for each in changes["files"]] == ["added"]
    assert changes["isRunning"] is True
    hold.release()
    editor.client.result(request)


def test_undo_of_a_turn_leaves_the_other_turns(editor: Editor, provider: ScriptedProvider) -> None:
    first = Call("write_file", {"path": "a.txt", "content": "first\n"})
    second = Call("write_file", {"path": "a.txt", "content": "second\n"})
    provider.script("m-solo", Says(calls=[first]), Says(calls=[second]), Says("Done."))
    run = editor.client.request("axe/run", {"agent": "solo"})["runId"]
    file = editor.project.root / "a.txt"

    (blocked,) = editor.client.request("axe/undo", {"runId": run, "turn": 1})["files"]
    assert blocked["reason"] == "a later turn has changed it; undo that turn first"
    (shown,) = editor.client.request("axe/undo", {"runId": run, "turn": 2})["files"]
    assert (shown["before"], shown["after"]) == ("second\n", "first\n")
    agreed = [{"path": shown["path"], "digest": shown["digest"]}]
    done = editor.client.request("axe/undo", {"runId": run, "turn": 2, "agreed": agreed})
    assert (done["undone"], file.read_text()) == ([shown["path"]], "first\n")
    (rest,) = editor.client.request("axe/undo", {"runId": run, "fromTurn": 1})["files"]
    assert (rest["before"], rest["after"]) == ("first\n", "one\n")


@pytest.mark.parametrize("params", [{"turn": "1"}, {"turn": True}, {"runId": 1}])
def test_changes_refuse_params_of_other_types(editor: Editor, params: Json) -> None:
    with pytest.raises(ServerError) as failure:
        editor.client.request("axe/changes", {"runId": "0", **params})
    assert failure.value.code == -32602
