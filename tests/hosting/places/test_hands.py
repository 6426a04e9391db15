"""`axe-lsp hands` by itself: what it does for a side that is silent, dies, or asks for what it should not."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.hosting.notifications import Message
from axe_lsp.hosting.places import tool_protocol
from axe_lsp.runtime.copies.git import make_own, pack_of, timeless_commit
from axe_lsp.runtime.copies.mirror import Changed
from support.processes import Sleepers
from support.repositories import write
from support.scripted_provider import PATIENCE
from support.waiting import promptly

PROJECT = "ab" * 32
COPY = "cd" * 16


class Side:
    """The side that asks."""

    def __init__(self, process: asyncio.subprocess.Process, home: Path) -> None:
        self.process = process
        self.home = home
        self._number = 0

    async def send(self, message: Message) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(tool_protocol.encode(message) + b"\n")
        await self.process.stdin.drain()

    async def hear(self) -> Any:
        assert self.process.stdout is not None
        return tool_protocol.from_server(
            await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)
        )

    async def ask(self, kind: type[tool_protocol.Request], **members: Any) -> Any:
        self._number += 1
        await self.send(kind(id=self._number, **members))
        return await self.hear()

    async def open(self, tmp_path: Path, **members: Any) -> Any:
        """Open a copy with the file a.txt."""
        write(tmp_path / "tree", {"a.txt": "a\n"})
        own = make_own(tmp_path / "git", None, os.environ)
        own("update-index", "--add", "a.txt", tree=tmp_path / "tree", index=tmp_path / "index")
        tree = own("write-tree", tree=tmp_path / "tree", index=tmp_path / "index")
        base = timeless_commit(own, tree.decode().strip())
        pack = pack_of(own, [base], [])
        assert await self.ask(
            tool_protocol.Pack, project=PROJECT, data=pack, commits=(base,)
        ) == tool_protocol.Done(self._number)
        wanted: dict[str, Any] = {
            "copy": COPY,
            "project": PROJECT,
            "base": base,
            "now": base,
            "tree": tree.decode().strip(),
            "prefix": ".",
            "is_repository": True,
            "object_format": "sha1",
            "ignored": "",
        }
        return await self.ask(tool_protocol.Open, **{**wanted, **members})

    async def call(self, command: str) -> Any:
        return await self.ask(
            tool_protocol.Call,
            copy=COPY,
            folder=".",
            name="run_command",
            arguments={"command": command},
        )

    @property
    def left(self) -> list[Path]:
        return list(self.home.glob(".local/state/axe/hands/*"))


@asynccontextmanager
async def hands(home: Path, silence: float = 15.0, keep: int = 3600) -> AsyncIterator[Side]:
    home.mkdir(exist_ok=True)  # noqa: ASYNC240 - one folder
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "axe_lsp", "hands"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
    )
    side = Side(process, home)
    try:
        assert await side.hear() == tool_protocol.Hello(tool_protocol.WIRE)
        await side.send(tool_protocol.Hello(tool_protocol.WIRE, keep, silence))
        yield side
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_silence_ends_commands_and_copies(tmp_path: Path) -> None:
    sleepers = Sleepers()
    async with hands(tmp_path / "home", silence=4.0) as side:
        await side.open(tmp_path)
        call = tool_protocol.Call(COPY, ".", "run_command", {"command": sleepers.command}, id=9)
        await side.send(call)
        await asyncio.to_thread(sleepers.wait_for, 1)
        with promptly():
            await asyncio.wait_for(side.process.wait(), PATIENCE)
    assert sleepers.count() == 0
    assert side.left == []


async def test_the_end_of_the_other_side_leaves_nothing_for_3_seconds(tmp_path: Path) -> None:
    sleepers = Sleepers()
    async with hands(tmp_path / "home") as side:
        await side.open(tmp_path)
        call = tool_protocol.Call(
            COPY, ".", "run_command", {"command": f"{sleepers.command} & wait"}, id=9
        )
        await side.send(call)
        await asyncio.to_thread(sleepers.wait_for, 1)
        assert side.process.stdin is not None
        with promptly():
            side.process.stdin.close()
            await asyncio.wait_for(side.process.wait(), PATIENCE)
    assert sleepers.count() == 0
    assert side.left == []


async def test_killed_hands_leave_no_command_and_the_next_delete_their_copies(
    tmp_path: Path,
) -> None:
    sleepers = Sleepers()
    async with hands(tmp_path / "home") as side:
        await side.open(tmp_path)
        await side.send(
            tool_protocol.Call(COPY, ".", "run_command", {"command": sleepers.command}, id=9)
        )
        await asyncio.to_thread(sleepers.wait_for, 1)
        side.process.kill()
        await asyncio.to_thread(sleepers.wait_for, 0)
        assert len(side.left) == 1
    async with hands(tmp_path / "home") as side:
        assert len(side.left) == 1
        assert not list(side.left[0].glob("*/tree"))


async def test_a_cancelled_command_ends_within_a_second(tmp_path: Path) -> None:
    sleepers = Sleepers()
    async with hands(tmp_path / "home") as side:
        await side.open(tmp_path)
        await side.send(
            tool_protocol.Call(COPY, ".", "run_command", {"command": sleepers.command}, id=9)
        )
        await asyncio.to_thread(sleepers.wait_for, 1)
        with promptly():
            await side.send(tool_protocol.Cancel(9))
            assert await side.hear() == tool_protocol.Failed(9, "cancelled")
        assert sleepers.count() == 0


async def test_files_that_could_not_be_stored_are_not_left_there(tmp_path: Path) -> None:
    async with hands(tmp_path / "home") as side:
        for _ in range(2):
            told = await side.ask(
                tool_protocol.Pack, project=PROJECT, data=b"no pack", commits=("ab" * 20,)
            )
            assert isinstance(told, tool_protocol.Failed)
        (folder,) = side.left
        assert not list(folder.glob("*.pack"))
        known = await side.ask(tool_protocol.Project, project=PROJECT)
        assert known.commits == ()


@pytest.mark.parametrize("keep", [0, 3600])
async def test_files_of_a_project_are_kept_as_long_as_is_said(tmp_path: Path, keep: int) -> None:
    async with hands(tmp_path / "home", keep=keep) as side:
        await side.open(tmp_path)
        assert (await side.call("cat a.txt")).text == "a\n"
        known = await side.ask(tool_protocol.Project, project=PROJECT)
        assert len(known.commits) == 1
        assert side.process.stdin is not None
        side.process.stdin.close()
        await asyncio.wait_for(side.process.wait(), PATIENCE)
    async with hands(tmp_path / "home") as side:
        again = await side.ask(tool_protocol.Project, project=PROJECT)
    assert again.commits == (known.commits if keep else ())


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (tool_protocol.Project, {"project": "../../etc"}),
        (tool_protocol.Collect, {"copy": "nothing"}),
        (
            tool_protocol.Call,
            {"copy": COPY, "folder": "../..", "name": "run_command", "arguments": {}},
        ),
        (tool_protocol.Call, {"copy": COPY, "folder": ".", "name": "url_fetch", "arguments": {}}),
        (tool_protocol.Put, {"copy": COPY, "changes": (Changed(b"../out", "100644", b"x"),)}),
        (tool_protocol.Put, {"copy": COPY, "changes": (Changed(b".git/config", "100644", b"x"),)}),
    ],
)
async def test_what_leads_out_of_a_copy_is_refused(
    tmp_path: Path, kind: type[tool_protocol.Request], members: dict[str, Any]
) -> None:
    async with hands(tmp_path / "home") as side:
        await side.open(tmp_path)
        assert isinstance(await side.ask(kind, **members), tool_protocol.Failed)
        assert (await side.call("cat a.txt")).text == "a\n"


def test_a_request_without_its_number_is_refused() -> None:
    with pytest.raises(ValueError, match="a request has no id"):
        tool_protocol.to_server(b'{"type":"close","copy":"x"}')
    closed = tool_protocol.Close(copy="x", id=1)
    assert tool_protocol.to_server(tool_protocol.encode(closed)) == closed
