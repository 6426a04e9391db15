"""`# axe: ignore[code]`: what it silences, and what is said of one that silences nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.check.ignores import Ignore, IgnoredCode, Silenced, read_ignores
from axe_lsp.agentfile.rights import Reach
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import Severity
from support.actions import Offered
from support.facts import with_facts
from support.findings import HEAD, check_findings
from support.fixture import open_fixture
from support.secrets import OPENAI_KEY


def codes(text: str) -> list[str]:
    opened = open_fixture(HEAD + text)
    return [each.code for each in diagnostics(opened.snapshot, opened.file)]


@pytest.mark.parametrize(
    "text",
    [
        "zzz = 1  # axe: ignore[unknown-key]\n",
        "# axe: ignore[unknown-key]\nzzz = 1\n",
        "zzz = 1 # axe: ignore [ unknown-key ]: for another program\n",
        "zzz = 1 # why not #axe:ignore[unknown-key]\n",
        "# axe: ignore[unknown-key]\n# which is of another program\nzzz = 1\n",
        "# axe: ignore[unknown-key]\r\nzzz = 1\r\n",
        "[zzz]  # axe: ignore[unknown-key]\n",
        "zzz = 1  # axe: ignore[unknown-key]",
    ],
)
def test_a_comment_silences_its_line_or_the_next(text: str) -> None:
    assert codes(text) == []


def test_a_byte_order_mark_is_no_statement() -> None:
    opened = open_fixture("\ufeff# axe: ignore[missing-key]\nname = 'main'\n")
    assert diagnostics(opened.snapshot, opened.file) == ()


def test_comment_silences_only_its_codes_at_its_line() -> None:
    check_findings("""
        timeout = -1  # axe: ignore[negative-timeout]
        zzz = 1
        ^^^ warning unknown-key: unknown key "zzz"; it has no effect
        # axe: ignore[unknown-key]
        yyy = 1
        xxx = 1
        ^^^ warning unknown-key: unknown key "xxx"; it has no effect
    """)


def test_comment_can_name_several_codes() -> None:
    assert codes('sub_agents = ["x", "x"]  # axe: ignore[unknown-agent, duplicate-agent]\n') == []


@pytest.mark.parametrize(
    "text",
    [
        'sub_agents = [  # axe: ignore[unknown-agent]\n  "x",\n  "y",\n]\n',
        '# axe: ignore[unknown-agent]\nsub_agents = [\n  "x",\n  "y",\n]\n',
        'sub_agents = [\n  "x",\n  "y",\n]  # axe: ignore[unknown-agent]\n',
        'sub_agents = [\n  "x",  # axe: ignore[unknown-agent]\n'
        '  # axe: ignore[unknown-agent]\n  "y",\n]\n',
    ],
)
def test_a_statement_over_several_lines_is_meant_as_a_whole(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f'# axe: ignore[plain-secret]\nsystem_prompt = """\nUse {OPENAI_KEY}\n\n"""\n',
        f'system_prompt = """\nUse {OPENAI_KEY}\n\n"""  # axe: ignore[plain-secret]\n',
    ],
)
def test_what_protects_the_user_is_silenced_in_the_users_own_agents_alone(text: str) -> None:
    opened = open_fixture(f"--- user: main.toml\n{HEAD}{text}")
    assert diagnostics(opened.snapshot, opened.file) == ()
    assert sorted(codes(text)) == ["plain-secret", "unused-ignore"]


def test_a_comment_of_a_workspace_does_not_hide_what_reaches_outside_it() -> None:
    facts = {"reaches": (Reach("workdir", "/etc"),)}
    text = HEAD + 'workdir = "/et<|>c"'
    offered = Offered(text, "quickfix", facts=facts)
    assert offered.titles == ["Remove `workdir`"], "a comment is not offered"
    opened = open_fixture(text.replace("<|>", "") + "  # axe: ignore[outside-workspace]\n")
    opened = with_facts(opened, **facts)
    outside, comment = diagnostics(opened.snapshot, opened.file)
    assert (outside.code, comment.code) == ("outside-workspace", "unused-ignore")
    assert "no comment of a workspace suppresses it" in comment.message


def test_inside_a_string_it_is_no_comment() -> None:
    assert codes('system_prompt = """\n# axe: ignore[unknown-key]\n"""\nzzz = 1\n') == [
        "unknown-key"
    ]


def test_a_comment_that_silences_nothing_is_unnecessary() -> None:
    (first, second, third) = check_findings("""
        timeout = 1  # axe: ignore[negative-timeout]
                                   ^^^^^^^^^^^^^^^^ hint unused-ignore: there is no `negative-timeout` here that this could suppress
        # axe: ignore[unknown-kye]
                      ^^^^^^^^^^^ hint unused-ignore: there is no diagnostic `unknown-kye`. Did you mean `unknown-key`?
        stream = true  # axe: ignore
                       ^^^^^^^^^^^^^ hint unused-ignore: this suppresses nothing: name the diagnostic, `ignore[code]`
    """)
    assert (first.unnecessary, second.suggestion, third.unnecessary) == (True, "unknown-key", True)


def test_comment_above_a_blank_line_is_unused() -> None:
    assert codes("# axe: ignore[unknown-key]\n\nzzz = 1\n") == ["unused-ignore", "unknown-key"]


def test_comment_is_not_unused_before_the_folders_are_read() -> None:
    text = HEAD + 'sub_agents = ["x"]  # axe: ignore[unknown-agent]\n'
    opened = open_fixture(text, complete=False)
    assert diagnostics(opened.snapshot, opened.file) == ()
    opened = open_fixture(f"--- main.toml\n{text}--- x.toml\n")
    assert [each.code for each in diagnostics(opened.snapshot, opened.file)] == ["unused-ignore"]


def test_comment_for_a_switched_off_rule_is_not_unused() -> None:
    opened = open_fixture(HEAD + "zzz = 1  # axe: ignore[unknown-key]\n")
    assert diagnostics(opened.snapshot, opened.file, {"unknown-key": None}) == ()
    opened = open_fixture(HEAD + "timeout = 1  # axe: ignore[unknown-key]\n")
    assert diagnostics(opened.snapshot, opened.file, {"unused-ignore": None}) == ()


def test_comments_about_comments_can_be_silenced_too() -> None:
    assert codes("timeout = 1  # axe: ignore[unknown-key, unused-ignore]\n") == []


def test_severity_of_unsilenced_findings_can_be_changed() -> None:
    opened = open_fixture(HEAD + "zzz = 1 # axe: ignore[unknown-key]\nyyy = 1\n")
    (found,) = diagnostics(opened.snapshot, opened.file, {"unknown-key": Severity.ERROR})
    assert found.severity is Severity.ERROR


PIECES = st.sampled_from(
    ["# axe: ignore[", "a,b", "]", "\n", "\r\n", "x = 1", "[t]", '"""', "#", " ", "axe:"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_text_gives_comments_with_exact_ranges(text: str) -> None:
    for each in read_ignores(Parse(text)):
        assert all(code.range.of(text) == code.code for code in each.codes)


NOWHERE = TextRange(0, 0)
OFFSETS = st.integers(0, 12)
RANGES = st.builds(lambda start, size: TextRange(start, start + size), OFFSETS, st.integers(0, 6))
IGNORES = st.builds(
    lambda code, about: Ignore(NOWHERE, (IgnoredCode(code, NOWHERE),), tuple(about)),
    st.sampled_from("ab"),
    st.lists(RANGES, max_size=3),
)


@given(st.lists(IGNORES, max_size=4), OFFSETS)
def test_all_comments_silence_what_each_one_silences(ignores: list[Ignore], offset: int) -> None:
    silenced = any(
        each.codes[0].code == "a" and where.touches(offset)
        for each in ignores
        for where in each.about
    )
    assert Silenced(ignores).holds("a", offset) is silenced


@given(st.lists(st.sampled_from(["zzz = 1", "  # a comment", "", "# axe: ignore[a]"])))
def test_a_comment_is_about_the_next_line_that_is_no_comment(lines: list[str]) -> None:
    parse = Parse("\n".join(lines))
    found = [parse.lines.line_at(each.about[0].start) for each in read_ignores(parse) if each.about]
    expected = [
        next((at for at in range(line, len(lines)) if "#" not in lines[at]), None)
        for line, text in enumerate(lines)
        if "axe:" in text
    ]
    assert found == [each for each in expected if each is not None]
