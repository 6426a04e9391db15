"""All certain fixes at once: none of their findings is left, and nothing else is harmed."""

from __future__ import annotations

import tomli
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.features.code_action import fix_all
from axe_lsp.features.fix import Case
from axe_lsp.features.rules import fixes_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot
from support.actions import HEAD, Offered, after, context
from support.any_text import TEXTS
from support.fixture import PLACES, open_text

TITLE = "Fix everything that has a certain fix"


def fixed(file: AgentFile) -> AgentFile:
    assert file.open is not None
    edit = fix_all(CONTEXT, file)
    return open_text(after(file.open.parse.text, file.uri, edit))


CONTEXT = context(Snapshot(places=PLACES, complete=True), {})


def certain_findings(file: AgentFile) -> list[str]:
    assert file.open is not None
    cases = (Case(CONTEXT, file, file.open, each) for each in CONTEXT.diagnose(file))
    return [case.finding.message for case in cases if any(fix.certain for fix in fixes_of(case))]


def test_several_mistakes_are_mended_at_once() -> None:
    offered = Offered(
        """
        # An agent
        model = 'OpenAI/gpt'
        stream = "true"  # quickly
        Timeout = "30"
        tools = [
          "READ_FILE",  # first
        ]
        sub_agents = ["main", "main", "main"]

        [sub_agents_config]
        max_depth = 12
        timeout = -1
        zzz = 1
        """,
        "source.fixAll",
    )
    assert offered.taken(TITLE) == (
        """\
# An agent
name = "main"
model = 'openai/gpt'
stream = true  # quickly
timeout = 30
tools = [
  "read_file",  # first
]
sub_agents = ["main"]

[sub_agents_config]
max_depth = 5
timeout = 0
zzz = 1
"""
    )


def test_where_one_round_is_enough_each_change_is_one_of_its_own() -> None:
    file = open_text(HEAD + 'stream = "true"\nskill = "x"\ntimeout = -1\n')
    assert [step.text for step in fix_all(CONTEXT, file)] == ["true", "0"]


def test_two_spellings_of_one_key_are_left_to_the_author() -> None:
    file = open_text(HEAD + "Timeout = 1\nTIMEOUT = 2\n")
    assert fix_all(CONTEXT, file) == ()


def test_all_is_offered_beside_one_fix_of_several_but_not_beside_the_only_one() -> None:
    assert TITLE in Offered(HEAD + 'stream = "tr<|>ue"\ntimeout = -1').titles
    assert TITLE not in Offered(HEAD + 'stream = "tr<|>ue"').titles
    assert TITLE not in Offered(HEAD + 'ski<|>ll = "x"\ntimeout = -1').titles
    assert Offered(HEAD + 'ski<|>ll = "x"\ntimeout = -1', "source").titles == [TITLE]
    assert Offered(HEAD + "timeout = 1<|>", "source.fixAll").titles == []


_VALUES = ['"x"', '"3"', "3", "3.0", "-3", "99", '"true"', "true", "[]", '["main", "main"]', "{}"]
_KEYS = [
    "name",
    "model",
    "Model",
    "timeout",
    "stream",
    "sub_agents",
    "tools",
    "files",
    "retry.backoff",
]
_LINES = st.one_of(
    st.tuples(st.sampled_from(_KEYS), st.sampled_from(_VALUES)).map(" = ".join),
    st.sampled_from(
        ["[memory]", "[[memory]]", "[sub_agents_config]", "max_depth = 9", "[mcp_servers]"]
    ),
    st.sampled_from(["# note", "", "tools = ['Read_File', 'x'] # t", "model = 'OPENAI/x'"]),
)


@given(st.lists(_LINES, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_nothing_that_has_a_certain_fix_is_left(lines: list[str], new: str) -> None:
    file = open_text(new.join(lines))
    assert certain_findings(fixed(file)) == []


@given(st.lists(_LINES, max_size=8))
def test_toml_stays_toml_and_keeps_its_comments(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        tomli.loads(text)
    except tomli.TOMLDecodeError:
        return
    after_all = fixed(open_text(text))
    assert after_all.open is not None
    tomli.loads(after_all.open.parse.text)
    assert after_all.open.parse.text.count("#") == text.count("#")


@given(TEXTS)
def test_any_text_can_be_fixed(text: str) -> None:
    assert certain_findings(fixed(open_text(text))) == []
