"""The search without ripgrep finds what ripgrep finds, in every kind of tree, and ends with its call."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from axe_lsp.runtime.tools import search as search_module
from axe_lsp.runtime.tools.search import Query, named_folders, search
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from support.processes import bearing
from support.tools import needs_ripgrep
from support.waiting import wait_until

PATH = "/usr/local/bin:/usr/bin:/bin"


async def found(folder: Path, query: Query, *, with_ripgrep: bool) -> list[str] | str:
    """Return what a search finds, or its fault up to the first colon."""
    path = PATH if with_ripgrep else str(folder)
    try:
        return await search(query, Workplace(folder, {"PATH": path}))
    except ToolError as error:
        return str(error).partition(":")[0]


def both(tree: dict[str, bytes], queries: list[Query]) -> None:
    """Compare the two searches in a tree."""

    async def compare(folder: Path) -> None:
        for query in queries:
            expected = await found(folder, query, with_ripgrep=True)
            assert await found(folder, query, with_ripgrep=False) == expected, query

    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in tree.items():
            place = folder / path
            if not place.exists() and not any(each.is_file() for each in place.parents):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
        asyncio.run(compare(folder))


_NAMES = st.sampled_from(["a", "b", "a.py", "b.txt", ".h", ".github", "build", "src", "é.py"])
_PATHS = st.lists(_NAMES, min_size=1, max_size=3).map("/".join)
_CONTENTS = st.sampled_from(
    [
        b"",
        b"foo\n",
        b"foo bar\nbar\nFoo",
        b"x\0foo\n",
        b"foo\n" * 20_000 + b"\0foo\n",
        b"\xff\xfef\0o\0o\0\n\0",
        b"\xfe\xff\0f\0o\0o",
        b"\xef\xbb\xbffoo\n",
        b"caf\xe9 foo\n",
        "é foo ü\r\n".encode(),
        b"foo " + b"x" * 600 + b"\n",
        ("foo " + "é" * 300).encode(),
    ]
)
_LINES = st.sampled_from(
    [
        *("a", "*.py", "/a", "src/", "!a.py", "**/build", "build/**", "src/*.py", "[ab]", "#a", ""),
        *(
            "\\#a",
            "a/b",
            "?",
            "*",
            "!*.txt",
            "**",
            "a/**/b",
            "{a,b}",
            "[",
            "\\",
            "[!a]",
            " a ",
            ".h",
        ),
    ]
)
_IGNORES = st.lists(_LINES, min_size=1, max_size=4).map(lambda lines: "\n".join(lines).encode())
_IGNORE_PATHS = st.tuples(
    st.sampled_from(["", "src/", "a/"]), st.sampled_from([".gitignore", ".ignore", ".rgignore"])
).map("".join)
_TREES = st.tuples(
    st.dictionaries(_IGNORE_PATHS, _IGNORES, max_size=3),
    st.dictionaries(_PATHS, _CONTENTS, min_size=1, max_size=8),
    st.sampled_from([{}, {".git/config": b"foo\n"}, {".git/info/exclude": b"b.txt\n"}]),
).map(lambda parts: {**parts[2], **parts[0], **parts[1]})
_GLOBS = st.sampled_from(
    [
        (),
        ("*.py",),
        ("!*.py",),
        ("/a",),
        ("a/**",),
        ("**/*.txt",),
        ("{a,b}*",),
        (".git/**",),
        ("*",),
        *((".github/**",), ("[",), ("{",), ("src/*/",), ("**/src/**",), ("?",), ("*.{py,txt}",)),
    ]
)
_PATTERNS = st.sampled_from(
    [
        None,
        "foo",
        "^foo",
        "foo$",
        r"\bfoo\b",
        "é",
        "[[:upper:]]",
        "o{2}",
        "(?i)FOO",
        "^$",
        r"\x{66}oo",
        *("(", r"foo\z", "x"),
    ]
)
_QUERIES = st.builds(
    Query,
    st.sampled_from([".", "src", "a"]),
    _PATTERNS,
    _GLOBS,
    st.booleans(),
    st.sampled_from([(), (".git",)]),
)


@needs_ripgrep
@pytest.mark.slow
@example({".gitignore": b"*\n!a.py", "a.py": b"foo\n", ".git/x": b"foo\n"}, [Query(".", "foo")])
@example(
    {"a": b""},
    [
        Query(".", pattern, (glob,))
        for glob in ("[", "{", "a[", "\\", "[z-a]")
        for pattern in (None, "(")
    ],
)
@given(_TREES, st.lists(_QUERIES, min_size=1, max_size=2))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=20)
def test_search_finds_what_ripgrep_finds(tree: dict[str, bytes], queries: list[Query]) -> None:
    both(tree, queries)


TREE = {
    ".git/config": b"foo\n",
    ".git/info/exclude": b"excluded\n",
    ".gitignore": b"build/\n*.log\n!keep.log\n/top\n",
    ".github/workflows/ci.yml": b"uses: foo\n",
    ".env.example": b"foo=1\n",
    "src/.gitignore": b"!b.log\n",
    "src/a.py": b"foo\nFOO\n",
    "src/b.log": b"foo\n",
    "src/top": b"foo\n",
    "top": b"foo\n",
    "keep.log": b"foo\n",
    "a.log": b"foo\n",
    "excluded": b"foo\n",
    "build/out": b"foo\n",
    "pic.bin": b"foo\n\0",
}
FOUND = [".env.example", ".github/workflows/ci.yml", "keep.log", "src/a.py", "src/b.log", "src/top"]


@pytest.mark.parametrize("with_ripgrep", [False, pytest.param(True, marks=needs_ripgrep)])
async def test_hidden_files_are_searched_and_ignored_ones_are_not(
    tmp_path: Path, with_ripgrep: bool
) -> None:
    for path, content in TREE.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    lines = await found(tmp_path, Query(".", "foo"), with_ripgrep=with_ripgrep)
    assert [line.split(":")[0] for line in lines] == FOUND
    in_git = await found(tmp_path, Query(".git", "foo", names=(".git",)), with_ripgrep=with_ripgrep)
    assert in_git == [".git/config:1:foo"]
    ci = await found(tmp_path, Query(".", None, (".github/**",)), with_ripgrep=with_ripgrep)
    assert ci == [".github/workflows/ci.yml"]


@pytest.mark.parametrize("with_ripgrep", [False, pytest.param(True, marks=needs_ripgrep)])
async def test_tests_of_agents_are_left_out_unless_they_are_named(
    tmp_path: Path, with_ripgrep: bool
) -> None:
    """A recorded search would find its own recording in its replay."""
    for path in (
        "a.py",
        "axe/agents/a.toml",
        "axe/tests/a.toml",
        "sub/axe/tests/recordings/b.toml",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("foo\n")
    lines = await found(tmp_path, Query(".", "foo"), with_ripgrep=with_ripgrep)
    assert [line.split(":")[0] for line in lines] == ["a.py", "axe/agents/a.toml"]
    query = Query("axe/tests", "foo", names=named_folders("axe/tests"))
    assert await found(tmp_path, query, with_ripgrep=with_ripgrep) == ["axe/tests/a.toml:1:foo"]


async def test_pattern_that_never_ends_is_ended_with_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "_SEARCH_SECONDS", 0.5)
    (tmp_path / "a").write_text("a" * 60 + "!")
    with pytest.raises(ToolError, match=r"more than 0\.5s; search in fewer files"):
        await search(Query(".", "(a+)+$"), Workplace(tmp_path, {"PATH": str(tmp_path)}))


async def test_cancelled_search_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 60 + "!")
    query = Query(".", f"(a+)+$|{re.escape(tmp_path.name)}")
    task = asyncio.create_task(search(query, Workplace(tmp_path, {"PATH": str(tmp_path)})))
    await asyncio.to_thread(wait_until, lambda: bearing(tmp_path.name))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bearing(tmp_path.name) == {}


async def test_module_of_the_searched_folder_is_not_imported(tmp_path: Path) -> None:
    for name in ("json.py", "re.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    (tmp_path / "a.txt").write_text("foo\n")
    result = await found(tmp_path, Query(".", "foo"), with_ripgrep=False)
    assert result == ["a.txt:1:foo"]
    assert not (tmp_path / "imported").exists()


async def test_link_and_deep_folder_end_no_search(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    deep = tmp_path.joinpath(*["d"] * 500)
    deep.mkdir(parents=True)
    (deep / "f").write_text("foo\n")
    result = await found(tmp_path, Query("."), with_ripgrep=False)
    assert result == ["/".join([*["d"] * 500, "f"])]
