"""An MCP server over stdio, of the older protocol, without any library."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

PLAIN = """
    import json, os, sys

    def answer(id, result):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}) + "\\n")
        sys.stdout.flush()

    def call(name):
        return {"content": [{"type": "text", "text": name}]}

    TOOLS = [{"name": "tell", "description": "", "inputSchema": {"type": "object"}}]

    def serve(call=call, discovers=True):
        for line in sys.stdin:
            message = json.loads(line)
            method, id = message["method"], message.get("id")
            if method == "initialize":
                answer(id, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "plain", "version": "1"}})
            elif method == "tools/list":
                answer(id, {"tools": TOOLS})
            elif method == "tools/call":
                answer(id, call(message["params"]["name"]))
            elif id is not None:
                if not discovers:
                    sys.exit(3)
                error = {"code": -32601, "message": "unknown"}
                print(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}), flush=True)
"""
"""Its tool `tell` answers with what `call` returns."""


def plain_server(folder: Path, ending: str = "serve()", **more: Any) -> dict[str, Any]:
    """Return a server that is this program."""
    script = folder / "plain_server.py"
    script.write_text(f"{textwrap.dedent(PLAIN)}\n{textwrap.dedent(ending)}\n")
    return {"name": "plain", "command": sys.executable, "args": [str(script)], **more}


ASKING = """
    def call(name):
        form = {"type": "object", "properties": {}}
        params = {"mode": "form", "message": "May I go on?", "requestedSchema": form}
        request = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}
        print(json.dumps(request), flush=True)
        answer = json.loads(sys.stdin.readline())["result"]
        return {"content": [{"type": "text", "text": json.dumps(answer)}]}
    serve(call)
"""
"""An ending: its tool asks for consent and answers with what was answered."""
