"""The files that an agent shows to its model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.context_files import find_context_files

TREE = {
    "a.md": "A\n",
    "b.txt": "B",
    ".hidden.md": "H\n",
    "sub/c.md": "C\n",
    "sub/deep/d.md": "D\n",
    ".git/config.md": "G\n",
    "UPPER.MD": "U\n",
    "sp ace.md": "S\n",
    "é.md": "é\n",
    "[x].md": "brackets",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name, text in TREE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "bin.md").write_bytes(b"x\0y")
    return root


@pytest.mark.req("000-15")
@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ([], ""),
        (["*.txt"], "b.txt"),
        (["*.md"], ".hidden.md|[x].md|a.md|sp ace.md|é.md"),
        (["a.md", "*.md", "a.md"], ".hidden.md|[x].md|a.md|sp ace.md|é.md"),
        (["./a.md"], "a.md"),
        (["sub/../a.md"], "a.md"),
        (["/a.md"], "a.md"),
        (["sub/*"], "sub/c.md"),
        (["*/c.md"], "sub/c.md"),
        (["s*/d*/?.md"], "sub/deep/d.md"),
        (["sub/**"], "sub/c.md|sub/deep/d.md"),
        (["./sub/**/*.md"], "sub/c.md|sub/deep/d.md"),
        (["**/d.md"], "sub/deep/d.md"),
        ([r"\[x\].md"], "[x].md"),
        (["missing.md", "sub", "nowhere/*.md", "a.md/*"], ""),
    ],
)
def test_what_patterns_find(tree: Path, patterns: list[str], found: str) -> None:
    files = find_context_files(patterns, tree).files
    assert "|".join(file.path for file in files) == found


def test_two_stars_find_everything_that_is_text(tree: Path) -> None:
    files = find_context_files(["**/*.md"], tree).files
    assert [file.path for file in files] == [
        ".git/config.md",
        ".hidden.md",
        "[x].md",
        "a.md",
        "sp ace.md",
        "sub/c.md",
        "sub/deep/d.md",
        "é.md",
    ]


def test_content_and_size(tree: Path) -> None:
    (file,) = find_context_files(["é.md"], tree).files
    assert (file.content, file.size) == ("é\n", 3)


def test_line_ends_stay_as_they_are(tree: Path) -> None:
    (tree / "crlf.txt").write_bytes(b"a\r\nb\r\n")
    (file,) = find_context_files(["crlf.txt"], tree).files
    assert file.content == "a\r\nb\r\n"


def test_a_malformed_pattern_is_an_error_even_if_nothing_could_match(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_context_files(["**/[x"], tmp_path / "missing")
    assert str(caught.value) == 'invalid glob pattern "**/[x": syntax error in pattern'


@pytest.mark.parametrize("pattern", ["../notes.md", "../n*.md", "sub/../../notes.md"])
def test_files_beside_the_working_directory_are_found_when_dots_ask_for_them(
    tree: Path, pattern: str
) -> None:
    (tree.parent / "notes.md").write_text("NOTES")
    (file,) = find_context_files([pattern, "../root/../notes.md"], tree).files
    assert (file.path, file.content) == ("../notes.md", "NOTES")


def test_a_way_out_and_back_in_is_none(tree: Path) -> None:
    (file,) = find_context_files(["../root/a.md", "a.md"], tree).files
    assert file.path == "a.md"


def test_two_stars_stay_below_the_working_directory(tree: Path) -> None:
    (tree.parent / "notes.md").write_text("NOTES")
    assert find_context_files(["../**/*.md"], tree).files == ()


@pytest.mark.parametrize(
    "pattern", ["link.md", "*.md", "folder/*", "**/*", "folder/secret.md", "../alias.md"]
)
def test_nothing_outside_is_read_through_links(tree: Path, pattern: str) -> None:
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("SECRET")
    (tree / "link.md").symlink_to(outside / "secret.md")
    (tree / "folder").symlink_to(outside)
    (tree.parent / "alias.md").symlink_to(outside / "secret.md")
    contents = [file.content for file in find_context_files([pattern], tree).files]
    assert "SECRET" not in contents


def test_links_inside_are_followed(tree: Path) -> None:
    (tree / "link.txt").symlink_to("a.md")
    (file,) = find_context_files(["link.txt"], tree).files
    assert (file.path, file.content) == ("link.txt", "A\n")


def test_links_in_a_circle_and_to_nowhere_are_left_out(tree: Path) -> None:
    (tree / "one.md").symlink_to("two.md")
    (tree / "two.md").symlink_to("one.md")
    (tree / "gone.md").symlink_to("nowhere")
    assert find_context_files(["one.md", "gone.md"], tree).files == ()


def test_a_file_that_is_not_utf8_is_shown_as_far_as_it_can_be(tree: Path) -> None:
    (tree / "latin.txt").write_bytes("café".encode("latin-1"))
    found = find_context_files(["latin.txt"], tree)
    assert found.files[0].content == "caf\N{REPLACEMENT CHARACTER}"
    assert found.notes == ('context file "latin.txt" is not UTF-8; bad bytes were replaced',)


def test_a_replacement_character_in_a_file_is_no_fault_of_the_file(tree: Path) -> None:
    (tree / "odd.txt").write_text("\N{REPLACEMENT CHARACTER}", encoding="utf-8")
    assert find_context_files(["odd.txt"], tree).notes == ()


def test_a_file_that_cannot_be_read_is_noted(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(
        "axe_lsp.runtime.files.context_files.opened_file", refuse
    )  # The tests may run as root.
    found = find_context_files(["a.md"], tree)
    assert found.files == ()
    assert found.notes == ('context file "a.md" could not be read: Permission denied',)


def test_a_name_that_is_not_utf8_can_be_shown(tree: Path) -> None:
    (tree / "bad\udcff.txt").write_text("x")
    (file,) = find_context_files(["bad*"], tree).files
    assert file.path == "bad\N{REPLACEMENT CHARACTER}.txt"


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_links_to_their_own_folder_do_not_double_the_ways_at_each_step(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("here")
    for name in ("a", "b"):
        (tmp_path / name).symlink_to(tmp_path)
    found = find_context_files(["*/x", "*/" * 30 + "x"], tmp_path)
    assert [each.path for each in found.files] == ["a/x", "b/x"]
