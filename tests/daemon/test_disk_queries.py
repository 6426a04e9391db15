"""Folders that are listed while their path is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.agentfile.schema.key_spec import Names
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.daemon import disk_queries
from axe_lsp.daemon.disk_queries import list_folder, typed_folder
from axe_lsp.daemon.outside_facts import PathContext
from axe_lsp.features.completion.path_offers import Entry, Listing, PathTyped


def where(tmp_path: Path, names: Names, folder: str, workdir: str = "") -> Path | None:
    typed = PathTyped(names, folder, TextRange(0, 0), "", '"', "")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": "/home/me"}
    return typed_folder(typed, workdir, PathContext("main", tmp_path / "project", environment))


def test_paths_are_resolved_as_in_a_run(tmp_path: Path) -> None:
    project = tmp_path / "project"
    assert where(tmp_path, Names.SKILL, "skills/") == tmp_path / "config/axe/skills"
    assert where(tmp_path, Names.SKILL, "~/") == Path("/home/me")
    assert where(tmp_path, Names.FOLDER, "a/", workdir="ignored") == project / "a"
    assert where(tmp_path, Names.GLOB, "a/", workdir="sub") == project / "sub/a"
    assert where(tmp_path, Names.GLOB, "/a/") == project / "a"
    nobody = PathContext("main", project, {})
    typed = PathTyped(Names.SKILL, "", TextRange(0, 0), "", '"', "")
    assert typed_folder(typed, "", nobody) is None


def test_folder_listing_follows_links_to_folders(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_text("")
    (tmp_path / "c").symlink_to(tmp_path / "a")
    found = list_folder(tmp_path, "b")
    assert sorted(found.entries, key=lambda each: each.name) == [
        Entry("a", is_folder=True),
        Entry("b", is_folder=False),
        Entry("c", is_folder=True),
    ]
    assert found.is_complete


@pytest.mark.parametrize("name", ["gone", "\0", "x" * 5000])
def test_a_folder_that_cannot_be_listed_is_empty(tmp_path: Path, name: str) -> None:
    assert list_folder(tmp_path / name, "") == Listing()


def test_large_folder_is_listed_by_prefix_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_queries, "MOST", 3)
    for number in range(12):
        (tmp_path / f"File{number}").write_text("")
    found = list_folder(tmp_path, "file1")
    assert {each.name for each in found.entries} == {"File1", "File10", "File11"}
    assert not found.is_complete
    assert len(list_folder(tmp_path, "").entries) == 3


def test_a_slow_folder_is_not_listed_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_queries, "_LOOKED_AT", 1)
    for name in "abc":
        (tmp_path / name).write_text("")
    found = list_folder(tmp_path, "")
    assert (len(found.entries), found.is_complete) == (1, False)
