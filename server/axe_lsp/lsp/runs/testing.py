"""`axe/tests` and `axe/test`: the tests of agents, and a run of them in a process of its own; `axe.test` shows what came of it."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from lsprotocol import types
from msgspec import Struct
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.agentfile.check.agent_tests import read_cases
from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.agentfile.lookup_order import SUFFIX
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.features.code_lens import tests_of
from axe_lsp.lsp.positions import json_range
from axe_lsp.lsp.runs.running import check_trust, reported_errors
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.regular_files import real_path
from axe_lsp.runtime.files.workspace_folders import project_of_tests
from axe_lsp.runtime.processes import module_command
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.testing.from_run import NewCase, remembered, write_case
from axe_lsp.testing.inputs import AgentInputs, Inputs, agents_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.meaning import agents_of_tests

_COMMAND = (*module_command("axe_lsp.cli.main"), "test")

_ASKS = "experimental.axe.replaceRecording"
"""Declared by clients that show a change of a recording and ask the user."""

_LISTENS = "experimental.axe.testResults"
"""Declared by clients that want each result at once."""

_BEFORE_CASE = "::"
"""Between the URI of a file and the name of a case, in the id of the case."""

_MOST_MESSAGES = 3
"""Results of a command that are shown one by one."""

_LONGEST_LINE = 64 * 2**20
"""Bytes of a line of results. A question has two whole recordings."""


async def tests(session: Session, _: Any) -> list[JsonObject]:
    """Return all files of tests of the workspace, each with its cases that have names."""
    files = (file for file in session.view.snapshot.files() if file.place.dialect is AGENT_TESTS)
    found = [
        each
        for file in sorted(files, key=lambda file: file.uri)
        for each in _told_file(session, file)
    ]
    read = await asyncio.to_thread(_read_elsewhere, [each.reader for each in found])
    for each, uris in zip(found, read, strict=True):
        each.told["reads"] += [uri for uri in uris if uri not in each.told["reads"]]
    return [each.told for each in found]


class _Reader(Struct, frozen=True):
    """The agents of a file of tests, and its project, if it has one."""

    project: Path | None
    agents: frozenset[str]


class _ToldFile(Struct, frozen=True):
    told: JsonObject
    reader: _Reader


def _read_elsewhere(readers: Sequence[_Reader]) -> list[list[str]]:
    """Return the files that the agents read beside their copied workspaces, as they are on the disk. Blocks."""
    inputs_of = cache(lambda project: AgentInputs(project, os.environ))

    @cache
    def read_by(reader: _Reader) -> list[str]:
        if reader.project is None:
            return []
        try:
            found = inputs_of(reader.project).of(sorted(reader.agents))
        except ConfigError:
            return []
        return list(_uris(each for each in found if each is not None))

    return [read_by(reader) for reader in readers]


def _uris(inputs: Iterable[Inputs]) -> Iterator[str]:
    for each in inputs:
        for path in each.beside():
            with suppress(ValueError):  # No file has such a name.
                yield path.as_uri()


def _told_file(session: Session, file: AgentFile) -> Iterator[_ToldFile]:
    found = file.open
    path = path_of(file.uri)
    if found is None:
        content = disk.read(path) if path is not None else None
        if content is None:
            return  # It was deleted a moment ago.
        found = Lookup(Parse(content.text), TESTS)
    read, lines, encoding = read_cases(found), found.parse.lines, session.position_encoding
    uri = session.opened.name(file.uri)
    cases = [
        {
            "id": _id(uri, case.name),
            "name": case.name,
            "range": json_range(case.range, lines, encoding),
        }
        for case in read.cases
        if case.name
    ]
    reads = list(map(session.opened.name, agents_of_tests(session.view.snapshot, file)))
    if path is not None and read.workspace:
        reads.append(f"{real_path(path.parent / read.workspace).as_uri()}/")
    yield _ToldFile(
        {"uri": uri, "agent": read.agent, "cases": cases, "reads": reads},
        _Reader(
            project_of_tests(path.parent) if path is not None else None, agents_of(read, read.cases)
        ),
    )


def _id(uri: str, case: str) -> str:
    """Return the id of a case in the protocol."""
    return f"{uri}{_BEFORE_CASE}{case}"


async def run_tests(session: Session, params: Any) -> JsonObject:
    """Return the results of the cases, as `axe-lsp test --format json` tells them; with `record` they are recorded first."""
    return {"results": await _results(session, _checked(session, params))}


async def test(session: Session, params: Any) -> JsonObject:
    """Return the same as a command. Clients drop the results and errors of commands, so both are shown as messages."""
    try:
        results = await _results(session, _checked(session, params))
    except RequestFailed as error:
        session.show_message(error.message, types.MessageType.Error)
        raise
    if len(results) > _MOST_MESSAGES:
        session.show_message(_summary(results), _kind(results))
    for each in results if len(results) <= _MOST_MESSAGES else ():
        session.show_message(_told(each), _kind([each]))
    return {"results": results}


async def new_test(session: Session, params: Any) -> JsonObject:
    """Make a case of a remembered run, and replay it."""
    check_trust(session)
    members = params if isinstance(params, dict) else {}
    run_id, into = members.get("runId"), members.get("uri")
    file = path_of(canonical(into)) if isinstance(into, str) else None
    if not isinstance(run_id, str) or (into is not None and file is None):
        raise JsonRpcInvalidParams(
            'axe/newTest: give the "runId", and if you want the "uri" of a file'
        )
    with reported_errors():
        await session.daemon.runs.archive.until_written()  # It may have ended a moment ago.
        made = await asyncio.to_thread(_made, run_id, file)
    uri = made.file.as_uri()
    # The case is on the disk alone: an editor may not have read it yet.
    wanted = _Wanted({canonical(uri): (made.name,)}, is_saved=False)
    results = await _results(session, wanted)
    return {
        "uri": session.opened.name(canonical(uri)),
        "case": made.name,
        "line": results[0]["line"],
        "notes": list(made.notes),
        "results": results,
    }


def _made(run_id: str, file: Path | None) -> NewCase:
    """Write a case made of a stored run to a file of tests. Blocks. Raises RunError."""
    return write_case(remembered(run_id), file)


class _Wanted(Struct, frozen=True):
    """The cases that a client asks for: names of cases by file, none for all of a file, and where answers come from.

    `is_saved`: an editor that has a file open must not have another text.
    """

    cases: Mapping[str, tuple[str, ...]]
    is_live: bool = False
    repeats: int = 1
    records: bool = False
    updates: bool = False
    is_saved: bool = True

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `axe-lsp test`."""
        live = ("--live", "-n", str(self.repeats)) if self.is_live else ()
        records = ("--record",) if self.records else ()
        updates = ("--update", "--ask") if self.updates else ()
        return ("--format", "json", *live, *records, *updates)


def _checked(session: Session, params: Any) -> _Wanted:
    """Read the parameters. Raises JsonRpcInvalidParams."""
    members = params if isinstance(params, dict) else {}
    is_live, updates = members.get("live") is True, members.get("update") is True
    records, repeats = updates or members.get("record") is True, members.get("n", 1)
    if is_live and records:
        raise JsonRpcInvalidParams('axe/test: answers of "live" are not recorded')
    if type(repeats) is not int or repeats < 1 or (repeats > 1 and not is_live):
        raise JsonRpcInvalidParams('axe/test: "n" is how often cases run with "live"')
    return _Wanted(_chosen(session, members), is_live, repeats, records, updates)


def _chosen(session: Session, members: JsonObject) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the wanted cases, by file. Raises JsonRpcInvalidParams."""
    if isinstance(agent := members.get("agent"), str):
        snapshot = session.view.snapshot
        file = snapshot.file(canonical(agent))
        found = tests_of(snapshot, file) if file is not None else ()
        return {each.uri: () for each in sorted(found, key=lambda each: each.uri)}
    uri, case, ids = members.get("uri"), members.get("case") or "", members.get("ids")
    if isinstance(uri, str) and isinstance(case, str) and ids is None:
        return {canonical(uri): (case,) if case else ()}
    of_ids: dict[str, tuple[str, ...]] = {}
    for each in ids if isinstance(ids, list) and uri is None else ():
        path, between, name = str(each).partition(f"{SUFFIX}{_BEFORE_CASE}")
        if not (between and name):
            raise JsonRpcInvalidParams(f"axe/test: this is not the id of a case: {each!r}")
        of_file = canonical(f"{path}{SUFFIX}")
        of_ids[of_file] = (*of_ids.get(of_file, ()), name)
    if not of_ids:
        raise JsonRpcInvalidParams(
            'axe/test: give the "uri" of a file of tests, and the "case", or "ids" of cases'
        )
    return of_ids


class _Tested(Struct, frozen=True):
    """A file of tests that is run: its path, its text, and its project."""

    uri: str
    path: Path
    project: Path
    text: str


async def _results(session: Session, wanted: _Wanted) -> list[JsonObject]:
    """Run them. Raises RequestFailed."""
    check_trust(session)
    if wanted.updates and not session.client.supports(_ASKS):
        raise RequestFailed(
            "this editor can't show the changes; `axe-lsp test --record --update` does"
        )
    if not wanted.cases:
        raise RequestFailed("this agent has no tests")
    files = [_tested(session, uri, is_saved=wanted.is_saved) for uri in wanted.cases]
    project = files[0].project
    # Results name a file as it is seen from the working directory.
    by_path = {_plain(each.path): each for each in files}
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        *wanted.options,
        "--",
        *(
            argument
            for each in files
            for argument in [f"{each.path}::{case}" for case in wanted.cases[each.uri]]
            or [str(each.path)]
        ),
        cwd=project,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LONGEST_LINE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        reading = asyncio.ensure_future(process.stderr.read())
        results = []
        async for line in process.stdout:
            told = json.loads(line)
            tested = by_path.get(_plain(project / told["file"]), files[0])
            if "asks" not in told:
                results.append(_kept(session, tested, told))
            else:
                answer = b"yes\n" if await _agrees(session, tested, told) else b"no\n"
                process.stdin.write(answer)
        err = await reading
        await process.wait()
    finally:
        process.stdin.close()
        if process.returncode is None:  # The request was cancelled.
            process.terminate()
    if not results:
        raise RequestFailed(err.decode(errors="replace").strip() or "there is no such case")
    return results


def _tested(session: Session, uri: str, *, is_saved: bool) -> _Tested:
    """Return the tests. Raises RequestFailed for a file that is none of tests, or not saved though it should be."""
    path = path_of(uri)
    project = project_of_tests(path.parent) if path is not None else None
    if path is None or project is None:
        raise RequestFailed("this is not a file of tests: those are in axe/tests")
    return _Tested(uri, path, project, _saved(session, uri, path, is_saved=is_saved))


def _plain(path: Path) -> str:
    return os.path.normpath(path)


def _kept(session: Session, tested: _Tested, told: JsonObject) -> JsonObject:
    """Return a result with its id, which is kept, and sent at once to a client that wants that."""
    told["id"] = _id(session.opened.name(tested.uri), told["name"])
    session.test_results.keep(tested.uri, told, tested.text)
    if session.client.supports(_LISTENS):
        session.notify("axe/testResult", told)
    return told


async def _agrees(session: Session, tested: _Tested, told: JsonObject) -> bool:
    """Return whether the user wants a recording replaced, of which the client shows the change."""
    params = {
        "uri": session.opened.name(tested.uri),
        "case": told["name"],
        "before": told["before"],
        "after": told["after"],
    }
    result = await session.request("axe/replaceRecording", params)
    return isinstance(result, dict) and result.get("replace") is True


def _saved(session: Session, uri: str, path: Path, *, is_saved: bool) -> str:
    """Return the text of a file: tests run from the disk. Raises RequestFailed if an editor has another text."""
    file, content = session.view.snapshot.file(uri), disk.read(path)
    is_open = file is not None and file.open is not None
    if content is None or (is_saved and is_open and session.view.lines(uri).text != content.text):
        raise RequestFailed(f"save {path.name} first: tests run from the disk")
    return content.text


def _kind(results: Sequence[JsonObject]) -> types.MessageType:
    have_passed = all(each["verdict"] == "passed" for each in results)
    return types.MessageType.Info if have_passed else types.MessageType.Warning


def _summary(results: Sequence[JsonObject]) -> str:
    """Return the numbers of verdicts, and the first case that did not pass."""
    counts = Counter(each["verdict"] for each in results)
    numbers = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    first = next((each for each in results if each["verdict"] != "passed"), None)
    return f"{numbers}. {_told(first)}" if first is not None else numbers


def _told(result: JsonObject) -> str:
    failures = result["failures"]
    first = f", line {failures[0]['line']}: {failures[0]['message']}" if failures else ""
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return f"{quoted(result['name'])}: {result['verdict']}{first}{more}"
