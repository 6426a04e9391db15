"""The language server as an editor meets it: typing, opening, files that come and go."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from support.raw_client import RawClient, ServerError
from support.session import PUBLISH, SERVER, Project

HEAD = 'name = "parent"\nmodel = "ollama/m"\n'
THREE_MISTAKES = (
    HEAD + 'sub_agents = ["lint", "lnt"]\n\n[sub_agents_config]\nmax_depth = 6\ntimeout = -30\n'
)
CHILD = 'name = "lint"\nmodel = "ollama/m"\ndescription = "Checks style"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_each_corrected_mistake_removes_its_diagnostic(project: Project) -> None:
    project.write("lint", CHILD)
    with project.editor() as editor:
        editor.open("parent", THREE_MISTAKES)
        found = editor.problems("parent", 3)
        assert found == ['unknown-agent "lnt"', "max-depth 6", "negative-timeout -30"]
        editor.replace("parent", ', "lnt"', "")
        assert editor.problems("parent", 2) == ["max-depth 6", "negative-timeout -30"]
        editor.replace("parent", "6", "5")
        assert editor.problems("parent", 1) == ["negative-timeout -30"]
        editor.replace("parent", "-30", "30")
        assert editor.problems("parent", 0) == []
        assert editor.client.leave() == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_ranges_behind_astral_characters_in_every_encoding(project: Project, encoding: str) -> None:
    capabilities = {"general": {"positionEncodings": [encoding]}}
    with project.editor(capabilities=capabilities) as editor:
        assert editor.encoding == encoding
        editor.open("parent", HEAD + 'skill = "😀é" \nmemory = { path = "😀", last_n = -7 }\n')
        assert editor.problems("parent", 1) == ["out-of-range -7"]
        editor.replace("parent", '"😀é"', '"😀\u2028😀"')
        editor.replace("parent", "-7", "-8")
        assert editor.problems("parent", lambda found: found == ["out-of-range -8"])


def test_half_typed_lines_keep_the_other_diagnostics(project: Project) -> None:
    with project.editor() as editor:
        editor.open("parent", HEAD + "skill = \n[memory]\nlast_n = -6\n")
        assert editor.problems("parent", 2) == ["syntax =", "out-of-range -6"]
        editor.replace("parent", "skill = ", 'skill = "a')
        assert editor.problems("parent", lambda found: "syntax =" not in found) == [
            'syntax "a',
            "out-of-range -6",
        ]
        editor.replace("parent", '"a', '"a"')
        assert editor.problems("parent", 1) == ["out-of-range -6"]


def test_created_and_deleted_agent_updates_its_callers(project: Project) -> None:
    project.write("parent", HEAD + 'sub_agents = ["lint"]\n')
    with project.editor() as editor:
        editor.open("parent")
        assert editor.problems("parent", 1) == ['unknown-agent "lint"']
        child = project.write("lint", CHILD)
        editor.changed_on_disk(child)
        assert editor.problems("parent", 0) == []
        child.unlink()
        editor.changed_on_disk(child)
        assert editor.problems("parent", 1) == ['unknown-agent "lint"']


def test_unsaved_new_agent_resolves_its_name(project: Project) -> None:
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["lint"]\n')
        editor.problems("parent", 1)
        editor.open("lint", CHILD)
        assert editor.problems("parent", 0) == []
        editor.close("lint")
        assert editor.problems("parent", 1) == ['unknown-agent "lint"']


def test_a_folder_of_agents_that_goes_takes_its_agents_along(project: Project) -> None:
    project.write("lint", CHILD)
    other = project.root / "other" / ".axe" / "agents"
    other.mkdir(parents=True)
    (other / "far.toml").write_text(CHILD.replace("lint", "far"))
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["far", "lint"]\n')
        editor.problems("parent", 0)
        (other / "far.toml").unlink()
        other.rmdir()
        editor.changed_on_disk(other)
        assert editor.problems("parent", 1) == ['unknown-agent "far"']


WATCHES = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}


@pytest.mark.parametrize(
    "session",
    [
        {"capabilities": {}},
        {"refuses": ["client/registerCapability"]},
        {"capabilities": WATCHES, "clientInfo": {"name": "opencode"}},
    ],
    ids=["not offered", "refused", "only its own edits"],
)
def test_server_watches_files_where_client_does_not_report_other_programs(
    project: Project, session: dict[str, Any]
) -> None:
    with project.editor(**session) as editor:
        editor.open("parent", HEAD + 'sub_agents = ["lint"]\n')
        editor.problems("parent", 1)
        project.write("lint", CHILD)
        assert editor.problems("parent", 0) == []


def test_file_that_is_opened_gets_diagnostics_also_if_it_had_the_same_while_closed(
    project: Project,
) -> None:
    project.write("parent", THREE_MISTAKES)
    with project.editor() as editor:
        editor.problems("parent", 4)
        for _ in range(2):
            editor.open("parent", THREE_MISTAKES + "# \n")
            editor.replace("parent", "# ", "# a comment")
            editor.ask("hover", "parent", "name")  # All before it has been handled.
            editor.close("parent")
        published = [
            (params["version"], len(params["diagnostics"]))
            for params in editor.client.notifications(PUBLISH)
            if params.get("version") is not None
        ]
        assert published == [(1, 4), (2, 4), (1, 4), (2, 4)]


def test_problems_of_files_that_nobody_has_open_are_reported(project: Project) -> None:
    project.write("parent", THREE_MISTAKES)
    with project.editor() as editor:
        assert len(editor.problems("parent", 4)) == 4
        project.write("parent", HEAD)
        editor.changed_on_disk(project.path("parent"))
        assert editor.problems("parent", 0) == []


def test_problems_of_a_file_that_nobody_has_open_go_when_it_is_deleted(project: Project) -> None:
    path = project.write("parent", THREE_MISTAKES)
    with project.editor() as editor:
        editor.problems("parent", 4)
        path.unlink()
        editor.changed_on_disk(path)
        assert editor.problems("parent", 0) == []


def test_problems_of_a_folder_go_when_the_folder_does(project: Project) -> None:
    project.write("parent", THREE_MISTAKES)
    folder = {"uri": project.root.as_uri(), "name": "project"}
    with project.editor() as editor:
        editor.problems("parent", 4)
        editor.client.notify(
            "workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}}
        )
        assert editor.problems("parent", 0) == []


def test_agents_of_the_user_are_resolved_and_not_reported(project: Project) -> None:
    (project.user_agents / "lint.toml").write_text('name = "lint"\nmodel = 5\n')
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["lint", "none"]\n')
        assert editor.problems("parent", 1) == ['unknown-agent "none"']
        reported = {params["uri"] for params in editor.client.notifications(PUBLISH)}
        assert reported == {editor.uri("parent")}


def test_toml_file_is_served_only_as_an_agent_by_place_or_language(project: Project) -> None:
    with project.editor() as editor:
        elsewhere = (project.root / "pyproject.toml").as_uri()
        editor.open(elsewhere, "max_depth = ")
        assert editor.ask("hover", elsewhere, "max_") is None
        editor.open("untitled:Untitled-1", "name = ", language="axe-agent")
        assert editor.problems("untitled:Untitled-1", 2) == ["missing-key name", "syntax ="]
        editor.replace(elsewhere, "depth", "turns")
        editor.ask("hover", elsewhere, "max_")  # The change before it has been handled.
        published = [
            (params["version"], params["diagnostics"])
            for params in editor.client.notifications(PUBLISH)
            if params["uri"] == elsewhere
        ]
        assert published == [(1, []), (2, [])]


def test_hover_completion_and_definition_answer_over_the_wire(project: Project) -> None:
    child = project.write("lint", "# Lint\n" + CHILD)
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["", "lint"]\n')
        editor.problems("parent", lambda found: found == ['unknown-agent ""'])
        hover = editor.ask("hover", "parent", "lin")
        assert hover["contents"]["value"].startswith("**lint**")
        editor.replace("parent", ', "lint"', "")
        (item,) = editor.ask("completion", "parent", '["')["items"]
        assert (item["label"], item["textEdit"]["newText"]) == ("lint", "lint")
        assert item["detail"] == "Checks style"
        editor.replace("parent", '""', '"lint"')
        target = editor.ask("definition", "parent", "lin")
        assert target["uri"] == child.as_uri()
        assert target["range"]["start"] == {"line": 1, "character": 7}


def test_links_and_snippets_follow_the_capabilities(project: Project) -> None:
    project.write("lint", CHILD)
    item = {"snippetSupport": True}
    features = {"definition": {"linkSupport": True}, "completion": {"completionItem": item}}
    with project.editor(capabilities={"textDocument": features}) as editor:
        editor.open("parent", HEAD + 'sub_agents = ["lint", "x"]\nskil')
        editor.problems("parent", lambda found: 'unknown-agent "x"' in found)
        (link,) = editor.ask("definition", "parent", "lin")
        assert link["originSelectionRange"] == editor.range("parent", 49, 55)
        items = editor.ask("completion", "parent", "skil")["items"]
        skill = next(item for item in items if item["label"] == "skill")
        assert (skill["insertTextFormat"], skill["textEdit"]["newText"]) == (2, 'skill = "$1"')


def test_settings_change_severities_and_add_folders(project: Project) -> None:
    extra = project.root / "more"
    extra.mkdir()
    (extra / "far.toml").write_text(CHILD)
    settings = {"diagnostics": {"unknown-key": "off"}, "agentPaths": ["more"]}
    with project.editor(initializationOptions=settings) as editor:
        editor.open("parent", HEAD + 'sub_agents = ["far", "none"]\nzzz = 1\n')
        assert editor.problems("parent", 1) == ['unknown-agent "none"']
        change = {"settings": {"axe": {"diagnostics": {"unknown-key": "error"}}}}
        editor.client.notify("workspace/didChangeConfiguration", change)
        assert editor.problems("parent", 3) == [
            'unknown-agent "far"',
            'unknown-agent "none"',
            "unknown-key zzz",
        ]


def test_a_projects_file_changes_severities_and_settings_come_before_it(project: Project) -> None:
    file = project.root / "axe" / "check.toml"
    file.write_text('[diagnostics]\nunknown-key = "off"\nunknown-agent = "hint"\nzzz = "off"\n')
    settings = {"diagnostics": {"name-mismatch": "off"}}
    with project.editor(initializationOptions=settings) as editor:
        editor.open(
            "parent", 'name = "other"\nmodel = "ollama/m"\nsub_agents = ["none"]\nzzz = 1\n'
        )
        assert editor.problems("parent", 1) == ['unknown-agent "none"']
        told = editor.client.wait_for(
            "window/showMessage", lambda it: "check.toml" in it["message"]
        )
        assert "'zzz' is not a diagnostic code" in told["message"]
        file.write_text('[diagnostics]\nname-mismatch = "error"\n')
        changes = [{"uri": file.as_uri(), "type": 2}]
        editor.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        assert editor.problems("parent", 2) == ['unknown-agent "none"', "unknown-key zzz"]


def test_message_about_a_strangers_file_has_no_link(project: Project) -> None:
    link = "[Reload](command:workbench.action.reloadWindow)"
    (project.root / "axe" / "check.toml").write_text(f'[diagnostics]\n"{link}" = "off"\n')
    with project.editor() as editor:
        editor.open("parent", HEAD)
        told = editor.client.wait_for(
            "window/showMessage", lambda it: "check.toml" in it["message"]
        )
    assert "[Reload]\u200b(command:" in told["message"]
    assert link not in told["message"]


def test_description_of_a_strangers_agent_loads_no_picture_in_hover(project: Project) -> None:
    project.write("lint", CHILD.replace("Checks style", "![](https://stranger.example/seen.png)"))
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["lint", "none"]\n')
        editor.problems("parent", 1)  # All files are read.
        hover = editor.ask("hover", "parent", '"li')
    assert r"!\[\](https\://stranger.example/seen.png)" in hover["contents"]["value"]


def test_changed_agent_paths_add_and_remove_open_files(project: Project) -> None:
    (project.root / "more").mkdir()
    far = (project.root / "more" / "far.toml").as_uri()

    def set_folders(*folders: str) -> None:
        change = {"settings": {"axe": {"agentPaths": folders}}}
        editor.client.notify("workspace/didChangeConfiguration", change)

    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["far"]\n')
        editor.problems("parent", 1)
        editor.open(far, CHILD.replace('"lint"', '"far"') + "timeout = -1\n")
        set_folders("more")
        assert editor.problems(far, 1) == ["negative-timeout -1"]
        assert editor.ask("hover", far, "timeo") is not None
        editor.problems("parent", 0)
        editor.replace(far, "-1", "1")
        editor.problems(far, 0)
        set_folders()
        editor.problems("parent", 1)
        assert editor.ask("hover", far, "timeo") is None


def test_folders_of_the_settings_are_watched(project: Project) -> None:
    capabilities = {
        "workspace": {
            "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True}
        }
    }

    seen: set[object] = set()

    def watched() -> set[str]:
        """Return the folders outside the usual ones that the client was asked to watch next."""
        (registration,) = editor.client.wait_for("client/registerCapability")["registrations"]
        patterns = [each["globPattern"] for each in registration["registerOptions"]["watchers"]]
        seen.update(each for each in patterns if isinstance(each, str))
        below = {(each["baseUri"], each["pattern"]) for each in patterns if isinstance(each, dict)}
        seen.update(each for each in below if each[1] != "*.toml")
        return {uri for uri, pattern in below if pattern == "*.toml"}

    relative, absolute = project.root / "more", project.root.parent / "outside"
    settings = {"agentPaths": ["more", str(absolute)]}
    with project.editor(capabilities=capabilities, initializationOptions=settings) as editor:
        assert watched() == {each.as_uri() for each in (project.user_agents, relative, absolute)}
        assert {"**/SKILL.md", (project.user_agents.parent.as_uri(), "config.toml")} < seen
        change = {"settings": {"axe": {"agentPaths": ["more", "later"]}}}
        editor.client.notify("workspace/didChangeConfiguration", change)
        assert watched() == {(project.root / "later").as_uri()}


def test_settings_are_requested_and_invalid_ones_explained(project: Project) -> None:
    with project.editor(capabilities={"workspace": {"configuration": True}}) as editor:
        asked = editor.client.wait_for("workspace/configuration")
        assert asked == {"items": [{"section": "axe"}]}
        editor.client.answer_with["workspace/configuration"] = lambda _: [
            {"run": {"timeout": "soon"}}
        ]
        editor.client.notify("workspace/didChangeConfiguration", {"settings": None})
        message = editor.client.wait_for("window/showMessage")["message"]
        assert "axe.run.timeout must be a whole number from 0, not 'soon'" in message


def test_a_workspace_folder_that_joins_and_leaves(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "second")
    other.write("far", CHILD)
    folder = {"uri": other.root.as_uri(), "name": "second"}
    method = "workspace/didChangeWorkspaceFolders"
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["far"]\n')
        editor.problems("parent", 1)
        editor.client.notify(method, {"event": {"added": [folder], "removed": []}})
        editor.problems("parent", 0)
        editor.client.notify(method, {"event": {"added": [], "removed": [folder]}})
        editor.problems("parent", 1)


def test_a_client_that_spells_uris_its_own_way_gets_its_spelling_back(project: Project) -> None:
    with project.editor() as editor:
        odd = editor.uri("parent").replace("agents", "%61gents")
        editor.open(odd, HEAD + "timeout = -1\n")
        assert editor.problems(odd, 1) == ["negative-timeout -1"]
        assert editor.ask("hover", odd, "timeo")["contents"]["value"].startswith("**`timeout`**")


@pytest.mark.parametrize("link", [False, True])
def test_a_definition_in_an_open_file_is_spelled_as_the_client_spells_it(
    project: Project, link: bool
) -> None:
    project.write("lint", CHILD)
    project.write("parent", HEAD + 'sub_agents = ["lint"]\n')
    capabilities = {"textDocument": {"definition": {"linkSupport": link}}}
    with project.editor(capabilities=capabilities) as editor:
        odd = editor.uri("lint").replace("lint", "%6Cint")
        editor.open(odd, CHILD)
        editor.open("parent")
        found = editor.ask("definition", "parent", '"lin')
        assert (found[0]["targetUri"] if link else found["uri"]) == odd


def test_two_spellings_of_one_uri_are_one_agent_that_goes_by_the_one_edited_last(
    project: Project,
) -> None:
    project.write("a-b", CHILD)
    plain, escaped = (f"{project.agents.as_uri()}/a{sign}b.toml" for sign in ("-", "%2D"))
    with project.editor() as editor:
        for spelling in (plain, escaped):
            editor.open(spelling, "model = ")
            editor.problems(spelling, 2)
        assert editor.problems(plain, 0) == []  # They are shown at the other one now.
        editor.replace(plain, "model = ", 'name = "a-b"\nmodel = ')
        assert editor.problems(plain, 1) == ["syntax ="]
        assert [each["uri"] for each in editor.client.request("axe/agents")[:1]] == [plain]
        editor.close(plain)
        assert len(editor.problems(escaped, 2)) == 2
        assert editor.ask("hover", escaped, "mod") is not None


def test_a_document_is_changed_and_closed_by_any_spelling_of_its_uri(project: Project) -> None:
    opened, other = (f"{project.agents.as_uri()}/a{sign}b.toml" for sign in ("%2D", "-"))
    with project.editor() as editor:
        editor.open(opened, HEAD)
        editor.problems(opened, 1)
        document = {"uri": other, "version": 2}
        changes = {"textDocument": document, "contentChanges": [{"text": "model = "}]}
        editor.client.notify("textDocument/didChange", changes)
        editor.problems(opened, 2)
        editor.close(other)
        assert editor.problems(opened, 0) == []


@pytest.mark.parametrize("scheme", ["fugitive://", "git:", "vscode-notebook-cell:"])
@pytest.mark.parametrize("language", ["toml", "axe-agent"])
def test_document_of_a_diff_scheme_is_no_agent(
    project: Project, scheme: str, language: str
) -> None:
    project.write("lint", CHILD)
    project.write("parent", HEAD + 'sub_agents = ["lint", "old"]\n')
    old = {name: f"{scheme}{project.path(name)}" for name in ("lint", "parent", "old")}
    with project.editor() as editor:
        editor.open("lint")
        for uri in old.values():
            editor.open(uri, HEAD + 'sub_agents = ["lint"]\nmodel = 5\n', language)
        assert editor.problems("parent", 1) == ['unknown-agent "old"']
        editor.problems("lint", 0)
        assert editor.ask("hover", old["parent"], "lin") is None
        params = {**editor.place("lint", 'name = "'), "context": {"includeDeclaration": False}}
        (mention,) = editor.client.request("textDocument/references", params)
        assert mention["uri"] == editor.uri("parent")
        reported = {
            params["uri"]
            for params in editor.client.notifications(PUBLISH)
            if params["diagnostics"]
        }
        assert reported == {editor.uri("parent")}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'name = "\xff"\n',
            "the file is not UTF-8 (line 1, column 9: byte 0xFF): save it as UTF-8",
        ),
        (
            b'name = "a\x00b"\nmodel = "a/b"\n',
            "there is a control character here, U+0000, which TOML does not allow",
        ),
        (b'name = "' + b"x" * 10_000_000, 'the string is not closed: expected `"`'),
    ],
    ids=["not UTF-8", "NUL", "10 MB in a line"],
)
def test_invalid_file_on_disk_is_reported(project: Project, content: bytes, said: str) -> None:
    project.path("bad").write_bytes(content)
    with project.editor() as editor:
        params = editor.client.wait_for(PUBLISH, lambda it: it["uri"] == editor.uri("bad"))
        assert said in [each["message"] for each in params["diagnostics"]]
        editor.open("parent", HEAD + 'sub_agents = ["bad"]\nzzz = 1\n')
        assert editor.problems("parent", 1) == ["unknown-key zzz"]


def test_a_directory_and_an_unreadable_file_in_place_of_agents(project: Project) -> None:
    project.path("folder").mkdir()
    locked = project.write("locked", HEAD)
    locked.chmod(0)
    with project.editor() as editor:
        params = editor.client.wait_for(PUBLISH, lambda it: it["uri"] == editor.uri("folder"))
        (problem,) = params["diagnostics"]
        assert problem["message"] == f"the file can't be read: {os.strerror(21)}"
        if os.geteuid() != 0:  # Nothing is unreadable for root.
            params = editor.client.wait_for(PUBLISH, lambda it: it["uri"] == editor.uri("locked"))
            assert "can't be read" in params["diagnostics"][0]["message"]


def test_requests_about_files_that_are_not_open_are_answered_empty(project: Project) -> None:
    project.write("lint", CHILD)
    with project.editor() as editor:
        editor.texts["lint"] = CHILD
        assert editor.ask("hover", "lint", "nam") is None
        assert editor.ask("definition", "lint", "nam") is None
        assert editor.ask("completion", "lint", "nam")["items"] == []
        with pytest.raises(ServerError) as caught:
            editor.client.request("textDocument/hover", {"position": 5})
        assert caught.value.code == -32602


def test_unknown_diagnostic_code_in_settings_gets_a_suggestion(project: Project) -> None:
    options = {"diagnostics": {"unknown-agnet": "off", "unknown-key": "off"}}
    with project.editor(initializationOptions=options) as editor:
        shown = editor.client.wait_for("window/showMessage")
        assert shown["message"] == (
            "the setting axe.diagnostics names `unknown-agnet`, which is not a diagnostic code; "
            "did you mean `unknown-agent`?"
        )


def test_closing_what_was_never_opened_is_ignored_in_one_line(project: Project) -> None:
    with project.editor() as editor:
        editor.close("ghost")
        editor.open("parent", HEAD)
        editor.problems("parent", 0)
        assert f"ignored textDocument/didClose: {editor.uri('ghost')} is not open" in (
            editor.client.stderr()
        )
        assert "Traceback" not in editor.client.stderr()


def test_a_server_whose_folder_has_gone_says_so_when_a_run_needs_one(project: Project) -> None:
    gone = project.root / "gone"
    gone.mkdir()
    command = ["sh", "-c", f'cd {gone}; rmdir {gone}; exec "$@"', "sh", *SERVER]
    with RawClient.spawn(command, env=project.environment, cwd=project.root) as client:
        client.initialize()
        with pytest.raises(ServerError, match="failed to get working directory") as failure:
            client.request("axe/run", {"agent": "nobody"})
        assert failure.value.data == {"kind": "config", "exitCode": 2}
