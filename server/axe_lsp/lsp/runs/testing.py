"""`axe/tests` and `axe/test`: the tests of agents, and a run of them in a process of its own; `axe.test` shows what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
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
    return {"results": await _results(session, *_checked(params))}


async def test(session: Session, params: Any) -> JsonObject:
    """The same as a command. Clients drop the results and errors of commands, so both are shown as messages."""
    try:
        results = await _results(session, *_checked(params))
    except RequestFailed as error:
        session.show_message(error.message, types.MessageType.Error)
        raise
    for each in results:
        kind = types.MessageType.Info if each["verdict"] == "passed" else types.MessageType.Warning
        session.show_message(_told(each), kind)
    return {"results": results}


def _checked(params: Any) -> tuple[str, str, bool]:
    """URI, case and whether to record. Raises JsonRpcInvalidParams."""
    members = params if isinstance(params, dict) else {}
    uri, case, record = members.get("uri"), members.get("case") or "", members.get("record")
    if not isinstance(uri, str) or not isinstance(case, str):
        raise JsonRpcInvalidParams('axe/test: give the "uri" of a file of tests, and the "case"')
    return canonical(uri), case, record is True


async def _results(session: Session, uri: str, case: str, record: bool) -> list[JsonObject]:
    """Run them. Raises RequestFailed."""
    check_trust(session)
    path = path_of(uri)
    project = project_of_tests(path.parent) if path is not None else None
    if path is None or project is None:
        raise RequestFailed("this is not a file of tests: those are in axe/tests")
    _check_is_saved(session, uri, path)
    chosen = f"{path}::{case}" if case else str(path)
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        chosen,
        "--format",
        "json",
        *(["--record"] if record else []),
        cwd=project,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:  # The request was cancelled.
            process.terminate()
    results = [json.loads(line) for line in out.decode().splitlines()]
    if not results:
        raise RequestFailed(err.decode(errors="replace").strip() or "there is no such case")
    return results


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
