"""What a run would send, shown by the host."""

from pathlib import Path

import pytest

from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.runs import RunRequest
from support.hosts import agent, stage
from support.scripted_provider import (
    ScriptedProvider,
)


async def test_a_preview_shows_everything_and_sends_nothing(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, {"left": agent("left", files=["*.md"])}) as at:
        (Path(at.workplace.workspace) / "notes.md").write_text("twelve bytes")

        preview = await at.runs.preview(RunRequest("left", "go"), at.workplace)

        assert preview["model"] == "ollama/m-left"
        assert preview["files"] == [{"path": "notes.md", "bytes": 12}]
        assert preview["userMessage"] == "go"
        assert preview["text"].startswith("=== Dry Run ===")
        assert provider.requests == []
        assert at.heard == []


async def test_a_preview_of_a_broken_agent_says_why(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    async with stage(tmp_path, {"left": "name = 1\n"}) as at:
        with pytest.raises(RunError) as failure:
            await at.runs.preview(RunRequest("left"), at.workplace)

        assert failure.value.kind == "config"
