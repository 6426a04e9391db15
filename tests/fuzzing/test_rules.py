"""Nonsense as rules of `tools.allow` and as commands: nothing raises, and no rule allows what it does not cover."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.runtime.safety.allowances import (
    CheckedCall,
    is_allowed,
    narrowest_rule,
    near_miss,
    rule_fault,
    rule_warning,
)
from axe_lsp.runtime.safety.command_table import GIT, PROGRAMS, RUN_OPERANDS, RUNNERS
from axe_lsp.runtime.safety.protected_places import changed_file_of

SHELL = ";&|<>$`\\\n(){}*?[]!#~^\t\r\0"
"""Characters by which a shell ends a command, redirects it, or expands a word."""

PROGRAM = st.sampled_from(sorted({*PROGRAMS, *RUNNERS, *RUN_OPERANDS, "git", "gcc", "A=1 git"}))
SUBCOMMAND = st.sampled_from(sorted({*GIT, "push", "config core.pager x", "test", "run"}))
WORD = st.one_of(
    st.sampled_from(
        [
            "-c",
            "--output=x",
            "--",
            "-",
            "a",
            "'a b'",
            "*",
            "a;b",
            "$(x)",
            "`x`",
            ">x",
            "|",
            "&&",
            "a=b",
        ]
    ),
    st.text(st.sampled_from("-=ab./ '\"" + SHELL), max_size=6),
)
COMMAND = st.builds(
    lambda program, words: " ".join([program, *words]),
    PROGRAM,
    st.lists(st.one_of(WORD, SUBCOMMAND), max_size=5),
)
NAME = st.sampled_from(
    ["run_command", "write_file", "edit_file", "Bash", "Write", "run_mcp", "*", "grep", "\u0660"]
)
RULE = st.one_of(
    st.text(max_size=30),
    st.builds(lambda name, text: f"{name}({text})", NAME, st.one_of(st.text(max_size=20), COMMAND)),
    st.builds(lambda text: f"run_command({text} *)", COMMAND),
)


def call_of(command: str, folder: Path | None = None) -> CheckedCall:
    return CheckedCall("run_command", {"command": command}, folder=folder)


@given(st.lists(RULE, max_size=3), st.one_of(COMMAND, st.text(max_size=40)))
@example(["run_command(git *)"], "git -C")
@example(["run_command(tar *)"], "tar ''")
@example(["run_command('' *)"], "'' a")
def test_no_rule_and_no_command_raises(rules: list[str], command: str) -> None:
    call = call_of(command)
    for rule in rules:
        rule_fault(rule)
        rule_warning(rule)
    is_allowed(rules, call)
    near_miss(rules, call)


@given(RULE, COMMAND)
@example("run_command(basename *)", "basename \r")
def test_rule_for_a_command_allows_no_operator_of_the_shell_that_it_does_not_spell_out(
    rule: str, command: str
) -> None:
    if "(" in rule and is_allowed([rule], call_of(command)):
        text = rule.partition("(")[2].removesuffix(")").strip()
        run = command.strip(" \n")
        assert run == text or not set(run) & set(SHELL)


@given(PROGRAM, st.lists(WORD, max_size=3), st.lists(WORD, max_size=3))
def test_rule_with_a_star_allows_only_commands_with_its_words(
    program: str, words: list[str], more: list[str]
) -> None:
    rule, command = " ".join([program, *words]), " ".join([program, *more])
    if is_allowed([f"run_command({rule} *)"], call_of(command)):
        assert shlex.split(command)[: len(shlex.split(rule))] == shlex.split(rule)


@given(st.one_of(COMMAND, st.text(max_size=40)))
def test_narrowest_rule_allows_its_own_command(command: str) -> None:
    call = call_of(command)
    rule = narrowest_rule(call)
    assert not rule or (is_allowed([rule], call) and rule_fault(rule) is None)
    if rule:
        assert not is_allowed([rule], call_of(f"{command} ; x"))


PATHS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                ".git",
                ".GIT ",
                ".github",
                "axe",
                "agents",
                "a",
                "..",
                ".",
                "*",
                "[a]",
                ".envrc",
                "x.pth",
            ]
        ),
        st.text(max_size=5).filter(lambda text: not set(text) & set("/\\\0")),
    ),
    min_size=1,
    max_size=4,
).map("/".join)


@given(PATHS, st.text(max_size=12))
@pytest.mark.skipif(Path("/").anchor != "/", reason="needs POSIX paths")
def test_no_path_raises_and_protected_places_need_a_rule_that_names_them(
    path: str, glob: str
) -> None:
    root = Path("/nowhere/at/all")
    file = changed_file_of(Path("/nowhere/at/all", path), [root], Path(root, path))
    call = CheckedCall("write_file", {}, file=file)
    rules = ["*", "write_file", "*_file", f"edit_file({glob})", "write_file(**)"]
    assert is_allowed(rules[:4], call) == (not file.protected)
    is_allowed([f"write_file({glob})"], call)
    rule = narrowest_rule(call)
    assert not rule or is_allowed([rule], call)
