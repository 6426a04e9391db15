"""Logs of Codex with runs of a role, made for a test with times of now."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

ROLE = 'name = "{0}"\ndescription = "d"\ndeveloper_instructions = "x"\n'


def add_codex_runs(
    home: Path, folder: Path, count: int, *, failed: int = 0, role: str = "reader"
) -> None:
    """Add runs of a role in a folder to the databases of Codex below a home."""
    codex = home / ".codex"
    codex.mkdir(parents=True, exist_ok=True)
    now = time.time()
    with closing(sqlite3.connect(codex / "state_5.sqlite")) as state, state:
        state.execute(
            "CREATE TABLE IF NOT EXISTS threads (id TEXT, rollout_path TEXT, agent_role TEXT, cwd TEXT, model TEXT, "
            "created_at_ms INTEGER, updated_at_ms INTEGER)"
        )
        state.execute(
            "CREATE TABLE IF NOT EXISTS thread_spawn_edges (parent_thread_id, child_thread_id)"
        )
        (known,) = state.execute("SELECT count(*) FROM threads").fetchone()
        ms = int(now * 1000)
        threads = [f"t{known + number}" for number in range(count)]
        state.executemany(
            "INSERT INTO threads VALUES (?, ?, ?, ?, 'm', ?, ?)",
            [(each, str(codex / each), role, str(folder), ms, ms) for each in threads],
        )
    with closing(sqlite3.connect(codex / "thread_history_1.sqlite")) as history, history:
        history.execute(
            "CREATE TABLE IF NOT EXISTS thread_turns (thread_id, status, duration_ms, started_at, rollout_ordinal)"
        )
        history.executemany(
            "INSERT INTO thread_turns VALUES (?, ?, 1000, ?, 1)",
            [
                (each, "failed" if number < failed else "completed", int(now))
                for number, each in enumerate(threads)
            ],
        )
