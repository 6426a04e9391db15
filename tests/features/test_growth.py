"""What a keystroke and code actions take in a file full of problems grows with their number, and not with its square."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from axe_lsp.agentfile.check import agent_tests
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.fix import Context
from axe_lsp.workspace.agent_file import read_agent_file
from axe_lsp.workspace.workspace import Change, Workspace
from support.findings import HEAD
from support.fixture import FOLDER, PLACES, USER_FOLDER, open_fixture
from support.growth import calls_of

_URI = f"{FOLDER}/main.toml"
_TESTS_URI = "file:///project/axe/tests/lead.toml"
_FEW = 100
_LINEAR = 2.5
"""What twice as many problems may take, as a multiple: their squares would take four times as much."""


def lines(line: str) -> Callable[[int], str]:
    """Return a text with a line for each of so many numbers."""
    return lambda count: "".join(line.format(n=index) for index in range(count))


def items(line: str) -> Callable[[int], str]:
    """Return a text with a list of that many lines."""
    return lambda count: f"files = [\n{lines(line)(count)}]\n"


FILES = {
    "unknown keys": lines("key{n} = 1\n"),
    "unknown tables": lines("[table{n}]\n"),
    "comments that silence a finding": lines("key{n} = 1 # axe: ignore[unknown-key]\n"),
    "comments that silence nothing": items('"{n}.md", # axe: ignore[bad-glob]\n'),
    "comments with a slip": items('"{n}.md", # axe: ignore[bad-globe{n}]\n'),
    "duplicate keys": lines('description = "{n}"\n'),
    "broken statements": lines('description = "{n}\n'),
    "bad patterns": items('"[{n}",\n'),
}


def actions(body: str) -> Callable[[], object]:
    """Return all code actions for a whole file."""
    opened = open_fixture(HEAD + body)
    context = Context(
        opened.snapshot, lambda file: diagnostics(opened.snapshot, file), lambda _: HEAD + body
    )
    everything = TextRange(0, len(HEAD + body))
    return lambda: code_actions(context, opened.file, everything)


def keystroke(
    body: str, head: str = HEAD, uri: str = _URI, agents: Mapping[str, str] = {}
) -> Callable[[], object]:
    """One more digit in an open file, up to the diagnostics, when it has been typed in once before."""
    workspace = Workspace(PLACES)
    workspace.apply([Change(f"{FOLDER}/{name}.toml", text) for name, text in agents.items()])

    def typed(digit: str) -> None:
        text = f"{head}timeout = 1{digit}\n{body}"
        snapshot = workspace.apply([Change(uri, text, in_buffer=True)], complete=True).snapshot
        file = snapshot.file(uri)
        assert file is not None
        diagnostics(snapshot, file)

    typed("")
    typed("1")
    return lambda: typed("2")


def test_what_a_key_may_have_meant_is_looked_for_once() -> None:
    """Comparing one with all known keys takes hundreds of calls."""
    assert calls_of(keystroke(FILES["unknown keys"](_FEW))) < 100 * _FEW


def test_unknown_key_of_a_new_file_is_compared_with_few_known_keys() -> None:
    """A stranger's file may have thousands of unknown keys. All known keys together took 1,900 calls for each."""
    texts = [HEAD + FILES["unknown keys"](_FEW).replace("key", f"key_{n}_") for n in range(2)]

    def check(text: str) -> None:
        snapshot = Workspace(PLACES).apply([Change(_URI, text)], complete=True).snapshot
        file = snapshot.file(_URI)
        assert file is not None
        assert len(diagnostics(snapshot, file)) >= _FEW

    check(texts[0])
    assert calls_of(lambda: check(texts[1])) < 250 * _FEW


def test_a_line_above_sound_tables_costs_little_for_each() -> None:
    """What is known of a table by its text alone is known when it has moved."""
    server = '[[mcp_servers]]\nname = "s{n}"\nurl = "https://example.org/{n}"\ntransport = "sse"\n'
    assert calls_of(keystroke(lines(server)(_FEW))) < 60 * _FEW


CASE = """\
[[case]]
name = "c{n}"
task = "Go on."
expect.texts = "x"
expect.answer.matches = "[{n}"
[[case.expect.children]]
agent = "fix{n}"
"""


def test_a_line_above_cases_costs_what_their_problems_do() -> None:
    """Neither the cases nor the tables below their headers are read again."""
    typed = keystroke(lines(CASE)(_FEW), 'agent = "lead"\n', _TESTS_URI)
    assert calls_of(typed) < 250 * _FEW


def test_a_keystroke_in_a_case_reads_that_case_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    original = agent_tests._read
    monkeypatch.setattr(
        agent_tests, "_read", lambda lookup, piece: read.append(piece) or original(lookup, piece)
    )
    place = PLACES.locate(_TESTS_URI)
    text = f'agent = "lead"\n{lines(CASE)(_FEW)}'
    before = read_agent_file(place, text, is_open=True)
    assert len(read) == _FEW
    edited = text.replace('"c50"', '"c50 of 100"')
    after = read_agent_file(place, f"\n{edited}", is_open=True, before=before.open)
    assert len(read) == _FEW + 1
    assert [each.name for each in after.references] == [each.name for each in before.references]


def test_tables_below_an_edit_are_moved_and_not_parsed_again() -> None:
    text = lines(CASE)(_FEW)
    before = Parse(text)
    assert calls_of(lambda: Parse(f"\n{text}", before)) < 20 * _FEW


@pytest.mark.parametrize("name", FILES)
def test_a_keystroke_grows_with_the_problems(name: str) -> None:
    few, many = (calls_of(keystroke(FILES[name](count))) for count in (_FEW, 2 * _FEW))
    assert many < _LINEAR * few


@pytest.mark.parametrize("name", FILES)
def test_code_actions_grow_with_the_problems(name: str) -> None:
    few, many = (calls_of(actions(FILES[name](count))) for count in (_FEW, 2 * _FEW))
    assert many < _LINEAR * few


def test_children_that_a_caller_of_many_does_not_call_grow_with_their_number() -> None:
    def typed(count: int) -> Callable[[], object]:
        called = ", ".join(f'"agents{n}"' for n in range(count))
        agents = {f"agent{n}": f'name = "agent{n}"\nmodel = "ollama/x"\n' for n in range(count)}
        agents["lead"] = f'name = "lead"\nmodel = "ollama/x"\nsub_agents = [{called}]\n'
        case = "[[case]]\nname = 'c{n}'\n[[case.expect.children]]\nagent = 'agent{n}'\n"
        return keystroke(lines(case)(count), 'agent = "lead"\n', _TESTS_URI, agents)

    few, many = (calls_of(typed(count)) for count in (_FEW, 2 * _FEW))
    assert few > 20 * _FEW, "something is said of each"
    assert many < _LINEAR * few


def test_syntax_problems_of_a_file_with_keys_that_are_hidden_grow_with_their_number() -> None:
    body = lines('[providers.p{n}]\napi_key = "{n}\n')
    uri = f"{USER_FOLDER.rpartition('/')[0]}/config.toml"
    few, many = (calls_of(keystroke(body(count), "", uri)) for count in (_FEW, 2 * _FEW))
    assert many < _LINEAR * few


CODEX_FILES = {
    "servers without a transport": lines('[mcp_servers.a{n}]\nenabled_tools = ["x"]\n'),
    "values in place of tables": lines("[mcp_servers.a{n}]\ncommand = 'a'\nenv = 'x'\n"),
    "misspelt headers": lines("[mcp_server.a{n}]\ncommand = 'a'\n"),
    "unknown flags": lines("[features]\nhok{n} = true\n"),
}


@pytest.mark.parametrize("name", CODEX_FILES)
def test_code_actions_in_settings_of_codex_grow_with_the_problems(name: str) -> None:
    def all_actions(count: int) -> Callable[[], object]:
        uri, text = "file:///project/.codex/config.toml", CODEX_FILES[name](count)
        change = Change(uri, text, in_buffer=True)
        snapshot = Workspace(PLACES).apply([change], complete=True).snapshot
        file = snapshot.file(uri)
        assert file is not None
        context = Context(snapshot, lambda each: diagnostics(snapshot, each), lambda _: text)
        everything = TextRange(0, len(text))
        assert len(code_actions(context, file, everything)) >= count
        return lambda: code_actions(context, file, everything)

    few, many = (calls_of(all_actions(count)) for count in (_FEW, 2 * _FEW))
    assert many < _LINEAR * few


def test_layers_below_an_edited_one_are_judged_without_a_look_at_each_other() -> None:
    def edit(count: int) -> Callable[[], object]:
        outer = "file:///project/.codex/config.toml"
        text = '[mcp_servers.a]\ncommand = "a"\n'
        inner = [f"file:///project/p{n}/.codex/config.toml" for n in range(count)]
        changes = [Change(uri, "[mcp_servers.a]\nenabled = false\n") for uri in inner]
        layers = (uri.rpartition("/")[0] for uri in [outer, *inner])
        projects = dict.fromkeys(layers, "file:///project")
        workspace = Workspace(PLACES)
        workspace.apply([*changes, Change(outer, text)], complete=True, projects=projects)

        def judge() -> None:
            change = Change(outer, f"{text}# x\n", in_buffer=True)
            update = workspace.apply([change])
            assert len(update.affected) == count + 1
            for file in map(update.snapshot.file, update.affected):
                assert file is not None
                assert diagnostics(update.snapshot, file) == ()

        return judge

    few, many = (calls_of(edit(count)) for count in (_FEW, 2 * _FEW))
    assert many < _LINEAR * few
