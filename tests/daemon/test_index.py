"""What one client has had read is read for no other, unless it has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.daemon import disk, index
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.daemon.uris import uri_of
from axe_lsp.daemon.view import View

TEXT = 'name = "one"\nmodel = "openai/gpt-4o"\n'
PATIENCE = 30.0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are read from the disk."""
    names: list[str] = []
    real = disk.read

    def noted(path: Path) -> disk.Content | None:
        names.append(path.name)
        return real(path)

    monkeypatch.setattr(disk, "read", noted)
    return names


async def _view(daemon: Daemon, root: Path) -> View:
    view = daemon.open_view()
    view.add_roots([root])
    await view.settled()
    return view


def _daemon(tmp_path: Path) -> Daemon:
    return Daemon({"XDG_CONFIG_HOME": str(tmp_path / "home")}, has_many_clients=True)


def _project(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "axe" / "agents"
    folder.mkdir(parents=True)
    for name in ("one", "two", "three"):
        (folder / f"{name}.toml").write_text(TEXT.replace("one", name))
    return folder


async def test_the_second_client_reads_only_what_has_changed(
    tmp_path: Path, read: list[str]
) -> None:
    folder = _project(tmp_path)
    daemon = _daemon(tmp_path)
    first = await _view(daemon, tmp_path / "project")
    assert sorted(read) == ["one.toml", "three.toml", "two.toml"]
    read.clear()
    (folder / "two.toml").write_text(TEXT + 'description = "new"\n')

    second = await _view(daemon, tmp_path / "project")

    assert read == ["two.toml"]
    one, two = uri_of(folder / "one.toml"), uri_of(folder / "two.toml")
    assert second.snapshot.closed[one] is first.snapshot.closed[one]
    assert second.snapshot.closed[two].description == "new"
    assert second.snapshot.names.keys() == {"one", "two", "three"}
    await daemon.close()


async def test_changed_file_of_a_client_is_read_although_it_is_indexed(
    tmp_path: Path, read: list[str]
) -> None:
    folder = _project(tmp_path)
    daemon = _daemon(tmp_path)
    await _view(daemon, tmp_path / "project")
    second = await _view(daemon, tmp_path / "project")
    read.clear()

    second.changed_on_disk([uri_of(folder / "one.toml")])
    await second.settled()

    assert read == ["one.toml"]
    await daemon.close()


async def test_settled_file_is_read_again_only_with_another_stamp(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SETTLED_SECONDS", -1)
    folder = _project(tmp_path)
    daemon = _daemon(tmp_path)
    views = [await _view(daemon, tmp_path / "project") for _ in range(3)]
    read.clear()
    (folder / "two.toml").write_text(TEXT + 'description = "new"\n')

    for view in views:
        view.changed_on_disk(uri_of(path) for path in sorted(folder.iterdir()))
        await view.settled()

    assert read == ["two.toml"]
    two = uri_of(folder / "two.toml")
    assert [view.snapshot.closed[two].description for view in views] == ["new"] * 3
    await daemon.close()


async def test_files_of_the_last_closed_view_are_forgotten(tmp_path: Path, read: list[str]) -> None:
    _project(tmp_path)
    daemon = _daemon(tmp_path)
    await daemon.close_view(await _view(daemon, tmp_path / "project"))
    read.clear()

    await _view(daemon, tmp_path / "project")

    assert len(read) == 3
    await daemon.close()


async def test_unsaved_text_is_in_one_view_and_in_no_index(tmp_path: Path) -> None:
    folder = _project(tmp_path)
    uri = uri_of(folder / "one.toml")
    daemon = _daemon(tmp_path)
    first = await _view(daemon, tmp_path / "project")
    first.edit(uri, TEXT + 'description = "typed"\n')
    first.changed_on_disk([uri])
    await first.settled()

    second = await _view(daemon, tmp_path / "project")

    assert first.snapshot.buffers[uri].description == "typed"
    assert not second.snapshot.buffers
    assert second.snapshot.closed[uri].description == ""
    await daemon.close()
