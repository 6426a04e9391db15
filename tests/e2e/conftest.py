"""One server for several editors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from support.raw_client import Json, RawClient
from support.session import Editor, Project

Connect = Callable[..., Editor]


@pytest.fixture
def address(project: Project) -> Iterator[tuple[str, int]]:
    """Where the server listens."""
    command = [sys.executable, "-m", "axe_lsp", "--tcp", "127.0.0.1:0"]
    environment = {**os.environ, **project.environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr is not None
        yield "127.0.0.1", int(server.stderr.readline().rpartition(":")[2])
        server.terminate()


@pytest.fixture
def connect(project: Project, address: tuple[str, int]) -> Iterator[Connect]:
    """Opens editors on the server."""
    with ExitStack() as clients:

        def connect(**initialize: Json) -> Editor:
            client = clients.enter_context(RawClient.connect(address))
            return Editor(project, client, **initialize)

        yield connect
