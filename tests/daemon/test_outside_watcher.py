"""When the disk is looked at on behalf of open files and of settings, and what the snapshot knows afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from axe_lsp.daemon import outside_facts, outside_watcher
from axe_lsp.daemon.uris import uri_of
from axe_lsp.daemon.view import View
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.workspace.facts import Facts
from support.agent_tests import Project

_PATIENCE = 30.0


@pytest.fixture
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by himself, as far as a test can tell."""
    monkeypatch.setattr(outside_watcher, "INTERVAL", 3600.0)


@asynccontextmanager
async def _view(root: Path) -> AsyncIterator[View]:
    view = View({"XDG_CONFIG_HOME": str(root / "home")})
    try:
        view.add_roots([root])
        yield view
    finally:
        await view.close(_PATIENCE)


async def _facts(view: View, uri: str, fits: Callable[[Facts], bool]) -> Facts:
    """Wait until what is known of a file fits."""
    news = asyncio.Event()
    stop = view.listen(lambda _: news.set())
    try:
        while True:
            facts = view.snapshot.facts.get(uri)
            if facts is not None and fits(facts):
                return facts
            await asyncio.wait_for(news.wait(), _PATIENCE)
            news.clear()
    finally:
        stop()


def _uri(root: Path) -> str:
    return uri_of(root / "axe/agents/main.toml")


def _matched(facts: Facts, pattern: str = "*.md") -> int:
    found = facts.matches.get(pattern)
    return found.count if found is not None else -1


@pytest.mark.usefixtures("seldom")
async def test_facts_of_an_open_file_are_looked_up(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    async with _view(tmp_path) as view:
        view.edit(_uri(tmp_path), 'files = ["*.md"]\n')
        facts = await _facts(view, _uri(tmp_path), lambda facts: _matched(facts) == 1)
        assert facts.folder is not None
        assert facts.folder.shown == str(tmp_path)


@pytest.mark.usefixtures("seldom")
async def test_facts_of_closed_codex_settings_are_looked_up(tmp_path: Path) -> None:
    folder = tmp_path / ".codex"
    (folder / "rules").mkdir(parents=True)
    (folder / "rules" / "a.rules").write_text("prefix_rule(\n")
    (folder / "config.toml").write_text('model_instructions_file = "none.md"\n')
    async with _view(tmp_path) as view:
        uri = uri_of(folder / "config.toml")
        await _facts(view, uri, lambda facts: not facts.paths["none.md"].exists)
        file = view.snapshot.file(uri)
        assert file is not None
        messages = [each.message for each in diagnostics(view.snapshot, file)]
        assert len(messages) == 2
        assert messages[0].startswith("rules/a.rules: line 1 is not valid Starlark")
        assert messages[1].endswith("none.md does not exist; Codex does not start")
        (folder / "none.md").write_text("Read.")
        (folder / "rules" / "a.rules").unlink()
        view.changed_on_disk([uri_of(folder / "none.md")])
        await _facts(view, uri, lambda facts: facts.paths["none.md"].exists)
        assert diagnostics(view.snapshot, file) == ()


@pytest.mark.usefixtures("seldom")
async def test_first_agent_of_codex_stands_for_a_layer_without_settings(tmp_path: Path) -> None:
    agents = tmp_path / ".codex" / "agents"
    agents.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("x" * 40_000)
    first, second = uri_of(agents / "a.toml"), uri_of(agents / "b.toml")
    for name in "ab":
        text = f'name = "{name}"\ndescription = "D."\ndeveloper_instructions = "I."\n'
        (agents / f"{name}.toml").write_text(text)

    def messages(view: View, uri: str) -> list[str]:
        file = view.snapshot.file(uri)
        assert file is not None
        return [each.message[:9] for each in diagnostics(view.snapshot, file)]

    async with _view(tmp_path) as view:
        await _facts(view, first, lambda facts: bool(facts.instructions))
        assert view.snapshot.facts.keys() == {first}
        assert messages(view, first) == ["AGENTS.md"]
        assert messages(view, second) == []
        (agents / "a.toml").unlink()
        view.changed_on_disk([first])
        await _facts(view, second, lambda facts: bool(facts.instructions))
        assert messages(view, second) == ["AGENTS.md"]


@pytest.mark.usefixtures("seldom")
async def test_facts_of_closed_agents_are_not_looked_up(tmp_path: Path) -> None:
    agent = tmp_path / "axe/agents/main.toml"
    agent.parent.mkdir(parents=True)
    agent.write_text('name = "main"\nmodel = "openai/gpt"\nskill = "none"\n')
    settings = tmp_path / ".codex/config.toml"
    settings.parent.mkdir()
    settings.write_text("")
    async with _view(tmp_path) as view:
        await _facts(view, uri_of(settings), lambda facts: True)
        assert view.snapshot.file(uri_of(agent)) is not None
        assert view.snapshot.facts.keys() == {uri_of(settings)}


@pytest.mark.usefixtures("seldom")
async def test_changed_globs_are_looked_up(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    async with _view(tmp_path) as view:
        view.edit(_uri(tmp_path), 'files = ["*.md"]\n')
        await _facts(view, _uri(tmp_path), lambda facts: _matched(facts) == 1)
        view.edit(_uri(tmp_path), 'files = ["*.md", "*.txt"]\n')
        await _facts(view, _uri(tmp_path), lambda facts: _matched(facts, "*.txt") == 0)


@pytest.mark.usefixtures("seldom")
async def test_edit_of_other_lines_starts_no_lookup(tmp_path: Path) -> None:
    async with _view(tmp_path) as view:
        view.edit(_uri(tmp_path), 'skill = "s"\n')
        before = await _facts(view, _uri(tmp_path), lambda facts: facts.skill is not None)
        update = view.edit(_uri(tmp_path), '# moved\nskill = "s"\n')
        file = update.snapshot.file(_uri(tmp_path))
        assert file is not None
        assert update.snapshot.facts_about(file) is before


@pytest.mark.usefixtures("seldom")
async def test_reported_change_on_disk_updates_the_facts(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    async with _view(tmp_path) as view:
        view.edit(_uri(tmp_path), 'files = ["*.md"]\n')
        await _facts(view, _uri(tmp_path), lambda facts: _matched(facts) == 0)
        path.write_text("a")
        view.changed_on_disk([uri_of(path)])
        await _facts(view, _uri(tmp_path), lambda facts: _matched(facts) == 1)


async def test_unreported_change_on_disk_updates_the_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside_watcher, "INTERVAL", 0.01)
    async with _view(tmp_path) as view:
        view.edit(_uri(tmp_path), 'files = ["*.md"]\n')
        await _facts(view, _uri(tmp_path), lambda facts: _matched(facts) == 0)
        (tmp_path / "a.md").write_text("a")
        await _facts(view, _uri(tmp_path), lambda facts: _matched(facts) == 1)


@pytest.mark.usefixtures("seldom")
async def test_file_closed_during_a_lookup_gets_no_facts(tmp_path: Path) -> None:
    other = uri_of(tmp_path / "axe/agents/other.toml")
    async with _view(tmp_path) as view:
        view.edit(_uri(tmp_path), 'files = ["*.md"]\n')
        view.close_buffer(_uri(tmp_path))
        view.edit(other, 'files = ["*.md"]\n')
        await _facts(view, other, lambda facts: _matched(facts) == 0)
        assert view.snapshot.facts.keys() == {other}


@pytest.mark.usefixtures("seldom")
async def test_failed_lookup_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with _view(tmp_path) as view:
        looked = asyncio.Event()
        loop = asyncio.get_running_loop()

        def fail(*_: object) -> Facts:
            loop.call_soon_threadsafe(looked.set)
            raise OSError("the disk is on fire")

        with monkeypatch.context() as broken:
            broken.setattr(outside_facts, "find_out", fail)
            view.edit(_uri(tmp_path), 'files = ["*.md"]\n')
            await asyncio.wait_for(looked.wait(), _PATIENCE)
        view.changed_on_disk([_uri(tmp_path)])
        await _facts(view, _uri(tmp_path), lambda facts: _matched(facts) == 0)
        assert "looking at the disk for an open agent failed" in caplog.text


@pytest.mark.usefixtures("seldom")
async def test_a_changed_agent_makes_recordings_of_its_open_tests_stale(tmp_path: Path) -> None:
    project = Project(tmp_path)
    tests = uri_of(project.case())
    async with _view(tmp_path) as view:
        view.edit(tests, (tmp_path / "axe/tests/release.toml").read_text())
        await _facts(view, tests, lambda facts: facts.paths != {} and not facts.stale)
        project.edit("axe/agents/lead.toml", "You lead.", "You leap.")
        view.changed_on_disk([uri_of(tmp_path / "axe/agents/lead.toml")])
        await _facts(view, tests, lambda facts: "recordings/asks.toml" in facts.stale)
