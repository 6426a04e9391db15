"""Which files are in protected places, by whichever path they are reached, and which rules name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.runtime.safety.allowances import CheckedCall, is_allowed
from axe_lsp.runtime.safety.protected_places import changed_file_of, is_protected_name

PROTECTED = (
    ".git/hooks/pre-commit",
    "sub/.git/config",
    ".GIT/config",
    ".Git /config",
    ".git./config",
    ".git::$INDEX_ALLOCATION/config",
    "GIT~1/config",
    ".g\u200cit/config",
    ".gi\u0301t/config",
    ".\uff47it/config",
    ".github/workflows/ci.yml",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".envrc",
    "sub/.envrc ",
    ".claude/settings.json",
    ".codex/config.toml",
    ".vibe/config.toml",
    ".opencode/agent.md",
    ".gemini/settings.json",
    ".cursor/rules",
    ".kiro/hooks/a",
    "axe/agents/a.toml",
    "AXE/check.toml",
    ".axe/agents/a.toml",
    "sub/axe/agents/a.toml",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    ".bashrc",
    ".profile",
    "src/sitecustomize.py",
    "evil.pth",
    ".hg/hgrc",
    ".vs/tasks.vs.json",
    "project.code-workspace",
    ".npmrc",
)

FREE = (
    "src/a.py",
    "git/a.py",
    ".gitignore",
    "my.github/a",
    "conftest.py",
    "Makefile",
    "package.json",
    "src/axe/a.py",
    "axes/a",
    "docs/.git.md",
    "README.md",
    "é.txt",
)


def write(root: Path, path: str, tool: str = "write_file") -> CheckedCall:
    place = Path(root, path)
    resolved = place.parent.resolve() / place.name
    return CheckedCall(tool, {}, file=changed_file_of(resolved, [root], place))


@pytest.mark.parametrize("path", PROTECTED)
def test_protected_place_is_allowed_only_by_a_rule_that_names_it(tmp_path: Path, path: str) -> None:
    call = write(tmp_path, path)
    for rule in (
        "*",
        "write_file",
        "*_file",
        "Write",
        "write_file(**)",
        "write_file(*/**)",
        f"edit_file({path})",
    ):
        assert not is_allowed([rule], call), rule
    assert is_allowed([f"write_file({path})"], call)
    assert is_allowed([f"edit_file({path})"], write(tmp_path, path, "edit_file"))


@pytest.mark.parametrize("path", FREE)
def test_other_place_is_allowed_by_a_rule_for_the_tool(tmp_path: Path, path: str) -> None:
    call = write(tmp_path, path)
    assert all(
        is_allowed([rule], call) for rule in ("*", "write_file", f"Write({path})", "write_file(**)")
    )
    assert not is_allowed(["write_file(other/**)"], call)


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("write_file(.github/**)", ".github/workflows/ci.yml", True),
        ("write_file(.github/*)", ".github/workflows/ci.yml", False),
        ("write_file(**/.envrc)", "sub/.envrc", True),
        ("write_file(.*/**)", ".github/workflows/ci.yml", False),
        ("write_file(axe/**)", "axe/agents/a.toml", True),
        ("write_file(axe/**)", "axe/.envrc", False),
        ("write_file(axe/**/.envrc)", "axe/.envrc", True),
        ("write_file(**/*.pth)", "site/a.pth", True),
        ("write_file(.git/**)", ".git/modules/a/hooks/b", True),
        ("write_file(src/**)", "src/a/b.py", True),
        ("write_file(src/**)", "src/../.git/config", False),
    ],
)
def test_glob_of_a_rule_names_what_it_spells_out(
    tmp_path: Path, rule: str, path: str, allowed: bool
) -> None:
    assert is_allowed([rule], write(tmp_path, path)) is allowed


def test_link_with_a_protected_name_protects_the_place_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "ci").mkdir()
    (tmp_path / ".github").symlink_to("ci")
    for path in ("ci/a.yml", ".github/a.yml"):
        assert not is_allowed(["write_file", "write_file(ci/**)"], write(tmp_path, path))
        assert is_allowed(["write_file(.github/**)"], write(tmp_path, path))
    assert is_allowed(["write_file"], write(tmp_path, "cid/a.yml"))


def test_git_folder_that_a_git_file_names_is_protected(tmp_path: Path) -> None:
    (tmp_path / "storage" / "hooks").mkdir(parents=True)
    (tmp_path / ".git").write_text("gitdir: storage\n")
    assert not is_allowed(["write_file"], write(tmp_path, "storage/hooks/pre-commit"))
    assert is_allowed(["write_file(.git/**)"], write(tmp_path, "storage/hooks/pre-commit"))


def test_folder_of_hooks_that_the_configuration_names_is_protected(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text('[core]\n\thooksPath = "tools/hooks"\n')
    assert not is_allowed(["write_file"], write(tmp_path, "tools/hooks/pre-commit"))
    assert is_allowed(["write_file(.git/hooks/**)"], write(tmp_path, "tools/hooks/pre-commit"))
    assert is_allowed(["write_file"], write(tmp_path, "tools/hooks.md"))


def test_workspace_below_a_folder_with_a_protected_name_is_not_protected(tmp_path: Path) -> None:
    root = tmp_path / ".claude" / "worktrees" / "axe"
    root.mkdir(parents=True)
    assert is_allowed(["write_file"], write(root, "src/a.py"))


def test_working_directory_in_a_protected_place_stays_protected(tmp_path: Path) -> None:
    folder = tmp_path / ".github"
    folder.mkdir()
    file = changed_file_of(folder / "a.yml", [tmp_path, folder], folder / "a.yml")
    assert not is_allowed(["write_file"], CheckedCall("write_file", {}, file=file))


@pytest.mark.parametrize("name", ["", " ", ".", "..", "a" * 300, "\ud800"])
def test_odd_name_is_not_protected(name: str) -> None:
    assert not is_protected_name(name)
