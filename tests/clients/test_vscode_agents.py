"""Agents in the VS Code extension, in the real workbench: the view of all."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli

from support.editors import server_program
from support.engines import agent
from support.extension import TRUSTING, put_server_into, vscode
from support.scripted_provider import ScriptedProvider

LEAD = agent("lead", sub_agents=["lint", "ghost"], description="Leads")


def write_agents(project: Path, agents: dict[str, str]) -> Path:
    """A project with agents and its own server; the value is the folder of agents."""
    folder = project / "axe" / "agents"
    folder.mkdir(parents=True)
    for name, text in agents.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    return folder


@pytest.mark.editor
def test_the_view_has_all_agents_and_changes_them(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    folder = write_agents(project, LEAD | agent("lint", description="Finds faults"))
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/lead.toml")
        agents = window.open_view("Agents")
        agents.wait_for("review", "lead openai/m-lead · Leads", "lint", "Built in")
        agents.wait_until_spoken("Leads", "lead, 1 warning, openai/m-lead, Leads")
        agents.wait_until_spoken("lint", "lint, openai/m-lint, Finds faults")
        window.screenshot("agents")

        window.fix("ghost", 'Create the agent "ghost"')
        agents.wait_for("ghost openai/m-lead", "lead", "lint")
        agents.wait_until_spoken("Leads", "lead, openai/m-lead, Leads")

        agents.choose("Finds faults", entry="Rename This Agent")
        window.answer_question("Rename lint", "style")
        agents.wait_for("ghost", "lead", "style openai/m-lint · Finds faults")
        agents.wait_until_gone("lint openai")
        window.wait_until(
            "the files have changed", lambda: "style" in (folder / "lead.toml").read_text()
        )
        assert tomli.loads((folder / "style.toml").read_text("utf-8"))["name"] == "style"
        assert not (folder / "lint.toml").exists()

        agents.choose("style", entry="New Sub-Agent")
        window.answer_question("New sub-agent of style", "spelling")
        agents.wait_for("ghost", "lead", "spelling openai/m-lint", "style")
        window.wait_for_text('name = "spelling"')

        agents.choose("style", entry="Delete This Agent")
        said = window.answer_dialog("Delete the agent style?", "Delete")
        assert "It is called by lead, which will miss it." in said
        agents.wait_for("ghost", "lead", "spelling")
        agents.wait_until_gone("style openai")
        agents.wait_until_spoken("Leads", "lead, 1 warning")
    assert not (folder / "style.toml").exists()
