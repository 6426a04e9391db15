"""Thousands of files are read with the help of another process, and what is known of them is the same."""

from __future__ import annotations

import copy
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.daemon import disk
from axe_lsp.daemon.changes import change_at
from axe_lsp.daemon.disk import Content
from axe_lsp.daemon.helper import helper
from axe_lsp.daemon.reader import value_of
from axe_lsp.daemon.reading import FEW, changes
from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Places, Scope
from axe_lsp.workspace.workspace import Change, Workspace

MANY = 4 * FEW

TEXTS = (
    b'name = "x"\nmodel = "openai/gpt"\nsub_agents = ["n1", "n2"]\nfiles = ["*.py"]\n',
    b'name = "x"\nmodel = 1\n[input]\ntype = "object"\n',
    b'name = "x',
    b'name = "\xff"',
)
"""Sound, with mistakes, broken, and no text."""


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Many agent files of all kinds; where the last ones should be there is none, and a folder."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    folder = tmp_path / "axe" / "agents"
    folder.mkdir(parents=True)
    found = [folder / f"n{number}.toml" for number in range(MANY)]
    for number, path in enumerate(found[:-2]):
        path.write_bytes(TEXTS[number % len(TEXTS)])
    found[-1].mkdir()
    return found


def known(changes: Sequence[Change]) -> dict[str, AgentFile]:
    workspace = Workspace(Places())
    workspace.apply(changes)
    return dict(workspace.snapshot.closed)


def check_all_are_read(read: Sequence[Change], paths: Sequence[Path]) -> None:
    assert [each.uri for each in read] == [uri_of(path) for path in paths]
    assert known(read) == known([change_at(path, disk.read) for path in paths])


def test_many_files_are_read_as_few_are_though_by_another_process(paths: list[Path]) -> None:
    read = list(changes(paths, disk.read))
    check_all_are_read(read, paths)
    assert read[0].file is None
    assert any(each.file is not None for each in read)


def test_one_processor_has_nobody_to_share_with(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    read = list(changes(paths, disk.read))
    check_all_are_read(read, paths)
    assert all(each.file is None for each in read)


def test_for_few_files_no_process_is_started(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(subprocess, "Popen")
    assert all(each.file is None for each in changes(paths[:FEW], disk.read))


class Deadly:
    """Reads as usual, but the process ends that is asked for the second time to do so."""

    def __init__(self) -> None:
        self._asked = 0

    def __call__(self, path: Path) -> Content | None:
        return disk.read(path)

    def __reduce__(self) -> tuple[Any, ...]:
        self._asked += 1
        return (os._exit, (1,)) if self._asked > 1 else (copy.copy, (disk.read,))


def test_nothing_is_lost_when_the_process_ends_early(
    paths: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    read = list(changes(paths, Deadly()))
    check_all_are_read(read, paths)
    assert any(each.file is not None for each in read)
    assert caplog.messages == [
        "the process that reads agent files has ended early; its files are read here"
    ]


def test_nothing_is_lost_when_there_can_be_no_process(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "executable", str(paths[0]))
    check_all_are_read(list(changes(paths, disk.read)), paths)
    (message,) = caplog.messages
    assert message.startswith("there can't be a process that reads agent files: ")


def test_the_process_ends_when_nobody_wants_to_know_the_rest(
    paths: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    read = changes(paths, disk.read)
    while next(read).file is None:
        pass
    read.close()  # Waits for it.
    assert not caplog.messages


def test_where_a_file_lies_is_known_here_alone(tmp_path: Path) -> None:
    """The process that reads doesn't know the user's own folder."""
    path = tmp_path / "x.toml"
    path.write_bytes(TEXTS[0])
    with helper() as started:
        assert started is not None
        started.ask(disk.read, [path])
        read = value_of(started.answer() or b"")
    places = Places(user_folder=uri_of(tmp_path))
    workspace = Workspace(places)
    (file,) = workspace.apply(read).snapshot.files()
    assert file.place == places.locate(uri_of(path))
    assert file.place.scope is Scope.USER


@pytest.mark.skipif(sys.platform == "win32", reason="has no signals to wait for")
def test_the_process_ends_with_a_parent_that_is_killed() -> None:
    script = (
        "import time\n"
        "from axe_lsp.daemon import disk, helper\n"
        "with helper.helper() as started:\n"
        "    started.ask(disk.read, [])\n"
        "    print(started.answer() is not None, flush=True)\n"
        "    time.sleep(60)"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as parent:
        assert parent.stdout is not None
        said = parent.stdout.readline()
        parent.kill()
        # The output ends when the last of those ends who hold it.
        assert (said, parent.communicate(timeout=20)) == (b"True\n", (b"", b""))
