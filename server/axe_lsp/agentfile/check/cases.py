"""One case of a file of tests: its expectations, and the problems that the rows of the schema can't express.

Values of a wrong type are reported with the rows, and left out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.json_schema import expression_fault, schema_faults
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.nested import Node, member_of, tables_of, text_of, texts_of
from axe_lsp.agentfile.schema.test_keys import (
    ARGUMENT_WORDS,
    MATCHES,
    NUMBERS,
    TESTS,
    WHOLE_NUMBERS,
)
from axe_lsp.agentfile.schema.tools import ALL_TOOLS, TOOL_ALIASES
from axe_lsp.agentfile.text.globs import has_magic
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import TextRange, quoted

_TEXT_WORDS = ("contains", "lacks", "matches", "equals", "schema")
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
    """A child that is expected: the runs of `agent` whose task passes the checks. `times` None is at least once.

    `is_side` None allows side runs and children for which the run waits.
    """

    agent: str
    run: Expected
    task: tuple[Check, ...] = ()
    times: int | None = None
    is_side: bool | None = None


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
        """Return the path of its recording from the folder of recordings; `stem` is that of the file of tests."""
        return self.replay or f"{stem}{usual_recording(self.name)}"


def usual_recording(name: str) -> str:
    """Return the path of the recording of a case, behind the stem of its file of tests."""
    return f"/{re.sub(r'[^a-zA-Z0-9_.-]+', '-', name).strip('-.')}.toml"


_RUN_KEYS = frozenset({"answer", "status", "error", "tools", "children", *WHOLE_NUMBERS, *NUMBERS})


class CaseReader:
    """Reads nodes; their faults are in `problems`."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def case(self, node: Node) -> Case:
        """Check a single case and return it."""
        name = self.needed(node, "name", "the case", ("case", "name"))
        tasks = tuple(texts_of(member_of(node, "task")))
        given = member_of(node, "input")
        path: KeyPath = ("case", "task")
        if given is not None and tasks:
            self.problem("bad-test", given, "task and input: a run gets one of them", path)
        replay, rate = member_of(node, "replay"), member_of(node, "rate")
        recording = text_of(replay)
        if replay is not None and (
            leads_out(recording, up=True) or not recording.endswith(".toml")
        ):
            self.bad_path(replay, "replay", recording, "a .toml file of the project")
        if rate is not None and isinstance(rate.value, float) and rate.value > 1:
            self.problem("out-of-range", rate, "case.rate cannot exceed 1", ("case", "rate"))
        expect = member_of(node, "expect") or Node(node.range, members={})
        where: KeyPath = ("case", "expect")
        run = self._run(expect, where)
        if not run.status and not run.error:
            run = replace(run, status=(Check("equals", "completed", run.range),))
        forbidden = tuple(self._forbidden(expect, (*where, "forbidden")))
        self._contradictions(run, forbidden)
        return Case(
            name=text_of(name),
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
            answer=self._text(member_of(node, "answer"), (*path, "answer")),
            status=_one("equals", member_of(node, "status")),
            error=_one("contains", member_of(node, "error")),
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
        """Return a check whose value is right for its word; None if it is not, which is reported."""
        self._needs_text(word, node, path)
        if word in ("contains", "lacks"):
            texts = tuple(texts_of(node))
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
            self.problem("wrong-type", node, f"{word} must be {wanted}", path)

    def _pattern(self, node: Node, path: KeyPath) -> Check | None:
        if not isinstance(node.value, str):
            return None
        if fault := expression_fault(node.value):
            self.problem("bad-test", node, fault, path)
            return None
        return Check("matches", node.value, node.range)

    # -- tools

    def _tools(self, node: Node, path: KeyPath) -> Iterator[Calls]:
        for each in tables_of(node, "tools"):
            calls = [self._call(call, (*path, "calls")) for call in tables_of(each, "calls")]
            match = text_of(member_of(each, "match")) or MATCHES[0]
            place = member_of(each, "calls")
            if place is None:
                self.problem("missing-key", each, "tools need `calls`", path)
            where = (place or each).range
            yield Calls(match, tuple(call for call in calls if call is not None), where)

    def _call(self, node: Node, path: KeyPath) -> Call | None:
        name = self.needed(node, "name", "a call", (*path, "name"))
        if name is None:
            return None
        error, times = member_of(node, "error"), member_of(node, "times")
        return Call(
            name=self._tool(name, path),
            range=name.range,
            args=tuple(self._arguments(member_of(node, "args"), (*path, "args"), ())),
            error=error.value if error is not None and isinstance(error.value, bool) else None,
            times=_whole(times) or 1,
        )

    def _tool(self, node: Node, path: KeyPath) -> str:
        """Return the name of a tool as runs have it. One that is nearly that of a tool may be the name of a typed agent."""
        written = text_of(node)
        name = TOOL_ALIASES.get(written, written)
        if name not in ALL_TOOLS and "/" not in name and not has_magic(name):
            meant = nearest_of(name, tuple(ALL_TOOLS))
            if meant is not None:
                message = f"no tool is named {quoted(name)}. Did you mean {quoted(meant)}?"
                self.problems.append(
                    Problem("bad-test", node.range, message, path, 0, fatal=False, is_warning=True)
                )
        return name

    def _arguments(
        self, node: Node | None, path: KeyPath, above: tuple[str, ...]
    ) -> Iterator[Argument]:
        """Yield the checks of arguments; a table with other keys than words of checks is a part of the argument."""
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
        node = member_of(expect, "forbidden")
        for each in (node.items if node is not None else None) or ():
            if isinstance(each.value, str):
                yield Call(self._tool(each, path), each.range)
            elif each.members is not None and (call := self._call(each, path)) is not None:
                yield call

    def _contradictions(self, run: Expected, forbidden: tuple[Call, ...]) -> None:
        """Find calls that are both expected and forbidden, whatever their arguments are."""
        always = {each.name for each in forbidden if not each.args and not has_magic(each.name)}
        for call in _expected_calls(run):
            if call.name in always:
                message = f"{quoted(call.name)} is expected here and forbidden in the same case"
                path = ("case", "expect", "forbidden")
                self.problem("bad-test", Node(call.range), message, path)

    # -- the rest

    def _children(self, node: Node, path: KeyPath) -> Iterator[Child]:
        for each in tables_of(node, "children"):
            agent = self.needed(each, "agent", "a child", (*path, "agent"))
            if agent is None:
                continue
            times, background = member_of(each, "times"), member_of(each, "background")
            is_side = background.value if background is not None else None
            yield Child(
                agent=text_of(agent),
                run=replace(self._run(each, path), range=agent.range),
                task=self._text(member_of(each, "task"), (*path, "task")),
                times=_whole(times),
                is_side=is_side if isinstance(is_side, bool) else None,
            )

    def _files(self, expect: Node, path: KeyPath) -> Iterator[File]:
        for name, value in _members(member_of(expect, "files")).items():
            if leads_out(name) or name in ("", "."):
                self.bad_path(value, "files", name, "a file of the copied workspace")
            elif isinstance(value.value, bool):
                yield File(name, value.range, is_there=value.value)
            elif value.members is not None:
                for word, each in value.members.items():
                    if word not in _TEXT_WORDS:
                        message = f"unknown key {quoted('.'.join((*path, name, word)))}"
                        self.problem("unknown-key", each, message, (*path, name, word))
                yield File(name, value.range, checks=self._text(value, (*path, name)))
            else:
                message = f"{'.'.join((*path, name))} must be true, false or a table of checks"
                self.problem("wrong-type", value, message, (*path, name))

    def _judges(self, expect: Node, path: KeyPath) -> Iterator[Judge]:
        for each in tables_of(expect, "judge"):
            agent = self.needed(each, "agent", "a judge", (*path, "agent"))
            criteria = self.needed(each, "criteria", "a judge", (*path, "criteria"))
            if agent is not None and criteria is not None:
                yield Judge(text_of(agent), text_of(criteria), agent.range)

    def needed(self, node: Node, key: str, what: str, path: KeyPath) -> Node | None:
        """Return the text that has to be there. One of a wrong type is reported with the rows."""
        value = member_of(node, key)
        if value is None:
            self.problem("missing-key", node, f"{what} needs `{key}`", path)
            return None
        if not isinstance(value.value, str):
            return None
        if not value.value.strip():
            self.problem("missing-key", value, f"{what} needs a `{key}` that is not empty", path)
            return None
        return value

    def bad_path(self, node: Node, key: str, path: str, wanted: str) -> None:
        self.problem("bad-test", node, f"{key} must name {wanted}, not {quoted(path)}", (key,))

    def problem(self, code: str, node: Node, message: str, path: KeyPath) -> None:
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


def leads_out(path: str, *, up: bool = False) -> bool:
    """Return whether a path is absolute or leads above its folder; `up` allows the latter, which is judged on the disk."""
    parts = path.replace("\\", "/").split("/")
    is_absolute = path.startswith(("/", "~", "$", "\\")) or parts[0].endswith(":")
    return is_absolute or "\0" in path or (not up and ".." in parts)


def _members(node: Node | None) -> Mapping[str, Node]:
    return (node.members if node is not None else None) or {}


def _whole(node: Node | None) -> int | None:
    is_whole = node is not None and isinstance(node.value, int) and not isinstance(node.value, bool)
    return node.value if node is not None and is_whole else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(node: Node) -> Any:
    """Return the value of a node as JSON has it."""
    if node.members is not None:
        return {name: _plain(each) for name, each in node.members.items()}
    if node.items is not None:
        return [_plain(each) for each in node.items]
    return node.value if node.is_json else str(node.value)
