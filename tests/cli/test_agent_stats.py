"""`axe-lsp agents stats`: what the runs of a workspace's agents were like."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.cli.agents import main
from axe_lsp.hosting.agent_runs.sources import TRIED
from axe_lsp.hosting.history.database import open_history, transaction
from axe_lsp.hosting.history.rows import Batch, EventRow, RunRow, write
from support.command_line import Home
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent

RECORDED = Path(__file__).parents[1] / "recorded" / "agent_runs"
ROLE = 'name = "{0}"\ndescription = "d"\ndeveloper_instructions = "x"\n'


class Workspace:
    """A workspace in which programs have made the recorded runs."""

    def __init__(self, home: Home, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = home.work, capsys
        self._user = Path(home.environment["HOME"])
        (self.root / ".git").mkdir()

    def add(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def record(self, program: str) -> None:
        """Copy the logs of a program; they name the folder `/home/p`, which is this workspace."""
        shutil.copytree(RECORDED / program / "home", self._user, dirs_exist_ok=True)
        for path in self._user.rglob("*.jsonl"):
            path.write_text(path.read_text().replace("/home/p", str(self.root)))
        for path in [*self._user.rglob("state_*.sqlite"), *self._user.rglob("opencode.db")]:
            self._update(path)

    def _update(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            if path.suffix == ".db":
                connection.execute("UPDATE session SET directory = ?", (str(self.root),))
            else:
                change = (
                    "UPDATE threads SET cwd = ?, rollout_path = replace(rollout_path, '@HOME@', ?)"
                )
                connection.execute(change, (str(self.root), str(self._user)))

    def print(self, *arguments: str) -> str:
        assert main(["stats", *arguments]) == 0
        return self._capsys.readouterr().out

    def stats(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.print("--json", *arguments))
        return found


@pytest.fixture
def workspace(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Workspace:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    # The recordings have a date, and `--days` ends after a year.
    monkeypatch.setattr("axe_lsp.cli.agent_stats._DAY", 86_400 * 500)
    for variable in ("XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(home.work)
    return Workspace(home, capsys)


def agent(stats: dict[str, Any], name: str, program: str) -> dict[str, Any]:
    (found,) = [
        each for each in stats["agents"] if (each["agent"], each["program"]) == (name, program)
    ]
    return dict(found)


def test_agent_of_codex_has_the_file_that_its_runs_meant(workspace: Workspace) -> None:
    path = workspace.add(".codex/agents/reader.toml", ROLE.format("reader"))
    workspace.add(".codex/agents/idle.toml", ROLE.format("idle"))
    workspace.record("codex")
    stats = workspace.stats("--source", "codex")
    reader, idle = agent(stats, "reader", "codex"), agent(stats, "idle", "codex")
    assert (reader["file"], reader["runs"], reader["failed"]) == (str(path), 2, 1)
    assert (idle["runs"], idle["last"], idle["cost"]) == (0, None, None)
    assert stats["unknownAgents"] == [{"agent": "never2", "program": "codex", "calls": 1}]
    assert stats["sources"] == [
        {**stats["sources"][0], "program": "codex", "skipped": 0, "state": "complete"}
    ]


def test_agents_in_markdown_have_runs_of_their_programs(workspace: Workspace) -> None:
    workspace.add(".claude/agents/reader.md", "---\nname: reader\ndescription: d\n---\nx\n")
    workspace.add(".opencode/agent/reader.md", "---\ndescription: d\n---\nx\n")
    for program in ("claude", "opencode"):
        workspace.record(program)
    stats = workspace.stats("--source", "claude", "--source", "opencode")
    assert agent(stats, "reader", "claude")["runs"] == 4
    assert agent(stats, "reader", "opencode")["cost"] == pytest.approx(0.00285)
    assert [each["agent"] for each in stats["agents"] if each["file"] is None] == []


def test_runs_of_another_folder_do_not_count_for_a_file_of_the_workspace(
    workspace: Workspace,
) -> None:
    workspace.record("codex")
    workspace.root = workspace.add("inner/axe/agents/a.toml", "").parents[2]
    path = workspace.add(".codex/agents/reader.toml", ROLE.format("reader"))
    found = agent(
        workspace.stats("--source", "codex", "--in", str(workspace.root)), "reader", "codex"
    )
    assert (found["file"], found["runs"]) == (str(path), 0)


def test_logs_of_other_programs_are_read_on_request_only(workspace: Workspace) -> None:
    workspace.add(".codex/agents/reader.toml", ROLE.format("reader"))
    workspace.record("codex")
    assert [each["program"] for each in workspace.stats()["sources"]] == ["axe"]
    assert workspace.stats()["agents"] == []


def test_sources_of_the_users_own_settings_are_read(workspace: Workspace, home: Home) -> None:
    workspace.record("codex")
    settings = home.config / "config.toml"
    settings.write_text('[run_log]\nsources = ["codex"]\ndays = 90\n')
    assert [each["program"] for each in workspace.stats()["sources"]] == ["codex"]
    assert [each["program"] for each in workspace.stats("--source", "axe")["sources"]] == ["axe"]
    settings.write_text("[run_log]\nsources = []\n")
    assert workspace.stats()["sources"] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('run_log = "x"', "run_log must be a table"),
        ('[run_log]\nsources = "axe"', "run_log.sources must be an array"),
        ('[run_log]\nsources = ["axe", "vim"]', 'there is no source "vim"'),
        ("[run_log]\nsources = [[]]", "there is no source"),
        ("[run_log]\ndays = 0", "run_log.days must be a whole number from 1 to 365"),
        ("[run_log]\ndays = true", "run_log.days must be a whole number from 1 to 365"),
        ("[run_log", "failed to read config file"),
    ],
)
def test_settings_that_mean_nothing_are_named(
    text: str, reason: str, workspace: Workspace, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.config / "config.toml").write_text(text)
    assert main(["stats"]) == 1
    assert reason in capsys.readouterr().err


def test_named_agents_alone_are_shown(workspace: Workspace) -> None:
    for name in ("reader", "other"):
        workspace.add(f".codex/agents/{name}.toml", ROLE.format(name))
    stats = workspace.stats("other", "--source", "all")
    assert [each["agent"] for each in stats["agents"]] == ["other"]


def test_table_has_a_row_for_each_agent_and_unknown_ones(workspace: Workspace) -> None:
    workspace.add(".codex/agents/reader.toml", ROLE.format("reader"))
    workspace.record("codex")
    lines = workspace.print("--source", "codex").splitlines()
    assert lines[0].split()[:4] == ["agent", "program", "runs", "failed"]
    assert lines[1].split()[:4] == ["reader", "codex", "2", "1"]
    assert lines[2] == "unknown agent never2 (codex): 1 call"


def test_change_since_the_last_edit_is_a_sentence_with_both_numbers(
    workspace: Workspace, home: Home
) -> None:
    for model, edited in (("old", 1_780_000_000), ("m", 1_790_000_000)):
        path = workspace.add("axe/agents/a.toml", f'name = "a"\nmodel = "anthropic/{model}"\n')
        os.utime(path, (edited, edited))
        workspace.stats()
    with closing(open_history(home.history)) as connection:
        for number in range(24):
            is_old = number < 12
            write_run(connection, str(workspace.root), number, is_old=is_old)
    stats = agent(workspace.stats(), "a", "axe")
    assert [each["runs"] for each in stats["versions"]] == [12, 12]
    assert workspace.print().splitlines()[-1] == (
        "a (axe): since the edit of 2026-09-21 (12 runs): slower, median 46 s, before 16 s (12 runs)"
    )


def write_run(connection: sqlite3.Connection, folder: str, number: int, *, is_old: bool) -> None:
    """Write a run of agent `a` that has completed, before the edit or after it."""
    run: dict[str, Any] = {
        "runId": f"r{number}",
        "rootRunId": f"r{number}",
        "agent": "a",
        "depth": 0,
    }
    began = "2026-09-20T00:00:00.000Z" if is_old else "2026-09-22T00:00:00.000Z"
    duration = (10_000 if is_old else 40_000) + 1_000 * (number % 12)
    begin = {**run, "kind": "begin", "model": "anthropic/m"}
    end = {**run, "kind": "end", "status": "completed", "durationMs": duration, "turns": 1}
    rows = [
        EventRow(run["rootRunId"], seq, run["runId"], "axe/agent", json.dumps(params))
        for seq, params in enumerate((begin, end), 1)
    ]
    batch = Batch(events={(row.root_run_id, row.seq): row for row in rows})
    batch.runs[run["runId"]] = RunRow(
        run_id=run["runId"],
        root_run_id=run["rootRunId"],
        parent_run_id=None,
        agent="a",
        depth=0,
        began=began,
        status="completed",
        begin_seq=1,
        end_seq=2,
        workspace=folder,
        writer="",
        forget_after="9999",
    )
    with transaction(connection):
        write(connection, batch)


def test_runs_that_the_history_has_forgotten_leave_the_statistics(
    workspace: Workspace, home: Home
) -> None:
    workspace.add("axe/agents/a.toml", 'name = "a"\nmodel = "anthropic/m"\n')
    with closing(open_history(home.history)) as connection:
        for number in range(3):
            write_run(connection, str(workspace.root), number, is_old=True)
        assert agent(workspace.stats(), "a", "axe")["runs"] == 3
        with transaction(connection):
            connection.execute("DELETE FROM runs WHERE run_id = 'r1'")
    assert agent(workspace.stats(), "a", "axe")["runs"] == 2


@pytest.mark.parametrize("program", ["codex", "claude", "opencode"])
def test_version_that_was_not_tried_is_named(program: str, workspace: Workspace) -> None:
    workspace.record(program)
    assert "was tried with" not in workspace.print("--source", program)
    tried = TRIED[program]
    for path in workspace.root.parent.rglob("*.jsonl"):
        path.write_text(path.read_text().replace(f'"{tried}"', '"77.0.1"'))
    for path in workspace.root.parent.rglob("opencode.db"):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE session SET version = '77.0.1'")
    told = f"{program}: logs of version 77.0.1; axe-lsp was tried with {tried}, so numbers may be missing"
    assert workspace.print("--source", program).splitlines()[-1] == told
    (source,) = workspace.stats("--source", program)["sources"]
    assert source["version"] == "77.0.1"


def test_rebuild_reads_again_what_the_index_had(workspace: Workspace, home: Home) -> None:
    workspace.add("axe/agents/a.toml", 'name = "a"\nmodel = "anthropic/m"\n')
    with closing(open_history(home.history)) as connection:
        write_run(connection, str(workspace.root), 0, is_old=True)
        workspace.stats()
        with transaction(connection):  # The index takes what has ended as final.
            connection.execute("UPDATE runs SET agent = 'b'")
    assert agent(workspace.stats(), "a", "axe")["runs"] == 1
    assert agent(workspace.stats("--rebuild"), "b", "axe")["runs"] == 1


def test_workspace_without_agents_says_so(workspace: Workspace) -> None:
    assert workspace.print() == "No agents and no runs in this workspace.\n"


@pytest.mark.process
def test_own_runs_have_callers_turns_and_tools_that_were_missing(
    workspace: Workspace, home: Home, provider: ScriptedProvider
) -> None:
    workspace.add(
        "axe/agents/lead.toml", 'name = "lead"\nmodel = "anthropic/lead"\nsub_agents = ["helper"]\n'
    )
    workspace.add(
        "axe/agents/helper.toml",
        'name = "helper"\nmodel = "anthropic/helper"\ntools = ["read_file", "list_directory"]\n',
    )
    workspace.add("a.txt", "a\n")
    provider.script("lead", Says(calls=[calls_agent("helper", "t")]), Says("x"))
    provider.script(
        "helper",
        Says(
            calls=[
                Call("read_file", {"path": "a.txt"}),
                Call("write_file", {"path": "b", "content": "x"}),
            ],
            usage=(50, 10),
        ),
        Says("y", usage=(60, 5)),
    )
    code, _, err = home.call("run", "lead", "-p", "go")
    assert code == 0, err
    stats = workspace.stats()
    lead, helper = agent(stats, "lead", "axe"), agent(stats, "helper", "axe")
    assert (lead["parents"], helper["parents"]) == ({"": 1}, {"lead": 1})
    assert (helper["inputTokens"], helper["outputTokens"], helper["medianTurns"]) == (110, 15, 2)
    assert [(each["name"], each["calls"]) for each in helper["tools"]] == [("read_file", 1)]
    assert helper["missingTools"] == [{"name": "write_file", "runs": 1}]
    assert helper["unusedTools"] == ["list_directory"]
