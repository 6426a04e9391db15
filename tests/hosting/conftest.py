"""What every host needs: a provider, and a home that is not the developer's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.scripted_provider import ScriptedProvider


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with ScriptedProvider() as scripted:
        for variable, value in scripted.environment.items():
            monkeypatch.setenv(variable, value)
        yield scripted
