"""The thread that writes, at moments that real hosts rarely give it."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.hosting.history.database import history_file, open_history
from axe_lsp.hosting.history.life import lives_beside
from axe_lsp.hosting.history.reading import Wanted, past_runs
from axe_lsp.hosting.history.writer import HistoryWriter
from support.past import HERE, Tale, put
from support.scripted_provider import PATIENCE


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_is_expired_goes_though_there_was_more_to_write_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = history_file(os.environ)
    put(path, Tale("old").begin("a").end(), origin=replace(HERE, keep_days=-1))
    begin, *later = Tale("new").begin("b").turn("It is done.").end().events
    warnings: list[str] = []
    writer = HistoryWriter(lambda _root, text: warnings.append(text))

    with closing(open_history(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer.keep(begin, HERE)
        wait_until(lambda: lives_beside(path).is_dir())  # It is about to write the first event.
        for event in later:
            writer.keep(event, HERE)
        other.execute("ROLLBACK")
    writer.close()

    with closing(open_history(path)) as connection:
        assert [run["runId"] for run in past_runs(connection, Wanted())] == ["new"]
    assert warnings == []
