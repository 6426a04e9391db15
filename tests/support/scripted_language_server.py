"""A language server of plain texts, as a program of its own, whose behaviour the names of files decide.

A line with `BAD` has an error. Texts are checked at once, and published with their version, except for these names:

    late      published a second after the change
    twice     first published as free of problems, without a version, and a moment later with its problems
    never     published when it is opened, and never again
    old       after a change published once more as it was before, with the old version, and then never
    pulled    not published: a client has to ask

`def NAME` defines a name. With the argument `silent` nothing is ever published.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO
from urllib.parse import unquote

Json = Any

_LATE_SECONDS = 1.0
_MOMENT_SECONDS = 0.1

_CAPABILITIES = {
    "textDocumentSync": 1,
    "definitionProvider": True,
    "referencesProvider": True,
    "hoverProvider": True,
    "documentSymbolProvider": True,
    "workspaceSymbolProvider": True,
    "callHierarchyProvider": True,
    "diagnosticProvider": {"interFileDependencies": False, "workspaceDiagnostics": False},
}


class Server:
    """The texts that a client has opened, and what is said about them."""

    def __init__(self, output: BinaryIO, *, is_silent: bool) -> None:
        self._output = output
        self._is_silent = is_silent
        self._texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._lock = threading.Lock()

    def receive(self, message: Json) -> None:
        """Handle a request or a notification."""
        method, params = message.get("method"), message.get("params")
        if method == "textDocument/didOpen":
            document = params["textDocument"]
            self._check(document["uri"], document["version"], document["text"], is_new=True)
        elif method == "textDocument/didChange":
            document = params["textDocument"]
            text = params["contentChanges"][-1]["text"]
            self._check(document["uri"], document["version"], text)
        elif "id" in message and method:
            result = self._answer(method, params or {})
            self._send({"id": message["id"], "result": result})

    def _check(self, uri: str, version: int, text: str, *, is_new: bool = False) -> None:
        before, self._texts[uri] = self._texts.get(uri, text), text
        former, self._versions[uri] = self._versions.get(uri, version), version
        kind = _name(uri)
        is_new = is_new and before == text
        if self._is_silent or kind == "pulled" or (kind == "never" and not is_new):
            return
        if kind == "late":
            self._later(_LATE_SECONDS, uri, _problems(text), version)
        elif kind == "twice":
            self._publish(uri, [], None)
            self._later(_MOMENT_SECONDS, uri, _problems(text), None)
        elif kind == "old" and not is_new:
            self._later(_MOMENT_SECONDS, uri, _problems(before), former)
        else:
            self._publish(uri, _problems(text), version)

    def _later(self, seconds: float, *publication: Any) -> None:
        timer = threading.Timer(seconds, self._publish, publication)
        timer.daemon = True
        timer.start()

    def _publish(self, uri: str, problems: Sequence[Json], version: int | None) -> None:
        params: Json = {"uri": uri, "diagnostics": problems}
        if version is not None:
            params["version"] = version
        self._send({"method": "textDocument/publishDiagnostics", "params": params})

    def _answer(self, method: str, params: Mapping[str, Json]) -> Json:
        if method == "initialize":
            name = sys.argv[0].rpartition("/")[2]
            capabilities = dict(_CAPABILITIES)
            if "pull" not in sys.argv:
                del capabilities["diagnosticProvider"]
            return {"capabilities": capabilities, "serverInfo": {"name": name}}
        if method == "workspace/symbol":
            return [symbol for uri in self._texts for symbol in self._symbols(uri, params["query"])]
        if method.startswith("callHierarchy/"):
            return self._calls(params["item"], method)
        if "textDocument" not in params:
            return None
        uri = params["textDocument"]["uri"]
        if method == "textDocument/diagnostic":
            return {"kind": "full", "items": _problems(self._texts[uri])}
        if method == "textDocument/documentSymbol":
            return self._symbols(uri, "")
        return self._about_name(method, uri, params["position"])

    def _about_name(self, method: str, uri: str, position: Json) -> Json:
        line = self._texts[uri].split("\n")[position["line"]]
        match = re.compile(r"\w+").match(line, position["character"])
        name = match.group() if match else ""
        places = self._places(rf"\b{name}\b")
        definitions = self._places(rf"\bdef {name}\b")
        if method == "textDocument/definition":
            return definitions
        if method == "textDocument/references":
            return places
        if method == "textDocument/hover":
            return {"contents": {"kind": "markdown", "value": f"the name {name}"}}
        if method == "textDocument/prepareCallHierarchy":
            range_ = definitions[0]["range"]
            item = {"name": name, "kind": 12, "range": range_, "selectionRange": range_}
            return [{**item, "uri": definitions[0]["uri"]}]
        return None

    def _calls(self, item: Json, method: str) -> Json:
        places = self._places(rf"(?<!def )\b{item['name']}\b")
        if method == "callHierarchy/outgoingCalls":
            return []
        about = {"name": "caller", "kind": 12}
        return [
            {
                "from": {**about, **each, "selectionRange": each["range"]},
                "fromRanges": [each["range"]],
            }
            for each in places
        ]

    def _symbols(self, uri: str, query: str) -> list[Json]:
        places = [each for each in self._places(r"\bdef \w+") if each["uri"] == uri]
        names = re.findall(r"\bdef (\w+)", self._texts[uri])
        return [
            {"name": name, "kind": 12, "location": place}
            for name, place in zip(names, places, strict=True)
            if query in name
        ]

    def _places(self, pattern: str) -> list[Json]:
        return [
            {"uri": uri, "range": _range(number, match.start(), match.end())}
            for uri, text in self._texts.items()
            for number, line in enumerate(text.split("\n"))
            for match in re.finditer(pattern, line)
        ]

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self._lock:
            self._output.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self._output.flush()


def _name(uri: str) -> str:
    return unquote(uri).rpartition("/")[2].partition(".")[0]


def _range(line: int, start: int, end: int) -> Json:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    }


def _problems(text: str) -> list[Json]:
    return [
        {
            "range": _range(number, 0, len(line)),
            "severity": 1,
            "source": "words",
            "code": 7,
            "message": f"a bad word in {line!r}",
        }
        for number, line in enumerate(text.split("\n"))
        if "BAD" in line
    ]


def main() -> None:
    """Serve a client at the standard streams until it says `exit`."""
    server = Server(sys.stdout.buffer, is_silent="silent" in sys.argv)
    while header := sys.stdin.buffer.readline():
        length = int(header.split(b":")[1])
        while sys.stdin.buffer.readline().strip():
            pass
        message = json.loads(sys.stdin.buffer.read(length))
        if message.get("method") == "exit":
            return
        server.receive(message)


if __name__ == "__main__":
    main()
