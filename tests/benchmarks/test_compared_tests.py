"""The compared tests of agents pass, and each of them fails when the model deviates from what it expects."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.contenders import PEERS
from benchmarks.runs import provider
from support.agent_tests import Project


async def test_compared_cases_pass_until_the_model_deviates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path)
    shutil.copytree(PEERS / "agent_tests", tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with provider() as address:
        monkeypatch.setenv("AXE_OPENAI_BASE_URL", address)
        recorded = await project.outcomes(project.tests / "compared.toml", mode="record")
        for name in ("lead", "tests", "docs", "links"):
            project.edit(f"axe/agents/{name}.toml", "case-0", "case-1")
        stale = await project.outcomes(project.tests / "compared.toml")
        deviating = await project.outcomes(project.tests / "compared.toml", mode="live")
    assert [each.verdict for each in recorded] == ["passed"] * 20
    assert [each.verdict for each in stale] == ["stale"] * 20
    assert [each.verdict for each in deviating] == ["failed"] * 20
    assert [len(each.failures) for each in deviating] == [1] * 20
