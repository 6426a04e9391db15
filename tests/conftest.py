from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from support.scripted_provider import ScriptedProvider

# How long one example takes says nothing on a machine that does other things as well. Examples are the
# same each time, so that a change is blamed for nothing but itself; who looks for faults that
# nobody knows of takes the profile "searching".
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None, max_examples=2000)
settings.load_profile("repeatable")


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
