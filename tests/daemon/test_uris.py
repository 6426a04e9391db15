"""One file has one URI, however a client spells it."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest

from axe_lsp.daemon.uris import canonical, path_of, uri_of, windows_path


def test_a_path_and_its_uri_belong_together(tmp_path: Path) -> None:
    path = tmp_path / "größe & 100%.toml"

    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize(
    "spelling",
    [
        "file:///work/my%20agents/a.toml",
        "file:///work/my agents/a.toml",
        "file:///work/my%20agents/%61.toml",
        "file://localhost/work/my%20agents/a.toml",
        "file://LOCALHOST/work/my%20agents/a.toml",
        "FILE:/work/my%20agents/a.toml",
        "file:////work/my%20agents//a.toml",
        "file:///work/./other/../my%20agents/a%2Etoml",
    ],
)
def test_spellings_of_one_file_are_one(spelling: str) -> None:
    assert canonical(spelling) == "file:///work/my%20agents/a.toml"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/c%3A/my%20agents/a.toml", r"C:\my agents\a.toml"),  # VS Code's spelling
        ("/C:/my agents/a.toml", r"C:\my agents\a.toml"),
        ("//server/share/a.toml", r"\\server\share\a.toml"),
    ],
)
def test_paths_of_windows_keep_their_drive_or_server(path: str, expected: str) -> None:
    assert PureWindowsPath(windows_path(path)) == PureWindowsPath(expected)


def test_uri_of_no_file_has_no_path() -> None:
    assert path_of("untitled:Untitled-1") is None
    assert canonical("untitled:Untitled-1") == "untitled:Untitled-1"
    assert path_of("file://[") is None
    assert path_of("file:///project/a%00.toml") is None
