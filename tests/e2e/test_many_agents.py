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


def test_an_open_file_is_told_of_before_hundreds_of_others(project: Project) -> None:
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
        editor.open("here", agent("here", "there") + "timeout = 10\n")
        assert line_told_of_the_other_file(editor, problems=0) == 2
        path = project.write("there", "\n\n\n" + agent("there", "here"))
        editor.replace("here", "10", "-10")
        assert line_told_of_the_other_file(editor, problems=1) == 2
        editor.changed_on_disk(path)
        assert line_told_of_the_other_file(editor, problems=1) == 5
