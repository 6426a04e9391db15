"""`axe-lsp agents stats`: what the runs of the agents of a workspace were like."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from axe_lsp.agentfile.dialects import CLAUDE, CODEX, DIALECTS, LAYERED
from axe_lsp.agentfile.text.front_matter import MarkdownParse
from axe_lsp.agentfile.text.reading import values_of
from axe_lsp.cli.text_width import shown_cells
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog
from axe_lsp.hosting.agent_runs.settings import MOST_DAYS, run_log_settings
from axe_lsp.hosting.agent_runs.sources import OWN, SOURCES, read_source
from axe_lsp.hosting.agent_runs.statistics import DefinedIn, statistics, with_price
from axe_lsp.hosting.agent_runs.versions import FileVersion
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, working_folder
from axe_lsp.runtime.files.workspace_folders import agent_folders_below, workspace_above
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import digest_of, shown_path, visible
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.places import Places, Scope
from axe_lsp.workspace.workspace import Change, Workspace

_DAY = 86_400

_BUILT_IN = {
    dialect.program.name: frozenset(dialect.built_in)
    for dialect in DIALECTS
    if dialect.program is not None
}

_SourceJson = dict[str, Json]


class _Agent(Struct, frozen=True):
    """An agent with a file. Files of a project are for its own runs only."""

    name: str
    program: str
    file: AgentFile

    @property
    def path(self) -> Path | None:
        return path_of(self.file.uri)

    @property
    def is_users(self) -> bool:
        return self.file.place.scope is Scope.USER


def stats(options: argparse.Namespace) -> int:
    """Print the statistics as a table or as JSON."""
    folder = options.folder if options.folder is not None else working_folder()
    if not Path(folder).is_dir():
        raise ConfigError(f"no such folder: {folder}")
    root = workspace_above(Path(os.path.normpath(Path(folder).absolute())), os.environ)
    settings = run_log_settings(os.environ)
    days = min(settings.days if options.days is None else options.days, MOST_DAYS)
    chosen = tuple(dict.fromkeys(options.source)) or settings.sources
    sources = SOURCES if "all" in chosen else chosen
    since = time.time() - days * _DAY
    logs = [read_source(each, os.environ, since) for each in sources]
    report = agent_statistics(root, logs, options.agents, os.environ)
    if options.json:
        print(msgspec.json.format(msgspec.json.encode({"days": days, **report}), indent=2).decode())
    else:
        print("\n".join(_text(report, logs)))
    return 0


def agent_statistics(
    root: Path, logs: Sequence[ReadLog], names: Sequence[str], environment: Environment
) -> dict[str, Json]:
    """Return the statistics of the agents of a workspace, of those with some `names` only if there are any."""
    programs = {log.program for log in logs}
    agents = {
        (each.program, each.name): each
        for each in _agents(root, environment)
        if each.program in programs
    }
    runs: dict[tuple[str, str], list[LoggedRun]] = {key: [] for key in agents}
    for run in (run for log in logs for run in log.runs):
        key = (run.program, run.agent)
        agent = agents.get(key)
        is_below = _is_below(run.cwd, root)
        if agent is None and run.agent in _BUILT_IN.get(run.program, ()):
            continue
        if is_below or (agent is not None and agent.is_users):
            runs.setdefault(key, []).append(with_price(run))
    rows = [
        statistics(name, program, _of_file(agents.get((program, name))), found)
        for (program, name), found in runs.items()
        if not names or name in names
    ]
    return {
        "sources": [_source(each) for each in logs],
        "agents": sorted(
            rows, key=lambda row: (-_count(row), str(row["agent"]), str(row["program"]))
        ),
        "unknownAgents": [
            {"agent": name, "program": log.program, "calls": calls}
            for log in logs
            for name, calls in _unknown(log, root, agents)
            if not names or name in names
        ],
    }


def _unknown(
    log: ReadLog, root: Path, agents: Mapping[tuple[str, str], _Agent]
) -> Iterator[tuple[str, int]]:
    counts: dict[str, int] = {}
    for (folder, name), calls in log.unknown.items():
        if _is_below(folder, root) and (log.program, name) not in agents:
            counts[name] = counts.get(name, 0) + calls
    yield from sorted(counts.items())


def _count(row: Mapping[str, Json]) -> int:
    count = row["runs"]
    assert isinstance(count, int)
    return count


def _is_below(folder: str, root: Path) -> bool:
    return bool(folder) and Path(os.path.normpath(folder)).is_relative_to(root)


def _of_file(agent: _Agent | None) -> DefinedIn | None:
    path = agent.path if agent is not None else None
    if agent is None or path is None:
        return None
    changed = 0.0
    with suppress(OSError):
        changed = path.stat().st_mtime
    tools = tuple(each for each in agent.file.offered if "*" not in each)
    return DefinedIn(str(path), tools, FileVersion(changed, _digest_of_prompt(agent.file, path)))


def _digest_of_prompt(file: AgentFile, path: Path) -> str:
    """Return the hash of the prompt of a file whose program logs prompts, else ""."""
    content = disk.read(path)
    if content is None or file.place.dialect not in (CODEX, CLAUDE):
        return ""
    parse = file.place.kind.parse(content.text)
    if isinstance(parse, MarkdownParse):
        return digest_of(parse.body.strip())
    values = values_of(content.text) or {}
    prompt = values.get("developer_instructions")
    return digest_of(prompt.strip()) if isinstance(prompt, str) else ""


def _source(log: ReadLog) -> _SourceJson:
    return {
        "program": log.program,
        "files": log.files,
        "bytes": log.size,
        "skipped": sum(log.skipped.values()),
        "state": "complete" if log.is_complete else "partial",
    }


def _agents(root: Path, environment: Environment) -> Iterator[_Agent]:
    """Yield the agents with files that the workspace and the user have, each name of a program once."""
    user_folder = disk.user_folder(environment)
    places = Places(
        user_folder=uri_of(user_folder) if user_folder is not None else "",
        roots=(uri_of(root),),
        homes=disk.user_layers(environment),
    )
    folders = [
        *agent_folders_below(root, tuple(LAYERED)),
        *disk.user_layer_folders(environment),
        *([user_folder] if user_folder is not None else []),
    ]
    paths = dict.fromkeys(path for folder in folders for path in disk.agent_files_in(folder))
    files = [
        read_agent_file(places.locate(uri_of(path)), content.text, fault=content.fault)
        for path in paths
        if (content := disk.read(path)) is not None
    ]
    snapshot = (
        Workspace(places).apply([Change(each.uri, None, file=each) for each in files]).snapshot
    )
    seen: set[tuple[str, str]] = set()
    for file in sorted(files, key=_precedence):
        program = file.place.dialect.program
        if not file.holds_agent:
            continue
        name = file.place.stem if program is None else snapshot.layers.name_of(file)
        key = (program.name if program is not None else OWN, name)
        if name and key not in seen:
            seen.add(key)
            yield _Agent(name, key[0], file)


def _precedence(file: AgentFile) -> tuple[bool, str]:
    """Return the sort key of files of one name: those of the project first, unless the program prefers the user's."""
    program = file.place.dialect.program
    user_wins = program is not None and program.user_wins
    return (file.place.scope is Scope.USER) is not user_wins, file.uri


# -- the table


def _text(report: Mapping[str, Json], logs: Iterable[ReadLog]) -> Iterator[str]:
    rows = report["agents"]
    assert isinstance(rows, list)
    table = [
        (
            "agent",
            "program",
            "runs",
            "failed",
            "cost",
            "median s",
            "tokens in + out",
            "last",
            "file",
        ),
        *(_row(row) for row in rows if isinstance(row, dict)),
    ]
    widths = [max(shown_cells(row[column]) for row in table) for column in range(len(table[0]))]
    if len(table) > 1:
        for row in table:
            yield "  ".join(
                f"{cell}{' ' * (width - shown_cells(cell))}"
                for cell, width in zip(row, widths, strict=True)
            ).rstrip()
    else:
        yield "No agents and no runs in this workspace."
    for row in rows:
        if isinstance(row, dict):
            yield from _changes(row)
    unknown = report["unknownAgents"]
    assert isinstance(unknown, list)
    for each in unknown:
        assert isinstance(each, dict)
        calls = f"{each['calls']} call{'' if each['calls'] == 1 else 's'}"
        yield f"unknown agent {visible(str(each['agent']))} ({each['program']}): {calls}"
    for log in logs:
        for reason, count in log.skipped.items():
            yield f"{log.program}: {log.files:,} files, {count:,} skipped ({reason})"


_UNITS: Mapping[str, Callable[[float], str]] = {
    "failures": lambda share: f"{100 * share:.0f} % failed",
    "seconds": lambda seconds: f"median {seconds:.0f} s",
    "outputTokens": lambda tokens: f"median {tokens:,.0f} tokens",
    "cost": lambda dollars: f"median ${dollars:.4f}",
}


def _changes(row: Mapping[str, Json]) -> Iterator[str]:
    """Yield a sentence for each change since the last edit, with both numbers and both numbers of runs."""
    versions, found = row["versions"], row["changes"]
    assert isinstance(found, list)
    for each in found:
        assert isinstance(each, dict)
        assert isinstance(versions, list)
        assert isinstance(versions[0], dict)
        day = str(versions[0]["since"])[:10]
        name = f"{visible(str(row['agent']))} ({row['program']})"
        unit = _UNITS.get(str(each["measure"]))
        before, after = each["before"], each["after"]
        if (
            unit is None
            or not isinstance(before, (int, float))
            or not isinstance(after, (int, float))
        ):
            yield f"{name}: {each['text']} since the edit of {day}"
            continue
        yield (
            f"{name}: since the edit of {day} ({each['runs']} runs): {each['text']}, "
            f"{unit(after)}, before {unit(before).removeprefix('median ')} ({each['runsBefore']} runs)"
        )


def _row(row: Mapping[str, Json]) -> tuple[str, ...]:
    cost, milliseconds, last = row["cost"], row["medianMs"], row["last"]
    return (
        visible(str(row["agent"])),
        str(row["program"]),
        str(row["runs"]),
        str(row["failed"]),
        _money(cost, is_part=row["costOf"] != row["runs"]) if isinstance(cost, float) else "",
        f"{milliseconds / 1000:.1f}" if isinstance(milliseconds, (int, float)) else "",
        f"{row['inputTokens']:,} + {row['outputTokens']:,}" if row["runs"] else "",
        str(last)[:16].replace("T", " ") if last else "",
        visible(shown_path(str(row["file"]))) if row["file"] else "",
    )


def _money(cost: float, *, is_part: bool) -> str:
    text = "< $0.01" if cost < 0.01 else f"${cost:.2f}"
    return f"over {text}" if is_part else text
