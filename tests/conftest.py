from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.scripted_provider import ScriptedProvider


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    """A provider that answers as the test tells it to."""
    with ScriptedProvider() as provider:
        yield provider
