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
    FileSystemCapabilities,
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
from support.session import Project, agent_file

Json = Any

WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})


class Person:
    """The client's side: allows once, and keeps what it hears."""

    def __init__(self) -> None:
        self.updates: list[Json] = []
        self.questions: list[Json] = []
        self.asked = asyncio.Event()
        self.answers = True
        self.texts: dict[str, str] = {}
        self.commands: list[Json] = []
        self.ends_commands = True
        self.runs_command = asyncio.Event()
        self.killed = asyncio.Event()
        self.released = False

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

    async def read_text_file(
        self, path: str, session_id: str, **_: Json
    ) -> acp.ReadTextFileResponse:
        return acp.ReadTextFileResponse(content=self.texts[path])

    async def write_text_file(
        self, content: str, path: str, session_id: str, **_: Json
    ) -> acp.WriteTextFileResponse:
        self.texts[path] = content
        return acp.WriteTextFileResponse()

    async def create_terminal(
        self, command: str, session_id: str, **members: Json
    ) -> acp.CreateTerminalResponse:
        self.commands.append((command, members["args"], members["cwd"]))
        return acp.CreateTerminalResponse(terminal_id="terminal")

    async def wait_for_terminal_exit(self, **_: Json) -> acp.WaitForTerminalExitResponse:
        if self.ends_commands:
            return acp.WaitForTerminalExitResponse(exit_code=0)
        self.runs_command.set()
        await self.killed.wait()
        return acp.WaitForTerminalExitResponse(signal="SIGKILL")

    async def terminal_output(self, **_: Json) -> acp.TerminalOutputResponse:
        return acp.TerminalOutputResponse(output="from the terminal", truncated=False)

    async def kill_terminal(self, **_: Json) -> None:
        self.killed.set()

    async def release_terminal(self, **_: Json) -> None:
        self.released = True

    @property
    def said(self) -> str:
        return "".join(
            update.content.text for update in self.updates if isinstance(update, AgentMessageChunk)
        )


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    project.write("lead", agent_file("lead", sub_agents=["writer"]))
    project.write("writer", agent_file("writer", tools=["write_file"]))
    return project


@asynccontextmanager
async def connected(
    project: Project, person: Person, capabilities: ClientCapabilities | None = None
) -> AsyncIterator[tuple[Json, str]]:
    """Provide the agent as the SDK shows it, and a session."""
    command = [sys.executable, "-m", "axe_lsp", "acp"]
    environment = {**os.environ, **project.environment}
    async with acp.spawn_agent_process(
        person,  # type: ignore[arg-type]
        *command,
        env=environment,
        cwd=project.root,
    ) as (agent, _):
        await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=capabilities or ClientCapabilities(),
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


EDITOR = ClientCapabilities(
    fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
)


async def test_files_and_terminals_of_the_client(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("lead", agent_file("lead", tools=["edit_file", "run_command"]))
    notes = project.root / "notes.txt"
    notes.write_text("on the disk")
    edit = {"path": "notes.txt", "old_string": "unsaved", "new_string": "edited"}
    command = Call("run_command", {"command": "true"}, "2")
    provider.script("m-lead", Says(calls=[Call("edit_file", edit, "1"), command]), Says("Done."))
    person = Person()
    person.texts[str(notes)] = "unsaved text"
    async with connected(project, person, EDITOR) as (agent, session):
        answer = await agent.prompt(session_id=session, prompt=[acp.text_block("Go")])
    assert answer.stop_reason == "end_turn"
    assert person.texts[str(notes)] == "edited text"
    assert person.commands == [("sh", ["-c", "true"], str(project.root))]
    assert "from the terminal" in json.dumps(provider.requests[-1].body["messages"][-1])
    assert person.released


async def test_a_cancel_while_a_command_is_in_a_terminal_of_the_client(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("lead", agent_file("lead", tools=["run_command"]))
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": "sleep 1000"})]))
    person = Person()
    person.ends_commands = False
    async with connected(project, person, EDITOR) as (agent, session):
        prompt = asyncio.ensure_future(
            agent.prompt(session_id=session, prompt=[acp.text_block("Go")])
        )
        await asyncio.wait_for(person.runs_command.wait(), PATIENCE)
        await agent.cancel(session_id=session)
        assert (await asyncio.wait_for(prompt, PATIENCE)).stop_reason == "cancelled"
    assert person.killed.is_set()
    assert person.released
