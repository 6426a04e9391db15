"""`textDocument/codeLens`: lenses above agent files, as far as the client can do what they offer.

Run and Preview are commands of this server, which every client can send. References, and a form for
an input, can be shown by the client alone: it gets these lenses if it says that it knows their commands,
as it does for other servers, in the experimental capability `commands.commands`.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.daemon.uris import canonical
from axe_lsp.features.code_lens import Lens, LensKind, code_lenses, count_of_tests, reference_count
from axe_lsp.features.run_log import lens_title
from axe_lsp.lsp.positions import open_file
from axe_lsp.lsp.session import Session
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.run_facts import RunFacts
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Update

SHOW_REFERENCES = "axe.showReferences"
"""A command of the client: show the references of the name at a position (URI, position)."""

RUN_WITH_INPUT = "axe.runWithInput"
"""A command of the client: ask for the input of an agent, and run it ({ uri })."""

_NO_RUNS = RunFacts(0)

_PAUSE = 0.2
"""Seconds for which changes of counts are collected."""

_COMMANDS = {
    LensKind.RUN: ("Run", "axe.run", "Run this agent with the text in the editor, saved or not."),
    LensKind.RUN_WITH_INPUT: (
        "Run with input…",
        RUN_WITH_INPUT,
        "Fill in a form with the input of this agent, and run it.",
    ),
    LensKind.PREVIEW: (
        "Preview",
        "axe.preview",
        "Show the first request of a run with its tokens. Nothing is sent.",
    ),
    LensKind.RUN_TEST: (
        "Run test",
        "axe.test",
        "Run this case from its recording. No model is asked.",
    ),
    LensKind.RUN_TEST_LIVE: (
        "Run live",
        "axe.test",
        "Run this case with the real model, without a recording.",
    ),
    LensKind.RECORD_TEST: (
        "Record",
        "axe.test",
        "Run this case with the real model, and keep its answers as the recording.",
    ),
}
_OF_TESTS: dict[LensKind, dict[str, str | bool]] = {
    LensKind.RUN_TEST: {},
    LensKind.RUN_TEST_LIVE: {"live": True},
    LensKind.RECORD_TEST: {"record": True},
}
"""The members that lenses of cases add to the params of `axe.test`."""

_RUNNING = (LensKind.RUN, LensKind.RUN_WITH_INPUT, LensKind.TESTS, *_OF_TESTS)
"""The lenses that run agents."""

SHOW_RUN_LOG = "axe.showRunLog"
"""A command of the server: show what the runs of an agent were like, or ask whether they may be read ({ uri })."""

_OF_CLIENT = {LensKind.RUN_WITH_INPUT: RUN_WITH_INPUT, LensKind.REFERENCES: SHOW_REFERENCES}


class CodeLenses:
    """One client's lenses, with the numbers of references and tests that the client was sent."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told: dict[tuple[str, LensKind], str] = {}
        self._seen = session.view.snapshot
        self._is_checking = False
        self._has_new_runs = False
        self._register()

    def _register(self) -> None:
        session = self._session

        @session.feature(types.TEXT_DOCUMENT_CODE_LENS, {"resolveProvider": True})
        def on_code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
            opened = open_file(session, params.text_document)
            if opened is None:
                return None
            session.view.run_log.want()
            return [
                self._lens(each, opened.range(each.range), params.text_document.uri)
                for each in code_lenses(session.view.snapshot, opened.file)
                if self._is_for_client(each.kind)
            ]

        @session.feature(types.CODE_LENS_RESOLVE)
        def on_resolve(lens: types.CodeLens) -> types.CodeLens:
            if lens.command is None:
                lens.command = self._counted(lens)
            return lens

    def follow(self, update: Update) -> None:
        """Have the client ask again, soon, if an update changes numbers of references."""
        before, self._seen = self._seen, update.snapshot
        has_same_runs = before.run_log is update.snapshot.run_log
        if self._is_checking or (
            has_same_runs and (not self._told or _counts_the_same(before, update))
        ):
            return
        self._has_new_runs |= not has_same_runs
        if self._session.client.supports("workspace.codeLens.refreshSupport"):
            self._is_checking = True
            self._session.start(self._refresh(), name="refreshing code lenses")

    def _lens(self, lens: Lens, where: types.Range, uri: str) -> types.CodeLens:
        if lens.kind is not LensKind.SHOW_RUNS:
            return _lens(lens, where, uri)
        file = self._session.view.snapshot.file(canonical(uri))
        program = file.program if file is not None else ""
        folder = self._session.view.snapshot.run_log.unasked.get(program, "")
        title = f"Show its runs (reads {folder})"
        tooltip = "Show what the runs of this agent were like. You are asked first."
        return types.CodeLens(where, types.Command(title, SHOW_RUN_LOG, tooltip, [{"uri": uri}]))

    def _is_for_client(self, kind: LensKind) -> bool:
        client = self._session.client
        if kind in _RUNNING and client.options.get("trusted") is False:
            return False
        known = client.capability("experimental.commands.commands")
        return kind not in _OF_CLIENT or (isinstance(known, list) and _OF_CLIENT[kind] in known)

    def _counted(self, lens: types.CodeLens) -> types.Command:
        """Return the command of a lens that counts something."""
        data = lens.data if isinstance(lens.data, dict) else {}
        name = data.get("uri")
        if not isinstance(name, str):
            raise JsonRpcInvalidParams(
                "codeLens/resolve: data must be unchanged from textDocument/codeLens"
            )
        uri = canonical(name)
        if data.get("runs"):
            title = lens_title(
                self._session.view.snapshot.run_log.files.get(uri, _NO_RUNS), time.time()
            )
            tooltip = "Show what the runs of this agent were like."
            return types.Command(title, SHOW_RUN_LOG, tooltip, [{"uri": name}])
        kind = LensKind.TESTS if data.get("tests") else LensKind.REFERENCES
        title = self._told[uri, kind] = self._title(uri, kind)
        if kind is LensKind.TESTS:
            return types.Command(
                title, "axe.test", "Run the tests of this agent.", arguments=[{"agent": name}]
            )
        where = [name, lens.range.start]
        return types.Command(title, SHOW_REFERENCES, "Show who names this agent.", where)

    def _title(self, uri: str, kind: LensKind) -> str:
        snapshot = self._session.view.snapshot
        file = snapshot.file(uri)
        if kind is LensKind.TESTS:
            return str(count_of_tests(snapshot, file)) if file is not None else ""
        count = reference_count(snapshot, file) if file is not None else 0
        return f"{count} reference{'' if count == 1 else 's'}"

    async def _refresh(self) -> None:
        try:
            await asyncio.sleep(_PAUSE)
        finally:
            self._is_checking = False
        told = {key: title for key, title in self._told.items() if key[0] in self._session.opened}
        self._told = {key: self._title(*key) for key in told}
        has_new_runs, self._has_new_runs = self._has_new_runs, False
        if self._told != told or has_new_runs:
            with suppress(JsonRpcException):  # A client that thinks better of it has its reasons.
                await self._session.request(types.WORKSPACE_CODE_LENS_REFRESH)


def _counts_the_same(before: Snapshot, update: Update) -> bool:
    """Return whether the agents are the same, name the same agents as often as before, and no tests have changed."""
    after = update.snapshot
    return before.names is after.names and all(
        _names(before.file(uri)) == _names(after.file(uri))
        and not _are_tests(after.file(uri) or before.file(uri))
        for uri in update.affected
    )


def _are_tests(file: AgentFile | None) -> bool:
    return file is not None and file.place.dialect is AGENT_TESTS


def _names(file: AgentFile | None) -> object:
    """Return the names of other agents in a file, wherever in it they are."""
    if file is None:
        return None
    return [(each.key, each.name) for each in file.references], file.inline_types


def _lens(lens: Lens, where: types.Range, uri: str) -> types.CodeLens:
    if lens.kind is LensKind.RUNS:
        return types.CodeLens(where, data={"uri": uri, "runs": True})
    if lens.kind in (LensKind.REFERENCES, LensKind.TESTS):
        tests = {"tests": True} if lens.kind is LensKind.TESTS else {}
        return types.CodeLens(where, data={"uri": uri, **tests})
    title, command, tooltip = _COMMANDS[lens.kind]
    params: dict[str, str | bool] = {"uri": uri}
    if lens.case:
        params |= {"case": lens.case, **_OF_TESTS[lens.kind]}
    return types.CodeLens(where, types.Command(title, command, tooltip, [params]))
