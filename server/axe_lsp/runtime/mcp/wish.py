"""The question to a person before a tool of an MCP server is called.

Nobody but the server knows what its tools do; one that is said only to read is believed, since whoever
would lie about that could as well read in other ways.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from axe_lsp.agentfile.agent_definition import McpServer
from axe_lsp.agentfile.text.addresses import without_passwords
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.safety.approval import Rehearsal, Wish
from axe_lsp.runtime.safety.redaction import redact, redacted_table


def wish_to_call(call: ToolCall, server: McpServer, run: RunIds, secrets: Collection[str]) -> Wish:
    """The wish to call a tool, named `server/tool`, with its arguments as others may see them."""
    arguments = redacted_table(call.arguments, secrets)

    async def rehearse() -> Rehearsal:
        purpose = f"call {call.name} of the MCP server {quoted(server.name)}"
        shown = json.dumps(arguments, indent=2, ensure_ascii=False)
        address = redact(without_passwords(server.url), secrets)
        details = f"{address}\n{call.name} {shown}"
        return Rehearsal(purpose, details, subject=f"{server.url}\n{call.name} {shown}")

    name = f"{server.name}/{call.name}"
    return Wish(run, name, arguments, rehearse, server.url, call.event_id)
