"""The main job from end to end, with a client that is not ours: pytest-lsp.

An agent file is checked as it is mended, and then runs with every turn streamed back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from support.scripted_provider import PATIENCE, Answer, Hold, Says, ScriptedProvider, calls_agent
from support.session import SERVER, Project

PARENT = """\
name = "parent"
model = "openai/m-parent"
system_prompt = \"\"\"
You are 😀 the parent.
Delegate max_depth = 9 things.
\"\"\"
sub_agents = ["left", "rihgt"]
timeout = -30

[sub_agents_config]
max_depth = 6
"""
CHILD = 'name = "{0}"\nmodel = "ollama/m-{0}"\n'

REFRESHES = (
    types.WORKSPACE_CODE_LENS_REFRESH,
    types.WORKSPACE_INLAY_HINT_REFRESH,
    types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
)
"""Requests that editors answer by asking again, and that pytest-lsp does not know by itself."""


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    for name in ("left", "right"):
        project.write(name, CHILD.format(name))
    project.write("parent", PARENT)
    return project


@pytest.fixture(params=["visual-studio-code", "neovim"])
async def client(request: pytest.FixtureRequest, project: Project) -> AsyncIterator[LanguageClient]:
    """Provide an initialized client with the capabilities of a real editor."""
    config = ClientServerConfig(server_command=SERVER, server_env=project.environment)
    client = await config.start()
    client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda _: None)
    for refresh in REFRESHES:
        client.feature(refresh)(lambda *_: None)
    await client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(request.param),
            workspace_folders=[types.WorkspaceFolder(project.root.as_uri(), "project")],
        )
    )
    yield client
    await client.shutdown_session()
    await client.stop()


def marked(text: str, diagnostics: list[types.Diagnostic]) -> list[str]:
    """Return what the diagnostics are about, in UTF-16 columns, as these editors count."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    return [
        lines[each.range.start.line][
            2 * each.range.start.character : 2 * each.range.end.character
        ].decode("utf-16-le")
        for each in diagnostics
    ]


async def diagnostics_of(client: LanguageClient, uri: str, count: int) -> list[types.Diagnostic]:
    """Wait until so many diagnostics are there."""
    while len(client.diagnostics.get(uri, [None] * (count + 1))) != count:
        published = client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        await asyncio.wait_for(published, PATIENCE)
    return list(client.diagnostics[uri])


async def test_a_parent_is_mended_and_runs_with_two_children_at_a_time(
    client: LanguageClient, project: Project, provider: ScriptedProvider
) -> None:
    uri = project.path("parent").as_uri()
    text = PARENT
    item = types.TextDocumentItem(uri, "toml", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    found = await diagnostics_of(client, uri, 3)
    assert [each.code for each in found] == ["unknown-agent", "negative-timeout", "max-depth"]
    assert marked(text, found) == ['"rihgt"', "-30", "6"]
    for version, (wrong, right) in enumerate(
        [("rihgt", "right"), ("timeout = -30", "timeout = 30"), ("depth = 6", "depth = 2")], 2
    ):
        text = text.replace(wrong, right)
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        left = await diagnostics_of(client, uri, 4 - version)
        assert wrong.split()[-1] not in marked(text, left)

    hold = Hold()
    both = Says("Both.", calls=[calls_agent("left", "do l"), calls_agent("right", "do r")])
    provider.script("m-parent", both, Says("They agree."))
    provider.script("m-left", Says("left is done"))
    provider.script("m-right", Answer(Says("right is done"), hold=hold))
    turns: list[Any] = []
    left_is_done = asyncio.Event()

    @client.feature("axe/turn")
    def on_turn(params: Any) -> None:
        turns.append(params)
        if params.agent == "left" and params.kind == "end":
            left_is_done.set()

    running = asyncio.ensure_future(client.protocol.send_request_async("axe/run", {"uri": uri}))
    await asyncio.wait_for(left_is_done.wait(), PATIENCE)
    assert not running.done()
    assert not any(turn.agent == "right" and turn.kind == "end" for turn in turns)
    hold.release()
    result = await asyncio.wait_for(running, PATIENCE)
    assert (result.status, result.content) == ("completed", "They agree.")
    ends = [(turn.agent, turn.turn) for turn in turns if turn.kind == "end"]
    assert ends == [("parent", 1), ("left", 1), ("right", 1), ("parent", 2)]
