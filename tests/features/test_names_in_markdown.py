"""Names of agents in Markdown: where they lead, who uses them, what they can be, and other names for them."""

from __future__ import annotations

import pytest

from axe_lsp.features.call_hierarchy import incoming_calls, outgoing_calls
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.definition import definition
from axe_lsp.features.delegation_graph import delegation_graph
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import RenameError
from axe_lsp.features.hover import hover
from axe_lsp.features.references import references
from axe_lsp.features.rename import rename
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.workspace import Change, Workspace
from support.edits import edited
from support.fixture import open_fixture, texts_of

CLAUDE = "/project/.claude/agents"
COPILOT = "/project/.github/agents"
OPENCODE = "/project/.opencode/agents"


def claude(name: str, more: str = "", folder: str = CLAUDE) -> str:
    return f"--- {folder}: {name}.md\n---\nname: {name}\ndescription: d of {name}\n{more}---\nGo.\n"


def other(folder: str, file: str, more: str = "") -> str:
    return f"--- {folder}: {file}\n---\ndescription: d\n{more}---\nGo.\n"


TEAM = {
    "claude text": claude("lead", "tools: Read, Agent(<|>one, two)\n") + claude("one"),
    "claude list": claude("lead", "tools:\n  - Read\n  - 'Task(two,<|>one)'\n") + claude("one"),
    "copilot agents": other(COPILOT, "lead.agent.md", "agents: ['<|>one']\n")
    + other(COPILOT, "one.agent.md"),
    "copilot handoffs": other(
        COPILOT, "lead.agent.md", "handoffs:\n  - label: l\n    agent: <|>one\n    prompt: p\n"
    )
    + other(COPILOT, "x.agent.md", "name: one\n"),
    "opencode": other(
        OPENCODE, "lead.md", "permission:\n  task:\n    '*': deny\n    '<|>one': allow\n"
    )
    + other(OPENCODE, "one.md"),
}


@pytest.mark.parametrize("fixture", TEAM.values(), ids=TEAM)
def test_name_of_an_agent_leads_to_its_file_and_back(fixture: str) -> None:
    opened = open_fixture(fixture)
    snapshot, lead = opened.snapshot, opened.file
    target = definition(snapshot, lead, opened.offset)
    assert target is not None
    assert target.uri != lead.uri
    assert target.origin.of(opened.text).strip("'") == "one"
    found = references(snapshot, lead, opened.offset, include_declaration=True)
    assert [each.uri for each in found] == [target.uri, lead.uri]
    agent = snapshot.file(target.uri)
    assert agent is not None
    assert [each.agent.uri for each in incoming_calls(snapshot, agent)] == [lead.uri]
    assert [each.agent.uri for each in outgoing_calls(snapshot, lead)] == [target.uri]
    graph = delegation_graph(snapshot)
    assert (lead.uri, target.uri) in {(each.source, each.target) for each in graph.edges}
    assert {"lead", "one"} <= {each.name for each in graph.nodes}


@pytest.mark.parametrize("fixture", TEAM.values(), ids=TEAM)
def test_rename_changes_the_agent_and_all_that_name_it(fixture: str) -> None:
    opened = open_fixture(fixture)
    texts = texts_of(fixture)
    edit = rename(opened.snapshot, opened.file, opened.offset, "new", texts.__getitem__)
    assert edit is not None
    after = edited(texts, edit)
    lead = after[opened.file.uri]
    assert lead == opened.text.replace("one", "new")
    (uri,) = set(after) - {opened.file.uri}
    if "name: one" in fixture:
        assert "name: new\n" in after[uri]
    else:
        assert uri.rpartition("/")[2] in ("new.md", "new.agent.md")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("two", "already"), ("a, b", "marks of YAML"), ("", "blank"), ("-x", "hyphen")],
)
def test_rename_to_a_name_that_does_not_fit_is_refused(name: str, reason: str) -> None:
    fixture = claude("lead", "tools: Agent(<|>one)\n") + claude("one") + claude("two")
    opened = open_fixture(fixture)
    with pytest.raises(RenameError, match=reason):
        rename(opened.snapshot, opened.file, opened.offset, name, texts_of(fixture).__getitem__)


def test_new_name_that_is_no_text_in_yaml_gets_quotes() -> None:
    fixture = claude("lead", "tools: Agent(one)\n") + claude("on<|>e")
    fixture = fixture.replace("name: on<|>e", "name: o<|>ne").replace("on<|>e", "one")
    opened = open_fixture(fixture)
    texts = texts_of(fixture)
    edit = rename(opened.snapshot, opened.file, opened.offset, "true", texts.__getitem__)
    assert edit is not None
    assert 'name: "true"\n' in edited(texts, edit)[opened.file.uri]


@pytest.mark.parametrize(
    ("program", "more"),
    [
        ("claude", "tools: Read, Agent(two, <|>)\n"),
        ("claude", "tools:\n  - Agent(o<|>\n"),
        ("copilot", "agents: [two, <|>]\n"),
        ("copilot", "agents:\n  - o<|>\n"),
        ("copilot", "handoffs:\n  - label: l\n    agent: o<|>\n"),
        ("opencode", "permission:\n  edit: deny\n  task:\n    '*': deny\n    <|>\n"),
    ],
)
def test_agents_of_the_program_are_offered_where_a_name_is_due(program: str, more: str) -> None:
    lead = {
        "claude": claude("lead", more),
        "copilot": other(COPILOT, "lead.agent.md", more),
        "opencode": other(OPENCODE, "lead.md", more),
    }[program]
    one = {
        "claude": claude("one"),
        "copilot": other(COPILOT, "one.agent.md"),
        "opencode": other(OPENCODE, "one.md"),
    }[program]
    twin = claude("not") if program != "claude" else other(COPILOT, "not.agent.md")
    opened = open_fixture(lead + one + twin + '--- axes.toml\nname = "axes"\n')
    found = completion(opened.snapshot, opened.file, opened.offset)
    assert [each.label for each in found] == ["one"]
    typed = opened.text[found[0].replace.start : opened.offset]
    assert typed in ("", "o")


@pytest.mark.parametrize("more", ["tools: <|>Read\n", "tools: Agent(one)<|>\n", "color: <|>\n"])
def test_no_agents_are_offered_elsewhere(more: str) -> None:
    opened = open_fixture(claude("lead", more) + claude("one"))
    found = completion(opened.snapshot, opened.file, opened.offset)
    assert "one" not in [each.label for each in found]


def test_unknown_agent_is_reported_where_vs_code_reports_it() -> None:
    more = "agents: [one, onne, agent]\nhandoffs: [{label: l, agent: absent, prompt: p}]\n"
    opened = open_fixture(other(COPILOT, "lead.agent.md", more) + other(COPILOT, "one.agent.md"))
    found = [each for each in diagnostics(opened.snapshot, opened.file) if "agent" in each.code]
    assert [(each.code, each.message) for each in found] == [
        ("unknown-agent", 'VS Code: unknown agent "onne". Did you mean `one`?'),
        ("unknown-agent", 'VS Code: unknown agent "absent".'),
    ]


@pytest.mark.parametrize(
    "fixture",
    [
        claude("lead", "tools: Agent(gone)\n"),
        other(OPENCODE, "lead.md", "permission: {task: {gone: allow}}\n"),
    ],
)
def test_unknown_agent_is_not_reported_where_the_program_says_nothing(fixture: str) -> None:
    opened = open_fixture(fixture)
    assert diagnostics(opened.snapshot, opened.file) == ()


def test_name_means_the_agent_of_its_own_program_only() -> None:
    opened = open_fixture(
        claude("lead", "tools: Agent(<|>one)\n")
        + other(COPILOT, "one.agent.md")
        + '--- one.toml\nname = "one"\nmodel = "ollama/m"\n'
    )
    assert definition(opened.snapshot, opened.file, opened.offset) is None
    one = opened.snapshot.file("file:///project/axe/agents/one.toml")
    assert one is not None
    assert incoming_calls(opened.snapshot, one) == []


def test_of_several_files_the_one_counts_that_the_program_uses() -> None:
    fixture = (
        claude("lead", "tools: Agent(<|>one)\n")
        + claude("one", folder=f"{CLAUDE}/deep")
        + claude("one").replace("one.md", "zeta.md")
        + claude("one").replace("one.md", "zz.md").replace("description: d of one\n", "")
    )
    opened = open_fixture(fixture)
    target = definition(opened.snapshot, opened.file, opened.offset)
    assert target is not None
    assert target.uri.endswith("/zeta.md")


def test_hover_shows_the_agent_that_a_name_means() -> None:
    opened = open_fixture(TEAM["claude text"])
    shown = hover(opened.snapshot, opened.file, opened.offset)
    assert shown is not None
    assert "d of one" in shown.markdown


def test_users_folders_of_opencode_win_over_the_project_but_for_the_weakest() -> None:
    layers = ("file:///home/.config/opencode", "file:///home/.opencode", "file:///variable")
    homes = tuple(("opencode", layer) for layer in layers)
    workspace = Workspace(Places(roots=("file:///project",), homes=homes))
    text = "---\ndescription: d\n---\nGo.\n"
    weakest_first = (layers[0], "file:///project/.opencode", *layers[1:])
    uris = [f"{layer}/agent/one.md" for layer in weakest_first]
    lead = "file:///project/.opencode/agent/lead.md"
    for number, uri in enumerate(uris):
        listing = "---\ndescription: d\npermission:\n  task:\n    one: allow\n---\nGo.\n"
        snapshot = workspace.apply(
            [Change(lead, listing), Change(uri, text)], complete=True
        ).snapshot
        caller = snapshot.file(lead)
        assert caller is not None
        agent = snapshot.agent("one", caller)
        assert agent is not None
        assert agent.uri == uris[number]
