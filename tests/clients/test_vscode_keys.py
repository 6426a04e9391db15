"""An API key that is missing, and that the user gives to the real workbench."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.editors import server_program
from support.engines import agent
from support.extension import TRUSTING, put_server_into, vscode
from support.scripted_provider import Says, ScriptedProvider
from support.secrets import files_with

KEY = "key-of-a-test-1234567890"


@pytest.mark.editor
def test_a_missing_key_is_asked_for_and_sent_to_its_provider_alone(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    solo = project / "axe" / "agents" / "solo.toml"
    solo.parent.mkdir(parents=True)
    solo.write_text(agent("solo")["solo"], encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    environment = {**provider.environment, "OPENAI_API_KEY": ""}
    provider.script("m-solo", Says("Done."))
    with vscode(extension, project, tmp_path, TRUSTING, environment) as window:
        window.open_file("axe/agents/solo.toml")
        window.run_agent("solo", "Go")
        window.answer_message("is not configured", "Set API Key…")
        window.answer_question("API Key: OPENAI_API_KEY", KEY)
        window.wait_for_problems([])
        window.run_agent("solo", "Go")
        window.wait_for_output("solo | Done.")
        window.run_command("axe: Open config.toml")
        window.answer_message("config.toml yet", "Create It")
        window.wait_for_tab("config.toml")
        window.wait_for_text("Settings for providers, shared by axe and axe-lsp.")
    (request,) = provider.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert files_with(KEY, tmp_path) == []
