"""What the setting `tools.allow` lets pass, and what it does not."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.safety.allowances import is_allowed


@pytest.mark.parametrize(
    ("allowances", "tool"),
    [
        (["write_file"], "write_file"),
        ([" write_file "], "write_file"),
        (["*_file"], "edit_file"),
        (["*"], "run_command"),
        (["bash"], "run_command"),
        (["read_file", "edit_file"], "edit_file"),
        (["search"], "search"),
        (["*"], "issues/create"),
        (["*/*"], "issues/create"),
        (["issues/*"], "issues/create"),
        (["issues/create"], "issues/create"),
    ],
)
def test_names_globs_and_other_systems_names_allow_tools(allowances: list[str], tool: str) -> None:
    assert is_allowed(allowances, tool, {"command": "rm -r . | sh"})


@pytest.mark.parametrize(
    "allowances", [[], ["write"], ["write_files"], ["edit_file"], ["run_command"], ["write_file("]]
)
def test_other_names_do_not(allowances: list[str]) -> None:
    assert not is_allowed(allowances, "write_file", {"path": "a"})


@pytest.mark.parametrize("allowance", ["*_file", "write_file", "other/*", "*file", "issues"])
def test_tools_of_servers_are_meant_by_their_servers_name_only(allowance: str) -> None:
    assert not is_allowed([allowance], "issues/write_file", {})


@pytest.mark.parametrize(
    "command",
    ["git diff", " git diff ", "git diff HEAD~".removesuffix("~"), "git diff --stat 'a b/c.py'"],
)
def test_an_allowed_command_may_have_plain_words_behind_it(command: str) -> None:
    assert is_allowed(["run_command(git diff)"], "run_command", {"command": command})
    assert is_allowed(["Bash(git diff)"], "run_command", {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "git",
        "git difftool",
        "git push",
        "echo git diff",
        "git diff; rm -r x",
        "git diff && rm x",
        "git diff | sh",
        "git diff > x",
        "git diff < x",
        "git diff &",
        "git diff $(rm x)",
        "git diff `rm x`",
        "git diff $HOME",
        "git diff *",
        "git diff ~",
        "git diff {a,b}",
        "git diff \\x",
        "git diff\nrm x",
        "git diff\trm",
        "git diff #x",
        "git diff (x)",
        "",
    ],
)
def test_nothing_else_is_allowed_with_it(command: str) -> None:
    assert not is_allowed(["run_command(git diff)"], "run_command", {"command": command})


def test_a_command_is_no_argument_of_another_tool() -> None:
    arguments = {"command": "git diff", "path": "git diff"}
    assert not is_allowed(["run_command(git diff)"], "write_file", arguments)
    assert not is_allowed(["write_file(git diff)"], "write_file", arguments)
    assert not is_allowed(["write_file(git diff)"], "run_command", arguments)
