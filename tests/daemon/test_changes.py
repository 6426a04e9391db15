"""What lies at a path is the same change, whether the text is long or short."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.daemon import disk, index
from axe_lsp.daemon.index import change_at
from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.workspace import Workspace

TEXT = 'name = "main"\nmodel = "openai/gpt"\nzzz = 1\nsub_agents = ["other"]\n'


@pytest.mark.parametrize("text", [TEXT, f'{TEXT}broken = "', "\0", ""])
def test_long_text_is_read_as_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    path = tmp_path / "user" / "agents" / "main.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    places = Places(user_folder=uri_of(path.parent))

    def file() -> object:
        change = change_at(path, disk.read)
        return Workspace(places).apply([change], complete=True).snapshot.file(uri_of(path))

    short = file()
    monkeypatch.setattr(index, "_LONG", -1)
    assert change_at(path, disk.read).file is not None
    assert file() == short


def test_a_file_that_takes_milliseconds_to_parse_is_parsed_in_the_thread_that_reads_it(
    tmp_path: Path,
) -> None:
    """Fifty of them are taken in at once, and whoever asks for something meanwhile waits for that."""
    path = tmp_path / "main.toml"
    path.write_text("a." * 4_000 + "a = 1\n")
    file = change_at(path, disk.read).file
    assert file is not None
    assert file.problems


def test_config_toml_is_left_to_the_workspace(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("# long\n" * 10_000)
    assert change_at(path, disk.read).text == path.read_text()
    path.rename(tmp_path / "main.toml")
    assert change_at(tmp_path / "main.toml", disk.read).file is not None
