"""The delegation graph as editors get it: references, renames, calls, lenses, symbols, drawings."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from axe_lsp.agentfile.text.ranges import LineIndex
from support.raw_client import ServerError
from support.session import Editor, Project

PARENT = 'name = "parent" # 😀\nmodel = "ollama/m"\nsub_agents = ["😀", "lint", "lint"]\n'
LINT = '# 😀\nname = "lint"\ndescription = "finds style"\nmodel = "ollama/m"\n'
CALLER = 'name = "caller"\nmodel = "ollama/m"\ntask = { types = ["😀", "lint"] }\n'

RENAMES = {
    "workspace": {
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename"]}
    }
}
SHOW_REFERENCES = "axe.showReferences"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path)
    found.write("parent", PARENT)
    found.write("lint", LINT)
    found.write("caller", CALLER)
    return found


def opened(editor: Editor, name: str) -> Editor:
    """With a file open, and all agents known."""
    agents = {path.stem for path in editor.project.agents.iterdir()}
    editor.open(name)
    while {each["name"] for each in editor.client.request("axe/agents")} < agents:
        pass
    settled(editor)
    return editor


def settled(editor: Editor) -> None:
    while not editor.client.request("axe/graph", {})["complete"]:
        pass


def said(editor: Editor, location: Any) -> str:
    """Return a location as `file text`, with the text that is there."""
    name = stem(location["uri"])
    text = editor.texts.get(name) or editor.project.path(name).read_text("utf-8")
    return f"{name} {text_at(editor, text, location['range'])}"


def text_at(editor: Editor, text: str, where: Any) -> str:
    lines = LineIndex(text)
    ends = (where["start"], where["end"])
    start, end = (lines.offset(each["line"], each["character"], editor.encoding) for each in ends)
    return text[start:end]


def stem(uri: str) -> str:
    return unquote(uri.rpartition("/")[2]).removesuffix(".toml")


def references(editor: Editor, name: str, before: str, declared: bool) -> list[str]:
    place = editor.place(name, before)
    params = {**place, "context": {"includeDeclaration": declared}}
    found = editor.client.request("textDocument/references", params)
    return [said(editor, each) for each in found]


def rename(editor: Editor, name: str, before: str, new_name: str) -> Any:
    params = {**editor.place(name, before), "newName": new_name}
    return editor.client.request("textDocument/rename", params)


def edits(editor: Editor, edit: Any) -> dict[str, list[str]]:
    """Return what is replaced in each file, and by what."""
    changed = [each for each in edit["documentChanges"] if "textDocument" in each]
    return {
        stem(each["textDocument"]["uri"]): [
            f"{said(editor, {'uri': each['textDocument']['uri'], 'range': change['range']})} → "
            f"{change['newText']}"
            for change in each["edits"]
        ]
        for each in changed
    }


# -- references


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_references_are_found_in_open_and_closed_files(project: Project, encoding: str) -> None:
    capabilities = {"general": {"positionEncodings": [encoding]}}
    with project.editor(capabilities=capabilities) as editor:
        opened(editor, "parent")
        named = ['caller "lint"', 'parent "lint"', 'parent "lint"']
        assert references(editor, "parent", '"li', declared=False) == named
        assert references(editor, "parent", '"li', declared=True) == ['lint "lint"', *named]


def test_references_in_an_open_file_are_those_of_its_buffer(project: Project) -> None:
    with project.editor() as editor:
        opened(editor, "parent").open("lint")
        editor.replace("parent", '"lint", ', "")
        expected = ['caller "lint"', 'parent "lint"']
        assert references(editor, "lint", 'name = "', declared=False) == expected


def test_the_same_name_is_highlighted(project: Project) -> None:
    with project.editor() as editor:
        opened(editor, "parent").open("lint")
        found = editor.ask("documentHighlight", "parent", '"li')
        assert [text_at(editor, PARENT, each["range"]) for each in found] == ['"lint"', '"lint"']
        assert [each["kind"] for each in found] == [2, 2]
        (itself,) = editor.ask("documentHighlight", "lint", 'name = "')
        assert (text_at(editor, LINT, itself["range"]), itself["kind"]) == ('"lint"', 3)
        assert editor.ask("documentHighlight", "lint", "description") is None


# -- rename


def test_a_rename_changes_file_name_and_lists_in_one_edit(project: Project) -> None:
    with project.editor(capabilities=RENAMES) as editor:
        opened(editor, "parent")
        edit = rename(editor, "parent", '"li', "style")
        assert edits(editor, edit) == {
            "lint": ['lint "lint" → "style"'],
            "caller": ['caller "lint" → "style"'],
            "parent": ['parent "lint" → "style"', 'parent "lint" → "style"'],
        }
        versions = {
            stem(each["textDocument"]["uri"]): each["textDocument"]["version"]
            for each in edit["documentChanges"][:-1]
        }
        assert versions == {"lint": None, "caller": None, "parent": 1}
        assert edit["documentChanges"][-1] == {
            "kind": "rename",
            "oldUri": editor.uri("lint"),
            "newUri": editor.uri("style"),
        }


def test_prepare_rename_returns_the_range_of_the_name(project: Project) -> None:
    prepares = {"textDocument": {"rename": {"prepareSupport": True}}}
    with project.editor(capabilities={**RENAMES, **prepares}) as editor:
        opened(editor, "parent")
        assert editor.server["capabilities"]["renameProvider"] == {"prepareProvider": True}
        found = editor.ask("prepareRename", "parent", '"li')
        assert text_at(editor, PARENT, found["range"]) == found["placeholder"] == "lint"
        assert editor.ask("prepareRename", "parent", "mod") is None


def test_client_without_prepare_support_gets_rename_alone(project: Project) -> None:
    with project.editor(capabilities=RENAMES) as editor:
        assert editor.server["capabilities"]["renameProvider"] is True


def test_impossible_rename_is_refused_with_a_reason(project: Project) -> None:
    with project.editor(capabilities=RENAMES) as editor:
        opened(editor, "parent")
        with pytest.raises(ServerError, match='there is an agent "caller" in this folder') as told:
            rename(editor, "parent", '"li', "caller")
        assert told.value.code == -32803
        with pytest.raises(ServerError, match='no agent file defines "😀"'):
            editor.ask("prepareRename", "parent", '"😀')


def test_a_client_that_moves_no_files_is_told_which_one_to_move(project: Project) -> None:
    with project.editor() as editor:
        opened(editor, "parent")
        with pytest.raises(ServerError, match=r"lint\.toml to style\.toml in its file browser"):
            rename(editor, "parent", '"li', "style")


def test_a_file_that_is_moved_in_the_editor_takes_the_lists_along(project: Project) -> None:
    with project.editor(capabilities=RENAMES) as editor:
        opened(editor, "parent")
        operations = editor.server["capabilities"]["workspace"]["fileOperations"]
        assert operations["willRename"]["filters"][0]["pattern"]["glob"] == "**/*.toml"
        moved = {"files": [{"oldUri": editor.uri("lint"), "newUri": editor.uri("style")}]}
        edit = editor.client.request("workspace/willRenameFiles", moved)
        assert edits(editor, edit) == {
            "lint": ['lint "lint" → "style"'],
            "caller": ['caller "lint" → "style"'],
            "parent": ['parent "lint" → "style"', 'parent "lint" → "style"'],
        }

        project.path("lint").rename(project.path("style"))
        editor.replace("parent", '"lint", "lint"', '"style"')
        editor.client.notify("workspace/didRenameFiles", moved)
        editor.problems("parent", lambda found: found == ['unknown-agent "😀"'])


def test_agents_below_a_folder_that_is_moved_or_deleted_in_the_editor_go_with_it(
    project: Project,
) -> None:
    project.write("parent", 'name = "parent"\nmodel = "ollama/m"\nsub_agents = ["lint"]\n')
    tools, kit = project.root / "tools", project.root / "kit"
    (tools / "far" / "axe" / "agents").mkdir(parents=True)
    project.path("lint").rename(tools / "far" / "axe" / "agents" / "lint.toml")
    with project.editor(capabilities=RENAMES) as editor:
        opened(editor, "parent")
        for operation in ("didRename", "didDelete"):
            filters = editor.server["capabilities"]["workspace"]["fileOperations"][operation]
            assert "folder" in [each["pattern"]["matches"] for each in filters["filters"]]
        tools.rename(kit)
        moved = {"oldUri": tools.as_uri(), "newUri": kit.as_uri()}
        editor.client.notify("workspace/didRenameFiles", {"files": [moved]})
        lint = (kit / "far" / "axe" / "agents" / "lint.toml").as_uri()
        while lint not in [each["uri"] for each in editor.client.request("axe/agents")]:
            pass
        assert editor.ask("definition", "parent", '"li')["uri"] == lint

        shutil.rmtree(kit)
        editor.client.notify("workspace/didDeleteFiles", {"files": [{"uri": kit.as_uri()}]})
        editor.problems("parent", lambda found: found == ['unknown-agent "lint"'])


def test_move_that_changes_the_meaning_of_a_list_is_warned_about(project: Project) -> None:
    project.write("plan", 'name = "plan"\nmodel = "ollama/m"\nsub_agents = ["style"]\n')
    user = project.user_agents / "style.toml"
    user.write_text('name = "style"\nmodel = "ollama/m"\n', "utf-8")
    with project.editor(capabilities=RENAMES) as editor:
        opened(editor, "parent")
        moved = {"files": [{"oldUri": editor.uri("lint"), "newUri": editor.uri("style")}]}
        assert editor.client.request("workspace/willRenameFiles", moved) is None
        told = editor.client.wait_for("window/showMessage")
        assert told["type"] == 2
        assert told["message"].startswith("The names in other files were not changed: ")


# -- calls


def test_calls_are_followed_both_ways(project: Project) -> None:
    with project.editor() as editor:
        opened(editor, "parent")
        (item,) = editor.ask("prepareCallHierarchy", "parent", '"li')
        assert (item["name"], item["detail"]) == ("lint", "finds style")
        assert text_at(editor, LINT, item["selectionRange"]) == '"lint"'
        assert text_at(editor, LINT, item["range"]) == LINT

        incoming = editor.client.request("callHierarchy/incomingCalls", {"item": item})
        assert [(each["from"]["name"], len(each["fromRanges"])) for each in incoming] == [
            ("caller", 1),
            ("parent", 2),
        ]
        assert text_at(editor, PARENT, incoming[1]["fromRanges"][0]) == '"lint"'

        above = {"item": incoming[1]["from"]}
        (down,) = editor.client.request("callHierarchy/outgoingCalls", above)
        assert (down["to"]["name"], len(down["fromRanges"])) == ("lint", 2)
        assert text_at(editor, PARENT, down["fromRanges"][1]) == '"lint"'
        assert editor.client.request("callHierarchy/outgoingCalls", {"item": item}) == []


def test_a_call_hierarchy_of_a_file_that_has_gone_is_empty(project: Project) -> None:
    with project.editor() as editor:
        opened(editor, "parent")
        (item,) = editor.ask("prepareCallHierarchy", "parent", '"li')
        project.path("lint").unlink()
        editor.changed_on_disk(project.path("lint"))
        editor.problems("parent", lambda found: 'unknown-agent "lint"' in found)
        assert editor.client.request("callHierarchy/incomingCalls", {"item": item}) is None


# -- lenses


def lenses(editor: Editor, name: str) -> list[Any]:
    document = {"textDocument": {"uri": editor.uri(name)}}
    found: list[Any] = editor.client.request("textDocument/codeLens", document)
    return found


def knows_references(**more: Mapping[str, Any]) -> dict[str, Any]:
    return {"experimental": {"commands": {"commands": [SHOW_REFERENCES]}}, **more}


def test_lenses_run_preview_and_count_references_when_they_are_seen(project: Project) -> None:
    with project.editor(capabilities=knows_references()) as editor:
        opened(editor, "parent").open("lint")
        run, preview, count = lenses(editor, "lint")
        assert all(text_at(editor, LINT, each["range"]) == '"lint"' for each in (run, count))
        own = [{"uri": editor.uri("lint")}]
        tooltip = "Run this agent with the text in the editor, saved or not."
        assert run["command"] == {
            "title": "Run",
            "command": "axe.run",
            "tooltip": tooltip,
            "arguments": own,
        }
        assert preview["command"]["command"] == "axe.preview"
        assert "command" not in count

        resolved = editor.client.request("codeLens/resolve", count)["command"]
        start = count["range"]["start"]
        assert resolved == {
            "title": "3 references",
            "command": SHOW_REFERENCES,
            "tooltip": "Show who names this agent.",
            "arguments": [editor.uri("lint"), start],
        }
        asked = {"textDocument": own[0], "position": start}
        context = {"context": {"includeDeclaration": False}}
        found = editor.client.request("textDocument/references", {**asked, **context})
        assert len(found) == 3


def test_a_client_that_can_not_show_references_gets_no_lens_for_them(project: Project) -> None:
    with project.editor() as editor:
        found = lenses(opened(editor, "lint"), "lint")
        assert [each["command"]["title"] for each in found] == ["Run", "Preview"]


def test_clients_that_can_ask_for_an_input_get_a_lens_for_that(project: Project) -> None:
    project.write("lint", LINT + '[input]\nrequired = ["path"]\n')
    knows = {"experimental": {"commands": {"commands": ["axe.runWithInput"]}}}
    with project.editor(capabilities=knows) as editor:
        _, ask, _ = lenses(opened(editor, "lint"), "lint")
        own = [{"uri": editor.uri("lint")}]
        assert ask["command"] == {
            "title": "Run with input…",
            "command": "axe.runWithInput",
            "tooltip": "Fill in a form with the input of this agent, and run it.",
            "arguments": own,
        }
    untrusted = {"initializationOptions": {"trusted": False}, "capabilities": knows}
    with project.editor(**untrusted) as editor:
        found = lenses(opened(editor, "lint"), "lint")
        assert [each["command"]["title"] for each in found] == ["Preview"]


def test_a_workspace_that_is_not_trusted_has_nothing_to_run(project: Project) -> None:
    with project.editor(initializationOptions={"trusted": False}) as editor:
        found = lenses(opened(editor, "lint"), "lint")
        assert [each["command"]["title"] for each in found] == ["Preview"]


def test_lenses_are_asked_for_again_when_a_count_has_changed(project: Project) -> None:
    refreshes = {"workspace": {"codeLens": {"refreshSupport": True}}}
    with project.editor(capabilities=knows_references(**refreshes)) as editor:
        editor.client.answer_with["workspace/codeLens/refresh"] = lambda _: None
        opened(editor, "parent").open("lint")
        editor.client.request("codeLens/resolve", lenses(editor, "lint")[2])
        editor.replace("parent", '"lint", ', "")
        editor.client.wait_for("workspace/codeLens/refresh")
        count = editor.client.request("codeLens/resolve", lenses(editor, "lint")[2])
        assert count["command"]["title"] == "2 references"


def test_lens_with_foreign_data_is_refused(project: Project) -> None:
    with project.editor() as editor:
        lens = {"range": lenses(opened(editor, "lint"), "lint")[0]["range"], "data": 1}
        with pytest.raises(ServerError, match="data must be unchanged from textDocument/codeLens"):
            editor.client.request("codeLens/resolve", lens)


# -- symbols


def test_workspace_symbol_matches_parts_of_names(project: Project) -> None:
    project.write("code-reviewer", 'model = "ollama/m"\n')
    (project.user_agents / "core.toml").write_text('name = "core"\n', "utf-8")
    with project.editor() as editor:
        opened(editor, "parent")
        found = editor.client.request("workspace/symbol", {"query": "cr"})
        assert [(each["name"], each["containerName"]) for each in found] == [
            ("code-reviewer", "axe/agents"),
            ("core", "user"),
            ("caller", "axe/agents"),
        ]
        (lint,) = editor.client.request("workspace/symbol", {"query": "lnt"})
        assert said(editor, lint["location"]) == 'lint "lint"'


def test_a_symbol_gets_its_range_when_it_is_gone_to(project: Project) -> None:
    resolves = {"symbol": {"resolveSupport": {"properties": ["location.range"]}}}
    with project.editor(capabilities={"workspace": resolves}) as editor:
        opened(editor, "parent")
        (lint,) = editor.client.request("workspace/symbol", {"query": "lint"})
        assert lint["location"] == {"uri": editor.uri("lint")}
        resolved = editor.client.request("workspaceSymbol/resolve", lint)
        assert said(editor, resolved["location"]) == 'lint "lint"'


# -- the graph


def chain(project: Project) -> None:
    """Four agents in a row of which the first lets calls go one deep, and two in a circle."""
    for path in project.agents.iterdir():
        path.unlink()
    calls = {"a": "b", "b": "c", "c": "d", "d": "gone", "x": "y", "y": "x"}
    for name, called in calls.items():
        limit = "[sub_agents_config]\nmax_depth = 1\n" if name == "a" else ""
        project.write(
            name, f'name = "{name}"\nmodel = "ollama/m"\nsub_agents = ["{called}"]\n{limit}'
        )


def test_the_graph_tells_depth_reach_and_circles_with_their_ways(project: Project) -> None:
    chain(project)
    with project.editor() as editor:
        opened(editor, "a")
        graph = editor.client.request("axe/graph", {})
        assert (graph["format"], graph["complete"]) == ("json", True)
        found = [
            (each["name"], each["defined"], each["root"], each["reachable"], each["depth"])
            for each in graph["nodes"]
        ]
        assert found == [
            ("a", True, True, True, 0),
            ("b", True, False, True, 1),
            ("c", True, False, False, 2),
            ("d", True, False, False, 3),
            ("x", True, False, True, None),
            ("y", True, False, True, None),
            ("gone", False, False, False, None),
        ]
        assert graph["edges"][0] == {
            "from": editor.uri("a"),
            "to": editor.uri("b"),
            "via": "sub_agents",
        }
        x, y = editor.uri("x"), editor.uri("y")
        assert graph["cycles"] == [{"agents": [x, y], "path": [x, y, x]}]
        way = [editor.uri(name) for name in "abc"]
        assert graph["unreachable"] == [{"agent": editor.uri("c"), "path": way}]
        node = graph["nodes"][1]
        assert (node["id"], node["uri"], node["scope"]) == (way[1], way[1], "workspace")
        assert (node["model"], "price" in node) == ("ollama/m", False)
        assert not {"uri", "model"} & graph["nodes"][-1].keys()


def test_the_graph_tells_prices_of_known_models(project: Project) -> None:
    project.write("known", 'name = "known"\nmodel = "anthropic/claude-sonnet-5-5"\n')
    with project.editor() as editor:
        opened(editor, "known")
        nodes = editor.client.request("axe/graph", {})["nodes"]
        (known,) = [each for each in nodes if each["name"] == "known"]
        assert known["price"] == {"input": 2, "output": 10}


def test_the_graph_around_one_agent_leaves_out_the_others(project: Project) -> None:
    chain(project)
    with project.editor() as editor:
        opened(editor, "x")
        graph = editor.client.request("axe/graph", {"uri": editor.uri("x")})
        assert [each["name"] for each in graph["nodes"]] == ["x", "y"]
        assert graph["unreachable"] == []


def test_the_graph_as_text_and_as_a_document(project: Project) -> None:
    shows = {"window": {"showDocument": {"support": True}}}
    with project.editor(capabilities=shows) as editor:
        shown: list[Any] = []
        editor.client.answer_with["window/showDocument"] = lambda params: (
            shown.append(params),
            {"success": True},
        )[1]
        opened(editor, "parent")
        drawn = editor.client.request("axe/graph", {"format": "dot"})["text"]
        assert drawn.startswith("digraph agents {")
        assert 'label="parent"' in drawn

        command = {"command": "axe.showGraph", "arguments": []}
        answer = editor.client.request("workspace/executeCommand", command)
        assert answer["format"] == "mermaid"
        assert answer["text"].startswith("flowchart TD\n")
        document = editor.client.wait_for("window/showDocument")
        path = Path(unquote(document["uri"].removeprefix("file://")))
        assert path.name == "delegation-graph.md"
        assert path.read_text("utf-8") == f"```mermaid\n{answer['text']}```\n"


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ([], "params must be an object"),
        ({"format": "svg"}, '"format" must be "json", "mermaid" or "dot"'),
        ({"uri": 1}, '"uri" must be a string'),
        ({"uri": "file:///nowhere.toml"}, "file:///nowhere.toml is not in a folder of agents"),
    ],
)
def test_a_graph_that_can_not_be_drawn_says_why(project: Project, params: Any, reason: str) -> None:
    with project.editor() as editor:
        with pytest.raises(ServerError, match=reason) as told:
            editor.client.request("axe/graph", params)
        assert told.value.code == -32602


# -- news


NEWS = {"experimental": {"axe": {"agentsChanged": True}}}


def test_agents_changed_is_sent_to_clients_with_the_capability(project: Project) -> None:
    with project.editor(capabilities=NEWS) as editor:
        opened(editor, "parent")
        editor.client.wait_for("axe/agentsChanged")
        editor.replace("parent", '["😀", ', "[")
        editor.client.wait_for("axe/agentsChanged")
        lint = project.write("lint", LINT.replace("finds style", "finds faults"))
        editor.changed_on_disk(lint)
        editor.client.wait_for("axe/agentsChanged")
        found = {each["name"]: each for each in editor.client.request("axe/agents")}
        assert found["lint"]["description"] == "finds faults"
        project.path("caller").unlink()
        editor.changed_on_disk(project.path("caller"))
        editor.client.wait_for("axe/agentsChanged")
        assert "caller" not in {each["name"] for each in editor.client.request("axe/agents")}


def test_edit_that_changes_no_listed_fact_sends_no_agents_changed(project: Project) -> None:
    with project.editor(capabilities=NEWS) as editor:
        opened(editor, "parent")
        editor.client.wait_for("axe/agentsChanged")
        editor.open("lint")
        told = len(editor.client.notifications("axe/agentsChanged"))
        editor.replace("lint", "# 😀\n", '# 😀\nsystem_prompt = "Be brief."\n')
        editor.replace("parent", 'sub_agents = ["😀", ', "sub_agents = [")
        editor.client.wait_for("axe/agentsChanged")
        assert len(editor.client.notifications("axe/agentsChanged")) == told + 1


def test_agents_changed_is_not_sent_without_the_capability(project: Project) -> None:
    with project.editor() as editor:
        opened(editor, "parent")
        editor.replace("parent", '["😀", ', "[")
        editor.problems("parent", lambda _: True)
        time.sleep(0.4)  # Twice as long as changes are collected.
        assert editor.client.notifications("axe/agentsChanged") == []
