"""Where programs are looked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from axe_lsp.runtime.files.search_path import find_program


def make_program(folder: Path, mode: int = 0o755) -> Path:
    folder.mkdir()
    program = folder / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(mode)
    return program


def test_a_program_is_the_first_file_of_its_name_that_may_be_executed(tmp_path: Path) -> None:
    (tmp_path / "a" / "program").mkdir(parents=True)
    make_program(tmp_path / "b", 0o644)
    program = make_program(tmp_path / "c")
    make_program(tmp_path / "d")
    folders = os.pathsep.join(str(tmp_path / each) for each in ("missing", "a", "b", "c", "d"))
    assert find_program("program", {"PATH": folders}) == str(program)
    assert find_program(str(program), {"PATH": "/usr/bin"}) == str(program)
    assert find_program("pro\0gram", {"PATH": folders}) is None


def test_folders_that_depend_on_the_current_one_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program(tmp_path / "bin")
    monkeypatch.chdir(tmp_path / "bin")
    assert find_program("program", {"PATH": f"{os.pathsep}.{os.pathsep}../bin"}) is None
