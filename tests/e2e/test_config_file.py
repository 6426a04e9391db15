"""config.toml over the wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.session import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_config_toml_is_checked_and_completed_where_it_is_the_users(project: Project) -> None:
    config = (project.user_agents.parent / "config.toml").as_uri()
    text = "[providers.antropic]\napi_key = 3\n\n[pro]\n"
    with project.editor() as editor:
        editor.open(config, text)
        found = ["unknown-provider antropic", "wrong-type 3", "unknown-key pro"]
        assert editor.problems(config, 3) == found
        offered = editor.ask("completion", config, "[pro")["items"]
        assert "providers.openai" in [each["label"] for each in offered]
        assert editor.ask("hover", config, "api")["contents"]["value"].startswith(
            "**`providers.antropic.api_key`**"
        )
        editor.close(config)
        assert editor.problems(config, 0) == []
        assert editor.client.leave() == 0


def test_config_toml_of_a_project_is_not_served(project: Project) -> None:
    other = (project.root / "config.toml").as_uri()
    with project.editor() as editor:
        editor.open(other, "[providers.antropic]\n")
        assert editor.ask("hover", other, "prov") is None


def test_a_key_that_is_saved_there_is_missed_no_longer(project: Project) -> None:
    path = project.user_agents.parent / "config.toml"
    config = path.as_uri()
    with project.editor() as editor:
        editor.open("main", 'name = "main"\nmodel = "openai/m"\n')
        assert editor.problems("main", 1) == ['missing-api-key "openai/m"']
        editor.open(config, "[providers.openai]\napi_key = 'hidden'\n")
        path.write_text("[providers.openai]\napi_key = 'hidden'\n")
        editor.client.notify("textDocument/didSave", {"textDocument": {"uri": config}})
        assert editor.problems("main", 0) == []
        assert "hidden" not in str(editor.client.received)
