"""Language features in Codex's files, which follow from the rows of its schema."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.daemon.uris import uri_of
from axe_lsp.daemon.view import View
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.definition import definition
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import RenameError
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Context
from axe_lsp.features.hover import hover
from axe_lsp.features.references import references
from axe_lsp.features.rename import renamable, rename
from axe_lsp.features.rules import fixes_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from support.edits import edited

URI = "file:///project/.codex/agents/a.toml"
HEAD = 'name = "a"\ndescription = "Reads."\ndeveloper_instructions = "Read."\n'


def opened(text: str) -> tuple[Snapshot, AgentFile]:
    workspace = Workspace(Places())
    workspace.apply([Change(URI, text, in_buffer=True)], complete=True)
    file = workspace.snapshot.file(URI)
    assert file is not None
    return workspace.snapshot, file


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ('sandbox_mode = "|"', "workspace-write"),
        ('model_reasoning_effort = "|"', "xhigh"),
        ('model = "|"', "gpt-6-sol"),
        ("[mcp_servers.docs]\n|", "startup_timeout_sec"),
        ("[features]\n|", "multi_agent_v2"),
        ("|", "nickname_candidates"),
    ],
)
def test_keys_words_and_models_are_completed(marked: str, expected: str) -> None:
    text = "\n" + marked
    snapshot, file = opened(text.replace("|", ""))
    labels = [each.label for each in completion(snapshot, file, text.index("|"))]
    assert expected in labels


def test_hover_says_that_a_key_has_no_effect() -> None:
    snapshot, file = opened('sandbox_mode = "read-only"')
    found = hover(snapshot, file, 3)
    assert found is not None
    assert "The files that commands may change." in found.markdown
    assert "No effect here" in found.markdown


def with_installed(text: str, version: str) -> tuple[Snapshot, AgentFile]:
    workspace = Workspace(Places())
    workspace.apply([Change(URI, text, in_buffer=True)], complete=True)
    file = workspace.snapshot.buffers[URI]
    workspace.apply([], facts={URI: Facts(file.question, installed=version)})
    return workspace.snapshot, file


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ("", [("newer-key", Severity.INFORMATION), ("unknown-key", Severity.ERROR)]),
        ("0.169.0", [("newer-key", Severity.INFORMATION), ("unknown-key", Severity.ERROR)]),
        ("0.171.4", [("unknown-key", Severity.ERROR)]),
        ("0.172.0", [("unknown-key", Severity.WARNING)]),
    ],
)
def test_keys_of_versions_are_judged_by_the_installed_one(
    installed: str, expected: list[tuple[str, Severity]]
) -> None:
    text = f"{HEAD}[code_mode]\nheartbeat_interval_s = 5\n\n[zzzz]\na = 1\n"
    snapshot, file = with_installed(text, installed)
    assert [(each.code, each.severity) for each in diagnostics(snapshot, file)] == expected


def test_hover_on_a_key_names_the_installed_version() -> None:
    snapshot, file = with_installed('model = "gpt-6-sol"\n', "0.169.0")
    found = hover(snapshot, file, 2)
    assert found is not None
    assert "*Codex 0.169.0 is installed.*" in found.markdown


@pytest.mark.parametrize(
    ("below", "title", "after"),
    [
        ('modle = "gpt-6-sol"', "model", 'model = "gpt-6-sol"'),
        ('model_reasoning_effort = "hihg"', "high", 'model_reasoning_effort = "high"'),
        ('model_verbosity = "lwo"', "low", 'model_verbosity = "low"'),
    ],
)
def test_the_first_fix_is_what_was_meant(below: str, title: str, after: str) -> None:
    text = HEAD + below
    snapshot, file = opened(text)
    finding = next(each for each in diagnostics(snapshot, file) if each.range.start >= len(HEAD))
    assert file.open is not None
    context = Context(snapshot, lambda each: diagnostics(snapshot, each), lambda _: text)
    fix = next(iter(fixes_of(Case(context, file, file.open, finding))))
    assert title in fix.title
    assert edited({URI: text}, fix.edit)[URI] == HEAD + after


CONFIG = "file:///project/.codex/config.toml"
DECLARED = '[agents."a"]\ndescription = "Reads."\nconfig_file = "agents/a.toml"\n'


def declared() -> tuple[Snapshot, AgentFile, AgentFile]:
    workspace = Workspace(Places())
    changes = [Change(URI, HEAD, in_buffer=True), Change(CONFIG, DECLARED, in_buffer=True)]
    workspace.apply(changes, complete=True)
    snapshot = workspace.snapshot
    agent, settings = snapshot.file(URI), snapshot.file(CONFIG)
    assert agent is not None
    assert settings is not None
    return snapshot, agent, settings


@pytest.mark.parametrize("word", ['"a"', "config_file = "])
def test_a_declaration_leads_to_its_file_and_back(word: str) -> None:
    snapshot, agent, settings = declared()
    offset = DECLARED.index(word) + len(word)
    target = definition(snapshot, settings, offset)
    assert target is not None
    assert (target.uri, target.range.of(HEAD)) == (URI, '"a"')
    back = definition(snapshot, agent, HEAD.index('"a"') + 1)
    assert back is not None
    assert (back.uri, back.range.of(DECLARED)) == (CONFIG, '"a"')


def test_references_of_an_agent_are_its_declarations() -> None:
    snapshot, agent, _ = declared()
    found = references(snapshot, agent, HEAD.index('"a"') + 1, include_declaration=True)
    assert [each.uri for each in found] == [URI, CONFIG]


@pytest.mark.parametrize("uri", [URI, CONFIG])
def test_a_rename_changes_the_file_and_its_declaration(uri: str) -> None:
    snapshot, agent, settings = declared()
    texts = {URI: HEAD, CONFIG: DECLARED}
    file = agent if uri == URI else settings
    offset = texts[uri].index('"a"') + 1
    where = renamable(snapshot, file, offset)
    assert where is not None
    assert (where.name, where.range.of(texts[uri])) == ("a", "a")
    edit = rename(snapshot, file, offset, "new name", texts.__getitem__)
    assert edit is not None
    after = edited(texts, edit)
    assert after[URI].startswith('name = "new name"')
    assert after[CONFIG].startswith('[agents."new name"]')


def test_a_rename_into_a_taken_name_is_refused() -> None:
    workspace = Workspace(Places())
    other = URI.replace("a.toml", "b.toml")
    changes = [Change(URI, HEAD, in_buffer=True), Change(other, HEAD.replace('"a"', '"b"'))]
    workspace.apply(changes, complete=True)
    file = workspace.snapshot.file(URI)
    assert file is not None
    with pytest.raises(RenameError, match="already"):
        rename(workspace.snapshot, file, HEAD.index('"a"') + 1, "b", lambda _: HEAD)


def test_a_project_is_served_as_soon_as_it_is_opened(tmp_path: Path) -> None:
    agents = tmp_path / "project" / ".codex" / "agents" / "deep"
    agents.mkdir(parents=True)
    (agents / "a.toml").write_text(HEAD + "modle = 1\n", "utf-8")
    (tmp_path / "project" / "conf").mkdir()
    (tmp_path / "project" / "conf" / "r.toml").write_text("model = 3\n", "utf-8")
    settings = '[agents.r]\ndescription = "Reads."\nconfig_file = "../conf/r.toml"\n'
    (tmp_path / "project" / ".codex" / "config.toml").write_text(settings, "utf-8")
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}

    async def served() -> dict[str, list[str]]:
        view = View(environment)
        try:
            view.add_roots([tmp_path / "project"])
            await view.settled()
            return {
                file.uri.removeprefix(uri_of(tmp_path / "project")): [
                    each.code
                    for each in diagnostics(view.snapshot, file)
                    if each.severity is Severity.ERROR
                ]
                for file in view.snapshot.files()
            }
        finally:
            await view.close(1)

    assert asyncio.run(served()) == {
        "/.codex/config.toml": [],
        "/.codex/agents/deep/a.toml": ["unknown-key"],
        "/conf/r.toml": ["wrong-type"],
    }


@pytest.mark.parametrize("table", ["mcp_servers.memory", "mcp_servers.memory.env"])
def test_missing_key_below_table_of_any_name_has_code_actions(table: str) -> None:
    text = f"{HEAD}\n[{table}]\nenabled_tools = []\n"
    snapshot, file = opened(text)
    texts = Context(snapshot, lambda each: diagnostics(snapshot, each), lambda _: text)
    where = TextRange(0, len(text))
    assert [action.title for action in code_actions(texts, file, where)]
    assert code_actions(texts, file, where, frozenset({"source.fixAll"})) == []


@pytest.mark.parametrize(
    ("inner", "codes"),
    [({}, []), ({"pkg/.git": "gitdir: ../.git/modules/pkg\n"}, ["missing-key"])],
    ids=["one-repository", "submodule"],
)
def test_settings_are_merged_with_those_around_the_workspace_in_the_same_repository(
    tmp_path: Path, inner: dict[str, str], codes: list[str]
) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".codex/config.toml": '[mcp_servers.issues]\ncommand = "issues"\n',
        "pkg/.codex/config.toml": "[mcp_servers.issues]\nenabled = false\n",
        **inner,
    }
    for name, text in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    workspace = tmp_path / "project" / "pkg"
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}

    async def served() -> list[str]:
        view = View(environment)
        try:
            view.add_roots([workspace])
            await view.settled()
            file = view.snapshot.file(uri_of(workspace / ".codex" / "config.toml"))
            assert file is not None
            return [each.code for each in diagnostics(view.snapshot, file)]
        finally:
            await view.close(1)

    assert asyncio.run(served()) == codes
