"""Commands of opencode in Markdown: faults for which it does not start, and the agents that they name (opencode 1.18.33)."""

from __future__ import annotations

import pytest

from axe_lsp.features.call_hierarchy import incoming_calls
from axe_lsp.features.code_lens import code_lenses
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.definition import definition
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import Severity
from axe_lsp.features.hover import hover
from axe_lsp.features.references import references
from axe_lsp.features.rename import rename
from axe_lsp.features.workspace_symbol import workspace_symbols
from support.edits import edited
from support.fixture import Fixture, open_fixture, texts_of

FOLDER = "/project/.opencode/command"
AGENT = "--- /project/.opencode/agents: one.md\n---\ndescription: d\n---\nGo.\n"


def command(text: str, name: str = "do.md") -> str:
    return f"--- {FOLDER}: {name}\n{text}"


def found(text: str) -> list[tuple[str, Severity, str]]:
    fixture = open_fixture(command(text))
    return [
        (each.code, each.severity, each.range.of(fixture.text))
        for each in diagnostics(fixture.snapshot, fixture.file)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Only a prompt.\n",
        "---\ndescription: 'Use: x'\nagent: nobody\nmodel: a/b\nsubtask: true\nfoo: 3\n---\nDo $ARGUMENTS\n",
        "---\ndescription: Use: x\n---\nDo @one and @README.md\n",
    ],
)
def test_command_that_opencode_loads_is_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("subtask: 'yes'", "'yes'"),
        ("model: 3", "3"),
        ("description:", "description"),
        ("agent: [one]", "[one]"),
    ],
)
def test_wrong_type_for_which_opencode_does_not_start_is_an_error(line: str, marked: str) -> None:
    assert found(f"---\n{line}\n---\nGo.\n") == [("wrong-type", Severity.ERROR, marked)]


def test_fault_in_yaml_that_loses_the_front_matter_is_an_error() -> None:
    ((code, severity, _),) = found("---\ndescription: @x\n---\nGo.\n")
    assert (code, severity) == ("syntax", Severity.ERROR)


def test_model_without_a_provider_and_misspelt_key_are_warned_of() -> None:
    codes = [(code, severity) for code, severity, _ in found("---\nmodel: gpt\nagnt: one\n---\n")]
    assert codes == [("no-effect", Severity.WARNING), ("unknown-key", Severity.WARNING)]


@pytest.mark.parametrize(
    "text", ["---\nagent: <|>one\n---\nGo.\n", "---\nmodel: a/b\n---\nAsk @<|>one, then stop.\n"]
)
def test_agent_of_a_command_leads_to_its_file_and_back(text: str) -> None:
    opened = open_fixture(command(text) + AGENT)
    target = definition(opened.snapshot, opened.file, opened.offset)
    assert target is not None
    assert target.origin.of(opened.text) == "one"
    agent = opened.snapshot.file(target.uri)
    assert agent is not None
    assert agent.called == "one"
    uris = [
        each.uri
        for each in references(
            opened.snapshot, opened.file, opened.offset, include_declaration=True
        )
    ]
    assert uris == [agent.uri, opened.file.uri]
    assert [each.agent.uri for each in incoming_calls(opened.snapshot, agent)] == [opened.file.uri]
    assert hover(opened.snapshot, opened.file, opened.offset) is not None


def test_rename_of_an_agent_changes_commands() -> None:
    texts = command("---\nagent: one\n---\nAsk @<|>one, @one.md and one@one.\n") + AGENT
    opened = open_fixture(texts)
    edit = rename(opened.snapshot, opened.file, opened.offset, "two", texts_of(texts).__getitem__)
    assert edit is not None
    after = edited(texts_of(texts), edit)
    text = "---\nagent: two\n---\nAsk @two, @one.md and one@one.\n"
    assert after[f"file://{FOLDER}/do.md"] == text
    assert "file:///project/.opencode/agents/two.md" in after


def offered(text: str) -> list[str]:
    opened: Fixture = open_fixture(command(text) + AGENT)
    return [each.label for each in completion(opened.snapshot, opened.file, opened.offset)]


def test_keys_and_agents_are_offered() -> None:
    assert {"agent", "subtask"} <= set(offered("---\n<|>\n---\nGo.\n"))
    assert offered("---\nagent: <|>\n---\nGo.\n") == ["one"]


def test_command_is_no_agent() -> None:
    opened = open_fixture(command("---\nagent: one\n---\nGo.\n", "one.md") + AGENT)
    assert code_lenses(opened.snapshot, opened.file) == []
    assert [each.place.folder for each in workspace_symbols(opened.snapshot, "one")] == [
        "file:///project/.opencode/agents"
    ]
