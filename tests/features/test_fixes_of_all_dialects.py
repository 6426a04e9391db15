"""What holds for every code action of every dialect: none fails, and no fix adds an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.code_action import code_actions, fix_all
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import EMPTY_STRING, ActionKind, Edit, TextChange
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case
from axe_lsp.features.rules import fixes_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from features.test_fixes_property import AGENTS
from support.actions import after, context
from support.recorded_checks import RECORDED, load_cases

PROJECT, HOME = "file:///project", "file:///home"
PLACES = Places(
    f"{HOME}/.config/axe/agents",
    roots=(PROJECT,),
    homes=(("codex", f"{HOME}/.codex"), ("vibe", f"{HOME}/.vibe")),
)
AGENT = 'name = "main"\nmodel = "openai/gpt"\n'
CODEX_AGENT = 'name = "a"\ndescription = "Reads."\ndeveloper_instructions = "Read."\n'
CODEX, CODEX_CONFIG = f"{PROJECT}/.codex/agents/a.toml", f"{PROJECT}/.codex/config.toml"
USERS_CODEX_CONFIG = f"{HOME}/.codex/config.toml"
VIBE, VIBE_CONFIG = f"{PROJECT}/.vibe/agents/a.toml", f"{PROJECT}/.vibe/config.toml"
TESTS = f"{PROJECT}/axe/tests/main.toml"
MAIN = f"{PROJECT}/axe/agents/main.toml"

FILES = [
    (MAIN, f"{AGENT}[[mcp_servers]]\nname = 'a'\n"),
    (MAIN, f"{AGENT}[mcp_servers]\n"),
    (MAIN, f"{AGENT}[memory]\ndescription = 'x'\ntimeout = ['x']\n"),
    (CODEX, f"{CODEX_AGENT}[mcp_servers.memory]\nenabled_tools = ['search']\n"),
    (CODEX, f"{CODEX_AGENT}[mcp_servers.memory]\nargs = ['x']\n"),
    (CODEX, f"{CODEX_AGENT}[mcp_servers.memory.env]\nA = '1'\n"),
    (CODEX, f"{CODEX_AGENT}mcp_servers = {{ memory = {{ enabled = true }} }}\n"),
    (CODEX, f"{CODEX_AGENT}mcp_servers.memory.enabled = true\n"),
    (CODEX, "[agent]\n" + CODEX_AGENT),
    (CODEX, CODEX_AGENT + "color = 'cyan'\nmode = 1\n[tui]\ndescription = 'x'\n"),
    (CODEX_CONFIG, "[mcp_servers.'a b']\nenabled = true\n[mcp_servers.b]\nhttp_headers = {}\n"),
    (CODEX_CONFIG, "[model_providers.x]\nbase_url = 'http://localhost'\n"),
    (CODEX_CONFIG, "[agents.x]\ndescription = ''\nmodel = 'gpt-6'\nsandbox_mode = 'read-only'\n"),
    (CODEX_CONFIG, "[features]\nchild_agents_md = true\n[[hooks.Stop.hooks]]\ntype = 'command'\n"),
    (USERS_CODEX_CONFIG, "[model_providers.x]\nname = ' '\n"),
    (VIBE, "instruction = 'x'\n[agent]\nactive_model = 1\n"),
    (VIBE_CONFIG, "[[models]]\nname = 'x'\n[[providers]]\n[[mcp_servers]]\ntransport = 'http'\n"),
    (TESTS, ""),
    (
        TESTS,
        "agent = 'main'\n[[case]]\n[case.expect]\nstatus = 'complete'\n[[case.expect.judge]]\n",
    ),
    (TESTS, "[case]\nname = 3\ntask = ['x', 3]\n"),
]


def recorded_files() -> Iterator[tuple[str, str]]:
    for file in sorted((RECORDED / "codex").glob("cases-*")):
        for case in load_cases(file):
            for path, text in case["files"].items():
                if path.endswith(".toml"):
                    place = path.removeprefix("HOME/")
                    yield f"{PROJECT if place == path else HOME}/{place}", text


RECORDED_FILES = list(dict.fromkeys(recorded_files()))


def opened(uri: str, text: str) -> tuple[Snapshot, AgentFile]:
    change = Change(uri, text, in_buffer=True)
    snapshot = Workspace(PLACES).apply([change], complete=True).snapshot
    file = snapshot.file(uri)
    assert file is not None
    return snapshot, file


def errors(uri: str, text: str) -> list[str]:
    found = diagnostics(*opened(uri, text))
    return [each.message for each in found if each.severity == Severity.ERROR]


def is_of_one_file(uri: str, edit: Edit) -> bool:
    return bool(edit) and all(isinstance(each, TextChange) and each.uri == uri for each in edit)


def check_fixes(uri: str, text: str) -> None:
    """Assert that no fix of a file adds an error."""
    snapshot, file = opened(uri, text)
    assert file.open is not None
    before = errors(uri, text)
    for finding in diagnostics(snapshot, file):
        for fix in fixes_of(Case(context(snapshot, {uri: text}), file, file.open, finding)):
            is_other_case = finding.code == "unknown-key" and fix.certain
            if is_of_one_file(uri, fix.edit) and not is_other_case:
                fixed = after(text, uri, fix.edit)
                assert len(errors(uri, fixed)) <= len(before), (fix.title, fixed, before)


def check_actions(uri: str, text: str) -> None:
    """Assert that code actions of each kind are computed at each finding and for the whole file."""
    snapshot, file = opened(uri, text)
    findings = diagnostics(snapshot, file)
    places = dict.fromkeys([TextRange(0, len(text)), *(each.range for each in findings)])
    about = context(snapshot, {uri: text})
    for where in places:
        offered = code_actions(about, file, where)
        for kind in ActionKind:
            code_actions(about, file, where, frozenset([kind.value]))
        for action in offered:
            if is_of_one_file(uri, action.edit):
                after(text, uri, action.edit)
    fix_all(about, file)


@pytest.mark.parametrize(("uri", "text"), FILES)
def test_no_fix_adds_an_error_and_no_action_fails(uri: str, text: str) -> None:
    check_actions(uri, text)
    check_fixes(uri, text)


@pytest.mark.parametrize("part", range(8))
def test_no_fix_of_a_recorded_file_adds_an_error_and_no_action_fails(part: int) -> None:
    for uri, text in RECORDED_FILES[part::8]:
        check_actions(uri, text)
        check_fixes(uri, text)


@given(AGENTS)
def test_no_fix_of_an_agent_adds_an_error(text: str) -> None:
    check_fixes(MAIN, text.replace("axe: ignore", "axe"))  # A fix may take the place of a comment.


@pytest.mark.parametrize(
    ("uri", "text", "titles"),
    [
        (CODEX, "[mcp_servers.m]\nenabled_tools = ['a']\n", ["Add `command`", "Add `url`"]),
        (CODEX, "[mcp_servers.m]\nargs = ['a']\n", ["Add `command`"]),
        (CODEX, "[mcp_servers.m]\nhttp_headers = {}\n", ["Add `url`"]),
        (CODEX, "mcp_servers = { m = { enabled = true } }\n", []),
        (MAIN, "[[mcp_servers]]\nname = 'm'\n", ["Add `command`"]),
        (MAIN, "[[mcp_servers]]\nname = 'm'\nheaders = {}\n", []),
    ],
)
def test_server_without_a_transport_gets_those_that_leave_fewer_errors(
    uri: str, text: str, titles: list[str]
) -> None:
    text = (AGENT if uri == MAIN else CODEX_AGENT) + text
    snapshot, file = opened(uri, text)
    actions = code_actions(context(snapshot, {uri: text}), file, TextRange(0, len(text)))
    added = [each for each in actions if each.title.startswith("Add ")]
    assert [each.title for each in added] == titles
    steps = [step for each in added for step in each.edit if isinstance(step, TextChange)]
    assert [step.guess for step in steps] == [EMPTY_STRING] * len(titles)
    for each in added:
        assert len(errors(uri, after(text, uri, each.edit))) < len(errors(uri, text))


@pytest.mark.parametrize(
    ("uri", "text", "hint"),
    [
        (CODEX, "[agent]\nname = 'a'\n", "`agents`"),
        (CODEX_CONFIG, "[features]\nchild_agents_md = true\n", "multi_agent_mode"),
        (CODEX_CONFIG, "[agents.x]\nmodel = 'a'\n", "at the top"),
    ],
)
def test_no_suggestion_leads_to_the_next_error(uri: str, text: str, hint: str) -> None:
    assert not any(hint in each.message for each in diagnostics(*opened(uri, text)))


@pytest.mark.parametrize(
    ("uri", "text", "message", "title"),
    [
        (CODEX_CONFIG, "modle = 'a'\n", "Did you mean `model`?", "Replace by `model`"),
        (CODEX_CONFIG, "modle = 'a'\nmodel = 'b'\n", "`model` is similar, but is in the file", ""),
        (CODEX_CONFIG, "modle = 1\n", "`model` is similar, but does not take this value", ""),
        (CODEX_CONFIG, "Model = 1\n", "Did you mean `model`?", "Replace by `model`"),
        (
            CODEX_CONFIG,
            "[features]\nhoks = true\n",
            "Did you mean `hooks`?",
            "Replace by `hooks`",
        ),
        (
            CODEX_CONFIG,
            "[mcp_server.a]\ncommand = 'a'\n[mcp_servers.b]\ncommand = 'b'\n",
            "Did you mean `mcp_servers`?",
            "Replace by `mcp_servers`",
        ),
        (
            CODEX_CONFIG,
            "[mcp_server.a]\ncommand = 'a'\n[mcp_servers.a]\ncommand = 'b'\n",
            "`mcp_servers` is similar, but is in the file already",
            "",
        ),
        (
            CODEX_CONFIG,
            "[mcp_server.a]\ncommand = 1\n",
            "`mcp_servers` is similar, but does not take all keys of this table",
            "",
        ),
        (
            MAIN,
            "[[mcp_server]]\nname = 'm'\n[[mcp_servers]]\n",
            "mean `mcp_servers`?",
            "Replace by",
        ),
    ],
)
def test_message_suggests_a_key_where_a_fix_renames_to_it(
    uri: str, text: str, message: str, title: str
) -> None:
    text = (AGENT if uri == MAIN else "") + text
    snapshot, file = opened(uri, text)
    (finding,) = (each for each in diagnostics(snapshot, file) if each.code == "unknown-key")
    assert message in finding.message
    actions = code_actions(context(snapshot, {uri: text}), file, finding.range)
    renamings = [each.title for each in actions if each.title.startswith("Replace by")]
    assert len(renamings) == bool(title)
    assert all(each.startswith(title) for each in renamings)
