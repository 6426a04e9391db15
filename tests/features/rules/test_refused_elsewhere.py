"""Agents of Claude Code in a project that uses Copilot CLI, which reads them, too, and is stricter."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.check.check import check
from axe_lsp.agentfile.check.copilot import is_plain
from axe_lsp.agentfile.dialects import COPILOT
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import Severity
from axe_lsp.workspace.workspace import Change, Workspace
from support.fixture import PLACES, open_fixture

OF_COPILOT = "--- /project/.github/agents: other.agent.md\n---\ndescription: d\n---\nGo.\n"
HEAD = "---\nname: one\ndescription: Reads.\n"


def refused(text: str, other: str = OF_COPILOT) -> list[tuple[str, str]]:
    """Return the marked texts and the messages."""
    fixture = open_fixture(f"--- /project/.claude/agents: one.md\n{text}{other}")
    found = [
        each
        for each in diagnostics(fixture.snapshot, fixture.file)
        if each.code == "refused-elsewhere"
    ]
    assert all(each.severity is Severity.WARNING for each in found)
    return [(each.range.of(fixture.text), each.message) for each in found]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("---\nname: one\ndescription: Use when: asked\n---\nGo.\n", "Use when: asked"),
        (f"{HEAD}model: opus\nmodel: haiku\n---\nGo.\n", "model"),
        (f"{HEAD}tools: 3\n---\nGo.\n", "3"),
        (f"{HEAD}skills: a, b\n---\nGo.\n", "a, b"),
        (f"{HEAD}model:\n---\nGo.\n", "model"),
    ],
)
def test_file_that_copilot_cli_refuses_is_warned_of(text: str, marked: str) -> None:
    ((where, message),) = refused(text)
    assert where == marked
    assert message.startswith("Copilot reads this folder, too: ")
    assert message.endswith("Copilot CLI does not load this file")


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}tools: Read, Grep\ncolor: red\npermissionMode: plan\n---\nGo.\n",
        f"{HEAD}tools: [Read]\nmcpServers:\n  - docs\n---\nGo.\n",
        "# Our agents\n",
        "---\nname: one\n---\nClaude Code does not load it either.\n",
    ],
)
def test_file_that_copilot_cli_loads_is_silent(text: str) -> None:
    assert refused(text) == []


@pytest.mark.parametrize(
    "other",
    [
        "",
        OF_COPILOT.replace("/project/", "/project/below/"),
        "--- /project/.cursor/agents: other.md\n---\nname: d\n---\nGo.\n",
    ],
)
def test_project_without_agents_of_copilot_is_silent(other: str) -> None:
    assert refused("---\nname: one\ndescription: Use when: asked\n---\nGo.\n", other) == []


def test_first_agent_of_copilot_brings_the_warning() -> None:
    workspace = Workspace(PLACES)
    one = "file:///project/.claude/agents/one.md"
    text = "---\nname: one\ndescription: Use when: asked\n---\nGo.\n"
    workspace.apply([Change(one, text, in_buffer=True)], complete=True)
    of_copilot = "file:///project/.github/agents/a.agent.md"
    update = workspace.apply([Change(of_copilot, "---\ndescription: d\n---\n")])
    assert one in update.affected


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["name", "description", "tools", "model", "color", "skills", "infer"]),
            st.text(alphabet="abE 1-:#'\"[{&*,\té\u00a0.yn", max_size=8),
        ),
        max_size=4,
    )
)
@example([("description", "yes")])
@example([("description", "a"), ("name", "no")])
@example([("description", "a: b")])
def test_plain_front_matter_is_one_that_copilot_cli_loads(lines: list[tuple[str, str]]) -> None:
    text = "".join(["---\n", *(f"{key}: {value}\n" for key, value in lines), "---\nGo.\n"])
    if is_plain(text):
        kind = COPILOT.agent
        parse = kind.parse(text)
        assert list(parse.problems) == []
        found = check(parse, Lookup(parse, kind.schema), kind.judge)
        assert [each for each in found if each.fatal and not each.is_warning] == []


def test_usual_front_matter_is_plain() -> None:
    assert is_plain(f"{HEAD}tools: Read, Grep\nmodel: opus\ncolor: red\nmaxTurns: 3\n---\nGo.\n")
