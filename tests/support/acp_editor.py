"""A client of the Agent Client Protocol that has files with unsaved text, and terminals.

with AcpClient.start(project, capabilities=EDITOR) as client:
    editor = AcpEditor(client)
    editor.unsaved[str(path)] = "not on the disk yet\\n"
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from support.acp_client import AcpClient
from support.raw_client import ServerError

Json = Any

FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}
TERMINALS = {"terminal": True}
EDITOR = {**FILES, **TERMINALS}


class AcpEditor:
    """The files and terminals of a client. `asked` are the requests for them, in order, with their params."""

    def __init__(self, client: AcpClient) -> None:
        self.unsaved: dict[str, str] = {}
        self.asked: list[tuple[str, Json]] = []
        self.terminals: dict[str, Terminal] = {}
        self._client = client
        for method, answer in {
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._create,
            "terminal/output": lambda params: self._terminal(params).output(),
            "terminal/wait_for_exit": lambda params: self._terminal(params).exit,
            "terminal/kill": lambda params: self._terminal(params).end(),
            "terminal/release": lambda params: self._terminal(params).end(),
        }.items():
            client.answer_with[method] = self._noting(method, answer)

    def methods(self) -> list[str]:
        """Return the methods that were asked for so far."""
        return [method for method, _ in self.asked]

    def params(self, method: str) -> list[Json]:
        """Return the params of the requests with a method."""
        return [params for each, params in self.asked if each == method]

    def refuse(self, method: str, message: str, code: int = -32603) -> None:
        """Answer a method with an error."""

        def refuse(_: Json) -> Json:
            raise ServerError({"code": code, "message": message})

        self.answer(method, refuse)

    def answer(self, method: str, answer: Callable[[Json], Json]) -> None:
        """Answer a method in another way."""
        self._client.answer_with[method] = self._noting(method, answer)

    def _noting(self, method: str, answer: Callable[[Json], Json]) -> Callable[[Json], Json]:
        def noting(params: Json) -> Json:
            self.asked.append((method, params))
            return answer(params)

        return noting

    def _read(self, params: Json) -> Json:
        path = params["path"]
        if path in self.unsaved:
            return {"content": self.unsaved[path]}
        try:  # As editors do: without the marks of the system.
            return {"content": Path(path).read_text("utf-8-sig")}
        except OSError as error:
            raise ServerError({"code": -32002, "message": f"not found: {path}"}) from error

    def _write(self, params: Json) -> Json:
        Path(params["path"]).write_text(params["content"], "utf-8", newline="")
        self.unsaved.pop(params["path"], None)
        return {}

    def _create(self, params: Json) -> Json:
        name = f"terminal-{len(self.terminals)}"
        self.terminals[name] = Terminal(params)
        return {"terminalId": name}

    def _terminal(self, params: Json) -> Terminal:
        return self.terminals[params["terminalId"]]


class Terminal:
    """A command of the agent, as a client runs it."""

    def __init__(self, params: Json) -> None:
        self.exit: Future[Json] = Future()
        self._limit: int = params["outputByteLimit"]
        self._written = b""
        self._process = subprocess.Popen(
            [params["command"], *params["args"]],
            cwd=params["cwd"],
            env={**os.environ, **{each["name"]: each["value"] for each in params["env"]}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def output(self) -> Json:
        """Return the end of what the command has written."""
        kept = self._written[-self._limit :]
        is_cut = len(kept) < len(self._written)
        return {"output": kept.decode("utf-8", "replace"), "truncated": is_cut}

    def end(self) -> Json:
        """Kill the command, if it is still there."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return {}

    def _read(self) -> None:
        assert self._process.stdout is not None
        while piece := self._process.stdout.read1(1 << 16):
            self._written += piece
        self._process.stdout.close()
        code = self._process.wait()
        ended = {"exitCode": code, "signal": None}
        self.exit.set_result(ended if code >= 0 else {"exitCode": None, "signal": "SIGKILL"})
