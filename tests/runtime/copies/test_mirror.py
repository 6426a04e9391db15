"""Changes that arrive from another machine: what is taken, and what never is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from axe_lsp.runtime.copies.git import make_own, write_tree
from axe_lsp.runtime.copies.mirror import Changed, Mirror, PatchError, TrackedFiles, is_inside
from support.repositories import write


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return of_files(tmp_path / "one")


def of_files(folder: Path) -> Mirror:
    files = {"a.txt": "a\n", "folder/b.txt": "b\n", "folder/deep/c.txt": "c\n"}
    tree, index = folder / "tree", folder / "index"
    write(tree, files)
    own = make_own(folder / "git", None, os.environ)
    known = write_tree(own, tree, index, {os.fsencode(f) for f in files})
    return Mirror(TrackedFiles(own, tree, index, known))


def test_two_copies_are_alike_after_each_exchange(tmp_path: Path, mirror: Mirror) -> None:
    other, tree = of_files(tmp_path / "two"), tmp_path / "one" / "tree"
    write(tree, {"a.txt": b"\0\xff", "new/\udcff.txt": "n\n", "folder.txt": "f\n"})
    (tree / "folder" / "b.txt").unlink()
    (tree / "link").symlink_to("folder/deep")
    (tree / "a.txt").chmod(0o755)
    state, changes = mirror.changes()
    assert other.take(changes) == []
    assert other.state == state
    there = tmp_path / "two" / "tree"
    assert (there / "a.txt").read_bytes() == b"\0\xff"
    assert (there / "a.txt").stat().st_mode & 0o111
    assert (there / "new" / "\udcff.txt").exists()
    assert not (there / "folder" / "b.txt").exists()
    assert (there / "link").readlink() == Path("folder/deep")
    assert other.changes()[1] == []


def test_a_file_takes_the_place_of_a_folder_and_back(mirror: Mirror, tmp_path: Path) -> None:
    tree = tmp_path / "one" / "tree"
    mirror.take(
        [
            Changed(b"folder/b.txt"),
            Changed(b"folder/deep/c.txt"),
            Changed(b"folder", "100644", b"x"),
        ]
    )
    assert (tree / "folder").read_bytes() == b"x"
    mirror.take([Changed(b"folder/b.txt", "100644", b"y"), Changed(b"folder")])
    assert (tree / "folder" / "b.txt").read_bytes() == b"y"


@pytest.mark.parametrize(
    "path",
    [
        b"/etc/x",
        b"../x",
        b"folder/../../x",
        b"./x",
        b"a//b",
        b"",
        b"x\0",
        b".git",
        b".GIT/config",
        b"sub/.git/hooks/x",
        b"git~1/x",
    ],
)
def test_a_path_outside_of_the_copy_is_never_written(
    mirror: Mirror, tmp_path: Path, path: bytes
) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PatchError):
        mirror.take([Changed(b"good", "100644", b"x"), Changed(path, "100644", b"x")])
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("mode", ["160000", "040000", "100666", "--exec"])
def test_what_is_no_file_is_never_made(mirror: Mirror, mode: str) -> None:
    with pytest.raises(PatchError):
        mirror.take([Changed(b"x", mode, b"x")])


def test_nothing_is_written_through_a_link(mirror: Mirror, tmp_path: Path) -> None:
    """Not even by changes that make the link first."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "one" / "tree" / "way").symlink_to(outside)
    mirror.take([Changed(b"way/x", "100644", b"x")])
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "target", "stays"),
    [
        (b"x", b"a.txt", True),
        (b"folder/x", b"../a.txt", True),
        (b"folder/deep/x", b"../../a.txt", True),
        (b"x", b"../a.txt", False),
        (b"folder/x", b"../../a.txt", False),
        (b"x", b"/etc/passwd", False),
        (b"x", b"folder/../a.txt", False),  # By way of a link it could lead anywhere.
        (b"x", b".git/config", False),
    ],
)
def test_links_that_lead_out_are_left_out(
    mirror: Mirror, path: bytes, target: bytes, stays: bool
) -> None:
    link = Changed(path, "120000", target)
    assert is_inside(link) is stays
    assert mirror.take([link]) == ([] if stays else [path.decode()])
