"""`axe/tests` and `axe/test`: the tests of agents, and a run of them in a process of its own; `axe.test` shows what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from msgspec import Struct
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.agentfile.check.agent_tests import read_cases
from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.runs.running import check_trust
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.runtime.files.workspace_folders import project_of_tests
from axe_lsp.runtime.programs import main_of
from axe_lsp.serving.json_rpc import JsonObject
from axe_lsp.workspace.agent_file import AgentFile

_COMMAND = (*main_of("axe_lsp.cli.main"), "test")

_CAPABILITY = "experimental.axe.replaceRecording"
"""Declared by clients that show a change of a recording and ask the user."""

_LONGEST_LINE = 64 * 2**20
"""Bytes of a line of results. A question has two whole recordings."""


def tests(session: Session, _: Any) -> list[JsonObject]:
    """All files of tests of the workspace, each with its cases that have names."""
    files = (file for file in session.view.snapshot.files() if file.place.dialect is AGENT_TESTS)
    return [
        each
        for file in sorted(files, key=lambda file: file.uri)
        for each in _told_file(session, file)
    ]


def _told_file(session: Session, file: AgentFile) -> Iterator[JsonObject]:
    found = file.open
    path = path_of(file.uri)
    if found is None:
        content = disk.read(path) if path is not None else None
        if content is None:
            return  # It was deleted a moment ago.
        found = Lookup(Parse(content.text), TESTS)
    read, lines, encoding = read_cases(found), found.parse.lines, session.position_encoding
    cases = [
        {"name": case.name, "range": to_proto.json_range(case.range, lines, encoding)}
        for case in read.cases
        if case.name
    ]
    yield {"uri": session.opened.name(file.uri), "agent": read.agent, "cases": cases}


async def run_tests(session: Session, params: Any) -> JsonObject:
    """The results of the cases, as `axe-lsp test --format json` tells them; with `record` they are recorded first."""
    return {"results": await _results(session, _checked(params))}


async def test(session: Session, params: Any) -> JsonObject:
    """The same as a command. Clients drop the results and errors of commands, so both are shown as messages."""
    try:
        results = await _results(session, _checked(params))
    except RequestFailed as error:
        session.show_message(error.message, types.MessageType.Error)
        raise
    for each in results:
        kind = types.MessageType.Info if each["verdict"] == "passed" else types.MessageType.Warning
        session.show_message(_told(each), kind)
    return {"results": results}


class _Wanted(Struct, frozen=True):
    """What a client asks for: all cases of a file, or one, and whether to record them, also again, or to run them live."""

    uri: str
    case: str
    is_live: bool
    records: bool
    updates: bool

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `axe-lsp test`."""
        live = ("--live",) if self.is_live else ()
        records = ("--record",) if self.records else ()
        updates = ("--update", "--ask") if self.updates else ()
        return ("--format", "json", *live, *records, *updates)


def _checked(params: Any) -> _Wanted:
    """Raises JsonRpcInvalidParams."""
    members = params if isinstance(params, dict) else {}
    uri, case = members.get("uri"), members.get("case") or ""
    if not isinstance(uri, str) or not isinstance(case, str):
        raise JsonRpcInvalidParams('axe/test: give the "uri" of a file of tests, and the "case"')
    is_live, updates = members.get("live") is True, members.get("update") is True
    records = updates or members.get("record") is True
    if is_live and records:
        raise JsonRpcInvalidParams('axe/test: answers of "live" are not recorded')
    return _Wanted(canonical(uri), case, is_live, records, updates)


async def _results(session: Session, wanted: _Wanted) -> list[JsonObject]:
    """Run them. Raises RequestFailed."""
    check_trust(session)
    path = path_of(wanted.uri)
    project = project_of_tests(path.parent) if path is not None else None
    if path is None or project is None:
        raise RequestFailed("this is not a file of tests: those are in axe/tests")
    if wanted.updates and not session.client.supports(_CAPABILITY):
        raise RequestFailed(
            "this editor can't show the changes; `axe-lsp test --record --update` does"
        )
    _check_is_saved(session, wanted.uri, path)
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        f"{path}::{wanted.case}" if wanted.case else str(path),
        *wanted.options,
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
            if "asks" not in told:
                results.append(told)
            else:
                answer = b"yes\n" if await _agrees(session, wanted, told) else b"no\n"
                process.stdin.write(answer)
        err = await reading
        await process.wait()
    finally:
        process.stdin.close()
        if process.returncode is None:  # The request was cancelled.
            process.terminate()
    if not results:
        raise RequestFailed(err.decode(errors="replace").strip() or "there is no such case")
    for each in results:
        session.test_results[wanted.uri, each["name"]] = _as_markdown(each)
    return results


def _as_markdown(result: JsonObject) -> str:
    """A result for hover. Failures quote what models say, so they are shown as code."""
    is_kept = result["verdict"] != "passed" and "runId" in result
    run = f" · run `{result['runId'][:8]}`" if is_kept else ""
    failures = [f"line {each['line']}: {each['message']}" for each in result["failures"]]
    lines = "\n".join(failures).splitlines()
    parts = [
        f"Last result: **{result['verdict']}**{run}",
        *(["\n".join(f"    {line}" for line in lines)] if lines else []),
    ]
    return "\n\n".join(parts)


async def _agrees(session: Session, wanted: _Wanted, told: JsonObject) -> bool:
    """Whether the user wants a recording replaced, of which the client shows the change."""
    params = {
        "uri": session.opened.name(wanted.uri),
        "case": told["name"],
        "before": told["before"],
        "after": told["after"],
    }
    result = await session.request("axe/replaceRecording", params)
    return isinstance(result, dict) and result.get("replace") is True


def _check_is_saved(session: Session, uri: str, path: Path) -> None:
    """Tests run from the disk. Raises RequestFailed if an editor has another text."""
    file, content = session.view.snapshot.file(uri), disk.read(path)
    is_open = file is not None and file.open is not None
    if content is None or (is_open and session.view.lines(uri).text != content.text):
        raise RequestFailed(f"save {path.name} first: tests run from the disk")


def _told(result: JsonObject) -> str:
    failures = result["failures"]
    first = f", line {failures[0]['line']}: {failures[0]['message']}" if failures else ""
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return f"{quoted(result['name'])}: {result['verdict']}{first}{more}"
