"""Agents of one name for several programs, and lists of axe that name agents of other programs."""

from __future__ import annotations

import pytest

from axe_lsp.features.completion.completion import completion
from axe_lsp.features.definition import definition
from axe_lsp.features.delegation_graph import delegation_graph, mermaid
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import RenameError
from axe_lsp.features.finding import Severity
from axe_lsp.features.hover import hover
from axe_lsp.features.references import references
from axe_lsp.features.rename import rename
from axe_lsp.workspace.workspace import Change, Workspace
from support.actions import Offered, after
from support.edits import edited
from support.fixture import PLACES, open_fixture, texts_of

CLAUDE = "/project/.claude/agents"
CODEX = "/project/.codex/agents"
OPENCODE = "/project/.opencode/agent"
AXE = 'model = "openai/gpt"\n'


def claude(name: str, body: str = "Go.", description: str = "d", folder: str = CLAUDE) -> str:
    head = f"---\nname: {name}\ndescription: {description}\n"
    return f"--- {folder}: {name.replace('<|>', '')}.md\n{head}---\n{body}\n"


def codex(name: str, body: str = "Go.", description: str = "d", folder: str = CODEX) -> str:
    keys = f'name = "{name}"\ndescription = "{description}"\ndeveloper_instructions = "{body}"\n'
    return f"--- {folder}: {name}.toml\n{keys}"


def opencode(name: str, body: str = "Go.") -> str:
    return f"--- {OPENCODE}: {name}.md\n---\ndescription: d\n---\n{body}\n"


def axe(name: str, more: str = "") -> str:
    return f'--- {name}.toml\nname = "{name}"\n{AXE}{more}\n'


def hints(fixture: str) -> list[str]:
    opened = open_fixture(fixture)
    found = diagnostics(opened.snapshot, opened.file)
    assert all(each.severity is Severity.HINT for each in found if each.code == "differing-twin")
    return [each.message for each in found if each.code == "differing-twin"]


def codes(fixture: str) -> list[str]:
    opened = open_fixture(fixture)
    return [each.code for each in diagnostics(opened.snapshot, opened.file)]


# -- one agent for several programs


@pytest.mark.parametrize(
    ("twin", "differing"),
    [
        (codex("re", "Go.", "d"), []),
        (codex("re", " Go. ", "d"), []),
        (codex("re", "Stop.", "d"), ["prompt differs from that"]),
        (codex("re", "Go.", "e"), ["description differs from that"]),
        (codex("re", "Stop.", "e"), ["description and prompt differ from those"]),
        (codex("other", "Stop.", "e"), []),
        (codex("re", "Stop.", "e", "/project/sub/.codex/agents"), []),
        (codex("re", "Stop.", "e", "/home/user/.codex/agents"), []),
        (codex("re", "", "").replace('description = ""\n', ""), []),
    ],
)
def test_hint_names_what_differs_between_twins_of_one_project(
    twin: str, differing: list[str]
) -> None:
    expected = [f"the {each} of the same agent for Codex" for each in differing]
    assert hints(claude("<|>re") + twin) == expected
    is_in_project = twin.startswith(f"--- {CODEX}: re")
    assert len(hints(twin + claude("re"))) == (len(differing) if is_in_project else 0)


def test_hint_follows_each_edit_of_a_twin() -> None:
    fixture = claude("re") + codex("re")
    texts, workspace = texts_of(fixture), Workspace(PLACES)
    one, two = texts
    workspace.apply([Change(uri, text) for uri, text in texts.items()], complete=True)
    edit = Change(two, texts[two].replace("Go.", "Stop."), in_buffer=True)
    update = workspace.apply([edit])
    assert one in update.affected
    file = update.snapshot.file(one)
    assert file is not None
    assert [each.code for each in diagnostics(update.snapshot, file)] == ["differing-twin"]
    update = workspace.apply([Change(two, None, in_buffer=True), Change(two, None)])
    assert one in update.affected
    file = update.snapshot.file(one)
    assert file is not None
    assert not diagnostics(update.snapshot, file)


def test_hover_and_graph_show_the_programs_of_an_agent() -> None:
    fixture = claude("re<|>") + codex("re", "Stop.") + opencode("re") + axe("re")
    opened = open_fixture(fixture)
    card = hover(opened.snapshot, opened.file, opened.offset)
    assert card is not None
    assert "**re** · Claude Code agent of this workspace" in card.markdown
    assert "- also for: axe, Codex (prompt differs), opencode" in card.markdown
    graph = delegation_graph(opened.snapshot)
    assert [len(node.twins) for node in graph.nodes] == [3, 3, 3, 3]
    drawn = mermaid(graph)
    assert all(f"#40;{each}#41;" in drawn for each in ("Codex", "Claude Code", "opencode"))


def test_twins_are_no_duplicate_names() -> None:
    assert codes(axe("re", 'system_prompt = "Go."') + claude("re") + codex("re")) == []


def test_fixes_carry_the_texts_over_in_both_directions() -> None:
    fixture = claude("r<|>e", "New\ntext.", "new").replace("---\nname", "---\ncolor: red\nname")
    fixture += codex("re", "Old.", "old")
    offered = Offered(fixture)
    forth = "Carry the description and prompt over to Codex (.codex/agents/re.toml) (without color)"
    back = "Take the description and prompt of Codex (.codex/agents/re.toml)"
    assert [each for each in offered.titles if "prompt" in each] == [forth, back]
    claudes, codexs = texts_of(fixture)
    texts = texts_of(fixture)
    written = after(texts[codexs], codexs, offered.action(forth).edit)
    assert 'description = "new"\ndeveloper_instructions = """\nNew\ntext."""\n' in written
    assert after(texts[claudes], claudes, offered.action(back).edit) == (
        "---\ncolor: red\nname: re\ndescription: old\n---\nOld.\n"
    )


def test_no_fix_is_offered_for_a_twin_that_is_broken() -> None:
    fixture = claude("r<|>e") + codex("re", "Old.") + "nickname_candidates = [\n"
    assert not [each for each in Offered(fixture).titles if "Codex" in each]


# -- lists of axe


def lead(names: str) -> str:
    return axe("lead", f"sub_agents = [{names}]")


@pytest.mark.parametrize(
    ("name", "agents", "meant"),
    [
        ("re", claude("re"), "claude"),
        ("re", opencode("re") + claude("re") + codex("re"), "codex"),
        ("re", claude("re") + axe("re"), "axe"),
        ("claude:re", claude("re") + axe("re") + codex("re"), "claude"),
        ("axe:re", claude("re") + axe("re"), "axe"),
        ("opencode:team/re", opencode("team/re"), "opencode"),
        ("re", claude("re", folder="/home/user/other/.claude/agents"), ""),
        ("re", claude("re", folder="/project/sub/.claude/agents"), ""),
        ("codex:re", claude("re"), ""),
        ("claude:", claude("re"), ""),
    ],
)
def test_list_of_axe_means_axe_before_other_programs(name: str, agents: str, meant: str) -> None:
    agents = agents.replace("opencode/agent: team/", "opencode/agent/team: ")
    fixture = lead(f'"<|>{name}"') + agents
    opened = open_fixture(fixture)
    target = definition(opened.snapshot, opened.file, opened.offset)
    found = target.uri.replace("/.", "/") if target is not None else ""
    assert (f"/{meant}/" in found) if meant else target is None
    assert ("unknown-agent" in codes(fixture)) == (not meant)
    edges = delegation_graph(opened.snapshot).edges
    assert [each.target for each in edges] == [target.uri if target is not None else name]
    if target is None:
        return
    places = references(opened.snapshot, opened.file, opened.offset, include_declaration=True)
    assert [each.uri for each in places] == [target.uri, opened.file.uri]


def test_unknown_name_is_compared_with_agents_of_other_programs() -> None:
    opened = open_fixture(lead('"<|>reviwer"') + claude("reviewer"))
    (finding,) = diagnostics(opened.snapshot, opened.file)
    assert finding.suggestion == "reviewer"


def test_completion_in_a_list_of_axe_has_agents_of_other_programs() -> None:
    opened = open_fixture(lead('"<|>"') + claude("re") + codex("fix") + axe("own"))
    offers = {
        each.label: each.detail for each in completion(opened.snapshot, opened.file, opened.offset)
    }
    assert offers == {"own": "openai/gpt", "re": "Claude Code: d", "fix": "Codex: d"}


@pytest.mark.parametrize("agent", [claude("re"), codex("re"), opencode("re")])
@pytest.mark.parametrize("written", ["re", "{}:re"])
def test_rename_of_an_agent_of_another_program_reaches_lists_of_axe(
    agent: str, written: str
) -> None:
    program = agent.partition(".")[2].partition("/")[0]
    fixture = lead(f'"<|>{written.format(program)}"') + agent
    opened, texts = open_fixture(fixture), texts_of(fixture)
    edit = rename(opened.snapshot, opened.file, opened.offset, "review", texts.__getitem__)
    assert edit is not None
    renamed = edited(texts, edit)
    assert f'["{written.format(program).replace("re", "review")}"]' in renamed[opened.file.uri]
    again = Workspace(PLACES)
    snapshot = again.apply([Change(*each) for each in renamed.items()], complete=True).snapshot
    caller = snapshot.file(opened.file.uri)
    assert caller is not None
    (name,) = caller.sub_agents
    assert snapshot.agent(name, caller) is not None


def test_rename_to_the_name_of_an_agent_of_axe_is_refused() -> None:
    fixture = lead('"<|>re"') + claude("re") + axe("own")
    opened = open_fixture(fixture)
    with pytest.raises(RenameError, match="there is an agent"):
        rename(opened.snapshot, opened.file, opened.offset, "own", texts_of(fixture).__getitem__)


def test_rename_of_an_agent_of_axe_does_not_take_a_name_that_another_programs_agent_has() -> None:
    fixture = lead('"re", "<|>own"') + claude("re") + axe("own")
    opened = open_fixture(fixture)
    with pytest.raises(RenameError, match="means another agent"):
        rename(opened.snapshot, opened.file, opened.offset, "re", texts_of(fixture).__getitem__)


def test_unknown_agent_is_reported_anew_when_another_programs_agent_comes_and_goes() -> None:
    fixture = lead('"claude:re"') + claude("re")
    (caller, agent), texts, workspace = texts_of(fixture), texts_of(fixture), Workspace(PLACES)
    workspace.apply([Change(caller, texts[caller])], complete=True)
    for text, expected, calls in ((texts[agent], [], (agent,)), (None, ["unknown-agent"], ())):
        update = workspace.apply([Change(agent, text)])
        assert caller in update.affected
        file = update.snapshot.file(caller)
        assert file is not None
        assert [each.code for each in diagnostics(update.snapshot, file)] == expected
        assert update.snapshot.calls.below.of(caller) == calls
