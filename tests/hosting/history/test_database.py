"""The file of the history: who may read it, what it says when it can't be used."""

import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from axe_lsp.hosting.history import database
from axe_lsp.hosting.history.database import (
    FORMAT,
    HistoryError,
    history_file,
    open_history,
    transaction,
)
from axe_lsp.hosting.history.queries import Wanted, past_runs, tree_events


def test_the_history_is_for_nobody_but_its_user(tmp_path: Path) -> None:
    path = history_file({"XDG_STATE_HOME": str(tmp_path / "state")})
    with closing(open_history(path)) as connection:
        with transaction(connection):
            connection.execute("DELETE FROM runs")

        rights = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}

    assert path == tmp_path / "state" / "axe" / "history.db"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert rights["history.db"] == 0o600
    assert set(rights.values()) == {0o600}
    assert len(rights) > 1, "the write-ahead log is not there"


def test_a_history_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")

    told = rf"newer axe-lsp \(format {FORMAT + 1}, this one knows {FORMAT}\); update axe-lsp"
    with pytest.raises(HistoryError, match=told):
        open_history(path)


@pytest.mark.parametrize("number", range(1, FORMAT))
def test_a_history_of_a_former_format_gets_what_it_lacks_and_keeps_its_runs(
    tmp_path: Path, number: int
) -> None:
    path = tmp_path / "history.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("format-1.sql").read_text())
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        connection.executescript(";".join(database._SCHEMAS[1:number]))
        connection.execute(f"PRAGMA user_version = {number}")

    parts = "SELECT type, name FROM sqlite_master ORDER BY name"
    with closing(open_history(tmp_path / "new.db")) as connection:
        new = connection.execute(parts).fetchall()
    for _ in range(2):  # What is up to date is left alone.
        with closing(open_history(path)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
            assert connection.execute(parts).fetchall() == new
            assert [run["agent"] for run in past_runs(connection, Wanted())] == ["lead"]
            assert len(list(tree_events(connection, "a1"))) == 5


def test_the_page_names_the_format_and_the_tables(tmp_path: Path) -> None:
    page = " ".join((Path(__file__).parents[3] / "docs" / "history.md").read_text().split())
    assert f"`user_version` {FORMAT}," in page
    assert f"formats 1 to {FORMAT - 1}" in page
    with closing(open_history(tmp_path / "new.db")) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
    assert [name for (name,) in tables if f"`{name}`" not in page] == []


def test_a_damaged_history_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(b"This is no database, but it is long enough to be taken for one." * 20)

    told = f"{re.escape(str(path))}.* file is not a database; move it away"
    with pytest.raises(HistoryError, match=told):
        open_history(path)


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(HistoryError, match="set XDG_STATE_HOME to another folder"):
        open_history(tmp_path / "file" / "axe" / "history.db")


def test_what_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    with closing(open_history(tmp_path / "history.db")) as connection:
        values = ("r", 1, "r", "axe/turn", "{}")
        with pytest.raises(sqlite3.IntegrityError), transaction(connection):
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", [values] * 2)

        assert connection.execute("SELECT count(*) FROM events").fetchone() == (0,)


def test_processes_that_begin_a_history_at_once_do_not_get_in_each_others_way(
    tmp_path: Path,
) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from axe_lsp.hosting.history.database import open_history\n"
        "sys.stdin.read(1)\n"
        "open_history(Path(sys.argv[1])).execute('SELECT * FROM runs, events').fetchall()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "history.db")]
    others = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    for other in others:
        assert other.stdin is not None
        other.stdin.write("!")
        other.stdin.flush()

    said = [other.communicate(timeout=60)[1] for other in others]

    assert said == [""] * 6


def test_a_second_connection_of_a_process_leaves_the_locks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    other = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM runs'); c.close()"
    with closing(open_history(path)) as first:
        first.execute("SELECT * FROM runs").fetchall()
        open_history(path).close()
        # Who believes to be the last one takes the write-ahead log away when it leaves.
        subprocess.run([sys.executable, "-c", other, str(path)], check=True, timeout=60)

        assert path.with_name("history.db-wal").exists()
