"""A file of tests: its cases, its outline for the editor, and its problems.

One reading finds all of them, so that what the editor accepts is what `axe-lsp test` can run. A keystroke reads again the cases whose text it changes. Of all others the outline is kept, with positions from the
start of the case: a line above moves thousands of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.check.cases import (
    Case,
    CaseReader,
    Child,
    Expected,
    leads_out,
    usual_recording,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.key_spec import KeyPath, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, member_of, nested_in, tables_of, text_of, texts_of
from axe_lsp.agentfile.text.globs import has_magic
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import Table
from axe_lsp.agentfile.text.values import decode

RECORDINGS = "recordings"
"""The folder of recordings, beside the files of tests."""


class Cases(Struct, frozen=True):
    """A file of tests. `workspace` is a path from the folder of the file, or "".

    `replays_tools`: results of tools come from recordings, as answers do.
    """

    agent: str
    workspace: str = ""
    allow: tuple[str, ...] = ()
    replays_tools: bool = False
    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()


class NamedAgent(Struct, frozen=True, gc=False):
    """An agent that a case names. `callers` are, if it is expected to be called, who calls whom below the tested agent."""

    name: str
    range: TextRange
    path: KeyPath
    callers: tuple[str, ...] | None = None


class NamedTool(Struct, frozen=True, gc=False):
    """A tool that a case expects to be called, by the last of the `callers` below the tested agent."""

    name: str
    range: TextRange
    callers: tuple[str, ...]


class CaseOutline(Struct, frozen=True, gc=False):
    """The parts of a case that each keystroke needs. Its ranges are from the start of its piece of the file.

    `usual_recording` goes with the stem of the file of tests, where there is no `replay`.
    """

    name: str
    range: TextRange
    replay: str
    replay_range: TextRange
    usual_recording: str
    files: TextRange | None

    def recording(self, stem: str) -> str:
        """Return the path of its recording from the folder of recordings; `stem` is that of the file of tests."""
        return self.replay or f"{stem}{self.usual_recording}"


class PieceOutline(Struct, frozen=True):
    """A piece of a file, nearly always one case. Its ranges are from its start."""

    cases: tuple[CaseOutline, ...]
    agents: tuple[NamedAgent, ...]
    tools: tuple[NamedTool, ...]
    problems: tuple[Problem, ...]


class Placed(NamedTuple):
    """The outline of a piece, and where the piece starts."""

    start: int
    outline: PieceOutline


class Outline(Struct, frozen=True):
    """A file of tests without the expectations of its cases."""

    agent: str
    workspace: str
    allow: tuple[str, ...]
    replays_tools: bool
    pieces: tuple[Placed, ...]
    problems: tuple[Problem, ...]

    def names(self) -> Iterator[tuple[str, TextRange]]:
        """Yield the names of the cases, and where they stand."""
        for start, piece in self.pieces:
            for case in piece.cases:
                yield case.name, case.range.moved(start)


def agent_tests(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of a file of tests by itself."""
    yield from outline(lookup).problems


def outline(lookup: Lookup) -> Outline:
    """Return the outline of a file. It is made once for a text."""
    return lookup.made_once("outline", (), lambda: _outline(lookup))


def read_cases(lookup: Lookup) -> Cases:
    """Return the cases of a file. They are made once for a text."""
    return lookup.made_once("cases", (), lambda: _cases(lookup))


def _cases(lookup: Lookup) -> Cases:
    known = outline(lookup)
    return Cases(
        agent=known.agent,
        workspace=known.workspace,
        allow=known.allow,
        replays_tools=known.replays_tools,
        cases=tuple(
            CaseReader().case(node)
            for piece in _pieces(lookup).cases
            for node in _nodes(lookup, piece.tables)
        ),
        problems=known.problems,
    )


class _Piece(NamedTuple):
    """The tables of a case, and where their text starts and ends."""

    tables: Sequence[Table]
    start: int
    end: int


class _Pieces(NamedTuple):
    """A file in pieces that can be read each for itself: the cases, and the tables of all `others`."""

    others: Sequence[Table]
    cases: Sequence[_Piece]


_CASE: KeyPath = ("case",)


def _pieces(lookup: Lookup) -> _Pieces:
    """Return the pieces of a file; one with everything if its cases are not written below headers of their own."""
    tables = lookup.parse.document.tables
    others: list[Table] = []
    cases: list[list[Table]] = []
    for table in tables:
        path = table.path
        if path[:1] != _CASE:
            others.append(table)
        elif path == _CASE and table.is_array and table.complete:
            cases.append([table])
        elif cases:
            cases[-1].append(table)
        else:
            return _all_in_one(lookup, tables)
    if any(each.key.names[:1] == _CASE for each in tables[0].entries):
        return _all_in_one(lookup, tables)
    return _Pieces(
        others, [_Piece(each, each[0].header_range.start, each[-1].range.end) for each in cases]
    )


def _all_in_one(lookup: Lookup, tables: Sequence[Table]) -> _Pieces:
    return _Pieces(tables, [_Piece(tables, 0, len(lookup.parse.text))])


def _nodes(lookup: Lookup, tables: Sequence[Table]) -> list[Node]:
    return tables_of(nested_in(tables, lookup.parse.text), "case")


def _outline(lookup: Lookup) -> Outline:
    text, pieces = lookup.parse.text, _pieces(lookup)
    read = lookup.once_per_text
    placed = tuple(
        Placed(each.start, read("piece", text[each.start : each.end], partial(_read, lookup, each)))
        for each in pieces.cases
    )
    return _FileReader().outline(nested_in(pieces.others, text), placed)


def _read(lookup: Lookup, piece: _Piece) -> PieceOutline:
    """Return the outline of a piece by its own text alone."""
    reader, back = CaseReader(), -piece.start
    nodes = _nodes(lookup, piece.tables)
    cases = [reader.case(each) for each in nodes]
    callers: dict[TextRange, tuple[str, ...]] = {}
    for case in cases:
        callers.update(_called_agents(case.run.children, ()))
    agents = [
        *_agents_of_keys(lookup, piece.tables, callers),
        *(named for case in cases for named in _agents_in_calls(case.run)),
    ]
    tools = [named for case in cases for named in _called_tools(case.run, ())]
    return PieceOutline(
        cases=tuple(
            _case_outline(case, node, back) for case, node in zip(cases, nodes, strict=True)
        ),
        agents=tuple(replace(each, range=each.range.moved(back)) for each in agents),
        tools=tuple(replace(each, range=each.range.moved(back)) for each in tools),
        problems=tuple(each.moved(back) for each in reader.problems),
    )


def _case_outline(case: Case, node: Node, back: int) -> CaseOutline:
    files = member_of(member_of(node, "expect"), "files")
    return CaseOutline(
        name=case.name,
        range=case.range.moved(back),
        replay=case.replay,
        replay_range=case.replay_range.moved(back),
        usual_recording=usual_recording(case.name),
        files=files.range.moved(back) if files is not None else None,
    )


def _agents_of_keys(
    lookup: Lookup, tables: Iterable[Table], callers: Mapping[TextRange, tuple[str, ...]]
) -> Iterator[NamedAgent]:
    """Yield the agents that single keys of cases name."""
    for item in (item for table in tables for item in table.located):
        spec, value = lookup.schema.find(item.path), item.entry.value
        if spec is None or spec.names is not Names.AGENT or item.path[:1] != _CASE:
            continue
        if value is not None and value.complete:
            name = decode(lookup.parse.text, value)
            if isinstance(name, str) and name.strip():
                yield NamedAgent(name, value.range, item.path, callers.get(value.range))


_CALLED_AGENT = ("case", "expect", "tools", "calls", "args", "agent")


def _agents_in_calls(run: Expected) -> Iterator[NamedAgent]:
    """Yield the agents that expected calls of `call_agent` name as an argument."""
    calls = [call for tools in run.tools for call in tools.calls if call.name == "call_agent"]
    named = [each for call in calls for each in call.args if each.path == ("agent",)]
    for each in (one for argument in named for one in argument.checks):
        if each.word == "equals" and isinstance(each.wanted, str) and each.wanted.strip():
            yield NamedAgent(each.wanted, each.range, _CALLED_AGENT)
    for child in run.children:
        yield from _agents_in_calls(child.run)


def _called_agents(
    children: Iterable[Child], callers: tuple[str, ...]
) -> Iterator[tuple[TextRange, tuple[str, ...]]]:
    """Yield the range and the callers of each expected call, except calls that must not happen (`times = 0`)."""
    for child in children:
        if child.times != 0:
            yield child.run.range, callers
            yield from _called_agents(child.run.children, (*callers, child.agent))


def _called_tools(run: Expected, callers: tuple[str, ...]) -> Iterator[NamedTool]:
    """Yield the tools that are expected to be called; not those that need not be, or that may be missing."""
    for tools in run.tools:
        for call in tools.calls if tools.match != "superset" else ():
            if call.error is not True and "/" not in call.name and not has_magic(call.name):
                yield NamedTool(call.name, call.range, callers)
    for child in run.children:
        if child.times != 0:
            yield from _called_tools(child.run, (*callers, child.agent))


class _FileReader(CaseReader):
    """Reads the file around the cases."""

    def outline(self, root: Node, pieces: tuple[Placed, ...]) -> Outline:
        """Return the file whose other tables are in `root`."""
        agent = self.needed(root, "agent", "the file", ("agent",))
        replays_tools = text_of(member_of(root, "tools")) == "recorded"
        for start, piece in pieces:
            self.problems += [each.moved(start) for each in piece.problems]
            for case in piece.cases if replays_tools else ():
                self._no_files(case, start)
        self._tell_apart(pieces)
        workspace = member_of(root, "workspace")
        folder = text_of(workspace)
        if workspace is not None and leads_out(folder, up=True):
            self.bad_path(workspace, "workspace", folder, "a folder of the project, from here")
        return Outline(
            agent=text_of(agent),
            workspace=folder,
            allow=tuple(texts_of(member_of(root, "allow"))),
            replays_tools=replays_tools,
            pieces=pieces,
            problems=tuple(self.problems),
        )

    def _no_files(self, case: CaseOutline, start: int) -> None:
        if case.files is not None:
            message = 'nothing changes files here: with `tools = "recorded"` no tool is executed'
            where = Node(case.files.moved(start))
            self.problem("bad-test", where, message, ("case", "expect", "files"))

    def _tell_apart(self, pieces: Iterable[Placed]) -> None:
        """Report cases with the same name or recording: the second would overwrite the first."""
        names: set[str] = set()
        recordings: set[str] = set()
        for start, piece in pieces:
            for case in piece.cases:
                recording = case.recording("")
                if case.name in names:
                    message = f"another case of this file is named {quoted(case.name)}"
                elif not case.replay and recording in recordings:
                    message = f"another case has the same recording, {quoted(recording[1:])}; set `replay` or rename one"
                else:
                    message = ""
                if message and case.name:
                    where = Node(case.range.moved(start))
                    self.problem("bad-test", where, message, ("case", "name"))
                names.add(case.name)
                recordings.add(recording)
