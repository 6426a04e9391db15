"""The questions to the user before an MCP server is started, and before one of its tools is called.

Only the server knows what its tools do. Its `readOnlyHint` is believed, since a server that lies about it
could read in other ways, too.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.mcp.remote_tools import RemoteTool
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.safety.allowances import START
from axe_lsp.runtime.safety.approval import ApprovalRequest, Rehearsal
from axe_lsp.runtime.safety.redaction import redact, redacted_table

_SHOWN_DESCRIPTION = 1000
"""Characters of what a server says of a tool that it has changed."""


def request_to_start(server: McpServer, run: RunIds, secrets: Collection[str]) -> ApprovalRequest:
    """The request to start a server, with the line that others may see."""
    line = redact(server.shown_place, secrets)

    async def rehearse() -> Rehearsal:
        purpose = f"start the MCP server {quoted(server.name)}"
        return Rehearsal(purpose, line, subject=server.line, for_run="this MCP server")

    return ApprovalRequest(run, START, {"command": line}, rehearse, _address(server))


def _address(server: McpServer) -> str:
    """The name of a server in rules."""
    return f"{START}({server.line})" if server.is_command else server.url


def request_to_call(
    call: ToolCall, remote: RemoteTool, run: RunIds, secrets: Collection[str]
) -> ApprovalRequest:
    """The request to call a tool, named `server/tool`, with its arguments as others may see them.

    What was allowed for a tool is not allowed for one of which its server says something else.
    """
    server = remote.connection.server
    arguments = redacted_table(call.arguments, secrets)

    async def rehearse() -> Rehearsal:
        purpose = f"call {call.name} of the MCP server {quoted(server.name)}"
        shown = json.dumps(arguments, indent=2, ensure_ascii=False)
        place = redact(server.shown_place, secrets)
        details = f"{place}\n{call.name} {shown}"
        if remote.changed:
            purpose += f", which has changed this tool {remote.changed}"
            says = redact(remote.tool.description, secrets)[:_SHOWN_DESCRIPTION]
            details += f"\n\nThe server says of it now: {says or 'nothing'}"
        subject = f"{server.place}\n{call.name} {remote.definition} {shown}"
        return Rehearsal(purpose, details, subject=subject)

    name = f"{server.name}/{call.name}"
    address = _address(server)
    return ApprovalRequest(
        run, name, arguments, rehearse, address, call.event_id, bool(remote.changed)
    )
