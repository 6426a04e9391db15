"""`grep` and `find_files`, as models use them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from axe_lsp.runtime.tools import search
from support.tools import refusal, use


@pytest.fixture(params=["ripgrep", "program"], autouse=True)
def searcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program that searches: ripgrep, or our own as where it is not installed."""
    if request.param == "program":
        monkeypatch.setattr(search, "find_program", lambda *_: None)
    elif shutil.which("rg") is None:
        pytest.skip("ripgrep (rg) is not installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a small project, with something outside of it."""
    project = tmp_path / "project"
    for path, text in {
        "project/a.py": "def one():\n    return 'x' * 3\n",
        "project/src/b.py": "DEF two\n",
        "project/src/c.txt": "def three\n",
        "project/src/build/d.py": "def built\n",
        "project/.hidden/e.py": "def hidden\n",
        "project/.git/config": "bare\n",
        "project/.ignore": "build\n",
        "outside/f.py": "def outside\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (project / "bin.py").write_bytes(b"def \0 binary\n")
    (project / "link").symlink_to(tmp_path / "outside")
    return project


@pytest.mark.req("003-13")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (
            {"pattern": "^def "},
            ".hidden/e.py:1:def hidden\na.py:1:def one():\nsrc/c.txt:1:def three",
        ),
        ({"pattern": "^def ", "glob": ".hidden/**"}, ".hidden/e.py:1:def hidden"),
        ({"pattern": "bare", "glob": ".git/**"}, ".git/config:1:bare"),
        ({"pattern": "bare", "path": ".git"}, ".git/config:1:bare"),
        ({"pattern": "bare"}, "no matches"),
        (
            {"pattern": "^def ", "glob": "*.py"},
            ".hidden/e.py:1:def hidden\na.py:1:def one():",
        ),
        (
            {"pattern": "^def T", "path": "src", "ignore_case": "true"},
            "src/b.py:1:DEF two\nsrc/c.txt:1:def three",
        ),
        ({"pattern": "return", "path": "a.py"}, "a.py:2:    return 'x' * 3"),
        ({"pattern": "-e", "path": "./src/"}, "no matches"),
        ({"pattern": "hidden", "path": ".hidden"}, ".hidden/e.py:1:def hidden"),
    ],
)
async def test_grep_finds_lines(project: Path, arguments: dict[str, str], found: str) -> None:
    assert await use("grep", project, **arguments) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "a.py\nbin.py"),
        ("/*.py", "a.py\nbin.py"),
        ("**/*.py", ".hidden/e.py\na.py\nbin.py\nsrc/b.py"),
        (".hidden/*", ".hidden/e.py"),
        (".git/*", ".git/config"),
        ("**/config", "no matches"),
        ("src/*", "src/b.py\nsrc/c.txt"),
        ("src/**", "src/b.py\nsrc/c.txt"),
        ("../**", "no matches"),
        ("--help", "no matches"),
    ],
)
async def test_find_files_finds_paths(project: Path, pattern: str, found: str) -> None:
    assert await use("find_files", project, pattern=pattern) == found


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("grep", {}, "pattern is required"),
        ("grep", {"pattern": "x", "path": "../outside"}, "path escapes workdir"),
        ("grep", {"pattern": "x", "path": "link"}, "path escapes workdir"),
        ("grep", {"pattern": "x", "path": "/etc"}, "absolute paths are not allowed"),
        ("grep", {"pattern": "x", "path": "absent"}, "absent: no such file or directory"),
        ("grep", {"pattern": "x\0"}, "the search could not be started: embedded null byte"),
        ("grep", {"pattern": "("}, "regex parse error"),
        ("grep", {"pattern": "x", "glob": "{"}, "error parsing glob"),
        ("grep", {"pattern": "x", "ignore_case": "?"}, "invalid ignore_case"),
        ("find_files", {}, "pattern is required"),
        ("find_files", {"pattern": "["}, 'invalid glob pattern "[": syntax error in pattern'),
    ],
)
async def test_what_they_refuse(
    project: Path, tool: str, arguments: dict[str, str], told: str
) -> None:
    assert told in await refusal(tool, project, **arguments)


async def test_a_result_has_a_limit_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "x" * 5000 + "\n" + "x" * 300 + "\n" * 1 + ("y" * 99 + "\n") * 2000
    )
    assert len((await use("grep", tmp_path, pattern="x")).splitlines()[0]) < 600
    found = await use("grep", tmp_path, pattern="y")
    assert len(found) < 103_000
    assert found.endswith("\n... [output truncated, exceeded 100KB; narrow the search]")
