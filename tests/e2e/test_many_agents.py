"""What agents around a file have to do with what is said about it, over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.session import PUBLISH, Editor, Project

RELATED = {
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}},
    # Else the server looks for changes on the disk itself.
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def agent(name: str, *calls: str) -> str:
    return f'name = "{name}"\nmodel = "ollama/m"\nsub_agents = {list(calls)}\n'


def found(params: Any, code: str) -> list[Any]:
    return [each for each in params["diagnostics"] if each["code"] == code]


def test_diagnostics_of_an_open_file_come_before_those_of_others(project: Project) -> None:
    for number in range(300):
        project.write(f"n{number}", agent(f"n{number}", "nobody"))
    with project.editor() as editor:
        editor.open("n200")
        editor.problems("n200", bool)
        told = [
            params["uri"]
            for params in editor.client.notifications(PUBLISH)
            if found(params, "unknown-agent")
        ]
        assert told[0] == editor.uri("n200")


def line_told_of_the_other_file(editor: Editor, problems: int) -> int:
    """In which line the way round from `here` goes on, once so many limits are negative."""

    def is_it(params: Any) -> bool:
        return (
            params["uri"] == editor.uri("here")
            and bool(found(params, "delegation-cycle"))
            and len(found(params, "negative-timeout")) == problems
        )

    (cycle,) = found(editor.client.wait_for(PUBLISH, is_it), "delegation-cycle")
    (other,) = cycle["relatedInformation"]
    assert other["location"]["uri"] == editor.uri("there")
    line = other["location"]["range"]["start"]["line"]
    assert isinstance(line, int)
    return line


def test_files_on_a_cycle_are_not_read_again_with_each_keystroke(project: Project) -> None:
    project.write("there", agent("there", "here"))
    with project.editor(capabilities=RELATED) as editor:
        editor.open("here", agent("here", "there") + "sub_agents_config.timeout = 10\n")
        assert line_told_of_the_other_file(editor, problems=0) == 2
        path = project.write("there", "\n\n\n" + agent("there", "here"))
        editor.replace("here", "10", "-10")
        assert line_told_of_the_other_file(editor, problems=1) == 2
        editor.changed_on_disk(path)
        assert line_told_of_the_other_file(editor, problems=1) == 5


def test_related_information_follows_edits_of_the_other_file(project: Project) -> None:
    with project.editor(capabilities=RELATED) as editor:
        editor.open("here", agent("here", "there"))
        editor.open("there", agent("there", "here"))
        assert line_told_of_the_other_file(editor, problems=0) == 2
        for line in (4, 6):
            editor.replace("there", "name", "\n\nname")
            assert line_told_of_the_other_file(editor, problems=0) == line


def test_the_way_to_an_agent_that_is_too_deep_moves_with_the_texts_on_it(project: Project) -> None:
    project.write("deep", agent("deep", "deeper"))
    project.write("deeper", agent("deeper"))
    root = agent("root", "deep") + "[sub_agents_config]\nmax_depth = 1\n"

    def is_told(params: Any) -> bool:
        return params["uri"] == editor.uri("deep") and bool(found(params, "unreachable-depth"))

    def line_told() -> object:
        (depth,) = found(editor.client.wait_for(PUBLISH, is_told), "unreachable-depth")
        return depth["relatedInformation"][0]["location"]["range"]["start"]["line"]

    with project.editor(capabilities=RELATED) as editor:
        editor.open("root", root)
        assert line_told() == 2
        editor.replace("root", "name", "# The root.\nname")
        assert line_told() == 3


@pytest.mark.parametrize(("typed", "more"), [("model", "# Mine.\n"), ("max_retries", "#\n\n")])
def test_related_information_follows_a_later_edit_above_it(
    project: Project, typed: str, more: str
) -> None:
    with project.editor(capabilities=RELATED) as editor:
        editor.open("here", agent("here", "there"))
        editor.open("there", agent("there", "here") + "max_retries = 10\n")
        assert line_told_of_the_other_file(editor, problems=0) == 2
        editor.replace("there", typed, f" {typed}")
        # Others are looked at once it is known of what was told whether it has moved.
        editor.changed_on_disk(project.write("witness", "nothing = 1\n"))
        editor.problems("witness", bool)
        editor.replace("there", "name", f"{more}name")
        moved = 2 + more.count("\n")
        assert line_told_of_the_other_file(editor, problems=0) == moved
