"""One server for several editors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from support.listening import listening_server
from support.raw_client import Json, RawClient
from support.session import Editor, Project

Connect = Callable[..., Editor]


@pytest.fixture
def address(project: Project) -> Iterator[tuple[str, int]]:
    """Where the server listens."""
    with listening_server(project.environment) as server:
        yield server.address


@pytest.fixture
def connect(project: Project, address: tuple[str, int]) -> Iterator[Connect]:
    """Opens editors on the server."""
    with ExitStack() as clients:

        def connect(**initialize: Json) -> Editor:
            client = clients.enter_context(RawClient.connect(address))
            return Editor(project, client, **initialize)

        yield connect
