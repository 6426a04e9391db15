"""A server that several clients connect to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Listening:
    """The server and where it listens."""

    process: subprocess.Popen[str]
    address: tuple[str, int]


@contextmanager
def listening_server(environment: Mapping[str, str]) -> Iterator[Listening]:
    """Start one on any free port; `environment` adds to ours."""
    command = [sys.executable, "-m", "axe_lsp", "--tcp", "127.0.0.1:0"]
    surroundings = {**os.environ, **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=surroundings) as server:
        try:
            assert server.stderr is not None
            port = int(server.stderr.readline().rpartition(":")[2])
            yield Listening(server, ("127.0.0.1", port))
        finally:
            server.terminate()
