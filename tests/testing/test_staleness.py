"""Recordings that no longer fit their agents are found without a run, and only where a run would find them stale."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.schema.tools import TOOLS
from axe_lsp.runtime.recordings.file import load_recording
from axe_lsp.testing import staleness, suite
from axe_lsp.testing.staleness import stale_recordings
from support.agent_tests import RECORDING, Project

_LEAD, _TESTS = "axe/agents/lead.toml", "axe/agents/tests.toml"
_RECORDED = "axe/tests/recordings/asks.toml"
_SPAWNED = ', "call_agent"]'


def reason(project: Project, agent: str = "lead") -> str:
    """Return why the recording of the project is stale, "" if it is not."""
    ((_, told),) = stale_recordings([project.root / _RECORDED], agent, project.root, os.environ)
    return told


@pytest.fixture
def recorded(project: Project) -> Project:
    """Return the project, whose recording has the requests of a child, too."""
    project.edit(_RECORDED, 'agent = "tests"\n', 'agent = "tests"\nsystem = "Run."\ndepth = 1\n')
    project.edit(_TESTS, "tools", 'system_prompt = "Run."\ntools')
    return project


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        (_LEAD, "m-lead", "m-other", 'model: recorded "openai/m-lead", now "openai/m-other"'),
        (
            _LEAD,
            "You lead.",
            "You leap.",
            'run 1 (agent "lead"), system differs at character 8: recorded "You lead.", now "You leap."',
        ),
        (_LEAD, "You lead.", "You lead. Now.", "system differs at character 10"),
        (_LEAD, "You lead.", "You", "system differs at character 4"),
        (
            _LEAD,
            ', "write_file"]',
            "]",
            "tools: recorded read_file, write_file, call_agent, now read_file, call_agent",
        ),
        (_LEAD, 'sub_agents = ["tests", "docs"]', "", "tools: "),
        ("axe/agents/docs.toml", "m-docs", 'm-docs"\ninput = { type = "object" } #', "tools: "),
        (_TESTS, "Run.", "Go.", 'run 2 (agent "tests"), system differs at character 1'),
    ],
)
async def test_a_changed_agent_is_found_as_by_a_run(
    recorded: Project, path: str, old: str, new: str, told: str
) -> None:
    file = recorded.case()
    assert reason(recorded) == ""
    assert [each.verdict for each in await recorded.outcomes(file)] == ["passed"]
    recorded.edit(path, old, new)
    assert told in reason(recorded)
    assert [each.verdict for each in await recorded.outcomes(file)] == ["stale"]


@pytest.mark.parametrize(
    ("since", "item", "verdict"),
    [
        ("0.2.0", "gre*", "passed"),
        ("0.2.0", "grep", "stale"),
        ("", "gre*", "stale"),
    ],
    ids=["recent tool by a glob", "recent tool by its name", "tool of the first release"],
)
async def test_recent_tool_that_only_a_glob_adds_leaves_recordings_valid(
    recorded: Project, monkeypatch: pytest.MonkeyPatch, since: str, item: str, verdict: str
) -> None:
    monkeypatch.setitem(TOOLS, "grep", replace(TOOLS["grep"], since=since))
    recorded.edit(_LEAD, '"write_file"]', f'"write_file", "{item}"]')
    assert bool(reason(recorded)) == (verdict == "stale")
    assert [each.verdict for each in await recorded.outcomes(recorded.case())] == [verdict]


async def test_an_agent_that_its_caller_can_not_call_any_more_is_found_if_results_are_recorded(
    recorded: Project,
) -> None:
    recorded.edit(_LEAD, '"tests", ', "")
    assert reason(recorded) == ""
    assert [each.verdict for each in await recorded.outcomes(recorded.case())] == ["passed"]
    sent = """[[run.turn]]
sent = [
    { role = "tool", call_id = "1", content = "x = 1\\n" },
    { role = "tool", call_id = "2", content = "212 passed" },
]
"""
    recorded.edit(_RECORDED, '[[run.turn]]\ntext = "I write."', sent + 'text = "I write."')
    sent = '[[run.turn]]\nsent = [{ role = "tool", call_id = "3", content = "written" }]\n'
    recorded.edit(_RECORDED, "[[run.turn]]\ntext = '{", sent + "text = '{")
    sent = '[[run.turn]]\nsent = [{ role = "tool", call_id = "4", content = "gone" }]\n'
    recorded.edit(_RECORDED, '[[run.turn]]\ntext = "212', sent + 'text = "212')
    assert reason(recorded) == 'run 2: no caller has agent "tests" in sub_agents'
    assert [each.verdict for each in await recorded.outcomes(recorded.case())] == ["stale"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("axe/agents/docs.toml", "m-docs", "m-other"),
        (_TESTS, 'tools = ["read_file"]', 'description = "Runs them."\ntools = ["read_file"]'),
        (_LEAD, "You lead.", 'You lead."\nfiles = ["none/*"] #'),
    ],
)
async def test_changes_that_no_request_shows_are_none(
    recorded: Project, path: str, old: str, new: str
) -> None:
    recorded.edit(path, old, new)
    assert reason(recorded) == ""
    assert [each.verdict for each in await recorded.outcomes(recorded.case())] == ["passed"]


def test_a_recorded_prompt_may_go_on_with_files_and_no_other_way(recorded: Project) -> None:
    recorded.edit(_RECORDED, '"You lead."', '"You lead.\\n\\n---\\n\\n## Context Files\\n\\n…"')
    assert "system differs at character 10" in reason(recorded)
    recorded.edit(_LEAD, 'tools = ["read', 'files = ["*.md"]\ntools = ["read')
    assert reason(recorded) == ""
    recorded.edit(_LEAD, "You lead.", "You lead")
    assert "system differs at character 9" in reason(recorded)


def test_tools_of_servers_are_not_known_before_a_run(recorded: Project) -> None:
    recorded.edit(_RECORDED, _SPAWNED, ', "call_agent", "issues/list"]')
    assert "tools: " in reason(recorded)
    server = '[[mcp_servers]]\nname = "issues"\nurl = "http://localhost:1"\ntransport = "sse"\n'
    path = recorded.root / _LEAD
    path.write_text(path.read_text() + server)
    assert reason(recorded) == ""


def test_an_inline_type_is_not_the_agent_of_that_name(recorded: Project) -> None:
    """A recorded run does not say which tool has started it."""
    path = recorded.root / _LEAD
    path.write_text(path.read_text() + '[task]\ntypes = []\n[task.type.tests]\nprompt = "Go."\n')
    recorded.edit(_RECORDED, _SPAWNED, ', "call_agent", "Task"]')
    recorded.edit(_TESTS, "Run.", "Go.")
    assert reason(recorded) == ""


def test_a_recording_of_another_agent_answers_nothing(recorded: Project) -> None:
    assert reason(recorded, "docs") == 'it has no run of agent "docs"'


def test_a_recording_that_can_not_be_read_says_why(project: Project) -> None:
    project.write(_RECORDED, "version = 7")
    assert "version 7 is unknown" in reason(project)


def test_no_recording_is_read_outside_the_project(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text("version = 7")
    link = project.tests / "recordings" / "link.toml"
    link.symlink_to(outside)
    paths = [outside, link, project.tests / "gone.toml"]
    assert list(stale_recordings(paths, "lead", project.root, os.environ)) == []


def test_a_recording_is_parsed_when_it_is_written_and_not_at_each_look(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[Path] = []

    def counted(path: Path) -> object:
        parsed.append(path)
        return load_recording(path)

    monkeypatch.setattr(staleness, "load_recording", counted)
    for _ in range(3):
        assert reason(project) == ""
    project.edit(_LEAD, "You lead.", "You leap.")
    assert reason(project)
    assert len(parsed) == 1
    project.write(_RECORDED, RECORDING.replace("You lead.", "You leap."))
    assert reason(project) == ""
    assert len(parsed) == 2


def test_no_example_that_ships_is_stale() -> None:
    demo = Path(staleness.__file__).parents[1] / "demo"
    suites = [
        suite.load_suite(file, file.name, file.parents[2]) for file in suite.tests_below(demo)
    ]
    assert len(suites) > 3
    for each in suites:
        paths = [each.recording(case) for case in each.cases.cases]
        found = list(stale_recordings(paths, each.cases.agent, each.project, os.environ))
        assert found == [(path, "") for path in paths]
