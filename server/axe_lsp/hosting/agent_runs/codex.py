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

from msgspec import Struct, field

from axe_lsp.hosting.agent_runs.index import RunIndex
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


class _Rollout(Struct):
    """What a rollout says of its thread.

    The `status` and the duration of its `run` are those of its turns so far. `calls` are names of tools by the ids of
    calls without a result; `unknown` are names of agents that do not exist, by the ids of calls.
    """

    thread: str = ""
    role: str = ""
    parent: str = ""
    version: str = ""
    run: LoggedRun = field(default_factory=lambda: LoggedRun("codex", "", "", 0.0))
    calls: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Count one line; the first one names the thread."""
        if self.thread:
            _count(self.run, self.thread, record)
            self._count_call(record)
        elif record.text("type") == "session_meta":
            self.thread = shown_name(record.text("payload", "id"))
            self.role = shown_name(record.text("payload", "agent_role"))
            self.parent = shown_name(record.text("payload", "parent_thread_id"))
            self.version = shown_name(record.text("payload", "cli_version"))
            self.run.cwd = record.text("payload", "cwd")
            self.run.began = moment(record.text("timestamp")) or 0.0

    def _count_call(self, record: Record) -> None:
        kind, call = record.text("payload", "type"), shown_name(record.text("payload", "call_id"))
        if record.text("type") != "response_item":
            return
        if kind in ("function_call", "custom_tool_call"):
            name = self.calls[call] = shown_name(record.text("payload", "name"))
            self.run.use(name).calls += 1
        elif kind.endswith("_call_output") and call in self.calls:
            output = record.at("payload", "output")
            text = output if isinstance(output, str) else ""
            self.run.use(self.calls.pop(call)).errors += _FAILED_COMMAND.match(text) is not None
            if unknown := _UNKNOWN.match(text):
                self.unknown[call] = shown_name(unknown[1])


class Codex:
    """One pass over the folder of Codex."""

    def __init__(self, home: Path, since: float, log: ReadLog, index: RunIndex) -> None:
        self._log, self._home, self._since = log, home, since
        self._files = LogFiles(home, log, index)
        self._roles: dict[str, str] = {}
        self._runs: dict[str, LoggedRun] = {}
        self._parents: dict[str, str] = {}
        self._seen_calls: set[str] = set()

    def read(self) -> None:
        """Read the runs that began since the time."""
        rollouts = self._read_threads() or self._rollouts()
        self._read_turns()
        for path in rollouts:
            if path.suffix == ".zst":
                self._log.skipped["compressed"] += 1
            else:
                rollout = self._files.read(path, _MARKS, _Rollout())
                if rollout is not None and rollout.thread:
                    self._take(rollout)
        for thread, run in self._runs.items():
            run.parent = self._roles.get(self._parents.get(thread, ""), "")

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

    def _begin(self, thread: str, role: str, cwd: object, model: object, began: float) -> None:
        self._roles[thread] = shown_name(role)
        run = self._runs[thread] = LoggedRun(
            program="codex",
            agent=self._roles[thread],
            cwd=cwd if isinstance(cwd, str) else "",
            began=began,
            model=shown_name(model) if isinstance(model, str) else "",
            key=shown_name(thread),
        )
        self._log.runs.append(run)

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

    def _take(self, rollout: _Rollout) -> None:
        """Add what a rollout says to what the databases say of its thread."""
        self._log.see_version(rollout.version)
        for call, name in rollout.unknown.items():
            if call not in self._seen_calls:  # A forked thread repeats those of its parent.
                self._seen_calls.add(call)
                self._log.unknown[rollout.run.cwd, name] += 1
        thread, read = rollout.thread, rollout.run
        if thread not in self._runs and rollout.role and read.began >= max(self._since, 1.0):
            self._begin(thread, rollout.role, read.cwd, "", read.began)
            self._parents.setdefault(thread, rollout.parent)
        run = self._runs.get(thread)
        if run is None:
            return
        if not run.duration_ms:
            run.status = read.status if run.status == "unfinished" else run.status
            run.duration_ms = read.duration_ms
        run.model = run.model or read.model
        run.turns, run.tools, run.definitions = read.turns, read.tools, read.definitions
        run.input_tokens, run.output_tokens = read.input_tokens, read.output_tokens
        run.cache_read_tokens = read.cache_read_tokens
        run.cache_write_tokens = read.cache_write_tokens

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
            self._log.files += 1
            self._log.size += status.st_size
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


def _count(run: LoggedRun, thread: str, record: Record) -> None:
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
    elif kind == "event_msg" and inner in ("task_complete", "turn_aborted"):
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
