"""`axe-lsp acp`, driven by the official client (PyPI agent-client-protocol), which reads each message by its schema."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    ClientCapabilities,
    ToolCallProgress,
    ToolCallStart,
)

import acp
from support.scripted_provider import (
    PATIENCE,
    Call,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.session import Project

Json = Any

WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})


class Person:
    """The client's side: allows once, and keeps what it hears."""

    def __init__(self) -> None:
        self.updates: list[Json] = []
        self.questions: list[Json] = []
        self.asked = asyncio.Event()
        self.answers = True

    def on_connect(self, conn: Json) -> None:
        """The SDK calls it."""

    async def session_update(self, session_id: str, update: Json, **_: Json) -> None:
        self.updates.append(update)

    async def request_permission(
        self, session_id: str, tool_call: Json, options: list[Json], **_: Json
    ) -> acp.RequestPermissionResponse:
        self.questions.append((tool_call, options))
        self.asked.set()
        if not self.answers:
            await asyncio.Event().wait()
        once = next(option for option in options if option.kind == "allow_once")
        chosen = AllowedOutcome(outcome="selected", option_id=once.option_id)
        return acp.RequestPermissionResponse(outcome=chosen)

    @property
    def said(self) -> str:
        return "".join(
            update.content.text for update in self.updates if isinstance(update, AgentMessageChunk)
        )


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    for name, keys in [
        ("lead", {"sub_agents": ["writer"]}),
        ("writer", {"tools": ["write_file"]}),
    ]:
        values = {"name": name, "model": f"anthropic/m-{name}", **keys}
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        project.write(name, text)
    return project


@asynccontextmanager
async def connected(project: Project, person: Person) -> AsyncIterator[tuple[Json, str]]:
    """The agent as the SDK shows it, and a session."""
    command = [sys.executable, "-m", "axe_lsp", "acp"]
    environment = {**os.environ, **project.environment}
    async with acp.spawn_agent_process(
        person,  # type: ignore[arg-type]
        *command,
        env=environment,
        cwd=project.root,
    ) as (agent, _):
        await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION, client_capabilities=ClientCapabilities()
        )
        made = await agent.new_session(cwd=str(project.root), mcp_servers=[])
        yield agent, made.session_id


async def test_a_prompt_with_a_permission_of_a_called_agent(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write")]), Says("Done."))
    provider.script("m-writer", Says(calls=[WRITE]), Says("RESULT"))
    person = Person()
    async with connected(project, person) as (agent, session):
        answer = await agent.prompt(session_id=session, prompt=[acp.text_block("Go")])
    assert answer.stop_reason == "end_turn"
    assert person.said == "Done."
    assert (project.root / "notes.txt").read_text() == "new\n"
    ((call, _),) = person.questions
    assert call.title == "writer: write_file notes.txt"
    starts = [update for update in person.updates if isinstance(update, ToolCallStart)]
    ends = [update for update in person.updates if isinstance(update, ToolCallProgress)]
    assert [start.kind for start in starts] == ["other", "edit"]
    assert {end.tool_call_id for end in ends if end.status == "completed"} == {
        start.tool_call_id for start in starts
    }


async def test_a_cancel_while_a_question_is_open(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write")]))
    provider.script("m-writer", Says(calls=[WRITE]))
    person = Person()
    person.answers = False
    async with connected(project, person) as (agent, session):
        prompt = asyncio.ensure_future(
            agent.prompt(session_id=session, prompt=[acp.text_block("Go")])
        )
        await asyncio.wait_for(person.asked.wait(), PATIENCE)
        await agent.cancel(session_id=session)
        assert (await asyncio.wait_for(prompt, PATIENCE)).stop_reason == "cancelled"
    assert not (project.root / "notes.txt").exists()


async def test_a_session_is_listed_and_loaded_by_another_process(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says("One."), Says("Two."))
    async with connected(project, Person()) as (agent, session):
        await agent.prompt(session_id=session, prompt=[acp.text_block("First")])
    person = Person()
    async with connected(project, person) as (agent, _):
        (listed,) = (await agent.list_sessions()).sessions
        assert (listed.session_id, listed.title) == (session, "First")
        await agent.load_session(cwd=str(project.root), session_id=session, mcp_servers=[])
        assert person.said == "One."
        await agent.prompt(session_id=session, prompt=[acp.text_block("Second")])
        assert person.said == "One.Two."
