"""The runs of Codex' agents: its SQLite files first, and the rollouts for tokens, tools and calls of unknown agents.

Recorded with Codex 0.171. Of rollouts, only records of the thread itself count: a forked thread repeats those of its parent.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from axe_lsp.hosting.agent_runs.log_files import (
    LogFiles,
    Record,
    moment,
    open_database,
    rows,
    whole_number,
)
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog, shown_name
from axe_lsp.runtime.plain_text import digest_of

_MARKS = (
    *(b"session_meta", b"turn_context", b"token_usage_record", b"task_complete", b"turn_aborted"),
    *(b"function_call", b"custom_tool_call", b'"developer"'),
)
_UNKNOWN = re.compile(r"unknown agent_type '([^']*)'")
_FAILED_COMMAND = re.compile(r"(Process exited with code|Exit code:?) [1-9-]")
_STATUS = {"completed": "completed", "failed": "failed", "interrupted": "stopped"}


class Codex:
    """One pass over the folder of Codex."""

    def __init__(self, home: Path, since: float) -> None:
        self.log = ReadLog("codex")
        self._home, self._since = home, since
        self._files = LogFiles(home, self.log)
        self._roles: dict[str, str] = {}
        self._runs: dict[str, LoggedRun] = {}
        self._parents: dict[str, str] = {}
        self._seen_calls: set[str] = set()
        self._tools: dict[str, str] = {}

    def read(self) -> ReadLog:
        """Return the runs that began since the time."""
        rollouts = self._read_threads() or self._rollouts()
        self._read_turns()
        for path in rollouts:
            if path.suffix == ".zst":
                self.log.skipped["compressed"] += 1
            else:
                self._read_rollout(path)
        for thread, run in self._runs.items():
            run.parent = self._roles.get(self._parents.get(thread, ""), "")
        self.log.runs = list(self._runs.values())
        return self.log

    def _read_threads(self) -> list[Path]:
        """Read the list of threads; return their rollouts, newest first."""
        found: list[Path] = []
        for connection in self._database("state"):
            threads = rows(
                connection,
                "SELECT id, rollout_path, agent_role, cwd, model, created_at_ms FROM threads "
                "WHERE updated_at_ms >= ? ORDER BY created_at_ms DESC",
                self._since * 1000,
            )
            for thread, rollout, role, cwd, model, began in threads:
                if not (isinstance(thread, str) and isinstance(rollout, str)):
                    continue
                found.append(Path(rollout))
                if isinstance(role, str) and role:
                    self._begin(thread, role, cwd, model, whole_number(began) / 1000)
            edges = rows(
                connection, "SELECT child_thread_id, parent_thread_id FROM thread_spawn_edges"
            )
            self._parents.update((child, parent) for child, parent in edges)
        return found

    def _begin(self, thread: str, role: object, cwd: object, model: object, began: float) -> None:
        self._roles[thread] = shown_name(str(role))
        self._runs[thread] = LoggedRun(
            program="codex",
            agent=self._roles[thread],
            cwd=cwd if isinstance(cwd, str) else "",
            began=began,
            model=shown_name(model) if isinstance(model, str) else "",
        )

    def _read_turns(self) -> None:
        for connection in self._database("thread_history"):
            turns = rows(
                connection,
                "SELECT thread_id, status, duration_ms FROM thread_turns ORDER BY started_at, rollout_ordinal",
            )
            for thread, status, duration in turns:
                run = self._runs.get(thread) if isinstance(thread, str) else None
                if run is not None:
                    run.status = (
                        _STATUS.get(status, "unfinished")
                        if isinstance(status, str)
                        else "unfinished"
                    )
                    run.duration_ms += whole_number(duration)

    def _database(self, name: str) -> Iterator[sqlite3.Connection]:
        """Yield the database with the highest number."""
        paths = [
            (int(number[1]), path)
            for path in self._home.glob(f"{name}_*.sqlite")
            if (number := re.fullmatch(rf"{name}_(\d{{1,9}})", path.stem))
        ]
        for _, path in sorted(paths)[-1:]:
            status = self._files.status(path)
            if status is None:
                continue
            self.log.files += 1
            self.log.size += status.st_size
            with suppress(sqlite3.Error), open_database(path) as connection:
                yield connection

    def _rollouts(self) -> list[Path]:
        """Return the rollouts that have changed since the time, newest first."""
        found: list[tuple[float, Path]] = []
        for folder in ("sessions", "archived_sessions"):
            with suppress(OSError):
                for path in (self._home / folder).rglob("rollout-*.jsonl*"):
                    status = self._files.status(path)
                    if status is not None and status.st_mtime >= self._since:
                        found.append((status.st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def _read_rollout(self, path: Path) -> None:
        thread, run, has_turns, folder = "", None, False, ""
        for record in self._files.records(path, _MARKS):
            if not thread:
                if record.text("type") != "session_meta":
                    continue
                thread = record.text("payload", "id")
                folder = record.text("payload", "cwd")
                run = self._run_of(thread, record)
                has_turns = run is not None and run.duration_ms > 0
            if run is not None:
                _count(run, thread, record, has_turns=has_turns)
                self._count_call(run, record)
            self._count_unknown(folder, record)

    def _run_of(self, thread: str, meta: Record) -> LoggedRun | None:
        """Return the run of a rollout; begin it if no database has it."""
        role = meta.text("payload", "agent_role")
        began = moment(meta.text("timestamp"))
        if thread not in self._runs and role and began is not None and began >= self._since:
            self._begin(thread, role, meta.at("payload", "cwd"), "", began)
            self._parents.setdefault(thread, meta.text("payload", "parent_thread_id"))
        return self._runs.get(thread)

    def _count_call(self, run: LoggedRun, record: Record) -> None:
        kind, call = record.text("payload", "type"), record.text("payload", "call_id")
        if record.text("type") != "response_item":
            return
        if kind in ("function_call", "custom_tool_call"):
            name = self._tools[call] = record.text("payload", "name")
            run.use(name).calls += 1
        elif kind.endswith("_call_output") and call in self._tools:
            output = record.at("payload", "output")
            is_error = isinstance(output, str) and _FAILED_COMMAND.match(output) is not None
            run.use(self._tools.pop(call)).errors += is_error

    def _count_unknown(self, folder: str, record: Record) -> None:
        output, call = record.at("payload", "output"), record.text("payload", "call_id")
        if isinstance(output, str) and output.startswith("unknown agent_type"):
            name = _UNKNOWN.match(output)
            if name is not None and call not in self._seen_calls:
                self._seen_calls.add(call)
                self.log.unknown[folder, shown_name(name[1])] += 1


def _count(run: LoggedRun, thread: str, record: Record, *, has_turns: bool) -> None:
    kind, inner = record.text("type"), record.text("payload", "type")
    if kind == "turn_context":
        run.model = run.model or shown_name(record.text("payload", "model"))
    elif kind == "token_usage_record" and record.text("payload", "thread_id") == thread:
        _count_tokens(run, record)
    elif kind == "response_item" and record.text("payload", "role") == "developer":
        texts = [part.text("text").strip() for part in record.objects("payload", "content")]
        if (
            not run.turns
        ):  # The prompt comes before the first answer; hooks send such messages later.
            run.definitions |= {digest_of(text) for text in texts if text}
    elif kind == "event_msg" and inner in ("task_complete", "turn_aborted") and not has_turns:
        is_failed = record.at("payload", "error") is not None
        run.status = (
            "stopped" if inner == "turn_aborted" else "failed" if is_failed else "completed"
        )
        run.duration_ms += record.number("payload", "duration_ms")


def _count_tokens(run: LoggedRun, record: Record) -> None:
    """Take the sum so far, which the last record has."""
    total: Any = Record(record.at("payload", "thread_token_usage"))
    cached, written = total.number("cached_input_tokens"), total.number("cache_write_input_tokens")
    run.input_tokens = max(0, total.number("input_tokens") - cached - written)
    run.output_tokens = total.number("output_tokens")
    run.cache_read_tokens, run.cache_write_tokens = cached, written
    run.turns += 1
