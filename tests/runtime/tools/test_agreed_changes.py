"""Changes in a copy that somebody has seen: the file is what they were shown, whoever else writes to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.safety.approval import Approval, ApprovalRequest
from axe_lsp.runtime.safety.questions import Answer, Question
from axe_lsp.runtime.tools.agreed_changes import AgreedChanges, WatchedCall
from axe_lsp.runtime.tools.tool import Workplace
from axe_lsp.runtime.tools.tool_table import execute_tool


async def written(folder: Path, content: str, then: str | None = None) -> AgreedChanges:
    """Return what is agreed to when a.txt is written, and changed by somebody else just `then`."""
    changes = AgreedChanges()
    workplace = Workplace(folder, {})
    call = ToolCall("w1", "write_file", {"path": "a.txt", "content": content})
    watched = WatchedCall(changes, call, workplace)

    async def agree(_: Question) -> Answer:
        return Answer("allow")

    async def approve(request: ApprovalRequest) -> str:
        refusal = await Approval(agree)(watched.watched(request))
        await watched.begin()
        return refusal

    result = await execute_tool(call, RunIds("r1", "r1", "helper"), workplace, approve)
    assert not result.is_error
    if then is not None:
        (folder / "a.txt").write_text(then)
    await watched.end()
    return changes


async def test_a_change_that_somebody_was_shown_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\n")
    changes = await written(tmp_path, "b\n")
    assert changes.has(tmp_path / "a.txt", b"a\n", b"b\n")


async def test_what_another_one_writes_at_the_same_moment_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\n")
    changes = await written(tmp_path, "b\n", then="evil\n")
    assert not changes.has(tmp_path / "a.txt", b"a\n", b"evil\n")


@pytest.mark.parametrize("is_before", [True, False])
async def test_a_file_that_is_too_large_to_be_shown_is_not_seen(
    tmp_path: Path, is_before: bool
) -> None:
    small, large = "a\n", "a\n" * (1 << 18)
    before, after = (large, small) if is_before else (small, large)
    (tmp_path / "a.txt").write_bytes(before.encode())
    changes = await written(tmp_path, after)
    assert not changes.has(tmp_path / "a.txt", before.encode(), after.encode())
