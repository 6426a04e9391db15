"""Agent files are found where they lie, and reading them never fails."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from axe_lsp.daemon import disk
from axe_lsp.runtime.files.regular_files import LARGEST_FILE
from axe_lsp.runtime.files.workspace_folders import agent_folders_below


def _agent(path: Path, text: str = 'name = "a"\n') -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _found(root: Path) -> list[Path]:
    return [file for folder in agent_folders_below(root) for file in disk.agent_files_in(folder)]


def test_agents_are_found_in_folders_of_every_project_below_a_root(tmp_path: Path) -> None:
    near = _agent(tmp_path / "axe/agents/near.toml")
    hidden = _agent(tmp_path / ".axe/agents/hidden.toml")
    deep = _agent(tmp_path / "services/billing/axe/agents/deep.toml")
    _agent(tmp_path / "pyproject.toml")

    assert sorted(_found(tmp_path)) == sorted([near, hidden, deep])


def test_root_of_file_system_is_not_searched_below_its_own_agent_folders(tmp_path: Path) -> None:
    agent = _agent(tmp_path / "axe/agents/a.toml")
    root = Path(tmp_path.anchor)

    assert agent not in _found(root)
    assert agent not in disk.loose_agents_in(root)
    assert agent in _found(tmp_path.parent)


@pytest.mark.parametrize("folder", ["node_modules/x", ".git", "venv", "build", ".cache"])
def test_dependencies_and_hidden_folders_are_not_entered(tmp_path: Path, folder: str) -> None:
    _agent(tmp_path / folder / "axe/agents/a.toml")

    assert _found(tmp_path) == []


def test_a_folder_that_may_not_be_entered_hides_its_own_agents_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = _agent(tmp_path / "axe/agents/a.toml")
    (tmp_path / "locked").mkdir()
    stat = Path.stat

    def refuse(path: Path, **options: bool) -> os.stat_result:
        # As the system does for anybody but root.
        if "locked" in path.parts:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refuse)

    assert _found(tmp_path) == [agent]


def test_links_between_folders_are_not_followed_in_circles(tmp_path: Path) -> None:
    agent = _agent(tmp_path / "axe/agents/a.toml")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)

    assert _found(tmp_path) == [agent]


def test_only_toml_files_directly_in_a_folder_are_agents(tmp_path: Path) -> None:
    agent = _agent(tmp_path / "a.toml")
    _agent(tmp_path / "a.toml.bak")
    _agent(tmp_path / "below/b.toml")

    assert disk.agent_files_in(tmp_path) == [agent]
    assert disk.agent_files_in(tmp_path / "missing") == []


def test_a_file_is_read_as_utf8_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfname = '\xc3\xa4'\r\n")

    assert disk.read(path) == disk.Content("name = 'ä'\r\n")


def test_file_that_is_not_utf8_or_no_file_has_a_fault(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"name = '\xe4'\n")
    folder = tmp_path / "folder.toml"
    folder.mkdir()

    not_utf8 = disk.read(latin)
    no_file = disk.read(folder)

    assert not_utf8 is not None
    said = "the file is not UTF-8 (line 1, column 9: byte 0xE4): save it as UTF-8"
    assert (not_utf8.fault, not_utf8.fault_at) == (said, 8)
    assert no_file is not None
    assert no_file.fault == "the file can't be read: Is a directory"
    assert disk.read(tmp_path / "missing.toml") is None


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)

    assert disk.read(path) == disk.Content("", "the file can't be read: it is larger than 32 MB")


def test_stamps_differ_for_changed_and_deleted_files(tmp_path: Path) -> None:
    stays = _agent(tmp_path / "stays.toml")
    changes = _agent(tmp_path / "changes.toml")
    goes = _agent(tmp_path / "goes.toml")
    before = disk.stamps([tmp_path, tmp_path / "missing"])

    changes.write_text("something longer\n")
    goes.unlink()
    after = disk.stamps([tmp_path])

    assert before[stays] == after[stays]
    assert before[changes] != after[changes]
    assert goes in before
    assert goes not in after


def test_a_link_that_leads_nowhere_hides_no_changes_of_other_files(tmp_path: Path) -> None:
    """Emacs marks the file that it edits with such a link, named `.#file`."""
    agents = [_agent(tmp_path / f"{name}.toml") for name in "abcdef"]
    for agent in agents:
        agent.with_name(f".#{agent.name}").symlink_to("user@host.1234")

    assert sorted(disk.stamps([tmp_path])) == agents
    assert disk.read(tmp_path / ".#a.toml") is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.toml")

    content = disk.read(tmp_path / "a.toml")

    assert content == disk.Content("", "the file can't be read: it is not a regular file")


def test_the_user_folder_follows_the_environment(tmp_path: Path) -> None:
    assert disk.user_folder({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "axe" / "agents"
    indirect = str(tmp_path / "other" / "..")
    assert disk.user_folder({"XDG_CONFIG_HOME": indirect}) == tmp_path / "axe" / "agents"
    assert disk.user_folder({}) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_has_a_fault(tmp_path: Path) -> None:
    path = _agent(tmp_path / "a.toml")
    path.chmod(0)

    content = disk.read(path)

    assert content is not None
    assert content.fault == "the file can't be read: Permission denied"


def test_a_file_that_is_found_by_a_name_that_no_folder_lists_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = tmp_path / "Lint.toml", tmp_path / "lINT.TOML"
    new.write_text("name = 1\n")
    os.link(new, old)
    assert disk.read_exactly(old) == disk.read(old) == disk.Content("name = 1\n")
    # As if the file system ignored case: there is one file, by the name that it has now.
    monkeypatch.setattr(Path, "iterdir", lambda _: iter([new]))
    assert disk.read_exactly(new) == disk.Content("name = 1\n")
    assert disk.read_exactly(old) is None


def test_a_file_without_a_twin_is_read_exactly_so(tmp_path: Path) -> None:
    path = tmp_path / "lint.toml"
    assert disk.read_exactly(path) is None
    path.write_text("name = 1\n")
    assert disk.read_exactly(path) == disk.Content("name = 1\n")
