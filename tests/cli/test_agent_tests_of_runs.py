"""`axe-lsp test new`: a case that is made of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.agent_tests import Project, script
from support.command_line import Home
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider


@pytest.mark.parametrize(
    "link", ["lead.toml", "recordings", "recordings/lead", "recordings/lead/Go.toml"]
)
def test_no_case_is_written_through_a_link_of_the_repository(
    home: Home, project: Project, provider: ScriptedProvider, tmp_path: Path, link: str
) -> None:
    """One that leads nowhere yet, too: somebody else would read what is written there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    script(provider)
    assert home.call("run", "lead", "-p", "Go.")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    place = project.tests / link
    if place.is_dir():
        place.rename(tmp_path / "former")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside / "start.toml" if link.endswith(".toml") else outside)
    code, _, err = home.call("test", "new", run["runId"][:8])
    assert (code, "is a link out of" in err) == (2, True)
    assert list(outside.iterdir()) == []


def test_a_case_is_made_of_a_run(home: Home, project: Project, provider: ScriptedProvider) -> None:
    project.write("src/a.py", "a = 1\n")
    script(provider)
    assert home.call("run", "lead", "-p", "Can this be released? Tell me.")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    home.environment.pop("OPENAI_API_KEY")
    code, out, err = home.call("test", "new", run["runId"][:8])
    assert (code, err) == (0, ""), out
    assert out.startswith(
        "axe/tests/lead.toml::Can this be released Tell me, recorded in axe/tests/rec"
    )
    text = (project.tests / "lead.toml").read_text()
    assert text.startswith('agent = "lead"\nworkspace = "../.."\n')
    assert text.endswith("# The answer was:\n# Yes: 212 passed\n")
    recording = project.tests / "recordings/lead/Can-this-be-released-Tell-me.toml"
    assert "key-openai" not in recording.read_text()
    assert home.call("test")[0] == 0
    assert home.call("test", "new", run["runId"][:8])[0] == 0, "a second case has another name"
    assert "Tell me 2" in (project.tests / "lead.toml").read_text()
    inline = project.write("axe/tests/inline.toml", 'agent = "lead"\ncase = [{ name = "x" }]\n')
    code, _, err = home.call("test", "new", run["runId"], "--into", str(inline))
    assert (code, "have to be tables `[[case]]`" in err) == (2, True)
    assert inline.read_text().count("\n") == 2, "nothing was written"
    inline.unlink()
    project.edit("axe/agents/lead.toml", "You lead.", "You read.")
    code, out, _ = home.call("test")
    assert code == 1
    assert out.count("turn 1, system differs at character 5") == 2
    assert len(provider.requests) == 3


def test_a_case_has_the_files_of_prompts(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.write("wish.md", "A wish.\n")
    project.edit("axe/agents/docs.toml", "model", 'files = ["wish.md"]\nmodel')
    provider.script("m-docs", Says("done"))
    assert home.call("run", "docs", "-p", "Do it")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    code, out, _ = home.call("test", "new", run["runId"])
    assert code == 0, out


def test_case_of_newest_run_that_searches_the_project_replays(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    project.edit("axe/agents/lead.toml", "tools = [", 'tools = ["grep", "find_files", ')
    project.write("src/a.py", "a = 1\n")
    calls = [Call("grep", {"pattern": "Search"}), Call("find_files", {"pattern": "**/*.toml"})]
    provider.script("m-lead", Says(calls=calls), Says("found"))
    assert home.call("run", "lead", "-p", "Search it")[0] == 0

    code, out, _ = home.call("test", "new")

    assert code == 0, out
    assert home.call("test")[0] == 0


def test_a_case_of_a_run_that_wanted_to_change_files_replays_the_results_of_tools(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    write = Call("write_file", {"path": "note.md", "content": "x"})
    provider.script("m-lead", Says(calls=[write]), Says("written"))
    assert home.call("run", "lead", "-p", "Write it")[0] == 0
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    code, out, _ = home.call("test", "new", run["runId"])
    assert code == 0, out
    assert "Note: results of tools are replayed" in out
    assert 'tools = "recorded"\n' in (project.tests / "lead.toml").read_text()


def test_a_case_needs_a_run_with_its_requests(home: Home, project: Project) -> None:
    assert (
        home.call(
            "run",
            "lead",
            "-p",
            "Can this be released?",
            "--replay",
            "axe/tests/recordings/asks.toml",
        )[0]
        == 0
    )
    (run,) = json.loads(home.call("history", "list", "--json")[1])
    code, out, err = home.call("test", "new", run["runId"])
    assert (code, out) == (2, "")
    assert "the history has no requests" in err
    assert home.call("test", "new", "zzz")[0] == 2


def test_a_case_that_needs_more_than_the_file_has_gets_another_file(
    home: Home, project: Project, provider: ScriptedProvider
) -> None:
    def new_case(task: str, *answers: Says | Refuses) -> tuple[int, str, str]:
        provider.script("m-lead", *answers)
        home.call("run", "lead", "-p", task)
        run = json.loads(home.call("history", "list", "--json")[1])[0]
        return home.call("test", "new", run["runId"][:8])

    project.write("src/a.py", "a = 1\n")
    read = Says(calls=[Call("read_file", {"path": "src/a.py"})])
    assert new_case("Say hello", Says("Hello."))[0] == 0
    code, out, _ = new_case("x" * 400, read, Says("One."))
    assert (code, out.startswith("axe/tests/lead-2.toml::xxx")) == (0, True), out
    assert new_case("Read again", read, Says("One."))[1].startswith("axe/tests/lead-2.toml::")
    assert new_case("Say bye", Says("Bye."))[1].startswith("axe/tests/lead.toml::")

    code, out, err = new_case("Fail", Refuses(401, "no key"))
    assert (code, out) == (2, "")
    assert 'agent "lead" got no answer in this run' in err
    assert "Fail" not in (project.tests / "lead.toml").read_text()
