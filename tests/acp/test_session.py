"""A session without a wire: what happens between two steps of a message."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from axe_lsp.acp.client_connection import Cancelling, Connection
from axe_lsp.acp.client_editor import ClientEditor
from axe_lsp.acp.content_blocks import Prompt
from axe_lsp.acp.offers import Offers
from axe_lsp.acp.permissions import Permissions
from axe_lsp.acp.session import Session
from axe_lsp.acp.sessions import Sessions
from axe_lsp.acp.update_queue import UpdateQueue
from axe_lsp.hosting.history.stored_sessions import StoredSession
from axe_lsp.hosting.supervisor.supervisor import Runs

TYPED = """\
name = "typed"
model = "ollama/m"

[input]
required = ["path", "lines"]
[input.properties]
path = { type = "string" }
lines = { type = "integer" }
"""


async def test_a_message_that_is_cancelled_at_once_shows_no_form(tmp_path: Path) -> None:
    agents = tmp_path / "axe/agents"
    agents.mkdir(parents=True)
    (agents / "typed.toml").write_text(TYPED)
    sent: list[Any] = []
    client = Connection(lambda data: sent.append(json.loads(data)), {}, {})
    session = Session(
        StoredSession("s", str(tmp_path), "typed"),
        Offers((("typed", ""),), (), ()),
        Runs(),
        UpdateQueue(client.notify, lambda *_: None),
        Permissions(client, has_forms=True),
        editor=ClientEditor(client, {}),
    )
    answering = asyncio.create_task(session.prompt(Prompt("Read")))
    await asyncio.sleep(0)  # Its order is being made.
    session.cancel()
    assert await asyncio.wait_for(answering, 60) == "cancelled"
    assert sent == []
    await client.close(within=1.0)


async def test_to_cancel_a_command_is_not_to_cancel_the_message_of_its_session(
    tmp_path: Path,
) -> None:
    agents = tmp_path / "axe/agents"
    agents.mkdir(parents=True)
    (agents / "typed.toml").write_text(TYPED)
    client = Connection(lambda _: None, {}, {})
    sessions = Sessions(client, {}, "")
    session = await sessions.begin(tmp_path)
    cancelling = Cancelling()
    command = [{"type": "text", "text": "/agents"}]
    answering = asyncio.create_task(sessions.prompt(session, command, cancelling))
    await asyncio.sleep(0)  # The answer is being made.
    assert cancelling.act is None, "its task alone is cancelled"
    assert await asyncio.wait_for(answering, 60) == "end_turn"
    await sessions.close()
    await client.close(within=1.0)
