"""What holds for every fix of every finding, whatever stands in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import tomli
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.features.code_action import silencing_fixes
from axe_lsp.features.edit import TextChange
from axe_lsp.features.finding import Finding
from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rules import fixes_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot
from support.actions import after, context
from support.any_text import TEXTS
from support.fixture import PLACES, open_text
from support.secrets import ANTHROPIC_KEY

CONTEXT = context(Snapshot(places=PLACES, complete=True), {})

_VALUES = [
    *('"x"', '"3"', "3", "3.0", "-3", "99", '"true"', "true", "[]", "{}", "''"),
    *('["main", "main"]', '["x", 3]', '"""a\nb"""', "['explore', 'Task']", '["[", "**/*.py"]'),
    *('"OpenAI/gpt"', "'claude-3'", f'"{ANTHROPIC_KEY}"', "{ a = 1, name = 'x' }", '["a"  , ]'),
]
_KEYS = [
    *("name", "model", "Model", "timeout", "stream", "sub_agents", "tools", "files", "skill"),
    *("retry.backoff", "retry.max_retries", "memory.last_n", "max_depth", "api_key", "Type"),
    *(
        "description",
        "prompt",
        "transport",
        "url",
        "headers",
        "schema",
        "sub_agents_config.timeout",
    ),
]
_HEADERS = [
    *("[memory]", "[[memory]]", "[sub_agents_config]", "[mcp_servers]", "[[mcp_servers]]"),
    *("[input]", "[input.schema]", "[task]", "[task.type.x]", "[params]", "[retry]", "[budget]"),
    *("[output]", "[params.response_format]", "[artifacts]", "[zzz.a]", "[zzz]"),
]
_ENDS = ["", "", "  # note", "  # axe: ignore[max-depth]", " # axe: ignore[unknown-key, zzz]"]
_LINES = st.one_of(
    st.builds("{} = {}{}".format, *map(st.sampled_from, (_KEYS, _VALUES, _ENDS))),
    st.builds("{}{}".format, st.sampled_from(_HEADERS), st.sampled_from(_ENDS)),
    st.sampled_from(["# note", "", "  ", "# axe: ignore[missing-key]"]),
)
AGENTS = st.builds(
    lambda lines, new, start, end: start + new.join(lines) + (new if end else ""),
    st.lists(_LINES, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "", "\ufeff"]),
    st.booleans(),
)
"""Agent files in which much may be wrong, and often not the syntax."""


def fixes(file: AgentFile) -> Iterator[tuple[Finding, Fix]]:
    assert file.open is not None
    for finding in CONTEXT.diagnose(file):
        case = Case(CONTEXT, file, file.open, finding)
        for fix in (*fixes_of(case), *silencing_fixes(case)):
            yield finding, fix


def taken(text: str, file: AgentFile, fix: Fix) -> AgentFile:
    return open_text(after(text, file.uri, fix.edit))


def counted(file: AgentFile) -> Counter[str]:
    return Counter(finding.code for finding in CONTEXT.diagnose(file))


def is_toml(text: str) -> bool:
    try:
        tomli.loads(text.removeprefix("\ufeff"))
    except tomli.TOMLDecodeError:
        return False
    return True


@given(AGENTS | TEXTS)
@example("[mcp_servers]\nheaders = 3")
def test_a_fix_that_is_certain_mends_what_it_is_about(text: str) -> None:
    file = open_text(text)
    before = counted(file)
    for finding, fix in fixes(file):
        if fix.certain:
            assert counted(taken(text, file, fix))[finding.code] < before[finding.code], fix.title


@given(AGENTS | TEXTS)
def test_no_fix_makes_a_file_that_is_toml_something_else(text: str) -> None:
    if not is_toml(text):
        return
    file = open_text(text)
    for _, fix in fixes(file):
        fixed = taken(text, file, fix)
        assert fixed.open is not None
        assert is_toml(fixed.open.parse.text), (fix.title, fixed.open.parse.text)


@given(AGENTS)
def test_whatever_silences_a_finding_silences_it(text: str) -> None:
    file = open_text(text)
    assert file.open is not None
    before = counted(file)
    for finding in CONTEXT.diagnose(file):
        for fix in silencing_fixes(Case(CONTEXT, file, file.open, finding)):
            assert counted(taken(text, file, fix))[finding.code] < before[finding.code], finding


@given(AGENTS)
def test_a_fix_changes_something(text: str) -> None:
    file = open_text(text)
    for _, fix in fixes(file):
        changes = [step for step in fix.edit if isinstance(step, TextChange)]
        if len(changes) == len(fix.edit):
            assert after(text, file.uri, fix.edit) != text, fix.title
