"""Ports that a test has to know before the program that will listen there is started."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_port() -> Iterator[int]:
    """Provide a free port of loopback, which is given to nobody else meanwhile.

    It stays bound, and nobody listens there: a server with `SO_REUSEADDR`, as most have it, may do so on Linux.
    """
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]
