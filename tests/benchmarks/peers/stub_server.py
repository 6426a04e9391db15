"""No language server: answers at once, from the standard library alone.

What is measured against it is the cost of the client, of the pipes and of Python itself.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    for message in iter(read, None):
        method, params = message.get("method"), message.get("params")
        if "id" in message and method is not None:
            send({"id": message["id"], "result": {"capabilities": {}}})
        elif method in ("textDocument/didOpen", "textDocument/didChange"):
            document = params["textDocument"]
            text = params["contentChanges"][0]["text"] if "contentChanges" in params else ""
            found = [{"message": "too much"}] if text == "9" else []
            published = {"uri": document["uri"], "version": document["version"]}
            send(
                {
                    "method": "textDocument/publishDiagnostics",
                    "params": {**published, "diagnostics": found},
                }
            )


def read() -> dict[str, Any] | None:
    length = 0
    for line in iter(sys.stdin.buffer.readline, b"\r\n"):
        if not line:
            return None
        length = int(line.partition(b":")[2])
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return message


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


main()
