"""The workspace follows buffers, folders, settings and the disk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from axe_lsp.daemon import disk, index, projects
from axe_lsp.daemon import view as view_module
from axe_lsp.daemon.uris import uri_of
from axe_lsp.daemon.view import View
from axe_lsp.daemon.watch import watch
from axe_lsp.runtime.files import workspace_folders
from axe_lsp.settings import Settings

_PATIENCE = 30.0


@asynccontextmanager
async def _view(tmp_path: Path, *roots: Path) -> AsyncIterator[View]:
    view = View({"XDG_CONFIG_HOME": str(tmp_path / "home")})
    try:
        view.add_roots(roots)
        await view.settled()
        yield view
    finally:
        await view.close(_PATIENCE)


def _write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'name = "{path.stem}"\nmodel = "openai/gpt-4o"\n')
    return path


def _write_markdown(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {path.stem}\ndescription: d\n---\n")
    return path


def _names(view: View) -> set[str]:
    snapshot = view.snapshot
    return {Path(uri).stem for uri in [*snapshot.closed, *snapshot.buffers]}


def _first_line(view: View, uri: str) -> str:
    lines = view.lines(uri)
    return lines.text_of(lines.line_range(0))


async def _until(view: View, condition: Callable[[], bool]) -> None:
    """Wait for updates of `view` until `condition()` holds."""
    news = asyncio.Event()
    stop = view.listen(lambda _: news.set())
    try:
        while not condition():
            await asyncio.wait_for(news.wait(), _PATIENCE)
            news.clear()
    finally:
        stop()


async def test_agents_below_the_roots_and_those_of_the_user_are_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _write(root / "axe/agents/one.toml")
    _write(root / "tools/.axe/agents/two.toml")
    _write(tmp_path / "home/axe/agents/mine.toml")

    async with _view(tmp_path, root) as view:
        assert _names(view) == {"one", "two", "mine"}
        assert view.snapshot.complete


async def test_repositories_are_looked_for_once_per_folder_of_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    for number in range(40):
        _write(root / f"axe/agents/n{number}.toml")
        _write(root / f"kit/axe/agents/n{number}.toml")
    (root / "kit" / ".git").write_text("gitdir: elsewhere\n")
    folders: list[Path] = []

    def project_root(folder: Path, markers: Sequence[str]) -> Path | None:
        folders.append(folder)
        return workspace_folders.project_root(folder, markers)

    monkeypatch.setattr(projects, "project_root", project_root)
    async with _view(tmp_path, root) as view:
        assert sorted(folders) == [root / "axe", root / "kit" / "axe"]
        uri = uri_of(root / "kit" / "axe" / "agents" / "n1.toml")
        view.edit(uri, 'name = "n1"\nmodel = "openai/gpt-4o"\nsub_agents = ["n2"]\n')
        assert len(folders) == 2
        caller = view.snapshot.file(uri)
        assert caller is not None
        assert [each.place.folder for each in view.snapshot.agents("n2", caller)] == [
            uri_of(root / "kit" / "axe" / "agents")
        ]


async def test_a_folder_that_leaves_the_workspace_takes_its_agents_along(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    _write(first / "axe/agents/one.toml")
    _write(second / "axe/agents/two.toml")

    async with _view(tmp_path, first, second) as view:
        view.remove_roots([first])

        assert _names(view) == {"two"}


async def test_folders_of_the_settings_and_of_open_files_stay_when_another_one_leaves(
    tmp_path: Path,
) -> None:
    _write(tmp_path / "more/named.toml")
    opened = _write(tmp_path / "elsewhere/axe/agents/opened.toml")
    _write(opened.with_name("neighbour.toml"))
    _write(tmp_path / "second/axe/agents/two.toml")

    async with _view(tmp_path, tmp_path / "first", tmp_path / "second") as view:
        view.configure(Settings(agent_paths=(str(tmp_path / "more"),)))
        view.edit(uri_of(opened), "name = 'opened'\n")
        await view.settled()
        view.remove_roots([tmp_path / "second"])

        assert _names(view) == {"named", "opened", "neighbour"}


async def test_the_neighbours_of_open_files_still_count_after_new_settings(tmp_path: Path) -> None:
    opened = _write(tmp_path / "elsewhere/axe/agents/opened.toml")
    _write(opened.with_name("neighbour.toml"))

    async with _view(tmp_path) as view:
        view.edit(uri_of(opened), "name = 'opened'\n")
        await view.settled()
        view.configure(Settings(agent_paths=(str(tmp_path / "more"),)))
        await view.settled()

        assert _names(view) == {"opened", "neighbour"}


async def test_the_neighbours_of_an_open_file_count_wherever_it_lies(tmp_path: Path) -> None:
    opened = _write(tmp_path / "elsewhere/axe/agents/opened.toml")
    _write(opened.with_name("neighbour.toml"))

    async with _view(tmp_path) as view:
        view.edit(uri_of(opened), "name = 'opened'\n")
        await view.settled()

        assert _names(view) == {"opened", "neighbour"}


@pytest.mark.parametrize("folder", ["axe/agents/*.toml", ".claude/agents/*.md"])
async def test_neighbours_that_lie_in_the_workspace_are_read_once(
    tmp_path: Path, folder: str
) -> None:
    opened = _write(tmp_path / "project" / folder.replace("*", "opened"))
    neighbour = uri_of(_write(opened.with_stem("neighbour")))
    read = []

    async with _view(tmp_path) as view:
        view.listen(lambda update: read.append(update.snapshot.closed.get(neighbour)))
        view.add_roots([tmp_path / "project"])
        view.edit(uri_of(opened), "name = 'opened'\n")
        await view.settled()

        assert len({id(each) for each in read if each is not None}) == 1


async def test_files_that_a_client_opens_one_after_the_other_are_not_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine files are opened with pauses, after which the others would be read.
    now = [0.0]
    monkeypatch.setattr(index, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))
    monkeypatch.setattr(index, "_MOST_PAUSES", 1_000_000)
    root = tmp_path / "project"
    paths = [_write(root / f"axe/agents/agent-{number}.toml") for number in range(200)]

    async with _view(tmp_path) as view:
        view.add_roots([root])
        for path in paths:
            view.edit(uri_of(path), path.read_text())
            await asyncio.sleep(0.001)
        now[0] += 10
        await view.settled()

        opened, closed = view.snapshot.buffers, view.snapshot.closed
        assert len(closed) == len(paths)
        assert all(closed[uri].name is opened[uri].name for uri in closed)


async def test_text_of_a_buffer_counts_until_it_is_closed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    uri = uri_of(_write(root / "axe/agents/one.toml"))

    async with _view(tmp_path, root) as view:
        view.edit(uri, "description = 'typed'\n\n")
        assert _first_line(view, uri) == "description = 'typed'"

        view.close_buffer(uri)
        assert _first_line(view, uri) == 'name = "one"'


async def test_further_folders_come_with_the_settings_and_go_with_them(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _write(root / "axe/agents/one.toml")
    _write(root / "more/two.toml")

    async with _view(tmp_path, root) as view:
        view.configure(Settings(agent_paths=("more",)))
        await view.settled()
        assert _names(view) == {"one", "two"}

        view.configure(Settings())
        await view.settled()
        assert _names(view) == {"one"}


async def test_further_folders_are_known_by_the_path_that_editors_open_them_by(
    tmp_path: Path,
) -> None:
    shared = uri_of(_write(tmp_path / "shared/far.toml"))

    async with _view(tmp_path, tmp_path / "project") as view:
        view.configure(Settings(agent_paths=("../shared/",)))
        await view.settled()
        assert view.snapshot.names["far"] == (shared,)

        view.edit(shared, 'name = "far"\n')
        assert view.snapshot.names["far"] == (shared,)


@pytest.mark.parametrize("half_typed", ["", " ", "~nobody-of-that-name/agents"])
async def test_half_typed_agent_path_leaves_the_others_in_force(
    tmp_path: Path, half_typed: str
) -> None:
    root = tmp_path / "project"
    _write(root / "more/two.toml")
    _write(root / "pyproject.toml")

    async with _view(tmp_path, root) as view:
        view.configure(Settings(agent_paths=(half_typed, "more")))
        await view.settled()
        assert _names(view) == {"two"}


async def test_settings_that_come_before_the_roots_are_relative_to_them(tmp_path: Path) -> None:
    root = tmp_path / "project"
    far = uri_of(_write(root / "more/far.toml"))

    async with _view(tmp_path) as view:
        view.configure(Settings(agent_paths=("more",)))
        view.add_roots([root])
        await view.settled()

        assert view.snapshot.names["far"] == (far,)


async def test_nothing_is_complete_before_the_last_folder_has_been_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _write(root / "axe/agents/one.toml")
    _write(root / "more/two.toml")
    view = View({"XDG_CONFIG_HOME": str(tmp_path / "home")})
    known_when_complete: list[set[str]] = []
    view.listen(
        lambda update: (
            known_when_complete.append(_names(view)) if update.snapshot.complete else None
        )
    )

    view.configure(Settings(agent_paths=(str(tmp_path / "elsewhere"),)))
    await view.settled()
    view.add_roots([root])
    view.configure(Settings(agent_paths=("more",)))
    await view.settled()
    await view.close(_PATIENCE)

    assert known_when_complete == [{"one", "two"}]


async def test_what_a_client_says_about_the_disk_is_looked_up(tmp_path: Path) -> None:
    root = tmp_path / "project"
    old = _write(root / "axe/agents/old.toml")

    async with _view(tmp_path, root) as view:
        old.unlink()
        new = _write(root / "axe/agents/new.toml")
        view.changed_on_disk([uri_of(old), uri_of(new)])
        await view.settled()

        assert _names(view) == {"new"}


async def test_agents_in_markdown_that_change_appear_and_go_are_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "project/.claude/agents"
    changed, gone = (_write_markdown(folder / f"{name}.md") for name in ("before", "gone"))

    async with _view(tmp_path, tmp_path / "project") as view:
        changed.write_text("---\nname: changed\n---\n")
        gone.unlink()
        new = _write_markdown(folder / "new.md")
        view.changed_on_disk([uri_of(changed), uri_of(gone), uri_of(new)])
        await view.settled()

        assert {name for _, name in view.snapshot.layers.names} == {"changed", "new"}


async def test_changed_file_that_is_no_agent_is_ignored(tmp_path: Path) -> None:
    other = _write(tmp_path / "project/pyproject.toml")

    async with _view(tmp_path, tmp_path / "project") as view:
        view.changed_on_disk([uri_of(other)])
        await view.settled()

        assert _names(view) == set()


async def test_a_folder_that_has_gone_takes_its_agents_along(tmp_path: Path) -> None:
    root = tmp_path / "project"
    agent = _write(root / "axe/agents/one.toml")

    async with _view(tmp_path, root) as view:
        agent.unlink()
        agent.parent.rmdir()
        view.changed_on_disk([uri_of(agent.parent)])
        await view.settled()

        assert _names(view) == set()


async def test_agents_below_a_folder_that_has_come_are_found_but_not_those_of_dependencies(
    tmp_path: Path,
) -> None:
    root = tmp_path / "project"
    async with _view(tmp_path, root) as view:
        _write(root / "tools/deep/axe/agents/one.toml")
        _write(root / "hidden/.axe/agents/two.toml")
        _write(root / "node_modules/kit/axe/agents/three.toml")
        come = ["tools", "hidden/.axe", "node_modules"]
        view.changed_on_disk([uri_of(root / name) for name in come])
        await view.settled()
        assert _names(view) == {"one", "two"}


async def test_a_folder_that_goes_while_it_is_being_read_takes_its_agents_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = _write(tmp_path / "project/axe/agents/one.toml")
    loop = asyncio.get_running_loop()
    read = disk.read

    def read_and_remove(path: Path) -> disk.Content | None:
        content = read(path)
        if content is not None:
            path.unlink()
            path.parent.rmdir()
            loop.call_soon_threadsafe(view.changed_on_disk, [uri_of(path.parent)])
        return content

    monkeypatch.setattr(disk, "read", read_and_remove)
    async with _view(tmp_path) as view:
        view.add_roots([tmp_path / "project"])
        await view.settled()

        assert not agent.exists()
        assert _names(view) == set()


async def test_without_a_client_that_tells_the_disk_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    one = _write(root / "axe/agents/one.toml")
    monkeypatch.setattr(
        view_module, "watch", lambda folders, changed: watch(folders, changed, interval=0.01)
    )

    async with _view(tmp_path, root) as view:
        view.configure(Settings(agent_paths=("more",)))
        await view.settled()
        view.watch_disk()
        _write(root / "axe/agents/two.toml")
        _write(root / ".axe/agents/three.toml")
        _write(root / "more/four.toml")
        await _until(view, lambda: _names(view) == {"one", "two", "three", "four"})

        one.unlink()
        await _until(view, lambda: _names(view) == {"two", "three", "four"})


async def test_reported_change_without_a_difference_is_ignored(tmp_path: Path) -> None:
    root = tmp_path / "project"
    agent = _write(root / "axe/agents/one.toml")

    async with _view(tmp_path, root) as view:
        before = view.snapshot
        view.changed_on_disk([uri_of(agent), uri_of(agent.with_name("never.toml"))])
        await view.settled()

        assert _names(view) == {"one"}
        assert view.snapshot.closed.keys() == before.closed.keys()


async def test_one_file_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _write(root / "axe/agents/a.toml")
    (root / "axe/agents/b.toml").mkdir()
    (root / "axe/agents/c.toml").symlink_to(root / "axe/agents/c.toml")
    _write(root / "axe/agents/d.toml")

    async with _view(tmp_path, root) as view:
        assert {"a", "d"} <= _names(view)
        assert view.snapshot.complete
