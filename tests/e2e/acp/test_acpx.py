"""`axe-lsp acp`, driven by acpx, a client of ACP for the command line (npm)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.acp_client import SERVER
from support.doors import acpx
from support.raw_client import TIMEOUT
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider, calls_agent
from support.session import Project

WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})

DENIED = 5
"""The exit code of acpx if all questions were denied."""


class Acpx:
    """acpx in a project. It keeps a process of its own for its session."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        server = folder / "axe-acp"
        server.write_text(f"#!/bin/sh\nexec '{SERVER[0]}' -c '{SERVER[2]}' acp\n")
        server.chmod(0o755)
        self._command = [*acpx(), "--agent", str(server)]
        self._environment = {**os.environ, **project.environment}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start acpx."""
        return subprocess.Popen(
            [*self._command, *arguments],
            cwd=self.project.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def says(self, *arguments: str, code: int = 0) -> str:
        """Return what acpx prints, once it has ended with an exit code."""
        process = self.start(*arguments)
        said, _ = process.communicate(timeout=TIMEOUT)
        assert process.returncode == code, said
        return said

    def close(self) -> None:
        """End the session and the process of acpx that keeps it.

        That process becomes a child of this one when a test before has adopted orphans (`runtime/safety/orphans.py`).
        When it ends, acpx does not recognise it until it has been waited for.
        """
        process = self.start("sessions", "close")
        said, _ = process.communicate(timeout=TIMEOUT)
        if process.returncode:
            owner = re.search(r"owner pid (\d+): its process birth identity is unverified", said)
            assert owner, said
            with suppress(ProcessLookupError):
                os.kill(int(owner[1]), signal.SIGTERM)
            with suppress(ChildProcessError):
                os.waitpid(int(owner[1]), 0)


@pytest.fixture
def client(project: Project, tmp_path: Path) -> Iterator[Acpx]:
    client = Acpx(project, tmp_path)
    client.says("sessions", "new")
    yield client
    client.close()


def test_a_question_of_a_called_agent_is_answered(client: Acpx, provider: ScriptedProvider) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write it")]), Says("All done."))
    provider.script("m-writer", Says(calls=[WRITE]), Says("written"))
    said = client.says("--approve-all", "prompt", "Have it written")
    assert "writer: write_file notes.txt (completed)" in said
    assert said.rstrip().endswith("All done.\n\n[done] end_turn")
    assert (client.project.root / "notes.txt").read_text() == "new\n"


def test_a_denied_change_is_not_made(client: Acpx, provider: ScriptedProvider) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says("Then not."))
    said = client.says("--deny-all", "prompt", "Write it", code=DENIED)
    assert "write_file notes.txt (failed)" in said
    assert "Then not." in said
    assert not (client.project.root / "notes.txt").exists()


def test_a_message_is_cancelled_and_the_conversation_goes_on(
    client: Acpx, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold), Says("The next answer."))
    message = client.start("prompt", "Tell me a story")
    hold.wait_until_arrived()
    assert "cancel requested" in client.says("cancel")
    said, _ = message.communicate(timeout=TIMEOUT)
    assert said.rstrip().endswith("[done] cancelled")
    assert "The next answer." in client.says("prompt", "Go on")
    assert "Tell me a story" in client.says("sessions", "list")
