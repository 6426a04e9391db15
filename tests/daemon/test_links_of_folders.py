"""Folders with several paths go by one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.daemon.links import LinkedFolders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "folder"
    found.mkdir()
    return found


@pytest.fixture
def link(folder: Path) -> Path:
    found = folder.with_name("link")
    try:
        found.symlink_to(folder, target_is_directory=True)
    except OSError:
        pytest.skip("needs links")
    return found


def test_first_path_of_a_linked_folder_is_its_name(folder: Path, link: Path) -> None:
    folders = LinkedFolders()
    assert (folders.name(link), folders.name(folder)) == (link, link)
    folders = LinkedFolders()
    assert (folders.name(folder), folders.name(link)) == (folder, folder)


def test_another_path_can_be_preferred(folder: Path, link: Path) -> None:
    folders = LinkedFolders()
    assert folders.prefer(folder) is None
    assert folders.prefer(link) == folder
    assert (folders.name(folder), folders.name(link)) == (link, link)
    assert folders.name(link.with_name("again")) != link


def test_forgotten_path_leaves_the_other_paths_of_its_folder(folder: Path, link: Path) -> None:
    folders = LinkedFolders()
    folders.name(folder)
    folders.name(link)
    assert folders.forget([folder]) == [link]
    assert folders.name(link) == link


def test_folders_that_are_not_there_are_themselves(tmp_path: Path) -> None:
    folders = LinkedFolders()
    assert folders.name(tmp_path / "a") == tmp_path / "a"
    assert folders.name(tmp_path / "b") == tmp_path / "b"


def test_a_folder_that_takes_the_place_of_one_that_has_gone_is_another(tmp_path: Path) -> None:
    folders = LinkedFolders()
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    folders.name(old)
    old.rename(new)  # The same folder to the file system, as its number is used again.
    assert folders.name(new) == new
