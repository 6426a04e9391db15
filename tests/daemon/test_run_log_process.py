"""One pass of the process that keeps the index of runs, and the facts that it counts for each file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from axe_lsp.daemon import run_log_process
from axe_lsp.daemon.run_log_messages import RunLogOrder, RunLogReport
from axe_lsp.daemon.run_log_process import RunLogPass
from axe_lsp.hosting.agent_runs.settings import keep_answer, run_log_settings
from support.codex_logs import ROLE, add_codex_runs


class Machine:
    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "p"
        self.roles = self.project / ".codex" / "agents"
        self.roles.mkdir(parents=True)

    @property
    def index(self) -> Path:
        return self.home / ".cache" / "axe" / "run-log.db"

    def role(self, name: str) -> str:
        path = self.roles / f"{name}.toml"
        path.write_text(ROLE.format(name))
        return str(path)

    def reports(
        self, *sources: str, is_first: bool = False, asks: bool = False
    ) -> list[RunLogReport]:
        order = RunLogOrder((str(self.project),), sources, 30, asks)
        found: list[RunLogReport] = []
        RunLogPass(order, found.append, is_first=is_first).run()
        assert [each.is_last for each in found] == [False] * (len(found) - 1) + [True]
        return found

    def programs(self) -> list[str]:
        with closing(sqlite3.connect(self.index)) as connection:
            return [name for (name,) in connection.execute("SELECT program FROM passes")]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = Machine(tmp_path)
    monkeypatch.setenv("HOME", str(found.home))
    return found


def test_file_has_the_facts_of_its_runs_and_others_of_the_program(machine: Machine) -> None:
    reader, idle = machine.role("reader"), machine.role("idle")
    add_codex_runs(machine.home, machine.project, 3, failed=1)
    (report,) = machine.reports("codex")
    assert (report.facts[reader].runs, report.facts[reader].failed) == (3, 1)
    assert report.facts[reader].programs == (("codex", 3),)
    assert (report.facts[idle].runs, report.facts[idle].other_runs) == (0, 3)
    assert [each["runs"] for each in report.agents if isinstance(each, dict)] == [3, 0]


def test_workspace_without_any_run_has_no_facts(machine: Machine) -> None:
    machine.role("reader")
    add_codex_runs(machine.home, machine.home, 3)
    assert machine.reports("codex")[0].facts == {}


def test_second_process_first_tells_what_the_index_has(machine: Machine) -> None:
    reader = machine.role("reader")
    add_codex_runs(machine.home, machine.project, 3)
    assert len(machine.reports("codex", is_first=True)) == 1
    add_codex_runs(machine.home, machine.project, 2)
    stored, fresh = machine.reports("codex", is_first=True)
    assert (stored.facts[reader].runs, fresh.facts[reader].runs) == (3, 5)


def test_first_index_tells_what_was_counted_so_far(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_log_process, "_FIRST_NUMBERS", 0.0)
    reader = machine.role("reader")
    add_codex_runs(machine.home, machine.project, 3)
    for number in range(3):
        meta = {"type": "session_meta", "payload": {"id": f"t{number}"}}
        (machine.home / ".codex" / f"t{number}").write_bytes(msgspec.json.encode(meta) + b"\n")
    partial, *_, last = machine.reports("codex")
    assert (partial.facts[reader].is_counting, last.facts[reader].is_counting) == (True, False)


def test_source_that_is_switched_off_leaves_the_index_at_once(machine: Machine) -> None:
    machine.role("reader")
    add_codex_runs(machine.home, machine.project, 3)
    machine.reports("codex", "axe")
    machine.reports("axe")
    assert machine.programs() == ["axe"]
    assert machine.reports()[-1].facts == {}
    assert machine.programs() == []


def test_nothing_is_written_if_no_source_was_ever_on(machine: Machine) -> None:
    machine.role("reader")
    assert machine.reports() == [RunLogReport(is_last=True)]
    assert not machine.home.exists()


def test_user_is_asked_once_about_programs_with_logs(machine: Machine) -> None:
    machine.role("reader")
    add_codex_runs(machine.home, machine.project, 3)
    environment = {"HOME": str(machine.home)}
    assert [*machine.reports("axe", asks=True)[0].unasked] == ["codex"]
    assert machine.reports("axe")[0].unasked == {}
    keep_answer("codex", environment, is_allowed=False)
    assert machine.reports("axe", asks=True)[0].unasked == {}
    assert run_log_settings(environment).sources == ("axe",)
    keep_answer("codex", environment, is_allowed=True)
    assert run_log_settings(environment).sources == ("axe", "codex")
    assert not list((machine.home / ".codex").glob("*-*"))
