from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from support.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

# How long one example takes says nothing on a machine that does other things as well. Examples are the
# same each time, so that a change is blamed for nothing but itself; who looks for faults that
# nobody knows of takes the profile "searching".
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("searching", deadline=None, max_examples=2000)
settings.load_profile("repeatable")

TESTS = Path(__file__).parent

PROCESS_FOLDERS = tuple(
    TESTS / name
    for name in (
        *("benchmarks", "clients", "conformance", "e2e", "hosting", "security"),
        *("runtime/copies", "runtime/mcp"),
    )
)
"""Folders of which every test starts a process."""

PROCESS_FIXTURES = frozenset({"home", "start_lab", "common_lab"})
"""Fixtures that are there to start processes."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests that start processes carry the mark `process`."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if any(map(item.path.is_relative_to, PROCESS_FOLDERS)) or fixtures & PROCESS_FIXTURES:
        item.add_marker(pytest.mark.process)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """With `-n`, a worker takes a file at a time, in order, and one of them all tests of clients.

    Two editors at a time get in each other's way, and the extension is packaged in its own folder.
    Marks of `xdist_group` would do, but xdist 3.8 ignores them under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415  # It may not be installed.

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder, _, file = nodeid.partition("::")[0].rpartition("/")
            return folder if folder == "tests/clients" else f"{folder}/{file}"

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="session", autouse=True)
def no_history_of_the_developer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What runs leave behind goes elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    """A provider that answers as the test tells it to."""
    with ScriptedProvider() as provider:
        yield provider
