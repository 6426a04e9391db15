"""The cases of a file of tests, and the problems that the rows of its schema can't express.

One reading finds both, so that what the editor accepts is what `axe-lsp test` can run. Values of a wrong type
are reported with the rows, and left out here.

A keystroke reads again the cases whose text it changes. Of all others the outline is kept, with positions from the
start of the case: a line above moves thousands of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.agent_keys import TOOL_ALIASES, TOOLS
from axe_lsp.agentfile.schema.json_schema import schema_faults
from axe_lsp.agentfile.schema.key_spec import KeyPath, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested_in
from axe_lsp.agentfile.schema.test_keys import (
    ARGUMENT_WORDS,
    MATCHES,
    NUMBERS,
    TESTS,
    WHOLE_NUMBERS,
)
from axe_lsp.agentfile.text.globs import has_magic
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.regular_expressions import expression_fault
from axe_lsp.agentfile.text.tree import Table
from axe_lsp.agentfile.text.values import decode

RECORDINGS = "recordings"
"""The folder of recordings, beside the files of tests."""

_TEXT_WORDS = ("contains", "lacks", "matches", "equals", "schema")
_TOOLS = frozenset({*TOOLS, "call_agent", "Task"})
_ARGUMENT_WORDS = frozenset(key.dotted for key in ARGUMENT_WORDS)
_NOWHERE = TextRange(0, 0)


class Check(Struct, frozen=True):
    """One check of one value: `word` says how it is compared with `wanted`, at `range` in the file."""

    word: str
    wanted: Any
    range: TextRange


class Argument(Struct, frozen=True):
    """The checks of one argument of a call; `path` leads to it through tables."""

    path: tuple[str, ...]
    checks: tuple[Check, ...]


class Call(Struct, frozen=True):
    """A tool call that is expected or forbidden. `name` may be a glob; `error` None is either."""

    name: str
    range: TextRange
    args: tuple[Argument, ...] = ()
    error: bool | None = None
    times: int = 1


class Calls(Struct, frozen=True):
    """The tool calls that are expected of a run, and how they are compared (`match`)."""

    match: str
    calls: tuple[Call, ...]
    range: TextRange


class Expected(Struct, frozen=True):
    """The expectations of one run. `measures` are checks of numbers by their key."""

    range: TextRange
    answer: tuple[Check, ...] = ()
    status: tuple[Check, ...] = ()
    error: tuple[Check, ...] = ()
    measures: Mapping[str, tuple[Check, ...]] = {}
    tools: tuple[Calls, ...] = ()
    children: tuple[Child, ...] = ()


class Child(Struct, frozen=True):
    """A child that is expected: the runs of `agent` whose task passes the checks. `times` None is at least once."""

    agent: str
    run: Expected
    task: tuple[Check, ...] = ()
    times: int | None = None


class File(Struct, frozen=True):
    """A file of the workspace after the run: whether it is there, and checks of its content."""

    path: str
    range: TextRange
    is_there: bool = True
    checks: tuple[Check, ...] = ()


class Judge(Struct, frozen=True):
    """An agent that judges the run by criteria."""

    agent: str
    criteria: str
    range: TextRange


class Case(Struct, frozen=True):
    """One case. `tasks` are the messages of the conversation; `replay` is a path from the recordings, or "".

    `replay_range` is where the recording is named: by `replay`, else by the name.
    """

    name: str
    range: TextRange
    run: Expected
    tasks: tuple[str, ...] = ()
    input: Mapping[str, Any] | None = None
    replay: str = ""
    replay_range: TextRange = _NOWHERE
    rate: float = 1.0
    files: tuple[File, ...] = ()
    forbidden: tuple[Call, ...] = ()
    judges: tuple[Judge, ...] = ()

    def recording(self, stem: str) -> str:
        """The path of its recording from the folder of recordings; `stem` is that of the file of tests."""
        return self.replay or f"{stem}{_usual_recording(self.name)}"


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
        """The path of its recording from the folder of recordings; `stem` is that of the file of tests."""
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
        """The names of the cases, and where they stand."""
        for start, piece in self.pieces:
            for case in piece.cases:
                yield case.name, case.range.moved(start)


def agent_tests(lookup: Lookup) -> Iterator[Problem]:
    """The problems of a file of tests by itself."""
    yield from outline(lookup).problems


def outline(lookup: Lookup) -> Outline:
    """The outline of a file. It is made once for a text."""
    return lookup.made_once("outline", (), lambda: _outline(lookup))


def read_cases(lookup: Lookup) -> Cases:
    """The cases of a file. They are made once for a text."""
    return lookup.made_once("cases", (), lambda: _cases(lookup))


def _cases(lookup: Lookup) -> Cases:
    known = outline(lookup)
    return Cases(
        agent=known.agent,
        workspace=known.workspace,
        allow=known.allow,
        replays_tools=known.replays_tools,
        cases=tuple(
            _Reader().case(node)
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
    """The pieces of a file; one with everything if its cases are not written below headers of their own."""
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
    return _items(nested_in(tables, lookup.parse.text), "case")


def _outline(lookup: Lookup) -> Outline:
    text, pieces = lookup.parse.text, _pieces(lookup)
    read = lookup.once_per_text
    placed = tuple(
        Placed(each.start, read("piece", text[each.start : each.end], partial(_read, lookup, each)))
        for each in pieces.cases
    )
    return _Reader().outline(nested_in(pieces.others, text), placed)


def _read(lookup: Lookup, piece: _Piece) -> PieceOutline:
    """The outline of a piece by its own text alone."""
    reader, back = _Reader(), -piece.start
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
    expect = _member(node, "expect")
    files = _member(expect, "files") if expect is not None else None
    return CaseOutline(
        name=case.name,
        range=case.range.moved(back),
        replay=case.replay,
        replay_range=case.replay_range.moved(back),
        usual_recording=_usual_recording(case.name),
        files=files.range.moved(back) if files is not None else None,
    )


def _usual_recording(name: str) -> str:
    """The path of the recording of a case, behind the stem of its file of tests."""
    return f"/{re.sub(r'[^a-zA-Z0-9_.-]+', '-', name).strip('-.')}.toml"


def _agents_of_keys(
    lookup: Lookup, tables: Iterable[Table], callers: Mapping[TextRange, tuple[str, ...]]
) -> Iterator[NamedAgent]:
    """The agents that single keys of cases name."""
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
    """The agents that expected calls of `call_agent` name as an argument."""
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
    """Where an agent is expected to be called, and by whom; not where it must not be called (`times = 0`)."""
    for child in children:
        if child.times != 0:
            yield child.run.range, callers
            yield from _called_agents(child.run.children, (*callers, child.agent))


def _called_tools(run: Expected, callers: tuple[str, ...]) -> Iterator[NamedTool]:
    """The tools that are expected to be called; not those that need not be, or that may be missing."""
    for tools in run.tools:
        for call in tools.calls if tools.match != "superset" else ():
            if call.error is not True and "/" not in call.name and not has_magic(call.name):
                yield NamedTool(call.name, call.range, callers)
    for child in run.children:
        if child.times != 0:
            yield from _called_tools(child.run, (*callers, child.agent))


_RUN_KEYS = frozenset({"answer", "status", "error", "tools", "children", *WHOLE_NUMBERS, *NUMBERS})


class _Reader:
    """Reads nodes; their faults are in `problems`."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def outline(self, root: Node, pieces: tuple[Placed, ...]) -> Outline:
        """The file whose other tables are in `root`."""
        agent = self._needed(root, "agent", "the file", ("agent",))
        replays_tools = _string(_member(root, "tools")) == "recorded"
        for start, piece in pieces:
            self.problems += [each.moved(start) for each in piece.problems]
            for case in piece.cases if replays_tools else ():
                self._no_files(case, start)
        self._tell_apart(pieces)
        workspace = _member(root, "workspace")
        folder = _string(workspace)
        if workspace is not None and _leads_out(folder, up=True):
            self._bad_path(workspace, "workspace", folder, "a folder of the project, from here")
        return Outline(
            agent=_string(agent),
            workspace=folder,
            allow=tuple(_strings(_member(root, "allow"))),
            replays_tools=replays_tools,
            pieces=pieces,
            problems=tuple(self.problems),
        )

    def case(self, node: Node) -> Case:
        """One case, by itself."""
        name = self._needed(node, "name", "the case", ("case", "name"))
        tasks = tuple(_strings(_member(node, "task")))
        given = _member(node, "input")
        path: KeyPath = ("case", "task")
        if given is not None and tasks:
            self._problem("bad-test", given, "task and input: a run gets one of them", path)
        replay, rate = _member(node, "replay"), _member(node, "rate")
        recording = _string(replay)
        if replay is not None and (
            _leads_out(recording, up=True) or not recording.endswith(".toml")
        ):
            self._bad_path(replay, "replay", recording, "a .toml file of the project")
        if rate is not None and isinstance(rate.value, float) and rate.value > 1:
            self._problem("out-of-range", rate, "case.rate cannot exceed 1", ("case", "rate"))
        expect = _member(node, "expect") or Node(node.range, members={})
        where: KeyPath = ("case", "expect")
        run = self._run(expect, where)
        if not run.status and not run.error:
            run = replace(run, status=(Check("equals", "completed", run.range),))
        forbidden = tuple(self._forbidden(expect, (*where, "forbidden")))
        self._contradictions(run, forbidden)
        return Case(
            name=_string(name),
            range=name.range if name is not None else node.range,
            run=run,
            tasks=tasks,
            input=_plain(given) if given is not None and given.members is not None else None,
            replay=recording,
            replay_range=(replay or name or node).range,
            rate=float(rate.value) if rate is not None and _is_number(rate.value) else 1.0,
            files=tuple(self._files(expect, (*where, "files"))),
            forbidden=forbidden,
            judges=tuple(self._judges(expect, (*where, "judge"))),
        )

    def _no_files(self, case: CaseOutline, start: int) -> None:
        if case.files is not None:
            message = 'nothing changes files here: with `tools = "recorded"` no tool is executed'
            where = Node(case.files.moved(start))
            self._problem("bad-test", where, message, ("case", "expect", "files"))

    def _tell_apart(self, pieces: Iterable[Placed]) -> None:
        """Names and recordings of cases must differ: the second of two would overwrite the first."""
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
                    self._problem("bad-test", where, message, ("case", "name"))
                names.add(case.name)
                recordings.add(recording)

    # -- one run

    def _run(self, node: Node, path: KeyPath) -> Expected:
        members = _members(node)
        if _RUN_KEYS.isdisjoint(members):
            return Expected(node.range)
        measures = {
            name: tuple(self._numbers(members[name]))
            for name in (*WHOLE_NUMBERS, *NUMBERS)
            if name in members
        }
        return Expected(
            range=node.range,
            answer=self._text(_member(node, "answer"), (*path, "answer")),
            status=_one("equals", _member(node, "status")),
            error=_one("contains", _member(node, "error")),
            measures=measures,
            tools=tuple(self._tools(node, (*path, "tools"))),
            children=tuple(self._children(node, (*path, "children"))),
        )

    def _numbers(self, node: Node) -> Iterator[Check]:
        for word, value in _members(node).items():
            if word in ("min", "max", "equals") and _is_number(value.value):
                yield Check(word, value.value, value.range)

    def _text(self, node: Node | None, path: KeyPath) -> tuple[Check, ...]:
        found = [
            self._check(word, value, (*path, word))
            for word, value in _members(node).items()
            if word in _TEXT_WORDS
        ]
        return tuple(each for each in found if each is not None)

    def _check(self, word: str, node: Node, path: KeyPath) -> Check | None:
        """A check whose value is right for its word; None if it is not, which is reported."""
        self._needs_text(word, node, path)
        if word in ("contains", "lacks"):
            texts = tuple(_strings(node))
            return Check(word, texts, node.range) if texts else None
        if word == "matches":
            return self._pattern(node, path)
        if word == "schema":
            faults = list(schema_faults(node, ".".join(path)))
            for fault in faults:
                self.problems.append(Problem("bad-schema", fault.range, fault.message, path, 0))
            return None if faults else Check(word, _plain(node), node.range)
        return Check(word, _plain(node), node.range)

    def _needs_text(self, word: str, node: Node, path: KeyPath) -> None:
        """Report a value that is no text below keys of the user's, of which the schema has no rows."""
        if word not in ("contains", "lacks", "matches") or TESTS.find(path) is not None:
            return
        is_list = node.items is not None and word != "matches"
        items = (node.items or []) if is_list else [node]
        if not all(isinstance(each.value, str) for each in items):
            wanted = "a string" if word == "matches" else "a string or an array of strings"
            self._problem("wrong-type", node, f"{word} must be {wanted}", path)

    def _pattern(self, node: Node, path: KeyPath) -> Check | None:
        if not isinstance(node.value, str):
            return None
        if fault := expression_fault(node.value):
            self._problem("bad-test", node, fault, path)
            return None
        return Check("matches", node.value, node.range)

    # -- tools

    def _tools(self, node: Node, path: KeyPath) -> Iterator[Calls]:
        for each in _items(node, "tools"):
            calls = [self._call(call, (*path, "calls")) for call in _items(each, "calls")]
            match = _string(_member(each, "match")) or MATCHES[0]
            place = _member(each, "calls")
            if place is None:
                self._problem("missing-key", each, "tools need `calls`", path)
            where = (place or each).range
            yield Calls(match, tuple(call for call in calls if call is not None), where)

    def _call(self, node: Node, path: KeyPath) -> Call | None:
        name = self._needed(node, "name", "a call", (*path, "name"))
        if name is None:
            return None
        error, times = _member(node, "error"), _member(node, "times")
        return Call(
            name=self._tool(name, path),
            range=name.range,
            args=tuple(self._arguments(_member(node, "args"), (*path, "args"), ())),
            error=error.value if error is not None and isinstance(error.value, bool) else None,
            times=_whole(times) or 1,
        )

    def _tool(self, node: Node, path: KeyPath) -> str:
        """The name of a tool as runs have it. One that is nearly that of a tool may be the name of a typed agent."""
        written = _string(node)
        name = TOOL_ALIASES.get(written, written)
        if name not in _TOOLS and "/" not in name and not has_magic(name):
            meant = nearest_of(name, _TOOLS)
            if meant is not None:
                message = f"no tool is named {quoted(name)}. Did you mean {quoted(meant)}?"
                self.problems.append(
                    Problem("bad-test", node.range, message, path, 0, fatal=False, is_warning=True)
                )
        return name

    def _arguments(
        self, node: Node | None, path: KeyPath, above: tuple[str, ...]
    ) -> Iterator[Argument]:
        """The checks of arguments; a table with other keys than words of checks is a part of the argument."""
        for name, value in _members(node).items():
            here = (*above, name)
            words = _members(value)
            if not words or not words.keys() <= _ARGUMENT_WORDS:
                if value.members:
                    yield from self._arguments(value, path, here)
                else:
                    yield Argument(here, (Check("equals", _plain(value), value.range),))
                continue
            checks = [self._check(word, each, (*path, word)) for word, each in words.items()]
            yield Argument(here, tuple(each for each in checks if each is not None))

    def _forbidden(self, expect: Node, path: KeyPath) -> Iterator[Call]:
        node = _member(expect, "forbidden")
        for each in (node.items if node is not None else None) or ():
            if isinstance(each.value, str):
                yield Call(self._tool(each, path), each.range)
            elif each.members is not None and (call := self._call(each, path)) is not None:
                yield call

    def _contradictions(self, run: Expected, forbidden: tuple[Call, ...]) -> None:
        """Calls that are both expected and forbidden, whatever their arguments are."""
        always = {each.name for each in forbidden if not each.args and not has_magic(each.name)}
        for call in _expected_calls(run):
            if call.name in always:
                message = f"{quoted(call.name)} is expected here and forbidden in the same case"
                path = ("case", "expect", "forbidden")
                self._problem("bad-test", Node(call.range), message, path)

    # -- the rest

    def _children(self, node: Node, path: KeyPath) -> Iterator[Child]:
        for each in _items(node, "children"):
            agent = self._needed(each, "agent", "a child", (*path, "agent"))
            if agent is None:
                continue
            times = _member(each, "times")
            yield Child(
                agent=_string(agent),
                run=replace(self._run(each, path), range=agent.range),
                task=self._text(_member(each, "task"), (*path, "task")),
                times=_whole(times),
            )

    def _files(self, expect: Node, path: KeyPath) -> Iterator[File]:
        for name, value in _members(_member(expect, "files")).items():
            if _leads_out(name) or name in ("", "."):
                self._bad_path(value, "files", name, "a file of the copied workspace")
            elif isinstance(value.value, bool):
                yield File(name, value.range, is_there=value.value)
            elif value.members is not None:
                for word, each in value.members.items():
                    if word not in _TEXT_WORDS:
                        message = f"unknown key {quoted('.'.join((*path, name, word)))}"
                        self._problem("unknown-key", each, message, (*path, name, word))
                yield File(name, value.range, checks=self._text(value, (*path, name)))
            else:
                message = f"{'.'.join((*path, name))} must be true, false or a table of checks"
                self._problem("wrong-type", value, message, (*path, name))

    def _judges(self, expect: Node, path: KeyPath) -> Iterator[Judge]:
        for each in _items(expect, "judge"):
            agent = self._needed(each, "agent", "a judge", (*path, "agent"))
            criteria = self._needed(each, "criteria", "a judge", (*path, "criteria"))
            if agent is not None and criteria is not None:
                yield Judge(_string(agent), _string(criteria), agent.range)

    def _needed(self, node: Node, key: str, what: str, path: KeyPath) -> Node | None:
        """The text that has to be there. One of a wrong type is reported with the rows."""
        value = _member(node, key)
        if value is None:
            self._problem("missing-key", node, f"{what} needs `{key}`", path)
            return None
        if not isinstance(value.value, str):
            return None
        if not value.value.strip():
            self._problem("missing-key", value, f"{what} needs a `{key}` that is not empty", path)
            return None
        return value

    def _bad_path(self, node: Node, key: str, path: str, wanted: str) -> None:
        self._problem("bad-test", node, f"{key} must name {wanted}, not {quoted(path)}", (key,))

    def _problem(self, code: str, node: Node, message: str, path: KeyPath) -> None:
        self.problems.append(Problem(code, node.range, message, path, 0))


def _expected_calls(run: Expected) -> Iterator[Call]:
    for tools in run.tools:
        if tools.match != "superset":  # Those may be called, and need not.
            yield from tools.calls
    for child in run.children:
        yield from _expected_calls(child.run)


def _one(word: str, node: Node | None) -> tuple[Check, ...]:
    if node is None or not isinstance(node.value, str):
        return ()
    wanted = (node.value,) if word == "contains" else node.value
    return (Check(word, wanted, node.range),)


def _leads_out(path: str, *, up: bool = False) -> bool:
    """Whether a path is absolute or leads above its folder; `up` allows the latter, which is judged on the disk."""
    parts = path.replace("\\", "/").split("/")
    is_absolute = path.startswith(("/", "~", "$", "\\")) or parts[0].endswith(":")
    return is_absolute or "\0" in path or (not up and ".." in parts)


def _members(node: Node | None) -> Mapping[str, Node]:
    return (node.members if node is not None else None) or {}


def _member(node: Node, key: str) -> Node | None:
    return _members(node).get(key)


def _items(node: Node, key: str) -> list[Node]:
    """The tables of an array of tables."""
    value = _member(node, key)
    found = (value.items if value is not None else None) or []
    return [each for each in found if each.members is not None]


def _string(node: Node | None) -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _strings(node: Node | None) -> Iterator[str]:
    """A text, or those of an array."""
    if node is None:
        return
    for each in [node] if node.items is None else node.items:
        if isinstance(each.value, str):
            yield each.value


def _whole(node: Node | None) -> int | None:
    is_whole = node is not None and isinstance(node.value, int) and not isinstance(node.value, bool)
    return node.value if node is not None and is_whole else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(node: Node) -> Any:
    """The value of a node as JSON has it."""
    if node.members is not None:
        return {name: _plain(each) for name, each in node.members.items()}
    if node.items is not None:
        return [_plain(each) for each in node.items]
    return node.value if node.is_json else str(node.value)
