"""What an agent's model is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.agent_definition import AgentDefinition, MemoryConfig
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.context_files import ContextFile
from axe_lsp.runtime.prepare import root_order
from axe_lsp.runtime.prompt import (
    DEFAULT_USER_MESSAGE,
    Prompt,
    build_prompt,
    load_skill,
    system_prompt,
)
from axe_lsp.runtime.runs import RunRequest


def prompt(workspace: Path, definition: dict[str, Any] | None = None, **request: Any) -> Prompt:
    agent = AgentDefinition("a", "openai/m", **(definition or {}))
    environment = {
        "XDG_CONFIG_HOME": str(workspace / "config"),
        "XDG_DATA_HOME": str(workspace / "data"),
        "HOME": str(workspace / "home"),
        "PROJECT": "demo",
    }
    order = root_order(RunRequest("stem", **request), workspace, environment)
    return build_prompt(order, agent, workspace, environment)


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    folder = tmp_path / "config" / "axe"
    (folder / "skills" / "review").mkdir(parents=True)
    (folder / "skills" / "review" / "SKILL.md").write_text("# Review\n")
    (folder / "plain.md").write_text("plain")
    return folder


def test_all_parts_of_a_system_prompt_in_their_order() -> None:
    files = [
        ContextFile("a.md", "A\n", 2),
        ContextFile("src/.env", "", 0),
        ContextFile("n", "N", 1),
    ]
    assert system_prompt("own", "skill text", files) == (
        "own\n\n---\n\n## Skill\n\nskill text\n\n---\n\n## Context Files\n\n"
        "### a.md\n```md\nA\n\n```\n\n### src/.env\n```env\n\n```\n\n### n\n```\nN\n```"
    )


def test_what_is_absent_leaves_no_trace() -> None:
    assert system_prompt("", "", []) == ""
    assert system_prompt("own", "", []) == "own"


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (None, DEFAULT_USER_MESSAGE),
        ("", DEFAULT_USER_MESSAGE),
        (" \n\t\n", DEFAULT_USER_MESSAGE),
        ("  text\n\n", "  text\n\n"),
        ("a\udcffb", "a\N{REPLACEMENT CHARACTER}b"),
    ],
)
def test_the_user_message_is_the_task_or_axes_default(
    tmp_path: Path, task: str | None, message: str
) -> None:
    assert prompt(tmp_path, task=task).user_message == message


@pytest.mark.parametrize(
    ("in_file", "asked", "shown", "folder"),
    [
        ("", "", "{w}", "{w}"),
        ("sub", "", "sub", "{w}/sub"),
        ("sub", "other", "other", "{w}/other"),
        ("/abs", "", "/abs", "/abs"),
        ("~/x", "", "{w}/home/x", "{w}/home/x"),
        ("~", "", "{w}/home", "{w}/home"),
        ("$PROJECT/${PROJECT}/$UNSET", "", "demo/demo/", "{w}/demo/demo"),
        ("foo/~/bar", "", "foo/~/bar", "{w}/foo/~/bar"),
    ],
)
def test_the_working_directory(
    tmp_path: Path, in_file: str, asked: str, shown: str, folder: str
) -> None:
    made = prompt(tmp_path, {"workdir": in_file}, workdir=asked)
    assert made.workdir == shown.format(w=tmp_path)
    assert made.folder == Path(folder.format(w=tmp_path))


@pytest.mark.parametrize(
    ("skill", "text"),
    [
        ("", ""),
        ("plain.md", "plain"),
        ("skills/review/SKILL.md", "# Review\n"),
        ("review", "# Review\n"),
        ("$NAME.md", "plain"),
    ],
)
def test_a_skill_lies_below_the_configuration_folder(skills: Path, skill: str, text: str) -> None:
    environment = {"XDG_CONFIG_HOME": str(skills.parent), "NAME": "plain"}
    assert load_skill(skill, environment) == text


def test_a_skill_may_lie_anywhere(skills: Path, tmp_path: Path) -> None:
    (tmp_path / "s.md").write_bytes(b"caf\xe9")
    path = str(tmp_path / "s.md")
    environment = {"XDG_CONFIG_HOME": str(skills.parent)}
    assert load_skill(path, environment) == "caf\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("skill", "message"),
    [
        ("skills/none.md", "skill not found: {f}/skills/none.md"),
        ("x/../none.md", "skill not found: {f}/none.md"),
        ("nobody", "skill not found: {f}/nobody"),
        ("skills", "failed to read skill: {f}/skills: Is a directory"),
        ("a\0b", "failed to read skill: "),
        ("You are a reviewer. " * 300, "failed to read skill: "),
    ],
)
def test_a_skill_that_is_not_there_is_a_clear_error(skills: Path, skill: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_skill(skill, {"XDG_CONFIG_HOME": str(skills.parent)})
    assert str(caught.value).startswith(message.format(f=skills))
    assert caught.value.described("x").startswith('failed to load skill for agent "x": ')


@pytest.mark.parametrize("workdir", ["nowhere", "a\0b", "x" * 5000])
def test_a_working_directory_that_can_not_exist_holds_no_files(
    tmp_path: Path, workdir: str
) -> None:
    made = prompt(tmp_path, {"workdir": workdir, "files": ("*.md", "**/x")})
    assert made.files == ()


def test_the_skill_asked_for_takes_the_place_of_the_files(skills: Path, tmp_path: Path) -> None:
    made = prompt(tmp_path, {"skill": "none.md"}, skill="plain.md")
    assert (made.skill, made.skill_text) == ("plain.md", "plain")


def test_memory_comes_last_and_only_if_it_is_enabled(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "axe" / "memory"
    folder.mkdir(parents=True)
    (folder / "stem.md").write_text("## t\n**Task:** x\n")
    own = {"system_prompt": "own"}
    assert prompt(tmp_path, own).system == "own"
    enabled = {**own, "memory": MemoryConfig(enabled=True, max_entries=1)}
    made = prompt(tmp_path, enabled)
    assert made.system == "own\n\n---\n\n## Memory\n\n## t\n**Task:** x\n"
    assert made.warnings == (
        "agent \"stem\" memory has 1 entries (max_entries: 1). Run 'axe gc stem' to trim.",
    )
