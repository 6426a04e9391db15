"""Runs of Codex agents from an editor."""

from __future__ import annotations

from pathlib import Path

from support.scripted_provider import Says, ScriptedProvider
from support.session import Project

ROLE = """name = "reviewer"
description = "d"
developer_instructions = "You review."
model = "m"
web_search = "live"
"""


def test_a_codex_agent_is_previewed_and_run_by_its_file_or_its_name(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    project = Project(tmp_path, provider.environment)
    file = project.root / ".codex" / "agents" / "deep" / "r.toml"
    file.parent.mkdir(parents=True)
    file.write_text(ROLE)
    provider.script("m", Says("done"))
    with project.editor() as editor:
        for params in ({"uri": file.as_uri()}, {"agent": "reviewer"}):
            preview = editor.client.request("axe/preview", params)
            assert preview["model"] == "openai/m"
            assert preview["systemPrompt"] == "You review."
            assert preview["subAgents"] == ["reviewer"]
            assert "no counterpart for web_search" in preview["warnings"][0]
        assert editor.client.request("axe/run", {"agent": "reviewer"})["content"] == "done"


CLAUDE = """---
name: reviewer
description: d
tools: Read, TodoWrite
---
You review.
"""


def test_agent_in_markdown_is_previewed_and_run_by_its_file_or_its_name(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    project = Project(tmp_path, provider.environment)
    file = project.root / ".claude" / "agents" / "r.md"
    file.parent.mkdir(parents=True)
    file.write_text(CLAUDE)
    with project.editor() as editor:
        for member in ({"uri": file.as_uri()}, {"agent": "reviewer"}, {"agent": "claude:reviewer"}):
            params = {**member, "model": "openai/m"}
            preview = editor.client.request("axe/preview", params)
            assert preview["systemPrompt"] == "You review."
            assert "no counterpart for TodoWrite" in preview["warnings"][0]
            provider.script("m", Says("done"))
            assert editor.client.request("axe/run", params)["content"] == "done"
