"""A project with agents, and an editor that works in it through the real server.

project = Project(tmp_path)
project.write("lint", 'name = "lint"\\nmodel = "ollama/m"\\n')
with project.editor() as editor:
    editor.open("parent", text)
    assert editor.problems("parent") == ["max-depth 6"]
    editor.replace("parent", "max_depth = 6", "max_depth = 5")
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding, TextRange
from support.raw_client import RawClient

SERVER = [sys.executable, "-c", "from axe_lsp.cli.main import main; main()", "--stdio"]
PUBLISH = "textDocument/publishDiagnostics"

Json = Any


def agent_file(name: str, **keys: Json) -> str:
    """Return the text of an agent whose model is asked by its name."""
    values = {"name": name, "model": f"anthropic/m-{name}", "description": f"The {name}", **keys}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


class Project:
    """A folder with agents in the usual place, and a home without any."""

    def __init__(self, root: Path, environment: Mapping[str, str] | None = None) -> None:
        self.root = root / "project"
        self.agents = self.root / "axe" / "agents"
        self.agents.mkdir(parents=True)
        self.home = root / "home"
        self.user_agents = self.home / ".config" / "axe" / "agents"
        self.user_agents.mkdir(parents=True)
        self.environment = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            **(environment or {}),
        }

    def path(self, name: str) -> Path:
        return self.agents / f"{name}.toml"

    def write(self, name: str, text: str) -> Path:
        path = self.path(name)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    @contextmanager
    def editor(self, refuses: Sequence[str] = (), **initialize: Json) -> Iterator[Editor]:
        """Provide an initialized session; `initialize` adds to the params of that request.

        Requests of the server that the client `refuses` are answered with an error.
        """
        with RawClient.spawn(SERVER, env=self.environment, cwd=self.root) as client:
            for method in refuses:
                del client.answer_with[method]
            yield Editor(self, client, **initialize)


class Editor:
    """Opens, edits, asks; positions in the encoding that was negotiated."""

    def __init__(self, project: Project, client: RawClient, **initialize: Json) -> None:
        self.project = project
        self.client = client
        folder = {"uri": project.root.as_uri(), "name": "project"}
        capabilities = {
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
        }
        params = {"workspaceFolders": [folder], "capabilities": capabilities, **initialize}
        self.server = client.initialize(**params)
        self.encoding: PositionEncoding = self.server["capabilities"]["positionEncoding"]
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self._old: list[Json] = []

    def uri(self, name: str) -> str:
        return name if ":" in name else self.project.path(name).as_uri()

    def open(self, name: str, text: str | None = None, language: str = "toml") -> None:
        """Open a file, which need not lie on the disk."""
        self.texts[name] = self.project.path(name).read_text("utf-8") if text is None else text
        self.versions[name] = 1
        item = {
            "uri": self.uri(name),
            "languageId": language,
            "version": 1,
            "text": self.texts[name],
        }
        self.client.notify("textDocument/didOpen", {"textDocument": item})

    def replace(self, name: str, old: str, new: str) -> None:
        """Exchange the first `old`, as one incremental change."""
        text = self.texts[name]
        start = text.index(old)
        change = {"range": self.range(name, start, start + len(old)), "text": new}
        self.texts[name] = text.replace(old, new, 1)
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        self.client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )

    def close(self, name: str) -> None:
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def changed_on_disk(self, *paths: Path) -> None:
        """What a client that watches files says."""
        changes = [{"uri": path.as_uri(), "type": 2 if path.exists() else 3} for path in paths]
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def ask(self, feature: str, name: str, before: str) -> Json:
        """Return a request about the position behind the first `before` in the text."""
        return self.client.request(f"textDocument/{feature}", self.place(name, before))

    def place(self, name: str, before: str) -> Json:
        """Return the params of such a request."""
        offset = self.texts[name].index(before) + len(before)
        position = self.range(name, offset, offset)["start"]
        return {"textDocument": {"uri": self.uri(name)}, "position": position}

    def problems(self, name: str, fits: Callable[[list[str]], bool] | int) -> list[str]:
        """Wait for diagnostics that fit (or are so many): `code text`, in the order of the text.

        What was sent before those that fitted last does not count.
        """
        wanted = (lambda found: len(found) == fits) if isinstance(fits, int) else fits

        def is_it(params: Json) -> bool:
            if params["uri"] != self.uri(name) or any(params is each for each in self._old):
                return False
            return bool(wanted(self._shown(name, params)))

        found = self.client.wait_for(PUBLISH, is_it)
        for params in self.client.notifications(PUBLISH):
            if params["uri"] == self.uri(name):
                self._old.append(params)
            if params is found:
                break
        return self._shown(name, found)

    def _shown(self, name: str, params: Json) -> list[str]:
        text = self._text(name)
        index = LineIndex(text)

        def offset(position: Json) -> int:
            return index.offset(position["line"], position["character"], self.encoding)

        return [
            f"{each['code']} " + text[offset(each["range"]["start"]) : offset(each["range"]["end"])]
            for each in params["diagnostics"]
        ]

    def _text(self, name: str) -> str:
        """Return what the editor has, else what lies on the disk, if anything does."""
        path = self.project.path(name)
        on_disk = path.read_text("utf-8") if path.exists() else ""
        return self.texts.get(name, on_disk)

    def range(self, name: str, start: int, end: int) -> Json:
        index = LineIndex(self.texts[name])
        where = TextRange(start, end)
        first, last = (index.position(offset, self.encoding) for offset in where)
        return {
            "start": {"line": first[0], "character": first[1]},
            "end": {"line": last[0], "character": last[1]},
        }
