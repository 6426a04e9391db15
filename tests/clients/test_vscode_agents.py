"""Agents in the VS Code extension, in the real workbench: the view of all, forms, previews."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli

from support.accessibility import check_accessible
from support.editors import server_program
from support.engines import agent
from support.extension import TRUSTING, put_server_into, vscode
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider, calls_agent

if TYPE_CHECKING:
    from playwright.sync_api import Locator

LEAD = agent("lead", sub_agents=["lint", "ghost"], description="Leads")
INPUT = {
    "required": ["path"],
    "properties": {
        "path": {"type": "string", "description": "A file below the working directory."},
        "lines": {"type": "integer", "minimum": 1},
        "fast": {"type": "boolean", "default": True},
        "mode": {"enum": ["short", "long"], "default": "long"},
        "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "size": {"type": "object", "properties": {"width": {"type": "integer"}}},
    },
}


def _ends_with(field: Locator, text: str) -> bool:
    return field.input_value().endswith(text)


_HAS_FOCUS = "(field) => document.activeElement === field"

# VS Code's own style for fields would outline them in a colour that high contrast makes invisible.
_IS_OUTLINED_BY_THEME = """
(field) => {
  const probe = document.createElement("i");
  probe.style.color = "var(--vscode-focusBorder)";
  field.after(probe);
  const wanted = getComputedStyle(probe).color;
  probe.remove();
  return getComputedStyle(field).outlineColor === wanted;
}
"""


def write_agents(project: Path, agents: dict[str, str]) -> Path:
    """Return a project with agents and its own server; the value is the folder of agents."""
    folder = project / "axe" / "agents"
    folder.mkdir(parents=True)
    for name, text in agents.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    return folder


@pytest.mark.editor
@pytest.mark.parametrize("theme", ["Default Dark Modern", "Default High Contrast"])
def test_the_graph_follows_the_run_that_is_going_on(
    extension: Path, provider: ScriptedProvider, tmp_path: Path, theme: str
) -> None:
    agents = agent("lead", sub_agents=["lint", "style", "ghost"]) | agent("lint") | agent("style")
    agents["style"] = agents["style"].replace("openai/m-style", "openai/gpt-6-luna")
    folder = write_agents(tmp_path / "review", agents)
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("lint", "Look")]), Says("Done."))
    provider.script("m-lint", Answer(Says("Fine."), hold=hold))
    settings = {**TRUSTING, "workbench.colorTheme": theme}
    with vscode(extension, folder.parents[1], tmp_path, settings, provider.environment) as window:
        window.open_file("axe/agents/lead.toml")
        window.run_agent("lead", "Go")
        hold.wait_until_arrived()
        window.run_command("axe: Show the Graph of Agents")
        graph = window.webview()
        graph.get_by_role("button", name="lint; running, turn 1; calls nobody").wait_for()
        assert graph.locator(".agent.running").count() == 2
        assert graph.locator(".call.taken").count() == 1
        told = graph.locator(".agent:not(.live) .about").all_text_contents()
        about = [text.strip() for text in told]
        assert sorted(about) == ["gpt-6-luna · $0.1 / $0.5", "no file defines it"]
        check_accessible(graph)
        window.picture(f"graph-{theme}")
        hold.release()
        graph.get_by_role("button", name="lint; m-lint; calls nobody").wait_for()
        assert graph.locator(".agent.live, .call.taken").count() == 0


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

        window.run_command("axe: Show the Graph of Agents")
        graph = window.webview()
        lead = graph.get_by_role("button", name="lead; m-lead; 1 warning; calls ")
        lint = graph.get_by_role("button", name="lint; m-lint; calls nobody; called by lead")
        lead.press("ArrowRight")
        graph.locator(".agent:not(.warning):focus").wait_for()
        search = graph.get_by_label("Find an agent")
        search.fill("lint")
        search.press("Enter")
        graph.locator(".agent.fine:focus").wait_for()
        check_accessible(graph)
        window.picture("graph")
        lint.press("ArrowLeft")
        graph.locator(".agent.warning:focus").press("Enter")
        window.wait_for_tab("lead.toml")

        window.fix("ghost", 'Create the agent "ghost"')
        agents.wait_for("ghost openai/m-lead", "lead", "lint")
        agents.wait_until_spoken("Leads", "lead, openai/m-lead, Leads")

        agents.choose("Finds faults", entry="Find References to This Agent")
        found = window.view("Reference Search Results")
        found.wait_for("lead.toml axe/agents", "lint.toml axe/agents")
        found.wait_for_focus('name = "lint"')
        window.open_view("Agents").choose("Finds faults", entry="Show Call Hierarchy")
        found.wait_for("lint Finds faults", "lead Leads")
        found.wait_for_focus("Finds faults")
        agents = window.open_view("Agents")
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
        assert "It is called by lead, which will no longer find it." in said
        agents.wait_for("ghost", "lead", "spelling")
        agents.wait_until_gone("style openai")
        agents.wait_until_spoken("Leads", "lead, 1 warning")
    assert not (folder / "style.toml").exists()


@pytest.mark.editor
def test_a_task_of_several_lines_loses_nothing_that_was_typed(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    write_agents(project, agent("writer"))
    provider.script("m-writer", Says("Written."))
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        form = window.webview()
        task = form.get_by_label("Task")
        for begun in ("Begin with this", "and then that"):
            window.show_file("writer.toml")
            window.run_command("axe: Run This Agent")
            window.write_in_several_lines("Run writer", begun)
            task.and_(form.locator(":focus")).wait_for()
            window.wait_until(begun, partial(_ends_with, task, begun))
            task.press("Control+End")
            task.press_sequentially(", please")
        assert task.input_value() == "Begin with this, please\n\nand then that, please"
        task.press("Control+Enter")
        window.wait_for_output("writer | Written.")
    (request,) = provider.requests
    told = request.body["messages"][-1]["content"]
    assert told == "Begin with this, please\n\nand then that, please"


@pytest.mark.editor
def test_an_agent_is_run_with_an_input_that_is_written_in_a_form(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    keys = {"input": INPUT, "system_prompt": "You read.", "tools": ["read_file"]}
    folder = write_agents(project, agent("reader", **keys))
    provider.script("m-reader", Says("Read."))
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/reader.toml")
        window.press_lens("Run with input…")
        form = window.webview()
        form.get_by_role("button", name="Run", exact=True).click()
        form.get_by_text("Needed.").wait_for()
        assert form.get_by_label("path").get_attribute("aria-invalid") == "true"
        form.locator("#field0:focus").wait_for()
        form.get_by_label("path").fill("a.py")
        form.get_by_label("lines").fill("0")
        add = form.get_by_role("button", name="Add to names")
        for number in (1, 2, 3):
            add.press("Enter")
            form.get_by_role("textbox", name=f"names {number}", exact=True).fill(
                "x" if number < 3 else "y"
            )
        form.get_by_text("Must be at least 1.").wait_for()
        form.get_by_role("button", name="Remove names 3").press("Enter")
        assert form.get_by_role("textbox", name="names 2").evaluate(_HAS_FOCUS)
        check_accessible(form)
        assert form.locator(":focus").evaluate(_IS_OUTLINED_BY_THEME)
        window.screenshot("form")
        window.picture("form")
        form.get_by_label("lines").fill("3")
        form.get_by_label("mode").select_option("short")
        form.get_by_label("lines").press("Control+Enter")
        form.get_by_text("input.names").wait_for()  # What only the server knows of schemas.
        form.get_by_role("button", name="Remove names 1").click()
        form.get_by_role("group", name="size").get_by_label("width").fill("7")

        form.get_by_role("button", name="Preview").click()
        window.wait_for_text("System prompt", "You read.", '"path":"a.py"', "Tool read_file")
        window.wait_for_text("- In all about ", "| System prompt  |      2 |")
        file = folder / "reader.toml"
        text = file.read_text("utf-8")
        window.show_file("reader.toml")
        window.replace_text(text.replace("You read.", "You read and count the words."))
        window.press_until("Control+s", "a saved file", lambda: "count" in file.read_text("utf-8"))
        window.show_file("Preview of reader.md")
        window.wait_for_text("You read and count the words.", "| System prompt  |      7 |")

        window.show_file("Run reader")
        window.reload()
        assert form.get_by_label("lines").input_value() == "3", "it comes back as it was"
        form.get_by_role("textbox", name="names 1", exact=True).press("Control+Enter")
        window.wait_for_output("reader | Read.", "reader ✓ completed")
        window.show_file("reader.toml")
        window.run_command("axe: Run This Agent")
        assert form.get_by_label("lines").input_value() == "3", "as it was written last"
        told = provider.asked("m-reader")[0].body["messages"][-1]["content"]
        assert (
            told
            == '{"fast":true,"lines":3,"mode":"short","names":["x"],"path":"a.py","size":{"width":7}}'
        )
