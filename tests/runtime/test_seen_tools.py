"""What runs keep of the tools of MCP servers, for the editor."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest

from axe_lsp.runtime.mcp import seen_tools
from axe_lsp.runtime.mcp.seen_tools import SeenTool, ToolNow, agree, recall, remember
from axe_lsp.runtime.safety.approval import allowed
from support.engines import agent
from support.engines import bench as bench_where_somebody_asks
from support.plain_mcp import plain_server
from support.scripted_provider import Says, ScriptedProvider

bench = partial(bench_where_somebody_asks, approve=allowed)


def files(folder: Path) -> list[Path]:
    return sorted((folder / "state" / "axe" / "mcp").glob("*"))


async def test_a_run_keeps_the_tools_of_its_servers_without_secrets(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
        TOOLS[0]["description"] = "Uses " + os.environ["MY_TOKEN"] + "\\nand more"
        serve()
    """
    server = plain_server(tmp_path, ending, env={"MY_TOKEN": "hunter22hunter22"})
    provider.script("m-bot", Says("done"))
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    agents = agent("bot", mcp_servers=[server])
    async with bench(provider, tmp_path, agents, environment) as work:
        await work.run("bot")
    (file,) = files(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "hunter22" not in file.read_text()
    place = f"MY_TOKEN='***' {sys.executable} {tmp_path}/plain_server.py"
    seen = recall(environment, tmp_path, place)
    assert seen is not None
    assert seen.tools == (SeenTool("tell", "Uses [redacted]"),)
    assert work.warnings == []


async def test_a_run_goes_on_where_nothing_can_be_kept(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "state").touch()
    provider.script("m-bot", Says("done"))
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    agents = agent("bot", mcp_servers=[plain_server(tmp_path)])
    async with bench(provider, tmp_path, agents, environment) as work:
        assert (await work.run("bot")).content == "done"
    assert any("is not remembered" in each for each in work.notes)
    assert work.warnings == []


def test_what_a_stranger_says_is_short_and_shown(tmp_path: Path) -> None:
    here = {"XDG_STATE_HOME": str(tmp_path / "state")}
    tools = [
        ToolNow("a", "\n  x\u202ey" + "z" * 500, ""),
        ToolNow("b" * 65, "", ""),
        *(ToolNow(f"t{n}", "", "") for n in range(600)),
    ]
    remember(here, tmp_path, "p", tools)
    seen = recall(here, tmp_path, "p")
    assert seen is not None
    assert len(seen.tools) == 500
    assert seen.tools[0].description.startswith("x\\u202ey")
    assert len(seen.tools[0].description) == 120
    assert seen.tools[1].name == "t0"


def test_each_workspace_and_server_has_its_own_and_the_oldest_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_tools, "_MOST_FILES", 2)
    here = {"XDG_STATE_HOME": str(tmp_path / "state")}
    for number, place in enumerate(("p", "q", "r")):
        remember(here, tmp_path, place, [ToolNow(place, "", "")])
        for file in files(tmp_path):
            if json.loads(file.read_text())["server"] == place:
                os.utime(file, (number, number))
    assert recall(here, tmp_path, "p") is None
    assert recall(here, tmp_path / "elsewhere", "r") is None
    seen = recall(here, tmp_path, "r")
    assert seen is not None
    assert seen.tools == (SeenTool("r", ""),)


def test_what_a_server_says_at_first_is_agreed_to_and_nothing_else_until_somebody_does(
    tmp_path: Path,
) -> None:
    here = {"XDG_STATE_HOME": str(tmp_path / "state")}

    def now(digest: str, *others: str) -> tuple[set[str], set[str]]:
        tools = [ToolNow("t", "", digest), *(ToolNow(each, "", "1") for each in others)]
        changes = remember(here, tmp_path, "p", tools)
        return {*changes.other}, {*changes.new}

    assert now("1") == (set(), set())
    assert now("2") == ({"t"}, {"t"})
    assert now("2", "u") == ({"t"}, set())  # It was said once already.
    remember(here, tmp_path, "p", [])  # It is not offered for a while.
    assert now("2") == ({"t"}, {"t"})
    agree(here, tmp_path, "p", "t", "2")
    assert now("2") == (set(), set())
    assert now("1") == ({"t"}, {"t"})


def test_many_other_tools_do_not_make_one_forgotten(tmp_path: Path) -> None:
    here = {"XDG_STATE_HOME": str(tmp_path / "state")}
    remember(here, tmp_path, "p", [ToolNow("t", "", "1")])
    remember(here, tmp_path, "p", [ToolNow(f"t{n}", "", "1") for n in range(5000)])
    changes = remember(here, tmp_path, "p", [ToolNow("t", "", "2")])
    assert changes.other == {"t"}


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"tools": 3}', '{"tools": [{}], "time": ""}'])
def test_a_damaged_file_tells_nothing(tmp_path: Path, content: str) -> None:
    here = {"XDG_STATE_HOME": str(tmp_path / "state")}
    remember(here, tmp_path, "p", [])
    (file,) = files(tmp_path)
    file.write_text(content)
    assert recall(here, tmp_path, "p") is None
