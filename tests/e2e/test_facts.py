"""What lies outside an agent file, as an editor shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.session import Project

HEAD = 'name = "main"\nmodel = "ollama/m"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_missing_files_are_reported_and_followed(project: Project) -> None:
    with project.editor() as editor:
        editor.open("main", HEAD + 'skill = "s.md"\nfiles = ["*.md"]\nworkdir = "."\n')
        assert editor.problems("main", 2) == ['missing-file "s.md"', 'empty-glob "*.md"']
        (project.home / ".config/axe/s.md").write_text("Be brief.")
        readme = project.root / "README.md"
        readme.write_text("# Read")
        editor.changed_on_disk(readme)
        assert editor.problems("main", 0) == []
        editor.replace("main", 'workdir = "."', 'workdir = "gone"')
        assert editor.problems("main", 1) == ['missing-file "gone"']
        assert editor.client.leave() == 0


def test_a_key_in_the_environment_is_enough(tmp_path: Path) -> None:
    text = HEAD.replace("ollama", "openai")
    project = Project(tmp_path / "with", {"OPENAI_API_KEY": "nobody-may-see-it"})
    with project.editor() as editor:
        editor.open("main", text + 'skill = "gone"\n')
        assert editor.problems("main", 1) == ['missing-file "gone"']
        assert "nobody-may-see-it" not in str(editor.client.received)
    with Project(tmp_path / "without").editor() as editor:
        editor.open("main", text)
        assert editor.problems("main", 1) == ['missing-api-key "openai/m"']
