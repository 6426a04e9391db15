"""What has to be decided before agents begin, and how often the disk is asked for it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, Source, load
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.safety import trust
from axe_lsp.runtime.safety.trust import TrustPolicy, TrustRequest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links")

_TEXT = 'name = "child"\nmodel = "openai/m"\nskill = "SKILL.md"\n'


class Children:
    """A workspace with an agent, and calls of it."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.skill = self.workspace / "SKILL.md"
        self.skill.write_text("Count.")
        self._policy = TrustPolicy({"HOME": str(folder / "home")})
        self._definition = self._loaded()

    def _loaded(self) -> AgentDefinition:
        path = self.workspace / "axe" / "agents" / "child.toml"
        text = _TEXT.replace("SKILL.md", str(self.skill))
        return replace(load(text), source=Source(str(path), text))

    async def called(self) -> tuple[TrustRequest, ...]:
        """Return what has to be decided before a child begins."""
        ids = RunIds("c", "r", "child", depth=1, parent_run_id="r")
        order = Order(ids, self.workspace, "count", "count")
        found = await self._policy.requests(
            order, self._definition, lambda *_: self._definition, self.workspace
        )
        return tuple(found)


async def test_children_that_begin_together_ask_the_disk_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    really_reaches = trust.reaches
    monkeypatch.setattr(
        trust, "reaches", lambda *who, **how: asked.append(who) or really_reaches(*who, **how)
    )
    children = Children(tmp_path)
    assert await asyncio.gather(*(children.called() for _ in range(20))) == [()] * 20
    assert len(asked) == 1


async def test_a_link_that_has_changed_is_noticed_by_the_next_child(tmp_path: Path) -> None:
    children = Children(tmp_path)
    assert await children.called() == ()
    await asyncio.sleep(0)
    children.skill.unlink()
    children.skill.symlink_to(tmp_path / "secrets")
    (request,) = await children.called()
    assert [each.place for each in request.reaches] == [str(tmp_path / "secrets")]
