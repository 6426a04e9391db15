"""Reading files in the background, while somebody types and while nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from axe_lsp.daemon import index as indexing
from axe_lsp.daemon.index import Indexer
from axe_lsp.tasks import Tasks
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.workspace import Change

FILES = 100


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"{number}.toml" for number in range(FILES)]
    for path in found:
        path.write_text('name = "a"\n')
    return found


class Typing:
    """Somebody who types while files are read, and pauses after so many waits for a pause."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pauses_after: int = 0) -> None:
        self._monkeypatch = monkeypatch
        self._pauses_after = pauses_after
        self._taken = 0
        self.waits = 0
        stand_in = SimpleNamespace(
            Queue=asyncio.Queue, to_thread=asyncio.to_thread, sleep=self._sleep
        )
        monkeypatch.setattr(indexing, "asyncio", stand_in)
        self._tasks = Tasks()
        self._indexer = Indexer(None, self._take, self._tasks)

    async def read(self, paths: list[Path]) -> None:
        """All files are read."""
        self._type()
        self._indexer.read(paths)
        await self._indexer.settled()
        await self._tasks.stop(1)
        assert self._taken == len(paths)

    def _type(self) -> None:
        self._monkeypatch.setattr(indexing, "_PAUSE", 60.0)  # However busy the machine is.
        self._indexer.give_way()

    def _take(self, changes: Sequence[Change]) -> Mapping[str, AgentFile]:
        self._taken += len(changes)
        self._type()
        return {}

    async def _sleep(self, seconds: float) -> None:
        if seconds:
            self.waits += 1
            self._type()
            if self._pauses_after and self.waits % self._pauses_after == 0:
                self._monkeypatch.setattr(indexing, "_PAUSE", 0.0)
        await asyncio.sleep(0)


async def test_continuous_typing_delays_a_scan_only_for_limited_pauses(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    typing = Typing(monkeypatch)
    await typing.read(paths)
    assert typing.waits == indexing._MOST_PAUSES


async def test_after_a_pause_the_reading_gives_way_again(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    typing = Typing(monkeypatch, pauses_after=6)
    await typing.read(paths)
    portions = FILES // indexing._SMALL_PORTION
    assert typing.waits == 6 * portions > indexing._MOST_PAUSES
