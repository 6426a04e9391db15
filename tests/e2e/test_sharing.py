"""Two editors on one server: what one of them does takes nothing from the other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.raw_client import Json, RawClient
from support.session import Editor, Project

HEAD = 'name = "parent"\nmodel = "ollama/m"\n'

Connect = Callable[..., Editor]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def connect(project: Project) -> Iterator[Connect]:
    """Opens editors on one server."""
    command = [sys.executable, "-m", "axe_lsp", "--tcp", "127.0.0.1:0"]
    environment = {**os.environ, **project.environment}
    with (
        ExitStack() as clients,
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server,
    ):
        assert server.stderr is not None
        port = int(server.stderr.readline().rpartition(":")[2])

        def connect(**initialize: Json) -> Editor:
            client = clients.enter_context(RawClient.connect(("127.0.0.1", port)))
            return Editor(project, client, **initialize)

        yield connect
        server.terminate()


def test_a_file_that_one_editor_closes_is_still_open_in_the_other(
    project: Project, connect: Connect
) -> None:
    project.write("parent", HEAD)
    first, second = connect(), connect()
    first.open("parent", HEAD + "timeout = -1\n")
    first.problems("parent", 1)
    second.open("parent", HEAD + "timeout = -2\n")
    second.problems("parent", 1)

    second.close("parent")
    second.problems("parent", 0)

    assert first.ask("hover", "parent", "timeo") is not None
    first.replace("parent", "-1", "1")
    assert first.problems("parent", 0) == []


def test_an_editor_that_has_no_settings_leaves_those_of_the_other_in_force(
    project: Project, connect: Connect
) -> None:
    project.write("parent", HEAD)
    connect(initializationOptions={"diagnostics": {"negative-timeout": "off"}})
    editor = connect()
    editor.open("parent", HEAD + "timeout = -1\nzzz = 1\n")

    assert editor.problems("parent", 1) == ["unknown-key zzz"]
