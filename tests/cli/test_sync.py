"""`axe-lsp sync`: one agent in the files of several programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.cli.main import main
from support.command_line import Home

CLAUDE = """---
name: reviewer
description: "Reviews code. Use when: asked"
tools: Read, Grep, TodoWrite
model: sonnet
color: red
---

Read the change.

Say what is wrong.
"""
TWINS = {
    ".codex/agents/reviewer.toml": (
        '# Ours.\nname = "reviewer"\ndescription = "Reviews."\nmodel = "gpt-5"\n'
        'developer_instructions = """\nRead.\n"""\n'
    ),
    ".opencode/agent/reviewer.md": (
        "---\r\ndescription: Reviews.\r\nmode: subagent\r\npermission:\r\n  '*': deny\r\n  read: allow\r\n"
        "  bash: ask\r\n---\r\n\r\nRead.\r\n"
    ),
    ".github/agents/reviewer.agent.md": (
        "---\ndescription: Reviews.\ntools: [read, custom/x, edit]\nhandoffs: []\n---\nRead.\n"
    ),
    "axe/agents/reviewer.toml": (
        'name = "reviewer"\nmodel = "openai/gpt-5"\ntools = ["read_file"]\n'
        'system_prompt = "Read."\n\n[params]\ntemperature = 0.1\n'
    ),
}
CARRIED = {
    ".codex/agents/reviewer.toml": (
        '# Ours.\nname = "reviewer"\ndescription = "Reviews code. Use when: asked"\nmodel = "gpt-5"\n'
        'developer_instructions = """\nRead the change.\n\nSay what is wrong.\n"""\n'
    ),
    ".opencode/agent/reviewer.md": (
        '---\r\ndescription: "Reviews code. Use when: asked"\r\nmode: subagent\r\npermission:\r\n  "*": deny\r\n'
        "  read: allow\r\n  grep: allow\r\n  bash: deny\r\n---\r\n\r\n"
        "Read the change.\r\n\r\nSay what is wrong.\r\n"
    ),
    ".github/agents/reviewer.agent.md": (
        '---\ndescription: "Reviews code. Use when: asked"\ntools: ["read", "custom/x", "search"]\nhandoffs: []\n'
        "---\nRead the change.\n\nSay what is wrong.\n"
    ),
    "axe/agents/reviewer.toml": (
        'name = "reviewer"\nmodel = "openai/gpt-5"\ntools = ["read_file", "grep"]\n'
        'system_prompt = """\nRead the change.\n\nSay what is wrong."""\n'
        'description = "Reviews code. Use when: asked"\n\n[params]\ntemperature = 0.1\n'
    ),
}
SOURCE = ".claude/agents/reviewer.md"
SYNC = ("sync", "reviewer", "--from", SOURCE)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = Home(tmp_path)
    monkeypatch.chdir(home.work)
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    put(home.work, SOURCE, CLAUDE)
    return home.work


def put(project: Path, path: str, text: str) -> None:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8", newline="")


def text_of(project: Path, path: str) -> str:
    return (project / path).read_bytes().decode()


@pytest.mark.parametrize("path", TWINS)
def test_sync_changes_only_the_keys_of_changed_fields(project: Path, path: str) -> None:
    put(project, path, TWINS[path])
    assert main([*SYNC, "--yes"]) == 0
    assert text_of(project, path) == CARRIED[path]
    assert text_of(project, SOURCE) == CLAUDE


@pytest.mark.parametrize("path", TWINS)
def test_sync_of_equal_twins_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    put(project, path, CARRIED[path])
    assert main(list(SYNC)) == 0
    assert text_of(project, path) == CARRIED[path]
    assert "nothing to carry over" in capsys.readouterr().out


def test_dry_run_of_sync_shows_the_diff_and_lost_keys_and_writes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ".codex/agents/reviewer.toml"
    put(project, path, TWINS[path])
    assert main([*SYNC, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert f"{path} (Codex)" in out
    assert "  carried  description, instructions" in out
    assert "  differs  tools, model: left as in this file" in out
    assert "  lost     color: Codex has no counterpart" in out
    assert "+Say what is wrong." in out
    assert text_of(project, path) == TWINS[path]


@pytest.mark.parametrize(
    ("path", "are_lost"),
    [(".codex/agents/reviewer.toml", False), ("axe/agents/reviewer.toml", True)],
)
def test_sync_names_lost_tools_only_where_it_carries_tools_over(
    project: Path, capsys: pytest.CaptureFixture[str], path: str, are_lost: bool
) -> None:
    put(project, path, TWINS[path])
    put(project, SOURCE, CLAUDE.replace("model:", "disallowedTools: Bash(rm:*), Gone\nmodel:"))
    assert main([*SYNC, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert ("tools" in out.partition("carried")[2].partition("\n")[0]) is are_lost
    assert ("lost     tools: TodoWrite" in out) is are_lost
    assert ("lost     disallowedTools" in out) is are_lost
    assert "lost     color" in out


def test_sync_without_a_terminal_writes_nothing_unless_told_to(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ".codex/agents/reviewer.toml"
    put(project, path, TWINS[path])
    assert main(list(SYNC)) == 2
    assert "--yes writes the files without a question" in capsys.readouterr().err
    assert text_of(project, path) == TWINS[path]


def test_sync_leaves_permissions_with_patterns_and_names_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ".opencode/agent/reviewer.md"
    rules = "permission:\n  edit: allow\n  bash:\n    'git *': allow\n"
    put(project, path, f"---\ndescription: Reviews.\n{rules}---\nRead.\n")
    assert main([*SYNC, "--yes"]) == 0
    assert rules in text_of(project, path)
    assert "  differs  tools" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name = ", "not valid TOML"),
        ("name = 'reviewer'\ndescription = '''\n", "not valid TOML"),
    ],
)
def test_sync_leaves_a_broken_twin(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    path = "axe/agents/reviewer.toml"
    put(project, path, text)
    assert main([*SYNC, "--yes"]) == 1
    assert reason in capsys.readouterr().out
    assert text_of(project, path) == text


def test_sync_writes_nothing_through_a_link_out_of_the_workspace(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "axe/agents/reviewer.toml"
    users = project.parent / "users.toml"
    users.write_text(TWINS[path])
    (project / path).parent.mkdir(parents=True)
    (project / path).symlink_to(users)
    assert main([*SYNC, "--yes"]) == 1
    assert "a link leads out of the workspace" in capsys.readouterr().out
    assert users.read_text() == TWINS[path]


def test_sync_refuses_a_file_of_another_agent(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, ".claude/agents/other.md", CLAUDE.replace("reviewer", "other"))
    assert main(["sync", "reviewer", "--from", ".claude/agents/other.md"]) == 2
    error = capsys.readouterr().err
    assert "is not a file of agent" in error
    assert SOURCE in error


def test_sync_of_an_agent_of_one_program_names_the_way_to_a_second_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(SYNC)) == 2
    assert "`axe-lsp export --to PROGRAM`" in capsys.readouterr().err


def test_sync_hides_api_keys_in_its_diff(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = "sk-ant-" + "a1B2c3D4e5" * 4
    put(project, SOURCE, f"{CLAUDE}{key}\n")
    put(project, ".codex/agents/reviewer.toml", TWINS[".codex/agents/reviewer.toml"])
    assert main([*SYNC, "--dry-run"]) == 0
    assert key not in capsys.readouterr().out
