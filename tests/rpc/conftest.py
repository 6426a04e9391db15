from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from support.raw_client import RawClient

# How long one example takes says nothing on a machine that does other things as well.
settings.register_profile("busy", deadline=None)
settings.load_profile("busy")

LAB = Path(__file__).parent / "lab_server.py"

NOTHING_LEFT = {
    "tasks": 0,
    "running": 0,
    "awaited": 0,
    "withdrawn": 0,
    "futures": 0,
    "tokens": 0,
}


def lab_command(*arguments: str) -> list[str | Path]:
    return [sys.executable, LAB, *(arguments or ("stdio",))]


@pytest.fixture
def start_lab() -> Iterator[Callable[..., RawClient]]:
    """Starts lab servers, not yet initialized, and ends them after the test."""
    with ExitStack() as clients:
        yield lambda *arguments: clients.enter_context(RawClient.spawn(lab_command(*arguments)))


@pytest.fixture(scope="module")
def common_lab() -> Iterator[RawClient]:
    with RawClient.spawn(lab_command()) as client:
        client.initialize()
        yield client


@pytest.fixture
def lab(common_lab: RawClient) -> Iterator[RawClient]:
    """Provide an initialized lab server on standard streams. Whatever a test does, nothing may be left."""
    common_lab.forget()
    yield common_lab
    assert common_lab.request("test/account") == NOTHING_LEFT
