"""Wherever agents lie: several folders, the user's own, none at all, links."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from support.raw_client import Json, ServerError
from support.session import PUBLISH, Editor, Project

AGENT = 'name = "{0}"\nmodel = "ollama/m"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def write(folder: Path, name: str, tail: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(AGENT.format(name) + tail, "utf-8")
    return path


def calling(*names: str) -> str:
    return f"sub_agents = [{', '.join(map(repr, names))}]\n".replace("'", '"')


def open_at(editor: Editor, path: Path) -> str:
    uri = path.as_uri()
    editor.open(uri, path.read_text("utf-8"))
    return uri


def graph(editor: Editor) -> Json:
    """Return the graph, once all agents are known."""
    while not (found := editor.client.request("axe/graph", {}))["complete"]:
        pass
    return found


def agents(editor: Editor) -> list[tuple[str, str]]:
    """Return those that have files."""
    graph(editor)
    found = [(each["name"], each["scope"]) for each in editor.client.request("axe/agents")]
    return [each for each in found if each[1] != "builtin"]


def target(editor: Editor, name: str, before: str) -> Path:
    """Return where the name behind `before` leads."""
    found = editor.ask("definition", name, before)
    (place,) = found if isinstance(found, list) else [found]
    return Path(unquote(place["uri"].removeprefix("file://")))


def codes(editor: Editor, name: str) -> list[str]:
    """Return what is said in the end about an open file."""
    document = {"textDocument": {"uri": editor.uri(name)}}
    graph(editor)
    report = editor.client.request("textDocument/diagnostic", document)
    return [each["code"] for each in report["items"]]


PULLS = {
    "textDocument": {"diagnostic": {}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


# -- several folders


def test_a_name_means_the_agent_of_the_same_folder_in_each_of_several_roots(
    project: Project, tmp_path: Path
) -> None:
    roots = [tmp_path / name for name in ("one", "two")]
    folders = [{"uri": root.as_uri(), "name": root.name} for root in roots]
    for root in roots:
        write(root / "axe/agents", "lint")
    only = write(roots[1] / ".axe/agents", "only")
    callers = [write(root / "axe/agents", "caller", calling("lint", "only")) for root in roots]
    with project.editor(workspaceFolders=folders) as editor:
        graph(editor)
        for root, caller in zip(roots, callers, strict=True):
            uri = open_at(editor, caller)
            assert target(editor, uri, '"li') == root / "axe/agents/lint.toml"
            assert target(editor, uri, '"on') == only
        found = editor.client.request("workspace/symbol", {"query": "lint"})
        assert [each["containerName"] for each in found] == ["one/axe/agents", "two/axe/agents"]


def test_a_rename_in_one_root_leaves_the_agent_of_the_same_name_in_another(
    project: Project, tmp_path: Path
) -> None:
    roots = [tmp_path / name for name in ("one", "two")]
    folders = [{"uri": root.as_uri(), "name": root.name} for root in roots]
    for root in roots:
        write(root / "axe/agents", "lint")
        write(root / "axe/agents", "caller", calling("lint"))
    edits = {"documentChanges": True, "resourceOperations": ["rename"]}
    capabilities = {"workspace": {"workspaceEdit": edits}}
    with project.editor(workspaceFolders=folders, capabilities=capabilities) as editor:
        graph(editor)
        uri = open_at(editor, roots[0] / "axe/agents/lint.toml")
        params = {**editor.place(uri, 'name = "'), "newName": "style"}
        edit = editor.client.request("textDocument/rename", params)
        changed = [each["textDocument"]["uri"] for each in edit["documentChanges"][:-1]]
        assert changed == [uri, (roots[0] / "axe/agents/caller.toml").as_uri()]


# -- the user's own agents


def test_an_agent_of_the_workspace_counts_before_that_of_the_user(project: Project) -> None:
    users = write(project.user_agents, "lint")
    ours = write(project.agents, "lint")
    project.write("parent", AGENT.format("parent") + calling("lint"))
    with project.editor() as editor:
        assert agents(editor) == [
            ("lint", "workspace"),
            ("lint", "user"),
            ("parent", "workspace"),
        ]
        editor.open("parent")
        assert target(editor, "parent", '"li') == ours
        uri = open_at(editor, users)
        editor.problems(
            uri, lambda found: [each.split()[0] for each in found] == ["duplicate-name"]
        )
        ours.unlink()
        editor.changed_on_disk(ours)
        editor.problems(uri, 0)
        assert target(editor, "parent", '"li') == users


def test_an_agent_of_the_user_calls_that_of_the_workspace_as_in_axe(project: Project) -> None:
    users = write(project.user_agents, "parent", calling("lint"))
    write(project.user_agents, "lint")
    write(project.agents, "lint")
    with project.editor() as editor:
        graph(editor)
        uri = open_at(editor, users)
        assert target(editor, uri, '"li') == project.agents / "lint.toml"


# -- no folder at all


def test_a_file_outside_of_any_workspace_has_its_neighbours_and_the_users_agents(
    project: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere" / "axe" / "agents"
    parent = write(folder, "parent", calling("near", "mine", "gone"))
    write(folder, "near")
    write(project.user_agents, "mine")
    with project.editor(workspaceFolders=None) as editor:
        uri = open_at(editor, parent)
        editor.problems(uri, lambda found: found == ['unknown-agent "gone"'])
        assert target(editor, uri, '"ne') == folder / "near.toml"
        assert target(editor, uri, '"mi') == project.user_agents / "mine.toml"


def test_neighbour_is_not_reported_as_unknown_before_its_folder_is_read(
    project: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere" / "axe" / "agents"
    parent = write(folder, "parent", calling("near", "gone"))
    write(folder, "near")
    with project.editor() as editor:
        graph(editor)
        uri = open_at(editor, parent)
        editor.problems(uri, lambda found: found == ['unknown-agent "gone"'])
        said = [
            each["message"]
            for params in editor.client.notifications(PUBLISH)
            for each in params["diagnostics"]
        ]
        assert not [message for message in said if "near" in message]


UNTITLED = "untitled:Untitled-1"


def test_a_buffer_without_a_file_is_served_as_an_agent_that_nobody_can_call(
    project: Project,
) -> None:
    write(project.agents, "lint")
    with project.editor() as editor:
        graph(editor)
        editor.open(UNTITLED, AGENT.format("draft") + calling("lint", "draft"), "axe-agent")
        assert editor.problems(UNTITLED, 1) == ['unknown-agent "draft"']
        assert target(editor, UNTITLED, '"li') == project.agents / "lint.toml"
        assert "lint" in editor.ask("hover", UNTITLED, '"li')["contents"]["value"]
        params = {**editor.place(UNTITLED, 'name = "'), "newName": "other"}
        edit = editor.client.request("textDocument/rename", params)
        assert [each["newText"] for each in edit["changes"][UNTITLED]] == ['"other"']
        (item,) = editor.ask("prepareCallHierarchy", UNTITLED, "model")
        (call,) = editor.client.request("callHierarchy/outgoingCalls", {"item": item})
        assert call["to"]["name"] == "lint"
        lenses = editor.client.request("textDocument/codeLens", {"textDocument": {"uri": UNTITLED}})
        assert lenses[0]["command"]["arguments"] == [{"uri": UNTITLED}]
        assert agents(editor) == [("lint", "workspace")]
        with pytest.raises(ServerError, match="is not in a folder of agents"):
            editor.client.request("axe/graph", {"uri": UNTITLED})


# -- links


def linked(link: Path, folder: Path) -> Path:
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_dir():
        link.rmdir()
    try:
        link.symlink_to(folder, target_is_directory=True)
    except OSError:
        pytest.skip("needs links")
    return link


def test_a_project_below_a_link_is_known_by_the_path_that_was_opened(
    project: Project, tmp_path: Path
) -> None:
    write(project.agents, "lint")
    write(project.agents, "parent", calling("lint"))
    root = linked(tmp_path / "link", project.root)
    folders = [{"uri": root.as_uri(), "name": "link"}]
    with project.editor(workspaceFolders=folders) as editor:
        assert agents(editor) == [("lint", "workspace"), ("parent", "workspace")]
        uri = open_at(editor, root / "axe/agents/parent.toml")
        assert target(editor, uri, '"li') == root / "axe/agents/lint.toml"


def test_a_folder_of_the_user_that_is_a_link_into_the_workspace_defines_nothing_twice(
    project: Project,
) -> None:
    write(project.agents, "lint")
    project.write("parent", AGENT.format("parent") + calling("lint"))
    linked(project.user_agents, project.agents)
    with project.editor(capabilities=PULLS) as editor:
        assert agents(editor) == [("lint", "workspace"), ("parent", "workspace")]
        editor.open("parent")
        assert codes(editor, "parent") == []


def test_a_folder_of_the_user_goes_by_the_path_by_which_its_files_are_opened(
    project: Project, tmp_path: Path
) -> None:
    settings = tmp_path / "settings" / "axe" / "agents"
    lint = write(settings, "lint")
    parent = write(settings, "parent", calling("lint"))
    linked(project.user_agents, settings)
    with project.editor(capabilities=PULLS) as editor:
        assert agents(editor) == [("lint", "user"), ("parent", "user")]
        uri = open_at(editor, parent)
        while agents(editor) != [("lint", "workspace"), ("parent", "workspace")]:
            pass
        assert codes(editor, uri) == []
        assert target(editor, uri, '"li') == lint
        lint.unlink()
        editor.changed_on_disk(project.user_agents / "lint.toml")
        while agents(editor) != [("parent", "workspace")]:
            pass
        assert codes(editor, uri) == ["unknown-agent"]


def test_a_file_that_is_a_link_is_an_agent_by_the_name_of_the_link(
    project: Project, tmp_path: Path
) -> None:
    shared = write(tmp_path / "shared", "lint")
    project.path("style").symlink_to(shared)
    project.write("parent", AGENT.format("parent") + calling("style"))
    with project.editor() as editor:
        graph(editor)
        editor.open("parent")
        assert target(editor, "parent", '"st') == project.path("style")


def test_link_to_a_file_is_no_duplicate(project: Project) -> None:
    lint = write(project.agents, "lint")
    elsewhere = project.root / "sub" / "axe" / "agents"
    double, link = write(elsewhere, "style"), elsewhere / "lint.toml"
    link.symlink_to(lint)
    write(project.agents, "style")
    with project.editor(capabilities=PULLS) as editor:
        for path, found in [(lint, []), (link, []), (double, ["duplicate-name"])]:
            uri = open_at(editor, path)
            assert codes(editor, uri) == found
        link.unlink()
        write(elsewhere, "lint")
        editor.changed_on_disk(link)
        while codes(editor, lint.as_uri()) != ["duplicate-name"]:
            pass


def linked_file(link: Path, file: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(file)


def callers(editor: Editor, callee: str) -> list[str]:
    drawn = graph(editor)
    known = {node["id"]: node["name"] for node in drawn["nodes"]}
    return sorted(known[each["from"]] for each in drawn["edges"] if known[each["to"]] == callee)


def test_agents_that_are_linked_into_another_folder_are_one_each(project: Project) -> None:
    elsewhere = project.root / "sub" / "axe" / "agents"
    linked_file(elsewhere / "lint.toml", write(project.agents, "lint"))
    linked_file(elsewhere / "lead.toml", write(project.agents, "lead", calling("lint")))
    write(elsewhere, "other", calling("lint"))
    with project.editor() as editor:
        names = ["lead", "lint", "other"]
        assert sorted(node["name"] for node in graph(editor)["nodes"]) == names
        assert agents(editor) == [(name, "workspace") for name in names]
        assert callers(editor, "lint") == ["lead", "other"]
        uri = open_at(editor, elsewhere / "lint.toml")
        assert uri in {node["id"] for node in graph(editor)["nodes"]}
        about = {"uri": project.path("lint").as_uri()}
        found = editor.client.request("axe/graph", about)["nodes"]
        assert sorted(node["name"] for node in found) == names


def test_a_linked_agent_that_calls_others_where_the_link_lies_is_another(project: Project) -> None:
    elsewhere = project.root / "sub" / "axe" / "agents"
    lead = write(project.agents, "lead", calling("lint"))
    linked_file(elsewhere / "lead.toml", lead)
    linked_file(elsewhere / "top.toml", write(project.agents, "top", calling("lead")))
    write(project.agents, "lint")
    write(elsewhere, "lint")
    with project.editor() as editor:
        found = sorted(node["name"] for node in graph(editor)["nodes"])
        assert found == ["lead", "lead", "lint", "lint", "top", "top"]


def test_an_agent_that_is_linked_into_another_project_runs_in_both(
    project: Project, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    linked_file(other / "axe" / "agents" / "lint.toml", write(project.agents, "lint"))
    roots = [{"uri": each.as_uri(), "name": each.name} for each in (project.root, other)]
    with project.editor(workspaceFolders=roots) as editor:
        assert len(graph(editor)["nodes"]) == 2
        assert agents(editor) == [("lint", "workspace")] * 2


def test_a_file_that_is_open_by_two_paths_is_not_its_own_double(
    project: Project, tmp_path: Path
) -> None:
    lint = write(project.agents, "lint")
    root = linked(tmp_path / "link", project.root)
    with project.editor(capabilities=PULLS) as editor:
        graph(editor)
        uris = [open_at(editor, path) for path in (lint, root / "axe/agents/lint.toml")]
        assert [codes(editor, uri) for uri in uris] == [[], []]


def completions(editor: Editor, uri: str, before: str) -> list[Any]:
    found = editor.ask("completion", uri, before)
    items = found if isinstance(found, list) else found["items"]
    return [each["label"] for each in items]


def test_agents_of_all_places_are_offered_once(project: Project, tmp_path: Path) -> None:
    write(project.agents, "ours")
    write(project.user_agents, "ours")
    write(project.user_agents, "mine")
    linked(tmp_path / "project" / "sub" / ".axe" / "agents", project.agents)
    with project.editor() as editor:
        graph(editor)
        editor.open("parent", AGENT.format("parent") + 'sub_agents = [""]\n')
        assert sorted(completions(editor, "parent", 'sub_agents = ["')) == ["mine", "ours"]
