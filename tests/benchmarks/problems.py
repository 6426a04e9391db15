"""Keystrokes and code actions in files with a thousand problems, beside plain files of the same size.

python -m benchmarks.problems [KIND …]    # from tests/: all kinds, or some, with both costs
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.client import Diagnostics, Json
from benchmarks.contenders import OURS, scratch_folder, start
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Measure, in_rounds

COUNT = 1_000
"""Problems of a file."""

KEYSTROKE, ACTIONS = 25.0, 250.0
"""Milliseconds of processor time that are wanted at the most."""

_HEAD = 'name = "main"\nmodel = "openai/gpt-6-sol"\n'
_WITH, _PLAIN = "with problems", "plain"


class Kind(NamedTuple):
    """A file full of problems: `text` below its name and model, and the agents beside it, by name."""

    text: str
    agents: Mapping[str, str] = {}
    settings: Mapping[str, str] = {}
    """Severities, for rules that are off otherwise."""
    path: str = "axe/agents/main.toml"
    head: str = _HEAD


def _each(line: str, count: int = COUNT) -> str:
    return "".join(line.replace("{n}", str(number)) for number in range(count))


def _list(key: str, item: str, count: int = COUNT) -> str:
    return f"{key} = [\n{_each(f'  {item},{chr(10)}', count)}]\n"


def _deep(opening: str, closing: str, count: int) -> str:
    return f"{opening * count}1{closing * count}\n"


def _agents(head: str) -> dict[str, str]:
    return {
        f"agent{n}": f'name = "agent{n}"\nmodel = "openai/gpt-6-sol"\n{head}' for n in range(COUNT)
    }


_SERVER = '[[mcp_servers]]\nname = "s{n}"\nurl = "https://example.org/{n}"\ntransport = "sse"\n'
_PROGRAM = '[[mcp_servers]]\nname = "s{n}"\ncommand = "npx"\nargs = ["-y", "server-{n}"]\n'
_TESTS, _TEST_HEAD = "axe/tests/main.toml", 'agent = "main"\n'
_CASE = "[[case]]\nname = 'c{n}'\ntask = 'Go on.'\n"
_CODEX, _CODEX_HEAD = ".codex/agents/main.toml", "name = 'main'\ndescription = 'd'\n"
_CODEX_CONFIG = ".codex/config.toml"
_SECRET = "sk-" + "a1B2c3D4" * 5
_NAMES = _list("sub_agents", '"agent{n}"')

KINDS: dict[str, Kind] = {
    "unclosed strings": Kind(_each('description = "{n}\n')),
    "invalid values": Kind(_each("key{n} = maybe\n", COUNT // 2)),
    "keys without a value": Kind(_each("key{n} =\n")),
    "unclosed headers": Kind(_each("[table{n}\n")),
    "unclosed array": Kind("sub_agents = [\n" + _each('  "agent{n}"\n')),
    "stray words": Kind(_each("some words {n}\n")),
    "unknown escapes": Kind(_each('key{n} = "\\q"\n')),
    "duplicate keys": Kind(_each('description = "{n}"\n')),
    "duplicate tables": Kind(_each("[memory]\n")),
    "duplicate names in arrays": Kind(
        _each("[[mcp_servers]]\nname = 's'\nname = 's'\n", COUNT // 4)
    ),
    "missing keys": Kind(_each("[[mcp_servers]]\n", COUNT // 3)),
    "wrong types": Kind(_each("[[mcp_servers]]\nname = {n}\n", COUNT // 3)),
    "wrong types in an array": Kind(_list("sub_agents", "{n}")),
    "out of range": Kind(_each(_SERVER.replace('"sse"', '"tcp"'), COUNT // 2)),
    "max_depth, timeouts": Kind("timeout = -1\n[sub_agents_config]\nmax_depth = 9\ntimeout = -1\n"),
    "unknown agents": Kind(_list("sub_agents", '"nobody{n}"')),
    "unknown types": Kind('tools = ["task"]\n[task]\n' + _list("types", '"nobody{n}"')),
    "duplicate agents": Kind(_list("sub_agents", '"nobody"', COUNT // 2)),
    "agents that call back": Kind(_NAMES, _agents('sub_agents = ["main"]\n')),
    "two timeouts": Kind("timeout = 60\n" + _NAMES, _agents("timeout = 90\n")),
    "unknown keys": Kind(_each("key{n} = 1\n")),
    "misspelt keys": Kind(_each("[[mcp_servers]]\nnmae = 's{n}'\n", COUNT // 4)),
    "unknown tables": Kind(_each("[table{n}]\n")),
    "unknown arrays of tables": Kind(_each("[[table]]\nkey{n} = 1\n")),
    "headers below an unknown table": Kind(_each("[table.key{n}]\n")),
    "dotted keys below an unknown table": Kind(_each("table.key{n}.x = 1\n")),
    "unknown tools": Kind(_list("tools", '"tool{n}"')),
    "unknown tools of types": Kind(_each("[task.type.t{n}]\ntools = ['tool{n}']\n")),
    "one-off problems": Kind(
        'skill = "missing"\nworkdir = "missing"\n[params]\nnum_ctx = 1\n[memory]\nlast_n = 2\n'
        "[retry]\nmax_retries = 2\n[sub_agents_config]\nparallel = true\n"
    ),
    "malformed globs": Kind(_list("files", '"[{n}"')),
    "globs that match nothing": Kind(_list("files", '"none{n}/*"')),
    "globs outside": Kind(_list("files", '"../../outside{n}/*"', COUNT // 2)),
    "servers outside": Kind(_each(_SERVER)),
    "keys sent to servers": Kind(_each(_SERVER + 'headers = {A = "${ANTHROPIC_API_KEY}"}\n')),
    "programs as servers": Kind(_each(_PROGRAM)),
    "programs with a relative path": Kind(_each(_PROGRAM.replace('"npx"', '"./npx"'))),
    "programs with keys": Kind(_each(_PROGRAM + "env = {A = '${ANTHROPIC_API_KEY}'}\n")),
    "programs with keys of addresses": Kind(_each(_PROGRAM + "headers = {A = 'b'}\n")),
    "isolation": Kind("[isolation]\n" + _each("mode{n} = 'copy'\n")),
    "cases that expect nothing": Kind(_each(_CASE), path=_TESTS, head=_TEST_HEAD),
    "cases with unknown keys": Kind(
        _each(f"{_CASE}expect.text{{n}} = 'x'\n"), path=_TESTS, head=_TEST_HEAD
    ),
    "cases with unknown agents": Kind(
        _each(f"{_CASE}[[case.expect.child]]\nagent = 'nobody{{n}}'\n"),
        path=_TESTS,
        head=_TEST_HEAD,
    ),
    "cases of one name": Kind(
        _each(_CASE.replace("c{n}", "c") + "expect.text = 'x'\n"), path=_TESTS, head=_TEST_HEAD
    ),
    "unknown keys of Codex": Kind(_each("key{n} = 1\n"), path=_CODEX, head=_CODEX_HEAD),
    "wrong types of Codex": Kind(
        _each("[mcp_servers.s{n}]\ncommand = {n}\n"), path=_CODEX, head=_CODEX_HEAD
    ),
    "agents of Codex without a file": Kind(
        _each("[agents.a{n}]\nconfig_file = 'none{n}.toml'\n"), path=_CODEX_CONFIG, head=""
    ),
    "unclosed strings of Codex": Kind(
        _each('model_reasoning_effort = "{n}\n'), path=_CODEX_CONFIG, head=""
    ),
    "servers of Codex of both kinds": Kind(
        _each("[mcp_servers.s{n}]\ncommand = 'npx'\nurl = 'https://example.org/{n}'\n"),
        path=_CODEX_CONFIG,
        head="",
    ),
    "unknown keys of Vibe": Kind(_each("key{n} = 1\n"), path=".vibe/agents/main.toml", head=""),
    "references of schemas that lead nowhere": Kind(
        _each("[input.properties.key{n}]\n'$ref' = '#none{n}'\n")
    ),
    "references of schemas that lead out": Kind(
        _each("[input.properties.key{n}]\n'$ref' = 'none{n}'\n")
    ),
    "bad patterns of schemas": Kind(_each("[input.properties.key{n}]\npattern = '[{n}'\n")),
    "unknown keywords of schemas": Kind(
        "[input]\n" + _list("required", '"key{n}"') + _each("[input.x{n}]\ntype = 'x'\n", 500)
    ),
    "cases with bad patterns": Kind(
        _each(f"{_CASE}expect.answer.matches = '[{{n}}'\n"), path=_TESTS, head=_TEST_HEAD
    ),
    "cases with unknown tools": Kind(
        _each(f"{_CASE}expect.forbidden = ['tool{{n}}']\n"), path=_TESTS, head=_TEST_HEAD
    ),
    "cases with children that are not called": Kind(
        _each(f"{_CASE}[[case.expect.children]]\nagent = 'agent{{n}}'\n"),
        {f"agent{n}": f"name = 'agent{n}'\nmodel = 'openai/gpt-6-sol'\n" for n in range(COUNT)},
        path=_TESTS,
        head=_TEST_HEAD,
    ),
    "cases with children of a caller of many": Kind(
        _each(f"{_CASE}[[case.expect.children]]\nagent = 'agent{{n}}'\n"),
        {
            **{
                f"agent{n}": f"name = 'agent{n}'\nmodel = 'openai/gpt-6-sol'\n"
                for n in range(COUNT)
            },
            "main": _HEAD + _list("sub_agents", '"agents{n}"'),
        },
        path=_TESTS,
        head=_TEST_HEAD,
    ),
    "cases with calls of other tools": Kind(
        _each(f"{_CASE}[[case.expect.tools]]\ncalls = [{{ name = 'read_file' }}]\n"),
        path=_TESTS,
        head=_TEST_HEAD,
    ),
    "keys of cases, twice": Kind(_each(f"{_CASE}name = 'c{{n}}'\n"), path=_TESTS, head=_TEST_HEAD),
    "cases of nobody": Kind(_each(_CASE), path=_TESTS, head="agent = 'nobody'\n"),
    "recordings outside": Kind(
        _each(f"{_CASE}replay = '../../../../x{{n}}.toml'\n"), path=_TESTS, head=_TEST_HEAD
    ),
    "unknown tools of servers": Kind(
        _each(_SERVER) + _each("[tool_policy.tool{n}]\nallow = ['x']\n", 10)
    ),
    "bad schemas": Kind(_each("[input.properties.key{n}]\ntype = 'nothing'\n")),
    "secrets": Kind(_each(f"# {_SECRET}{{n}}\n")),
    "secrets as values": Kind(_each(f'key{{n}} = "{_SECRET}{{n}}"\n')),
    "keys that axe ignores": Kind(
        _each("[task.type.t{n}]\ntools = ['grep']\n"), settings={"not-axe": "warning"}
    ),
    "unused ignores": Kind(_each("# axe: ignore[wrong-type]\n")),
    "unknown codes in ignores": Kind(_each("# axe: ignore[code{n}]\n")),
    "used ignores": Kind(_each("key{n} = 1  # axe: ignore[unknown-key]\n")),
    "an ignore of many codes": Kind(f"# axe: ignore[{', '.join(['wrong-type'] * COUNT)}]\n"),
    "deep arrays": Kind("key = " + _deep("[", "]", COUNT)),
    "deep inline tables": Kind("key = " + _deep("{a = ", "}", COUNT)),
    "unclosed deep arrays": Kind("key = " + "[" * COUNT + "\n"),
    "a dotted key of 16 KB": Kind("a." * 8_000 + "a = 1\n"),
    "a dotted header of 16 KB": Kind("[" + "a." * 8_000 + "a]\n"),
    "dotted keys of 1 KB": Kind(_each("a." * 512 + "k{n} = 1\n", 16)),
    "a line of 100 KB": Kind(
        "sub_agents = [" + '"nobody", ' * (COUNT // 2) + f'"{"x" * 100_000}"]\n'
    ),
    "an unclosed line of 100 KB": Kind('description = "' + "word " * 20_000 + "\n"),
    "a string of 100 KB": Kind('description = "' + "word " * 20_000 + '"\n'),
    "a comment of 100 KB": Kind("# " + "word " * 20_000 + "\n"),
    "a line of 100 KB of brackets": Kind("[" * 100_000 + "\n"),
    "a line of 100 KB of quotes": Kind('"' * 100_001 + "\n"),
    "an inline table of 100 KB": Kind("key = {" + _each("key{n} = 1, ", 8_000) + "}\n"),
    "mixed": Kind(
        _each("key{n} = 1\n", 250)
        + _list("sub_agents", '"nobody{n}"', 250)
        + _list("files", '"[{n}"', 125)
        + _each("key{n} = maybe\n", 125)
        + _each("[table{n}]\n", 125)
        + _each("# axe: ignore[wrong-type]\n", 125)
    ),
}


def write(folder: Path, kind: Kind) -> Path:
    """Write such a file and the agents beside it; where it is."""
    agents = folder / "axe" / "agents"
    agents.mkdir(parents=True)
    for name, text in {"main": _HEAD, **kind.agents}.items():
        (agents / f"{name}.toml").write_text(text, "utf-8")
    path = folder / kind.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{kind.head}{kind.text}", "utf-8")
    return path


class Typing:
    """A server with such a file open, in which somebody types."""

    def __init__(self, stack: ExitStack, kind: Kind) -> None:
        folder = stack.enter_context(scratch_folder())
        path = write(folder, kind)
        self._uri, self._text = path.as_uri(), path.read_text("utf-8")
        self._client = stack.enter_context(start(OURS, folder))
        self._client.settings = {"diagnostics": dict(kind.settings)}
        self._client.begin()
        self._client.wait_until_idle()
        self._client.open(self._uri, self._text)
        self._client.wait_until_idle()
        self._lines = 0
        self.found = self._new_line()
        self._client.wait_until_idle()

    def rest(self) -> None:
        """Wait until the server has looked at what the file says of the disk, which is done in the background."""
        self._client.wait_until_idle()

    def keystroke(self) -> float:
        """Return a line that is begun or taken away at the top: everything has another place then."""
        return self._cost(self._new_line)

    def actions(self) -> float:
        """Return all code actions of the file, for the diagnostics that the client shows."""
        return self._cost(self._all_actions)

    def _cost(self, action: Callable[[], object]) -> float:
        """Processor time of the server, in milliseconds."""
        before = self._client.processor_ms
        action()
        return self._client.processor_ms - before

    def _new_line(self) -> Diagnostics:
        start = {"line": 0, "character": 0}
        end = {"line": self._lines, "character": 0}
        self._lines = 1 - self._lines
        change = {"range": {"start": start, "end": end}, "text": "\n" * self._lines}
        version = self._client.change(self._uri, change)
        return self._client.wait_for_version(self._uri, version)

    def _all_actions(self) -> Json:
        end = {"line": self._text.count("\n") + 1, "character": 0}
        where = {"start": {"line": 0, "character": 0}, "end": end}
        params = {
            "textDocument": {"uri": self._uri},
            "range": where,
            "context": {"diagnostics": self.found},
        }
        return self._client.request("textDocument/codeAction", params)


_PUBLISHED = (
    "unclosed strings",
    "duplicate keys",
    "keys of cases, twice",
    "wrong types",
    "out of range",
    "unknown agents",
    "unknown keys",
    "headers below an unknown table",
    "unknown tools",
    "globs outside",
    "bad schemas",
    "bad patterns of schemas",
    "programs with keys",
    "cases with unknown keys",
    "cases with bad patterns",
    "cases with children of a caller of many",
    "cases with calls of other tools",
    "agents of Codex without a file",
    "servers of Codex of both kinds",
    "secrets as values",
    "unused ignores",
    "used ignores",
    "a dotted key of 16 KB",
    "mixed",
)


def measure(rounds: int, kinds: Iterable[str] = _PUBLISHED) -> Iterable[Table]:
    """Begin a line, and ask for all code actions."""
    tables = [
        _table(
            "Keystrokes",
            f"from a keystroke until the diagnostics are sent. Target: at most {KEYSTROKE:g} ms. The keystroke inserts a "
            "line at the top of the file, so each problem moves.",
        ),
        _table(
            "All code actions",
            f"for a request of all code actions in the file. Target: at most {ACTIONS:g} ms.",
        ),
    ]
    for what in kinds:
        kind = KINDS[what]
        plain = Kind("# Nothing to see.\n" * (len(kind.text) // 18), kind.agents)
        with ExitStack() as stack:
            both = {_WITH: Typing(stack, kind), _PLAIN: Typing(stack, plain)}
            for table, measures in zip(tables, _measures(both), strict=True):
                table.rows.append(Row(what, {**in_rounds(measures, rounds, warm_up=1)}))
    return tables


def _table(what: str, moment: str) -> Table:
    return Table(
        title=f"{what} in a file with {COUNT:,} problems",
        note=f"Processor time of the server {moment} The plain file has the same size and contains only comments.",
        unit="ms",
        contenders=[_WITH, _PLAIN],
        ratios=[Ratio(_WITH, _PLAIN)],
    )


def _measures(both: Mapping[str, Typing]) -> tuple[dict[str, Measure], dict[str, Measure]]:
    keystrokes: dict[str, Measure] = {name: each.keystroke for name, each in both.items()}
    actions: dict[str, Measure] = {name: each.actions for name, each in both.items()}
    return keystrokes, actions


def _print(kinds: Iterable[str], rounds: int) -> None:
    for what in kinds:
        with ExitStack() as stack:
            typing = Typing(stack, KINDS[what])
            costs = []
            for cost in (typing.keystroke, typing.actions):
                typing.rest()
                costs.append(sorted(cost() for _ in range(rounds))[rounds // 2])
        codes = ", ".join(sorted({str(each["code"]) for each in typing.found}))
        limits = zip(costs, (KEYSTROKE, ACTIONS), strict=True)
        cells = "".join(f"{cost:9.1f}{'*' if cost > most else ' '}" for cost, most in limits)
        print(f"{what:36}{cells} {len(typing.found):6} {codes}", flush=True)


if __name__ == "__main__":
    _print(sys.argv[1:] or KINDS, 5)
