"""A server that several clients connect to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.raw_client import RawClient


@dataclass(frozen=True)
class Listening:
    """The server, where it listens, and the file with what its clients present."""

    process: subprocess.Popen[str]
    address: tuple[str, int]
    token_file: Path

    def connect(self) -> RawClient:
        return RawClient.connect(self.address, self.token_file.read_text())


@contextmanager
def listening_server(
    environment: Mapping[str, str], at: str = "127.0.0.1:0", *options: str
) -> Iterator[Listening]:
    """Start one, on any free port; `environment` adds to ours."""
    command = [sys.executable, "-m", "axe_lsp", "--tcp", at, *options]
    surroundings = {**os.environ, **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=surroundings) as server:
        try:
            assert server.stderr is not None
            port = int(server.stderr.readline().rpartition(":")[2])
            token_file = Path(server.stderr.readline().partition(" token in ")[2].rstrip())
            yield Listening(server, ("127.0.0.1", port), token_file)
        finally:
            server.terminate()
