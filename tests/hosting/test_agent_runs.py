"""Runs of agents in the logs of Codex, Claude Code and opencode, as these programs have written them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from axe_lsp.hosting.agent_runs import log_files
from axe_lsp.hosting.agent_runs.index import opened_index
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog
from axe_lsp.hosting.agent_runs.sources import read_source
from axe_lsp.hosting.agent_runs.statistics import statistics, with_price
from axe_lsp.runtime.plain_text import digest_of

RECORDED = Path(__file__).parents[1] / "recorded" / "agent_runs"
PROGRAMS = ("codex", "claude", "opencode")
BEFORE = 1_795_000_000.0
"""A time some days before the recordings."""

TEXTS = ("How many lines", "Count the lines", "three lines", "bad request", "Avicenna", "a.txt")
"""Texts of the recorded conversations, of titles and of errors."""


class Machine:
    """A home folder with recorded logs."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"

    def record(self, program: str) -> None:
        shutil.copytree(RECORDED / program / "home", self.home, dirs_exist_ok=True)
        for path in self.home.rglob("*.sqlite"):
            with closing(sqlite3.connect(path)) as connection, connection:
                if "state" in path.name:
                    update = "UPDATE threads SET rollout_path = replace(rollout_path, '@HOME@', ?)"
                    connection.execute(update, (str(self.home),))

    def read(self, program: str, since: float = BEFORE, index: Path | None = None) -> ReadLog:
        log = ReadLog(program)
        with opened_index(index) as opened:
            read_source(log, {"HOME": str(self.home)}, since, opened)
        return log

    def files(self) -> list[tuple[str, int]]:
        paths = (each for each in self.home.rglob("*") if each.is_file())
        return sorted((str(each), each.stat().st_mtime_ns) for each in paths)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def of_reader(log: ReadLog) -> list[LoggedRun]:
    return [run for run in log.runs if run.agent == "reader"]


def numbers(runs: list[LoggedRun]) -> dict[str, Any]:
    return dict(statistics("reader", "", None, [with_price(run) for run in runs]))


def test_runs_of_codex_have_status_tokens_and_time(machine: Machine) -> None:
    machine.record("codex")
    log = machine.read("codex")
    found = numbers(of_reader(log))
    assert (found["runs"], found["failed"]) == (2, 1)
    tokens = ("inputTokens", "cacheReadTokens", "outputTokens")
    assert [found[each] for each in tokens] == [2050, 1700, 160]
    assert found["medianMs"] == 190.5
    assert found["models"] == {"gpt-6.2-sol": 2}
    assert found["parents"] == {"": 2}
    assert dict(log.unknown) == {("/home/p", "never2"): 1}


def test_runs_of_codex_without_its_databases_come_from_rollouts(machine: Machine) -> None:
    machine.record("codex")
    whole = numbers(of_reader(machine.read("codex")))
    for path in (machine.home / ".codex").glob("*.sqlite"):
        path.unlink()
    alone = numbers(of_reader(machine.read("codex", since=0.0)))
    assert alone["runs"] == 2
    for name in ("failed", "inputTokens", "outputTokens", "models", "parents", "toolCalls"):
        assert alone[name] == whole[name], name


def test_runs_of_claude_code_have_tools_and_missing_tools(machine: Machine) -> None:
    machine.record("claude")
    log = machine.read("claude", since=0.0)
    found = numbers(of_reader(log))
    assert (found["runs"], found["failed"]) == (4, 1)
    assert found["tools"] == [{"name": "Read", "runs": 3, "calls": 3, "errors": 0}]
    assert found["missingTools"] == [{"name": "Grep", "runs": 2}]
    assert dict(log.unknown) == {("/home/p", "nobody"): 1}


def test_runs_of_opencode_have_its_own_cost(machine: Machine) -> None:
    machine.record("opencode")
    log = machine.read("opencode")
    found = numbers(of_reader(log))
    assert (found["runs"], found["failed"], found["cost"]) == (2, 1, pytest.approx(0.00285))
    assert found["tools"] == [{"name": "read", "runs": 2, "calls": 3, "errors": 1}]
    assert found["models"] == {"m1": 2}
    assert found["parents"] == {"": 2}
    assert dict(log.unknown) == {("/home/p", "nobody"): 1}


@pytest.mark.parametrize(("program", "count"), [("claude", 4), ("codex", 2)])
def test_runs_have_the_hash_of_their_prompt(program: str, count: int, machine: Machine) -> None:
    machine.record(program)
    digest = digest_of("READER ROLE. Read and answer in one sentence.")
    runs = of_reader(machine.read(program, since=0.0))
    assert sum(digest in run.definitions for run in runs) == count


@pytest.mark.parametrize("program", PROGRAMS)
def test_runs_before_the_window_are_left_out(program: str, machine: Machine) -> None:
    machine.record(program)
    assert machine.read(program, since=4_000_000_000.0).runs == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_without_logs_has_no_runs(program: str, machine: Machine) -> None:
    machine.home.mkdir()
    assert machine.read(program).runs == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_reading_leaves_the_folder_as_it_is(program: str, machine: Machine) -> None:
    machine.record(program)
    before = machine.files()
    assert machine.read(program).files > 0
    assert machine.files() == before


def test_database_that_its_program_has_open_is_read(machine: Machine) -> None:
    machine.record("opencode")
    path = machine.home / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        with writer:
            writer.execute("UPDATE session SET agent = 'renamed' WHERE agent = 'reader'")
        before = [name for name, _ in machine.files()]
        assert "renamed" in [run.agent for run in machine.read("opencode").runs]
        assert [name for name, _ in machine.files()] == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_text_of_a_conversation_is_kept(program: str, machine: Machine) -> None:
    machine.record(program)
    log = machine.read(program, since=0.0)
    assert log.runs
    kept = msgspec.json.encode([log.runs, list(log.unknown)]).decode()
    assert [text for text in TEXTS if text in kept] == []


def test_linked_and_special_files_are_not_read(machine: Machine, tmp_path: Path) -> None:
    machine.record("claude")
    (project,) = (machine.home / ".claude" / "projects").iterdir()
    outside = tmp_path / "outside"
    shutil.move(project, outside)
    project.symlink_to(outside)
    assert machine.read("claude", since=0.0).runs == []
    project.unlink()
    project.mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(project / "session.jsonl")
    assert machine.read("claude", since=0.0).runs == []


def test_large_file_is_read_at_its_beginning_and_end(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.record("codex")
    path = next((machine.home / ".codex").rglob("*1dc9*.jsonl"))
    first, *lines = path.read_text().splitlines(keepends=True)
    padding = json.dumps({"type": "compacted", "payload": "x" * 1_000}) + "\n"
    path.write_text("".join([first, *[padding] * 200, *lines]))
    size = sum(map(len, lines))
    monkeypatch.setattr(log_files, "_LARGEST", 50_000)
    monkeypatch.setattr(log_files, "_HEAD", len(first) + 10)
    monkeypatch.setattr(log_files, "_TAIL", size + 500)
    log = machine.read("codex")
    assert numbers(of_reader(log))["inputTokens"] == 2050
    assert sum(log.skipped.values()) == 1
    assert not log.is_complete


def test_names_from_logs_have_no_control_characters_and_an_end(machine: Machine) -> None:
    machine.record("opencode")
    path = machine.home / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE session SET agent = ?", ("\x1b[31mx\n" + "y" * 500,))
    names = {run.agent for run in machine.read("opencode").runs}
    assert names == {"[31mx" + "y" * 73}


# -- the index


@pytest.mark.parametrize("program", PROGRAMS)
def test_second_pass_has_the_same_runs_from_the_index(program: str, machine: Machine) -> None:
    machine.record(program)
    index = machine.home.parent / "cache" / "run-log.db"
    first, second = (machine.read(program, since=0.0, index=index) for _ in range(2))
    assert first.runs
    assert [second.runs, second.unknown, second.offered] == [
        first.runs,
        first.unknown,
        first.offered,
    ]
    with opened_index(index) as opened:
        stored = opened.stored(program, 0.0)
    assert stored is not None
    key = attrgetter("key")
    assert sorted(stored.runs, key=key) == sorted(first.runs, key=key)
    assert (stored.unknown, stored.files) == (first.unknown, first.files)


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_log_that_has_grown_is_read_from_where_the_last_pass_ended(
    program: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.record(program)
    whole = machine.read(program, since=0.0)
    index = machine.home.parent / "run-log.db"
    logs = {path: path.read_bytes() for path in machine.home.rglob("*.jsonl")}
    lengths = {path: len(content) // 2 for path, content in logs.items()}
    for path, content in logs.items():
        path.write_bytes(content[: lengths[path]])
    machine.read(program, since=0.0, index=index)
    for path, content in logs.items():
        path.write_bytes(content)
    starts: dict[Path, int] = {}
    lines = log_files._lines

    def recorded(path: Path, start: int, size: int) -> Iterator[tuple[bytes, int]]:
        starts[path] = start
        return lines(path, start, size)

    monkeypatch.setattr(log_files, "_lines", recorded)
    key = attrgetter("key")
    grown = machine.read(program, since=0.0, index=index)
    assert sorted(grown.runs, key=key) == sorted(whole.runs, key=key)
    assert any(start > 0 for start in starts.values())
    assert all(start <= lengths[path] for path, start in starts.items())


def test_log_that_was_replaced_is_read_anew(machine: Machine) -> None:
    machine.record("claude")
    index = machine.home.parent / "run-log.db"
    machine.read("claude", since=0.0, index=index)
    for path in machine.home.rglob("*.jsonl"):
        path.write_text(path.read_text().replace("2.1.332", "9.9.999").replace("reader", "writer"))
    for path in machine.home.rglob("*.meta.json"):
        path.write_text(path.read_text().replace("reader", "writer"))
    assert {run.agent for run in machine.read("claude", since=0.0, index=index).runs} == {"writer"}


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"other"])
def test_damaged_index_and_one_of_another_format_are_made_anew(
    content: bytes, machine: Machine
) -> None:
    machine.record("codex")
    index = machine.home.parent / "run-log.db"
    if content == b"other":
        with closing(sqlite3.connect(index)) as connection:
            connection.execute("PRAGMA user_version = 77")
    else:
        index.write_bytes(content)
    assert len(of_reader(machine.read("codex", index=index))) == 2
    with closing(sqlite3.connect(index)) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)


@pytest.mark.parametrize("program", PROGRAMS)
def test_index_is_for_its_user_alone_and_has_no_text_of_a_conversation(
    program: str, machine: Machine
) -> None:
    machine.record(program)
    index = machine.home.parent / "cache" / "axe" / "run-log.db"
    machine.read(program, since=0.0, index=index)
    if os.name == "posix":
        assert [stat.S_IMODE(each.stat().st_mode) for each in (index, index.parent)] == [
            0o600,
            0o700,
        ]
    content = index.read_bytes()
    assert [text for text in TEXTS if text.encode() in content] == []


def test_runs_of_a_program_that_is_switched_off_leave_the_index(machine: Machine) -> None:
    index = machine.home.parent / "run-log.db"
    for program in PROGRAMS:
        machine.record(program)
        machine.read(program, since=0.0, index=index)
    with opened_index(index) as opened:
        opened.forget_all_but(["codex"])
        assert [opened.stored(each, 0.0) is None for each in PROGRAMS] == [False, True, True]
    assert b".claude" not in index.read_bytes()


def test_version_of_a_file_is_added_when_its_digest_is_new(machine: Machine) -> None:
    index = machine.home.parent / "run-log.db"
    with opened_index(index) as opened:
        opened.versions("/a", "one", 1.0)
        opened.versions("/a", "one", 2.0)
    with opened_index(index) as opened:
        versions = opened.versions("/a", "two", 3.0)
        assert [(each.since, each.definition) for each in versions] == [(3.0, "two"), (1.0, "one")]


# -- damaged logs

WRONG = (None, 1, -1.5, "x", [], {}, [{"type": 1}], True, 10**30)


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    for inner in value if isinstance(value, list) else ():
        yield from keys_of(inner)


def replaced(value: Any, key: str, other: Any) -> Any:
    """Return a value with another value at a key wherever it is; `...` removes the key."""
    if isinstance(value, list):
        return [replaced(each, key, other) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: replaced(each, key, other) for name, each in value.items() if name != key}
    return {**kept, key: other} if key in value and other is not ... else kept


@pytest.mark.slow
@pytest.mark.parametrize("program", ["codex", "claude"])
def test_lines_with_absent_keys_and_wrong_types_are_read(program: str, machine: Machine) -> None:
    machine.record(program)
    paths = [*machine.home.rglob("*.jsonl"), *machine.home.rglob("*.meta.json")]
    lines = {path: [json.loads(line) for line in path.read_text().splitlines()] for path in paths}
    for number, key in enumerate(sorted(set(keys_of(list(lines.values()))))):
        for other in (..., WRONG[number % len(WRONG)]):
            for path, values in lines.items():
                path.write_text(
                    "".join(f"{json.dumps(replaced(each, key, other))}\n" for each in values)
                )
            log = machine.read(program, since=0.0)
            kept = msgspec.json.encode([log.runs, list(log.unknown)]).decode()
            assert [text for text in TEXTS if text in kept] == [], key


@pytest.mark.parametrize("program", ["codex", "claude"])
def test_lines_that_are_cut_are_left_out(program: str, machine: Machine) -> None:
    machine.record(program)
    for path in [*machine.home.rglob("*.jsonl"), *machine.home.rglob("*.meta.json")]:
        content = path.read_bytes()
        path.write_bytes(b"".join(line[: len(line) // 2] + b"\n" for line in content.splitlines()))
        machine.read(program, since=0.0)
        path.write_bytes(content[: len(content) // 2])
        machine.read(program, since=0.0)
        path.write_bytes(b"\xff\x00[" * 1_000)
        machine.read(program, since=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("program", ["codex", "opencode"])
def test_databases_with_other_tables_and_types_are_read(program: str, machine: Machine) -> None:
    machine.record(program)
    databases = [*machine.home.rglob("*.sqlite"), *machine.home.rglob("*.db")]
    for path in databases:
        content = path.read_bytes()
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in tables.fetchall():
                columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
                for column in columns:
                    for other in (b"\xff", "{"):
                        connection.execute("BEGIN")
                        connection.execute(
                            f'UPDATE OR IGNORE "{table}" SET "{column}" = ?', (other,)
                        )
                        connection.commit()
                        machine.read(program, since=0.0)
                    path.write_bytes(content)
        path.write_bytes(content[: len(content) // 2])
        machine.read(program, since=0.0)
        path.write_bytes(content)
    assert of_reader(machine.read(program))
