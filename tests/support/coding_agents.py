"""Programs whose models write agent files, as `.ci/install-coding-agents` installs them, with a home of their own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.command_line import COMMAND
from support.editors import CACHE, PROJECT
from support.scripted_provider import Raw, ScriptedProvider

_PROGRAMS = (
    Path(os.environ.get("AXE_TEST_CODING_AGENTS") or CACHE / "coding-agents")
    / "node_modules"
    / ".bin"
)

INTEGRATIONS = PROJECT / "integrations"
TIMEOUT = 300
"""Seconds for one session. A slow machine needs most of them for the start."""


def program(name: str) -> str:
    """Return the path of a program, or skip the test, in `.ci/run`, too: the programs need a gigabyte."""
    path = _PROGRAMS / name
    if not path.exists():
        pytest.skip(f"no {name} on this machine: .ci/install-coding-agents installs it")
    return str(path)


class CodingAgent:
    """A user of a coding agent: a home, a project, `axe-lsp` on the path, and nothing of this machine's network."""

    def __init__(self, root: Path, provider: ScriptedProvider) -> None:
        self.home, self.work, self.provider = root / "home", root / "work", provider
        binaries = root / "bin"
        for folder in (self.home, self.work, binaries):
            folder.mkdir()
        server = binaries / "axe-lsp"
        server.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
        server.chmod(0o755)
        self.environment = {
            "PATH": f"{binaries}:{_PROGRAMS}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "AXE_HOOK_SECONDS": "60",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
        }
        self.call(["git", "init", "-q"])

    def call(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
        """Return what a command prints. It has to succeed."""
        done = subprocess.run(
            command,
            cwd=self.work,
            env={**self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-3_000:]}\n{done.stderr[-3_000:]}"
        return done.stdout

    def write(self, name: str, content: Any) -> Path:
        """Write a file of the home folder; a value that is no text as JSON."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def is_told(self, text: str) -> bool:
        """Return whether a request to the model has a text that was not in the first one."""
        first, *later = [each for each in self.provider.requests if each.model]
        assert text.encode() not in first.raw
        return any(text.encode() in each.raw for each in later)


def patch_call(patch: str) -> Raw:
    """Return an answer of OpenAI's Responses that calls `apply_patch` in the code mode of Codex."""
    item = {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "call_1",
        "name": "exec",
        "input": f"text(await tools.apply_patch({json.dumps(patch)}))",
        "status": "completed",
    }
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
    ]
    body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    return Raw(body.encode(), headers={"Content-Type": "text/event-stream"})
