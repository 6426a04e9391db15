"""An agent's log of its past runs."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import MemoryConfig
from axe_lsp.runtime.memory import Memory, append_memory, load_memory, trim_memory
from support.engines import agent, bench
from support.scripted_provider import Answer, Refuses, Says, ScriptedProvider, calls_agent

NOON = datetime(2026, 2, 28, 12, 0, 5, tzinfo=timezone.utc)
ON = {"enabled": True}


def load(tmp_path: Path, text: str | None = None, **config: object) -> Memory:
    path = tmp_path / "axe" / "memory" / "bot.md"
    if text is not None:
        path.parent.mkdir(parents=True)
        path.write_text(text)
    settings = MemoryConfig(enabled=True, **config)  # type: ignore[arg-type] # by test
    return load_memory("bot", settings, tmp_path, {"XDG_DATA_HOME": str(tmp_path)})


def test_an_entry_is_appended_in_axes_form(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "bot.md"
    append_memory(path, "two\nlines", "r\nesult", now=NOON)
    append_memory(path, "", "", now=NOON)
    assert path.read_text() == (
        "## 2026-02-28T12:00:05Z\n**Task:** two lines\n**Result:** r\nesult\n\n"
        "## 2026-02-28T12:00:05Z\n**Task:** (none)\n**Result:** (none)\n\n"
    )


@pytest.mark.parametrize(("length", "kept"), [(1000, "é" * 1000), (1001, "é" * 1000 + "...")])
def test_a_long_result_is_cut_at_1000_characters(tmp_path: Path, length: int, kept: str) -> None:
    append_memory(tmp_path / "m.md", "t", "é" * length, now=NOON)
    assert f"**Result:** {kept}\n\n" in (tmp_path / "m.md").read_text(encoding="utf-8")


def test_the_whole_file_is_loaded(tmp_path: Path) -> None:
    text = "written by hand\n## 1\na\n## 2\nb\n"
    assert load(tmp_path, text) == Memory(tmp_path / "axe/memory/bot.md", 2, text)


@pytest.mark.parametrize(
    ("last_n", "entries"),
    [(1, "## 2\nb\u2028## not a heading\n"), (2, "## 1\na\n## 2\nb\u2028## not a heading\n")],
)
def test_or_only_the_newest_entries(tmp_path: Path, last_n: int, entries: str) -> None:
    text = "above\n## 1\na\n## 2\nb\u2028## not a heading\n"
    memory = load(tmp_path, text, last_n=last_n)
    assert (memory.count, memory.entries) == (2, entries)


def test_asking_for_more_than_there_are_gives_them_all(tmp_path: Path) -> None:
    assert load(tmp_path, "## 1\na\n", last_n=9).entries == "## 1\na\n"


@pytest.mark.parametrize("last_n", [0, 3])
def test_no_file_and_no_entries_are_no_memory(tmp_path: Path, last_n: int) -> None:
    assert load(tmp_path, last_n=last_n).entries == ""
    assert load(tmp_path, "", last_n=last_n).entries == ""


def test_a_path_of_its_own_starts_at_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("## 1\n")
    memory = load(tmp_path, path="mine.md")
    assert (memory.path, memory.count) == (tmp_path / "mine.md", 1)


def test_memory_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert load(tmp_path, path="folder").error == f"{tmp_path / 'folder'}: Is a directory"
    nowhere = load_memory("bot", MemoryConfig(enabled=True), tmp_path, {})
    assert nowhere.path is None
    assert "$HOME is not set" in nowhere.error
    impossible = load(tmp_path, path="a\0b")
    assert impossible.path is None, "nothing can be written there either"
    assert "null" in impossible.error


async def test_a_success_is_remembered_and_told_the_next_time(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-bot", Says("first result"), Says("second"))
    async with bench(provider, tmp_path, agent("bot", memory=ON)) as work:
        await work.run("bot", "the task")
        await work.run("bot")
    assert "**Task:** the task\n**Result:** first result" in str(
        provider.requests[1].body["messages"][0]["content"]
    )


@pytest.mark.req("002-18")
async def test_a_failure_is_not_remembered(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-p", Says(calls=[calls_agent("c", "t")]), Refuses(500))
    provider.script("m-c", Says("fine"))
    agents = agent("p", sub_agents=["c"], memory=ON) | agent("c", memory=ON)
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(Exception, match="boom"):
            await work.run("p")
    folder = tmp_path / "data" / "axe" / "memory"
    assert [path.name for path in folder.iterdir()] == ["c.md"]
    assert "**Task:** Task: t\n**Result:** fine" in (folder / "c.md").read_text()


async def test_parallel_children_do_not_mix_their_entries(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    calls = [calls_agent("c", f"task {number}") for number in range(20)]
    provider.script("m-p", Says(calls=calls), Says("F"))
    provider.script("m-c", Answer(Says("r" * 900), repeat=True))
    agents = agent("p", sub_agents=["c"]) | agent("c", memory=ON)
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    text = (tmp_path / "data/axe/memory/c.md").read_text()
    entries = text.split("## ")[1:]
    assert len(entries) == 20
    assert all(entry.endswith(f"**Result:** {'r' * 900}\n\n") for entry in entries)


async def test_trouble_with_memory_is_a_warning_not_a_failure(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    provider.script("m-p", Says(calls=[calls_agent("c", "t")]), Says("F"))
    provider.script("m-c", Says("r"))
    agents = agent("p", sub_agents=["c"], memory=ON) | agent("c", memory=ON)
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("p")).content == "F"
    loading, saving = work.warnings
    assert loading.startswith('failed to load memory for "p": ')
    assert saving.startswith('failed to save memory for "p": ')
    assert work.notes[0].startswith('[sub-agent] Warning: failed to load memory for "c": ')
    assert work.notes[1].startswith('[sub-agent] Warning: failed to save memory for "c": ')


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
async def test_a_run_does_not_wait_for_a_memory_that_is_a_pipe(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "log.md")
    provider.script("m-p", Says("F"))
    memory = {**ON, "path": str(tmp_path / "log.md")}
    async with bench(provider, tmp_path, agent("p", memory=memory)) as work:
        assert (await work.run("p")).content == "F"
    reason = f"{tmp_path / 'log.md'}: it is not a regular file"
    assert work.warnings == [
        f'failed to load memory for "p": {reason}',
        f'failed to save memory for "p": {reason}',
    ]


@pytest.mark.req("002-18", "000-30")
async def test_a_memory_of_the_workspace_is_shared_by_the_agents_that_say_so(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    shared = {"enabled": True, "scope": "workspace"}
    agents = agent("a", memory=shared) | agent("b", memory=shared) | agent("c", memory=ON)
    for name in "abc":
        provider.script(f"m-{name}", Says(f"said by {name}"))
    async with bench(provider, tmp_path, agents) as work:
        for name in "abc":
            await work.run(name, f"to {name}")
    told = [each.raw.decode() for each in provider.requests]
    assert ["said by a" in each for each in told] == [False, True, False]
    (path,) = (tmp_path / "data/axe/memory/workspaces").iterdir()
    assert path.name.startswith(f"{tmp_path.name}-")
    assert "Z\n**Agent:** a\n**Task:** to a\n**Result:** said by a\n\n## " in path.read_text()


async def test_workspaces_do_not_share_a_memory_even_if_they_are_called_the_same(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    keys = {"memory": {"enabled": True, "scope": "workspace"}}
    provider.script("m-a", Answer(Says("r"), repeat=True))
    data = {"XDG_DATA_HOME": str(tmp_path / "data")}
    for place in ("one/same", "two/same"):
        (tmp_path / place).mkdir(parents=True)
        async with bench(provider, tmp_path / place, agent("a", **keys), data) as work:
            await work.run("a")
    assert len(list((tmp_path / "data/axe/memory/workspaces").iterdir())) == 2


@pytest.mark.req("002-18", "000-30")
async def test_a_memory_of_the_run_is_shared_below_one_root_and_ends_with_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    of_run = {"enabled": True, "scope": "run", "path": "ignored.md"}
    agents = agent("p", sub_agents=["c", "d"]) | agent("c", memory=of_run)
    agents |= agent("d", memory=of_run)
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    folder = tmp_path / "cache/axe/memory"
    async with bench(provider, tmp_path, agents, cache) as work:
        for _ in range(2):
            provider.script("m-p", Says(calls=[calls_agent("c", "one")]))
            provider.script("m-p", Says(calls=[calls_agent("d", "two")]), Says("F"))
            provider.script("m-c", Says("found by c"))
            provider.script("m-d", Says("r"))
            await work.run("p")
            assert list(folder.iterdir()) == []
    of_c, of_d = provider.asked("m-c"), provider.asked("m-d")
    assert ["found by c" in str(each.body) for each in of_c] == [False, False]
    assert [str(each.body).count("found by c") for each in of_d] == [1, 1]
    assert not (tmp_path / "ignored.md").exists()


def test_trimming_keeps_the_newest_entries_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "m.md"
    newest = b"## 2\r\n\xff\x0c## no heading\n\n\n## 3\nno end"
    path.write_bytes(b"above\n## 1\na\n" + newest)
    path.chmod(0o640)
    assert trim_memory(path, 2) == 1
    assert path.read_bytes() == newest
    assert path.stat().st_mode & 0o777 == 0o640


def test_there_may_be_nothing_to_trim(tmp_path: Path) -> None:
    path = tmp_path / "m.md"
    path.write_text("above\n## 1\na\n")
    before = path.stat()
    assert trim_memory(path, 1) == 0
    assert path.read_text() == "above\n## 1\na\n"
    assert path.stat().st_ino == before.st_ino
