"""What is known of a text after edits is what a fresh look at it finds."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from axe_lsp.agentfile.check.agent_tests import read_cases
from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.places import Place
from schemas.fixtures import agent_files
from support.any_text import TEXTS
from support.fixture import FOLDER, PLACES
from support.random_edits import EDITS, RandomEdit, after
from support.secrets import ANTHROPIC_KEY
from support.toml_texts import DOCUMENTS

PLACE = PLACES.locate(f"{FOLDER}/lint.toml")

FULL = f'''\
name = "lint"  # what it is called
model = "anthropic/claude"
files = [
  "src/**/*.py", # all
  "[",
]
tools = ["read_file", "rd"]
sub_agents = ["fix", "lint"]
system_prompt = """
Look at everything.
x = 1 {ANTHROPIC_KEY}
"""
[sub_agents_config] # how deep
max_depth = 3
[memory]
enabled = true
last_n = 10

[[mcp_servers]]
name = "a"
url = "https://a"
transport = "sse"
# the second

[[mcp_servers]]
name = "a"
command = "npx"
env = {{ A = "${{A}}" }}
[mcp_servers.headers]
B = "b"
# the end
'''


SERVERS = "".join(
    f'[[mcp_servers]]\nname = "s{n}"\nurl = "https://a/{n}"\ntransport = "sse"\n' for n in range(3)
)


TESTS_PLACE = PLACES.locate("file:///project/axe/tests/lint.toml")
CODEX_PLACE = PLACES.locate("file:///project/.codex/config.toml")

CASES = '''\
agent = "lint"
tools = "recorded"
# the first
[[case]]
name = "one"
task = "Go."
expect.answer.contains = ["x", "y"]
[case.expect.tokens]
max = 5
[[case.expect.children]]
agent = "fix"
[[case.expect.children.children]]
agent = "lint"
times = 0

[[case]] # the second
name = "one"
replay = "../x.toml"
expect.answer.matches = "[a"
expect.forbidden = ["rd_file", "write_file"]
[case.expect.files]
"a.md" = true
[[case.expect.tools]]
calls = [{ name = "write_file", args = { path = "b" } }, { name = "call_agent", args = { agent = "fix" } }]
[[case]]
name = "two"
input = { a = """
x
""" }
[[case.expect.judge]]
agent = "judge"
criteria = """
Is it
good?
"""
[other]
key = 1
[case.unknown]
key = 1
'''
PLAIN_CASES = "".join(f"[[case]]\nname = 'c{n}'\ntask = 't'\n" for n in range(3))


def check_edits(text: str, edits: list[RandomEdit], place: Place = PLACE) -> None:
    file = read_agent_file(place, text, is_open=True)
    for edit in edits:
        text = after(text, edit)
        assert file.open is not None
        assert file.open.parse.lines  # Somebody has asked, so they are kept up to date.
        file = read_agent_file(place, text, is_open=True, before=file.open)
        check_is_fresh(file, text)


def check_is_fresh(file: AgentFile, text: str) -> None:
    fresh = read_agent_file(file.place, text, is_open=True)
    assert replace(file, open=None) == replace(fresh, open=None)
    assert file.open is not None
    assert fresh.open is not None
    assert known(file.open) == known(fresh.open)
    if file.place.dialect is AGENT_TESTS:
        assert read_cases(file.open) == read_cases(fresh.open)


def known(lookup: Lookup) -> list[object]:
    parse = lookup.parse
    document = parse.document
    for table in document.tables:
        assert table.paths == tuple(item.path for item in table.located)
    return [
        document.tables,
        document.comments,
        parse.problems,
        parse.lines.starts,
        lookup.located,
        lookup.secrets,
    ]


@given(st.sampled_from([FULL, FULL.replace("\n", "\r\n"), *agent_files().values()]), EDITS)
@example(FULL, [(FULL.index("3\n") / len(FULL), 1, "9"), (FULL.index("3\n") / len(FULL), 1, "03")])
def test_edits_of_agent_files(text: str, edits: list[RandomEdit]) -> None:
    check_edits(text, edits)


@given(st.sampled_from([CASES, CASES.replace("\n", "\r\n"), PLAIN_CASES]), EDITS)
@example(CASES, [(0.0, 0, "case = 1\n")])
@example(CASES, [(CASES.index("[[case]]") / len(CASES), 1, "")])
def test_edits_of_files_of_tests(text: str, edits: list[RandomEdit]) -> None:
    check_edits(text, edits, TESTS_PLACE)


@given(st.sampled_from([FULL, CASES]), EDITS)
def test_edits_of_files_of_other_programs(text: str, edits: list[RandomEdit]) -> None:
    check_edits(text, edits, CODEX_PLACE)


@given(DOCUMENTS | TEXTS, EDITS)
@example("a = [ # c\n1,\n2]\n", [(0.8, 1, "3")])
@example("a.b = {}\n[a.c]\n", [(0.0, 1, "x")])
@example("'\"\\z\"' = '''\n'''\n", [(0.0, 6, '"\\z"')])
def test_edits_of_any_text(text: str, edits: list[RandomEdit]) -> None:
    check_edits(text, edits)


def test_statements_above_an_edit_are_kept_as_they_are() -> None:
    before = Parse(FULL)
    after = Parse(FULL.replace("max_depth = 3", "max_depth = 33"), before)
    kept = zip(before.document.tables[0].entries, after.document.tables[0].entries, strict=True)
    assert all(old is new for old, new in kept)
    assert not after.problems


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a = 1\nb = """\n\n"""\n', 'a = 1\nb = """\n\n\n"""\n'),
        ('a = """\n# c\n"""\n', 'a = """\n# d\n"""\n'),
        ("a = [\n1\n]\n", "a = [\n\n1\n]\n"),
        ("a = 1\n# c\n", "a = 1\n# c\x01\n"),
        ("a = 1\n\nb = 2", "a = 1\n\n\nb = 2"),
        ("a = 1\r\n\r\nb = 2", "a = 1\r\n\rb = 2"),
        ("a = 1\n\n", "a = 1\n"),
        ("\na = 1\n", "a = 1\n"),
        (SERVERS, f"\n{SERVERS}"),
        (SERVERS, SERVERS.replace('"s1"', '"s0"')),
        (SERVERS, SERVERS.replace('"sse"', '"tcp"', 1)),
        (SERVERS, f"mcp_servers = 1\n{SERVERS}"),
        (SERVERS, SERVERS.replace("[[mcp_servers]]", "[[a.mcp_servers]]", 1)),
    ],
)
def test_an_edit_between_statements_and_back(before: str, after: str) -> None:
    for old, new in ((before, after), (after, before)):
        edited = read_agent_file(
            PLACE, new, is_open=True, before=read_agent_file(PLACE, old, is_open=True).open
        )
        fresh = read_agent_file(PLACE, new, is_open=True)
        assert replace(edited, open=None) == replace(fresh, open=None)
        assert edited.open is not None
        assert fresh.open is not None
        assert known(edited.open) == known(fresh.open)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PLAIN_CASES, f"\n{PLAIN_CASES}"),
        (PLAIN_CASES, f"agent = 'lint'\n{PLAIN_CASES}"),
        (PLAIN_CASES, PLAIN_CASES.replace("c1", "c0")),
        (PLAIN_CASES, PLAIN_CASES.replace("[[case]]", "[case]", 1)),
        (PLAIN_CASES, f"case = 1\n{PLAIN_CASES}"),
        (PLAIN_CASES, f"[case.expect]\n{PLAIN_CASES}"),
        (PLAIN_CASES, f"{PLAIN_CASES}{PLAIN_CASES}"),
        (PLAIN_CASES, f"{PLAIN_CASES}[[case"),
        (CASES, CASES.replace('tools = "recorded"', "")),
        (CASES, CASES.replace('"""\nx', '"\nx')),
        (CASES, CASES.replace("[other]", "[case.other]")),
    ],
)
def test_an_edit_of_cases_and_back(before: str, after: str) -> None:
    for old, new in ((before, after), (after, before)):
        first = read_agent_file(TESTS_PLACE, old, is_open=True)
        check_is_fresh(read_agent_file(TESTS_PLACE, new, is_open=True, before=first.open), new)


def test_what_is_known_of_a_file_of_another_kind_is_forgotten() -> None:
    text = "[mcp_servers.a]\nname = 1\n"
    before = read_agent_file(PLACE, text, is_open=True)
    edited = f"\n{text}"
    check_is_fresh(read_agent_file(CODEX_PLACE, edited, is_open=True, before=before.open), edited)


def test_a_key_that_is_being_typed_breaks_only_its_own_statement() -> None:
    """What was read of the text before the key was begun is not read again, nor is it with the next letter."""
    parse = Parse(CASES.replace("x = ", "y = "))
    for letter in range(1, 9):
        parse = Parse(f"timeout = 1\n{CASES}"[:letter] + f"\n{CASES}", parse)
    assert [each.message for each in parse.problems] == ["expected `=` and a value after the key"]


def test_an_array_that_stays_is_looked_through_once() -> None:
    file = read_agent_file(PLACE, FULL, is_open=True)
    text = FULL.replace("max_depth = 3", "max_depth = 9")
    after = read_agent_file(PLACE, text, is_open=True, before=file.open)
    assert all(old is new for old, new in zip(file.outside.globs, after.outside.globs, strict=True))
    assert [each.code for each in after.problems if each.path == ("files",)] == ["bad-glob"]
