"""One server for several editors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from support.listening import Listening, listening_server
from support.raw_client import Json
from support.session import Editor, Project

Connect = Callable[..., Editor]


@pytest.fixture
def listening(project: Project) -> Iterator[Listening]:
    with listening_server(project.environment) as server:
        yield server


@pytest.fixture
def connect(project: Project, listening: Listening) -> Iterator[Connect]:
    """Opens editors on the server."""
    with ExitStack() as clients:

        def connect(**initialize: Json) -> Editor:
            client = clients.enter_context(listening.connect())
            return Editor(project, client, **initialize)

        yield connect
