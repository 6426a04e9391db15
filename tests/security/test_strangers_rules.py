"""What a cloned repository and a model try under the user's rules: nothing is executed or written that no rule allows.

Each attack on git is tried without axe-lsp first, so that the test fails if the attack no longer works.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Home
from support.scripted_provider import Call, Says, ScriptedProvider
from support.session import Project

HELPER = """\
name = "helper"
model = "ollama/m-helper"
tools = ["run_command", "write_file", "edit_file"]
"""
RULES = ("run_command(git *)", "run_command(git status)", "run_command(git diff *)", "write_file")
GIT_ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@localhost",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@localhost",
}


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    """Return a repository with a commit and a changed file, without anything hostile."""
    project = Project(tmp_path / "editor", provider.environment)
    project.write("helper", HELPER)
    git(project.root, "init", "-q")
    (project.root / "a.txt").write_text("one\n")
    git(project.root, "add", ".")
    git(project.root, "commit", "-qm", "first")
    (project.root / "a.txt").write_text("two\n")
    return project


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, env=GIT_ENVIRONMENT, check=True)


def evil(project: Project) -> str:
    """Return the program of the stranger, which leaves a mark and copies its input."""
    program = project.root / "evil"
    program.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(mark(project)))}\ncat >/dev/null 2>&1\n")
    program.chmod(0o755)
    return str(program)


def mark(project: Project) -> Path:
    return project.root.parent / "started"


def results(
    project: Project, provider: ScriptedProvider, *calls: Call, rules: tuple[str, ...]
) -> list[str]:
    """Return the results that the model gets for its calls, in an editor with these rules that can't ask anybody."""
    provider.script("m-helper", *(Says(calls=[each]) for each in calls), Says("done"))
    options = {"trusted": True, "tools": {"allow": rules}}
    with project.editor(initializationOptions=options) as editor:
        answer = editor.client.answer(editor.client.start_request("axe/run", {"agent": "helper"}))
    assert answer["result"]["content"] == "done"
    messages: list[Any] = provider.asked("m-helper")[-1].body["messages"]
    return [each["content"] for each in messages if each["role"] == "tool"]


def bring_bare_repository(project: Project) -> str:
    git(project.root, "init", "-q", "--bare", "bare")
    shutil.copy(evil(project), project.root / "bare" / "hooks" / "pre-receive")
    return "git push ./bare HEAD:refs/heads/x"


def bring_monitor(project: Project) -> str:
    git(project.root, "config", "core.fsmonitor", evil(project))
    return "git status"


def bring_included_monitor(project: Project) -> str:
    (project.root / "more").write_text(f"[core]\n\tfsmonitor = {evil(project)}\n")
    git(project.root, "config", "include.path", "../more")
    return "git status --short"


def bring_monitor_of_the_worktree(project: Project) -> str:
    git(project.root, "config", "extensions.worktreeConfig", "true")
    git(project.root, "config", "--worktree", "core.fsmonitor", evil(project))
    return "git status"


def bring_monitor_of_a_submodule(project: Project) -> str:
    inner = project.root / "inner"
    git(project.root, "init", "-q", "inner")
    (inner / "a.txt").touch()
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "first")
    git(project.root, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    git(inner, "config", "core.fsmonitor", evil(project))
    return "git status"


def bring_external_diff(project: Project) -> str:
    git(project.root, "config", "diff.external", evil(project))
    return "git diff"


def bring_text_conversion(project: Project) -> str:
    git(project.root, "config", "diff.evil.textconv", evil(project))
    (project.root / ".gitattributes").write_text("*.txt diff=evil\n")
    return "git diff HEAD"


def bring_filter(project: Project) -> str:
    git(project.root, "config", "filter.evil.clean", evil(project))
    (project.root / ".gitattributes").write_text("*.txt filter=evil\n")
    return "git add a.txt"


def bring_hook(project: Project) -> str:
    hooks = project.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    shutil.copy(evil(project), hooks / "post-index-change")
    return "git status"


def bring_folder_of_hooks(project: Project) -> str:
    (project.root / "hooks").mkdir()
    shutil.copy(evil(project), project.root / "hooks" / "post-index-change")
    git(project.root, "config", "core.hooksPath", "hooks")
    return "git add a.txt"


def bring_alias(project: Project) -> str:
    git(project.root, "config", "alias.look", f"!{evil(project)}")
    return "git look"


def bring_commit_hook(project: Project) -> str:
    hooks = project.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    shutil.copy(evil(project), hooks / "pre-commit")
    return "git commit -am second"


ATTACKS = (
    bring_bare_repository,
    bring_monitor,
    bring_included_monitor,
    bring_monitor_of_the_worktree,
    bring_monitor_of_a_submodule,
    bring_external_diff,
    bring_text_conversion,
    bring_filter,
    bring_hook,
    bring_folder_of_hooks,
    bring_alias,
    bring_commit_hook,
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_allowed_git_executes_nothing_of_the_repository(
    project: Project, provider: ScriptedProvider, attack: Callable[[Project], str]
) -> None:
    command = attack(project)
    words = shlex.split(command)
    subprocess.run(words, cwd=project.root, env=GIT_ENVIRONMENT, capture_output=True, check=False)
    assert mark(project).exists(), "the attack does not work any more"
    mark(project).unlink()
    (project.root / "a.txt").write_text("three\n")
    call = Call("run_command", {"command": command})
    (result,) = results(project, provider, call, rules=RULES)
    assert result.startswith("run_command was not allowed")
    assert not mark(project).exists()


OTHER_COMMANDS = (
    "git submodule--helper foreach ./evil",
    "git bisect--helper run ./evil",
    "git --work-tree=.git checkout -f HEAD",
    "git checkout-index --prefix=.git/ -a",
    "git -c core.fsmonitor=./evil status",
    "git diff --output=.git/hooks/pre-commit",
    "git status; ./evil",
    "git status > .envrc",
)


def test_allowed_git_is_no_other_command(project: Project, provider: ScriptedProvider) -> None:
    evil(project)
    before = sorted((project.root / ".git").rglob("*"))
    calls = [Call("run_command", {"command": each}) for each in OTHER_COMMANDS]
    found = results(project, provider, *calls, rules=RULES)
    assert len(found) == len(OTHER_COMMANDS)
    assert all(each.startswith("run_command was not allowed") for each in found)
    assert not mark(project).exists()
    assert sorted((project.root / ".git").rglob("*")) == before
    assert not (project.root / ".envrc").exists()


def test_first_review_and_first_tests_ask_nothing(
    project: Project, provider: ScriptedProvider
) -> None:
    (project.root / "test_a.py").write_text("def test_a():\n    pass\n")
    git(project.root, "remote", "add", "origin", "https://example.com/a.git")
    git(project.root, "config", "branch.main.remote", "origin")
    commands = ("git diff", "git diff --stat HEAD", "git log --oneline -5", "git status --short")
    calls = [Call("run_command", {"command": each}) for each in commands]
    rules = ("run_command(git *)", "run_command(git diff)", "run_command(pytest *)", "write_file")
    found = results(
        project,
        provider,
        *calls,
        Call("run_command", {"command": "pytest --version -q"}),
        Call("write_file", {"path": "src/b.py", "content": "b"}),
        rules=rules,
    )
    assert not [each for each in found if "not allowed" in each]
    assert "+two" in found[0]
    assert (project.root / "src" / "b.py").read_text() == "b"


PLACES = (
    ".git/hooks/pre-commit",
    ".github/workflows/ci.yml",
    ".ENVRC",
    "axe/agents/helper.toml",
    "link/config",
)


def test_protected_place_is_not_written_under_a_rule_for_the_tool(
    project: Project, provider: ScriptedProvider
) -> None:
    (project.root / "link").symlink_to(".git")
    evil(project)
    before = contents(project)
    calls = [Call("write_file", {"path": each, "content": "evil"}) for each in PLACES]
    copies = [Call("run_command", {"command": f"cp evil {each}"}) for each in PLACES]
    rules = ("*_file", "write_file", "run_command(cp *)", "edit_file(**)")
    found = results(project, provider, *calls, *copies, rules=rules)
    assert all("it is a protected place" in each for each in found[: len(PLACES)])
    assert all(each.startswith("run_command was not allowed") for each in found[len(PLACES) :])
    assert contents(project) == before


def contents(project: Project) -> list[bytes | None]:
    places = [project.root / each for each in PLACES]
    return [each.read_bytes() if each.exists() else None for each in places]


def test_yes_denies_a_protected_place_and_names_the_rule(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    home = Home(tmp_path, provider.environment)
    agents = home.work / "axe" / "agents"
    agents.mkdir(parents=True)
    (agents / "helper.toml").write_text(HELPER)
    calls = [Call("write_file", {"path": path, "content": "x"}) for path in (".envrc", "a.txt")]
    provider.script("m-helper", *(Says(calls=[each]) for each in calls), Says("done"))
    code, out, err = home.call("run", "helper", "--yes")
    assert (code, out) == (0, "done")
    assert "--allow 'write_file(.envrc)' allows it" in err
    assert not (home.work / ".envrc").exists()
    assert (home.work / "a.txt").read_text() == "x"


def test_changes_of_a_copy_do_not_reach_a_protected_place_under_yes(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    home = Home(tmp_path, provider.environment)
    agents = home.work / "axe" / "agents"
    agents.mkdir(parents=True)
    isolation = '[isolation]\nmode = "copy"\nchanges = "apply"\n'
    (agents / "helper.toml").write_text(HELPER + isolation)
    (agents / "lead.toml").write_text(
        'name = "lead"\nmodel = "ollama/m-lead"\nsub_agents = ["helper"]\n'
    )
    command = "mkdir -p .github && touch .github/a.yml b.txt"
    provider.script(
        "m-lead", Says(calls=[Call("call_agent", {"agent": "helper", "task": "do"})]), Says("done")
    )
    provider.script("m-helper", Says(calls=[Call("run_command", {"command": command})]), Says("ok"))
    code, _, err = home.call("run", "lead", "--yes")
    assert code == 0
    assert "protected place" in err
    assert not (home.work / ".github").exists()
