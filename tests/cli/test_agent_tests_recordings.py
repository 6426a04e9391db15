"""`axe-lsp test` and recordings: how they are made, replaced, found stale and left out."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from support.agent_tests import HEAD, JUDGE, RECORDING, TEST, Project, script, shows
from support.command_line import Home
from support.scripted_provider import Answer, Call, Hold, Refuses, Says, ScriptedProvider


@pytest.mark.parametrize(
    ("old", "new", "reason", "diff"),
    [
        (
            "You lead.",
            "You lead well.",
            'turn 1, system differs at character 9: recorded "You lead.", sent "You lead well."',
            ["-You lead.", "+You lead well."],
        ),
        (
            '"write_file"]',
            '"edit_file"]',
            "turn 1, tools differs at character 12: recorded",
            ["-read_file, write_file, call_agent", "+read_file, edit_file, call_agent"],
        ),
        (
            "openai/m-lead",
            "openai/m-other",
            'turn 1, model differs at character 10: recorded "openai/m-lead"',
            ["-openai/m-lead", "+openai/m-other"],
        ),
    ],
)
def test_a_changed_agent_makes_the_recording_stale(
    home: Home, project: Project, old: str, new: str, reason: str, diff: list[str]
) -> None:
    project.case('\n[case.expect]\nanswer = { contains = "never" }\n')
    project.edit("axe/agents/lead.toml", old, new)
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "  STALE asks\n" in out
    assert f'release.toml:6: run 1 (agent "lead"), {reason}' in out
    assert all(f"      {line}\n" in out for line in diff)
    command = "axe-lsp test --record --update axe/tests/release.toml::asks"
    assert f"      `{command}` records it again\n" in out
    assert "never" not in out, "nothing is judged on a stale answer"


def test_loose_accepts_a_changed_prompt_and_no_changed_task(home: Home, project: Project) -> None:
    project.case()
    project.edit("axe/agents/lead.toml", "You lead.", "You lead well.")
    assert home.call(*TEST, "--loose")[0] == 0
    project.case(head=HEAD.replace("Can this", "Could this"))
    code, out, _ = home.call(*TEST, "--loose")
    assert code == 1
    assert "sent 1, content differs at character 2" in out


def test_a_case_without_a_recording_names_the_next_step(home: Home, project: Project) -> None:
    project.case(head=HEAD.replace('replay = "asks.toml"\n', ""))
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "MISSING asks" in out
    assert "`axe-lsp test --record axe/tests/release.toml::asks` makes it" in out


def test_a_case_is_recorded_judged_and_replayed(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    head = HEAD.replace('replay = "asks.toml"\n', "")
    project.case('\n[case.expect]\nanswer = { contains = "212" }\n', head)
    recording = project.tests / "recordings" / "release" / "asks.toml"
    script(provider)
    assert home.call(*TEST, "--record")[0] == 0
    assert "212 passed" in recording.read_text()
    assert "key-openai" not in recording.read_text()
    assert str(home.work) not in recording.read_text()
    home.environment.pop("OPENAI_API_KEY")
    assert home.call(*TEST)[0] == 0
    before = recording.read_text()
    assert home.call(*TEST, "--record")[0] == 0, "what has a recording is replayed"
    assert recording.read_text() == before


def test_a_recording_that_can_not_be_written_fails_its_case_before_it_costs(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    other = HEAD[HEAD.index("[[case]]") :]
    project.case(other.replace('"asks"', '"other"'), HEAD.replace("asks.toml", "blocked/asks.toml"))
    (project.tests / "recordings" / "blocked").write_text("")
    code, out, err = home.call(*TEST, "--record")
    assert (code, err) == (1, "")
    blocked = project.tests / "recordings" / "blocked"
    assert f"release.toml:6: the recording can't be written: {blocked} is not a folder" in out
    assert "  ok other\n" in out, "the other cases are run"
    assert provider.requests == []


@pytest.mark.parametrize("damaged", ["version = [", "", "version = 99\n"])
def test_a_damaged_recording_says_how_it_is_replaced_and_is(
    home: Home, project: Project, provider: ScriptedProvider, damaged: str
) -> None:
    project.case()
    recording = project.write("axe/tests/recordings/asks.toml", damaged)
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "failed to parse recording" in out
    command = "axe-lsp test --record --update axe/tests/release.toml::asks"
    assert f"`{command}` records it again" in out
    script(provider)
    code, out, err = home.call(*TEST, "--record", "--update", "--yes")
    assert (code, "  ok asks (recorded again)\n" in out) == (0, True)
    assert "+text = " in err
    assert "212 passed" in recording.read_text()
    assert home.call(*TEST)[0] == 0


def test_an_interrupted_recording_leaves_none_and_tells_what_is_not_done(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("late"), hold=hold))
    other = HEAD[HEAD.index("[[case]]") :].replace('"asks"', '"new"').replace("asks.toml", "n.toml")
    project.case(other)
    with home.start(*TEST, "--record") as process:
        shows(process.stdout, "ok asks")
        hold.wait_until_arrived()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    assert "1 passed, 1 interrupted in " in out
    assert [each.name for each in (project.tests / "recordings").iterdir()] == ["asks.toml"]


def test_a_killed_recording_leaves_none(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("late"), hold=hold))
    project.case(head=HEAD.replace("asks.toml", "n.toml"))
    with home.start(*TEST, "--record") as process:
        hold.wait_until_arrived()
        process.kill()
        process.communicate(timeout=60)
    assert [each.name for each in (project.tests / "recordings").iterdir()] == ["asks.toml"]


def test_the_folder_of_a_killed_test_is_removed_by_the_next_one(
    home: Home, project: Project, provider: ScriptedProvider, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    (scratch / "axe-test-of-somebody").mkdir(parents=True)
    home.environment["TMPDIR"] = str(scratch)
    hold = Hold()
    provider.script("m-lead", Answer(Says("late"), hold=hold))
    project.case(head=HEAD.replace("asks.toml", "n.toml"))
    with home.start(*TEST, "--record") as process:
        hold.wait_until_arrived()
        (folder,) = scratch.glob("axe-test-*/case-*")
        project.case()
        assert home.call(*TEST)[0] == 0
        assert folder.exists(), "its process is alive"
        process.kill()
        process.communicate(timeout=60)
    assert folder.exists()
    assert home.call(*TEST)[0] == 0
    assert [each.name for each in scratch.iterdir()] == ["axe-test-of-somebody"]


def test_a_providers_failure_is_no_recording(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case(head=HEAD.replace('replay = "asks.toml"\n', ""))
    provider.script("m-lead", Refuses(401, "no such key"))
    code, out, _ = home.call(*TEST, "--record")
    assert code == 3
    assert "PROVIDER asks" in out
    assert "no such key" in out
    assert not (project.tests / "recordings" / "release").exists()


def test_the_folder_of_a_run_is_not_in_its_recording(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    """Commands print the folder, which differs each time; and the model names it again."""
    (project.tests / "recordings/asks.toml").unlink()
    project.edit("axe/agents/lead.toml", '"write_file"]', '"run_command"]')
    head = HEAD.replace('["write_file"]', '["run_command(pwd)", "run_command(ls *)"]')
    head = head.replace('replay = "asks.toml"\n', "")
    project.case(
        '\n[case.expect]\ntools = [{ calls = [{ name = "run_command", error = false }] }]\n', head
    )
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": "pwd"})]), Says("done"))
    code, out, err = home.call(*TEST, "--record")
    assert (code, err) == (0, ""), out
    assert "/axe-test-workspace\n" in (project.tests / "recordings/release/asks.toml").read_text()
    code, out, err = home.call(*TEST)
    assert (code, err) == (0, ""), out


def test_a_conversation_has_several_tasks(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    head = HEAD.replace('"Can this be released?"', '["First", "And then?"]')
    head = head.replace('replay = "asks.toml"\n', "")
    project.case('\n[case.expect]\nanswer = { equals = "second" }\nturns = { equals = 2 }\n', head)
    provider.script("m-lead", Says("first"), Says("second"))
    code, out, _ = home.call(*TEST, "--record")
    assert code == 0, out
    told = provider.requests[1].body["messages"]
    assert [each["content"] for each in told][-3:] == ["First", "first", "And then?"]
    code, out, _ = home.call(*TEST)
    assert code == 0, out
    assert len(provider.requests) == 2


def test_a_judge_is_an_agent_and_is_replayed(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.write("axe/agents/judge.toml", JUDGE)
    head = HEAD.replace('replay = "asks.toml"\n', "")
    project.case('\n[[case.expect.judge]]\nagent = "judge"\ncriteria = "Is brief."\n', head)
    script(provider)
    provider.script("m-judge", Says(json.dumps({"pass": False, "reason": "It is long."})))
    code, out, _ = home.call(*TEST, "--record")
    assert code == 1
    assert 'release.toml:10: judge "judge": It is long.' in out
    asked = json.dumps([each.body for each in provider.requests if each.body["model"] == "m-judge"])
    assert "Is brief." in asked
    assert "lead called call_agent" in asked
    requests = len(provider.requests)
    code, out, _ = home.call(*TEST)
    assert code == 1
    assert "It is long." in out
    assert len(provider.requests) == requests


def test_recordings_that_are_too_large_are_named_as_such(home: Home, project: Project) -> None:
    project.case()
    with (project.tests / "recordings/asks.toml").open("wb") as file:
        file.truncate(2**31)
    code, _, err = home.call("trust", "axe/tests/release.toml")
    expected = "axe/tests/release.toml: its recordings are larger than 256 MB ("
    assert (code, err.startswith(expected)) == (2, True), err


def test_recordings_that_no_case_uses_are_named(home: Home, project: Project) -> None:
    project.case()
    project.write("axe/tests/others.toml", HEAD.replace("asks.toml", "release/other.toml"))
    for name in ("other", "renamed"):
        project.write(f"axe/tests/recordings/release/{name}.toml", RECORDING)
    code, _, err = home.call(*TEST)
    unused = "Warning: no case uses the recording axe/tests/recordings/release/renamed.toml\n"
    assert (code, err) == (0, unused)
    assert home.call(*TEST, "axe/tests/release.toml")[2] == "", "the other files were not read"


def test_recordings_outside_the_project_are_not_looked_for(
    home: Home, project: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.toml").touch()
    project.case(head=HEAD.replace('"asks.toml"', '"../../kept/asks.toml"'))
    recordings = project.tests / "recordings"
    recordings.rename(project.root / "axe" / "kept")
    recordings.symlink_to(outside)
    code, out, err = home.call(*TEST)
    assert (code, err) == (0, ""), out


def test_a_recording_is_replaced_after_its_difference_was_shown(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case('\n[case.expect]\nanswer = { contains = "213" }\n')
    recording = project.tests / "recordings" / "asks.toml"
    before = recording.read_text()
    code, _, err = home.call(*TEST, "--record", "--update")
    assert (code, "--yes replaces recordings" in err) == (2, True)
    assert (recording.read_text(), provider.requests) == (before, [])
    script(provider, "Yes: 213 passed")
    code, _, err = home.call(*TEST, "--record", "--update", "--yes")
    assert code == 0
    assert '-text = "{\\"ok\\": true' in err or '-text = \'{"ok": true' in err
    assert '+text = "Yes: 213 passed"' in err
    assert "213 passed" in recording.read_text()
    assert home.call(*TEST)[0] == 0


def test_a_program_is_asked_before_a_recording_is_replaced(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.case()
    recording = project.tests / "recordings" / "asks.toml"
    update = [*TEST, "--record", "--update", "--ask"]
    before = recording.read_text()
    for answer in ("no\n", "", "yes\n"):
        assert recording.read_text() == before
        script(provider, "Yes: 213 passed")
        code, out, _ = home.call(*update, "--format", "json", stdin=answer)
        question, result = map(json.loads, out.splitlines())
        assert (code, result["verdict"]) == (0, "passed")
        assert [question[key] for key in ("asks", "file", "name")] == [
            "replace",
            "axe/tests/release.toml",
            "asks",
        ]
        assert "212 passed" in question["before"]
        assert "213 passed" in question["after"]
    assert "213 passed" in recording.read_text()


def test_check_finds_stale_recordings(home: Home, project: Project) -> None:
    project.case()
    assert "No problems in " in home.call("check")[1]
    project.edit("axe/agents/lead.toml", "You lead.", "You leap.")
    code, out, _ = home.call("check")
    assert code == 0
    assert (
        'axe/tests/release.toml:8:10: warning[stale-recording]: the recording is stale: run 1 (agent "lead")'
        in out
    )
