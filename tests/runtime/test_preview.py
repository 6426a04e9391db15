"""`--dry-run`: what would be sent, shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import AgentError, ConfigError
from axe_lsp.runtime.prepare import Prepared, prepare_request
from axe_lsp.runtime.preview import preview_of, shown_number
from axe_lsp.runtime.runs import RunRequest
from support.engines import agent, resolver


def prepared(workspace: Path, keys: dict[str, Any] | None = None, **request: Any) -> Prepared:
    environment = {
        "XDG_CONFIG_HOME": str(workspace / "config"),
        "XDG_DATA_HOME": str(workspace / "data"),
    }
    resolve = resolver(agent("solo", **(keys or {})))
    return prepare_request(RunRequest("solo", **request), resolve, workspace, environment)


@pytest.mark.req("001-8.5", "001-T2")
def test_a_small_agent(tmp_path: Path) -> None:
    assert preview_of(prepared(tmp_path, {"system_prompt": "You help."})).text == (
        "=== Dry Run ===\n\n"
        "Model:    openai/m-solo\n"
        f"Workdir:  {tmp_path}\n"
        "Timeout:  120s\n"
        "Params:   temperature=0, max_tokens=0\n\n"
        "--- System Prompt ---\nYou help.\n\n"
        "--- Skill ---\n(none)\n\n"
        "--- Files (0) ---\n(none)\n\n"
        "--- Stdin ---\n(none)\n\n"
        "--- Sub-Agents ---\n(none)\n"
    )


def add_skill_and_memory(folder: Path) -> None:
    """The skill `s.md`, and the memory of the agent `solo`."""
    skill = folder / "config" / "axe" / "s.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Skilled.")
    memory = folder / "data" / "axe" / "memory" / "solo.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("## t\n**Task:** x\n")


@pytest.mark.req("001-8.5", "001-T2", "001-9.3")
def test_everything_that_an_agent_can_have(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("B")
    (tmp_path / "a.md").write_text("A")
    add_skill_and_memory(tmp_path)
    keys = {
        "skill": "s.md",
        "files": ["*.md"],
        "sub_agents": ["x", "y"],
        "sub_agents_config": {"parallel": False, "timeout": 60},
        "memory": {"enabled": True},
        "params": {"temperature": 0.25, "max_tokens": 99},
        "tools": ["read_file"],
    }
    text = preview_of(prepared(tmp_path, keys, task="my task\n", timeout=7.0)).text
    assert "Timeout:  7s\nParams:   temperature=0.25, max_tokens=99\n" in text
    assert text.endswith(
        "--- Skill ---\nSkilled.\n\n"
        "--- Files (2) ---\na.md\nb.md\n\n"
        "--- Stdin ---\nmy task\n\n\n"
        "--- Memory ---\n## t\n**Task:** x\n\n\n"
        "--- Tools ---\nread_file\n\n"
        "--- Sub-Agents ---\nx, y\nMax Depth: 3\nParallel:  no\nTimeout:   60s\n"
    )


@pytest.mark.parametrize(
    ("isolation", "shown"),
    [
        ({"mode": "copy"}, 'when another agent calls it: a copy of the folder, changes = "ask"'),
        (
            {"mode": "copy", "changes": "keep"},
            'when another agent calls it: a copy of the folder, changes = "keep"',
        ),
        ({"mode": "process"}, "when another agent calls it: a process of its own"),
        ({"mode": "inline"}, None),
    ],
)
def test_where_a_called_agent_works_is_shown(
    tmp_path: Path, isolation: dict[str, str], shown: str | None
) -> None:
    preview = preview_of(prepared(tmp_path, {"isolation": isolation}))
    assert preview.isolation == shown
    assert (f"--- Isolation ---\n{shown}\n" in preview.text) == (shown is not None)


def test_what_task_may_start_is_shown(tmp_path: Path) -> None:
    preview = preview_of(prepared(tmp_path, {"type": "explore", "task": {"recursive": True}}))
    assert preview.tools == ("run_command", "read_file", "Task")
    assert preview.system_prompt.startswith("Search and analyze.")
    assert preview.text.endswith("\n--- Task ---\nexplore, plan, code\nRecursive: yes\n")
    nothing = preview_of(prepared(tmp_path, {"task": {"types": []}})).text
    assert nothing.endswith("\n--- Task ---\n(none)\n")


def test_memory_that_is_enabled_and_empty_or_broken_is_shown_as_such(tmp_path: Path) -> None:
    enabled = {"memory": {"enabled": True}}
    assert "--- Memory ---\n(none)\n" in preview_of(prepared(tmp_path, enabled)).text
    broken = {"memory": {"enabled": True, "path": "."}}
    assert "--- Memory ---\n(error: " in preview_of(prepared(tmp_path, broken)).text


def test_the_preview_in_fields(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("é")
    keys = {"system_prompt": "x" * 4000, "files": ["a.md"], "sub_agents": ["helper"]}
    preview = preview_of(prepared(tmp_path, keys, task="ask"))
    assert (preview.model, preview.workdir) == ("openai/m-solo", str(tmp_path))
    assert preview.system_prompt.startswith("xxx")
    assert [(file.path, file.size) for file in preview.files] == [("a.md", 2)]
    assert (preview.user_message, preview.tools) == ("ask", ("call_agent",))
    assert preview.sub_agents == ("helper",)
    assert 1000 < preview.estimated_tokens < 1500


def test_a_preview_needs_no_key_and_not_even_a_provider(tmp_path: Path) -> None:
    assert prepared(tmp_path).model.provider == "openai"
    assert preview_of(prepared(tmp_path, {"model": "unheard-of/x"})).model == "unheard-of/x"


def test_what_is_wrong_before_the_first_request_is_wrong_in_a_preview(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="invalid model format"):
        prepared(tmp_path, {"model": "noslash"})
    with pytest.raises(AgentError, match="empty model name"):
        prepared(tmp_path, model="openai/")
    with pytest.raises(ConfigError, match="skill not found"):
        prepared(tmp_path, {"skill": "none"})
    config = tmp_path / "config" / "axe" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[providers")
    with pytest.raises(ConfigError, match="failed to parse config file"):
        prepared(tmp_path)


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (1.0, "1"), (0.7, "0.7"), (120, "120"), (1e-05, "1e-05")]
)
def test_numbers_are_shown_as_short_as_they_are(value: float, shown: str) -> None:
    assert shown_number(value) == shown


def test_servers_are_named_and_not_connected(tmp_path: Path) -> None:
    table = {"url": "http://127.0.0.1:9/", "transport": "sse", "headers": {"A": "${NOT_SET}"}}
    servers = [{"name": name, **table} for name in ("one", "two")]
    text = preview_of(prepared(tmp_path, {"mcp_servers": servers})).text
    assert (
        "--- MCP Servers ---\none: http://127.0.0.1:9/ (sse)\ntwo: http://127.0.0.1:9/ (sse)\n\n"
        "--- Sub-Agents ---\n" in text
    )


def test_the_parts_of_a_prompt_with_their_tokens(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A" * 40)
    add_skill_and_memory(tmp_path)
    keys = {
        "model": "anthropic/claude-haiku-4-5",
        "system_prompt": "You help.",
        "skill": "s.md",
        "files": ["*.md"],
        "memory": {"enabled": True},
        "tools": ["read_file"],
        "output": {"type": "string"},
    }
    shown = preview_of(prepared(tmp_path, keys, task="Do it."))
    parts = {f"{each.kind} {each.name}".strip(): each for each in shown.parts}
    assert list(parts) == [
        "systemPrompt",
        "skill s.md",
        "file a.md",
        "memory",
        "output",
        "userMessage",
        "tool read_file",
    ]
    assert parts["systemPrompt"].text == "You help."
    assert (parts["file a.md"].text, parts["file a.md"].tokens) == ("A" * 40, 10)
    assert parts["memory"].text.startswith("## t")
    assert parts["output"].text.startswith("---\n\n## Output")
    assert parts["userMessage"].text == "Do it."
    assert "- path (string, required): " in parts["tool read_file"].text
    assert sum(each.tokens for each in shown.parts) <= shown.estimated_tokens
    assert shown.context_window == 200_000


def test_nothing_is_said_of_the_size_of_unknown_models(tmp_path: Path) -> None:
    assert preview_of(prepared(tmp_path)).context_window is None
