"""`axe-lsp test --changed`: only the cases that changes since a commit of git may affect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.agent_tests import PLAIN, RECORDING, Project
from support.command_line import Home
from support.repositories import Repository, git

OTHER = """\
agent = "docs"

[[case]]
name = "alone"
task = "Write."
"""
OTHERS_RECORDING = """
version = 1

[[run]]
agent = "docs"

[[run.turn]]
text = "Done."
"""
JUDGED = """
[[case]]
name = "judged"
task = "Can this be released?"
replay = "judged.toml"

[[case.expect.judge]]
agent = "judge"
criteria = "Short."
"""
JUDGE = """\
name = "judge"
model = "openai/m-judge"

[input]
task = "string"
answer = "string"
transcript = "string"
criteria = "string"

[output]
pass = "boolean"
reason = "string"
"""


@pytest.fixture
def project(home: Home) -> Project:
    """Three cases: `alone` of an agent without children, and `asks` and `judged` of one with two."""
    project = Project(home.work)
    project.case(JUDGED, PLAIN)
    project.write("axe/agents/judge.toml", JUDGE)
    project.write("axe/agents/stranger.toml", 'name = "stranger"\nmodel = "openai/m"\n')
    project.write("axe/tests/recordings/judged.toml", RECORDING)
    project.write("axe/tests/other.toml", OTHER)
    project.write("axe/tests/recordings/other/alone.toml", OTHERS_RECORDING)
    Repository(home.work, {})
    return project


def cases(home: Home, *more: str) -> set[str]:
    """Return the names of the cases that are run."""
    _, out, err = home.call("test", "--changed", *more)
    found = [line.split()[-1] for line in out.splitlines() if line.startswith("  ")]
    told = err.splitlines()[0]
    assert told.startswith(f"{len({*found} & {'asks', 'judged', 'alone'})} of 3 cases may be")
    return {*found} & {"asks", "judged", "alone"}


def appending(path: str, text: str = "# more\n") -> Callable[[Project], object]:
    return lambda project: project.write(path, (project.root / path).read_text() + text)


@pytest.mark.parametrize(
    ("change", "affected"),
    [
        (lambda _: None, set()),
        (appending("axe/agents/stranger.toml"), set()),
        (appending("axe/agents/lead.toml"), {"asks", "judged"}),
        (appending("axe/agents/docs.toml"), {"asks", "judged", "alone"}),
        (appending("axe/agents/judge.toml"), {"judged"}),
        (appending("axe/tests/release.toml"), {"asks", "judged"}),
        (appending("axe/tests/recordings/asks.toml"), {"asks"}),
        (lambda project: (project.tests / "recordings/asks.toml").unlink(), {"asks"}),
        (appending("axe/tests/fixtures/small/src/a.py"), {"asks", "judged"}),
        (
            lambda project: project.write("axe/tests/fixtures/small/new.py", ""),
            {"asks", "judged"},
        ),
        (
            lambda project: (project.tests / "fixtures/small/CHANGELOG.md").unlink(),
            {"asks", "judged"},
        ),
        (
            lambda project: (project.root / "axe/agents/tests.toml").unlink(),
            {"asks", "judged"},
        ),
    ],
)
def test_the_cases_run_whose_files_have_changed(
    home: Home, project: Project, change: Callable[[Project], object], affected: set[str]
) -> None:
    change(project)
    assert cases(home) == affected


def test_line_ends_that_git_changes_are_no_change(home: Home, project: Project) -> None:
    file = project.root / "axe/agents/lead.toml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert cases(home) == set()


def test_a_skill_that_has_changed_affects_the_agents_with_it(home: Home, project: Project) -> None:
    skill = project.write("skills/writing.md", "Write.\n")
    project.edit("axe/agents/docs.toml", 'name = "docs"', f'name = "docs"\nskill = "{skill}"')
    git(home.work, "add", "-A")
    git(home.work, "commit", "-q", "-m", "a skill", "--allow-empty")
    assert cases(home) == set()
    skill.write_text("Write well.\n")
    assert cases(home) == {"asks", "judged", "alone"}


def test_files_are_compared_with_the_merge_base(home: Home, project: Project) -> None:
    git(home.work, "checkout", "-q", "-b", "work")
    appending("axe/agents/judge.toml")(project)
    git(home.work, "commit", "-q", "-am", "of mine")
    git(home.work, "checkout", "-q", "main")
    appending("axe/agents/docs.toml")(project)
    git(home.work, "commit", "-q", "-am", "of others")
    git(home.work, "checkout", "-q", "work")
    assert cases(home) == set()
    assert cases(home, "main") == {"judged"}


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "-h"])
def test_unknown_commit_is_an_error(home: Home, project: Project, revision: str) -> None:
    code, out, err = home.call("test", f"--changed={revision}")
    assert (code, out) == (2, "")
    assert f'git knows no commit "{revision}"' in err


def test_a_folder_without_git_is_an_error(home: Home) -> None:
    Project(home.work).case("", PLAIN)
    code, _, err = home.call("test", "--changed")
    assert code == 2
    assert "is in no repository" in err


def test_program_named_by_the_repository_is_not_executed(home: Home, project: Project) -> None:
    """A stranger's configuration and attributes come with an unpacked archive."""
    ran = home.work / "ran"
    program = project.write(".git/spy", f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    for key in ("filter.spy.clean", "filter.spy.smudge", "diff.spy.textconv", "core.fsmonitor"):
        git(home.work, "config", key, str(program))
    git(home.work, "config", "diff.external", str(program))
    project.write(".gitattributes", "* filter=spy diff=spy\n")
    hooks = Path(home.work, ".git/hooks")
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "pre-commit", "reference-transaction"):
        (hooks / name).write_bytes(program.read_bytes())
        (hooks / name).chmod(0o755)
    ran.unlink(missing_ok=True)
    appending("axe/agents/judge.toml")(project)
    assert cases(home) == {"judged"}
    assert not ran.exists()
