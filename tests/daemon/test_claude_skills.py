"""The skills that agents of Claude Code name: where they are looked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from axe_lsp.cli.check import check
from axe_lsp.daemon.skill_file import look_at_claude_skill

HEAD = "---\nname: mapper\ndescription: Maps.\n"
AGENT = ".claude/agents/team/mapper.md"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Write a file of a repository, or below HOME/ one of the user's."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)

    def write(path: str, text: str) -> Path:
        folder = tmp_path / "home" if path.startswith("HOME/") else tmp_path / "project"
        file = folder / path.removeprefix("HOME/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    write(".git/HEAD", "ref: refs/heads/main\n")
    return write


@pytest.mark.parametrize(
    "path",
    [
        ".claude/skills/tidy/SKILL.md",
        ".claude/commands/tidy.md",
        "HOME/.claude/skills/tidy/SKILL.md",
    ],
)
@pytest.mark.parametrize("agent", [AGENT, f"pkg/{AGENT}", f"HOME/{AGENT}"])
def test_skill_is_found_beside_the_agent_above_it_and_in_the_home_folder(
    write: Callable[[str, str], Path], path: str, agent: str, tmp_path: Path
) -> None:
    skill, file = write(path, "# Tidy\n"), write(agent, HEAD)
    found = look_at_claude_skill("tidy", file, {"HOME": str(tmp_path / "home")})
    is_reached = path.startswith("HOME/") or not agent.startswith("HOME/")
    assert found is not None
    assert found.exists is is_reached
    assert (found.path == skill) is is_reached


def test_skill_outside_the_repository_is_not_found(
    write: Callable[[str, str], Path], tmp_path: Path
) -> None:
    outer = tmp_path / ".claude/skills/tidy/SKILL.md"
    outer.parent.mkdir(parents=True)
    outer.write_text("# Tidy\n")
    found = look_at_claude_skill("tidy", write(AGENT, HEAD), {"HOME": str(tmp_path / "home")})
    assert found is not None
    assert (found.exists, found.path) == (
        False,
        tmp_path / "project/.claude/skills/tidy/SKILL.md",
    )


@pytest.mark.parametrize("name", ["", " ", "plugin:tidy", "../tidy", "a/b", "a\\b", "a\0b", "."])
def test_place_of_a_skill_of_a_plugin_or_of_a_path_is_not_told(
    write: Callable[[str, str], Path], name: str
) -> None:
    assert look_at_claude_skill(name, write(AGENT, HEAD), {"HOME": "/nobody"}) is None


@pytest.mark.parametrize(
    ("skills", "words"),
    [
        ("skills:\n  - tidy\n  - none\n", ["none"]),
        ("skills: [none, plugin:x, tidy]\n", ["none"]),
        ("skills: tidy, none , other\n", ["none", "other"]),
        ('skills: "tidy, none"\n', ["none"]),
        ("skills: 3\n", []),
    ],
)
def test_skill_that_is_not_there_is_an_information_at_its_name(
    write: Callable[[str, str], Path], skills: str, words: list[str]
) -> None:
    write(".claude/skills/tidy/SKILL.md", "# Tidy\n")
    text = f"{HEAD}{skills}---\nMap.\n"
    (checked,) = check([write(AGENT, text)])
    missing = [each for each in checked.findings if each.code == "missing-file"]
    assert [each.range.of(text) for each in missing] == words
    assert {each.severity.name for each in missing} <= {"INFORMATION"}
