"""The tools of an agent file in a run: what is offered, executed, refused and heard."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.schema.tools import TOOLS
from axe_lsp.runtime.events import ToolBegin, ToolEnd, TurnEnd
from support.answers import DIALECTS
from support.bodies import tools_of
from support.engines import agent, bench
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent


def offered(body: dict[str, Any]) -> list[str]:
    """Return the names of the tools in a request."""
    return [name for name, *_ in tools_of(body)]


def results(body: dict[str, Any]) -> list[str]:
    """Return the tool results of an OpenAI request."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


@pytest.mark.req("001-DD1", "002-4", "002-15", "003-1", "003-11", "003-13", "003-14", "003-26")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_child_finds_out_with_its_own_tools(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    (tmp_path / "auth.py").write_text("password = input()\n")
    provider.script("m-lead", Says(calls=[calls_agent("scout", "auth?")]), Says("done"))
    provider.script(
        "m-scout",
        Says(calls=[Call("list_directory", {"path": "."})]),
        Says(calls=[Call("read_file", {"path": "auth.py"})]),
        Says("It asks for a password."),
    )
    agents = agent("lead", dialect, sub_agents=["scout"]) | agent(
        "scout", dialect, tools=["read_file", "List"]
    )
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("lead")).content == "done"
    first, second, third = [request.body for request in provider.asked("m-scout")]
    assert offered(first) == ["read_file", "list_directory"]
    assert "auth.py" in str(second)
    assert "1: password = input()" in str(third)
    last = provider.asked("m-lead")[-1].body
    assert offered(last) == ["call_agent"]
    assert "password = input()" not in str(last)
    assert [(event.run.agent, event.name, event.is_error) for event in work.of(ToolEnd)] == [
        ("scout", "list_directory", False),
        ("scout", "read_file", False),
        ("lead", "call_agent", False),
    ]
    assert work.warnings == []


@pytest.mark.req("002-15", "004-17")
@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ({"tools": ["*"]}, [name for name, row in TOOLS.items() if row.in_globs]),
        ({"tools": ["bash", "Glob"]}, ["run_command", "find_files"]),
        ({"tools": ["*_file", "read_file"]}, ["read_file", "write_file", "edit_file"]),
        ({"tools": ["list_directory", "Read"]}, ["list_directory", "read_file"]),
        ({"tools": ["read_*"], "tool_policy": {"allow": ["Write"]}}, ["read_file", "write_file"]),
        (
            {"tools": ["*_file"], "tool_policy": {"allow": ["Edit"], "deny": ["edit_*", "Write"]}},
            ["read_file"],
        ),
        ({"tools": ["read_file"], "tool_policy": {"deny": ["*"]}}, []),
        ({"tools": ["read_file"], "tool_policy": {"allow": ["of_some_server"]}}, ["read_file"]),
    ],
)
async def test_which_tools_a_file_means(
    provider: ScriptedProvider, tmp_path: Path, keys: dict[str, Any], names: list[str]
) -> None:
    provider.script("m-a", Says("done"))
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        await work.run("a")
    assert offered(provider.requests[0].body) == names


@pytest.mark.req("001-10.3", "003-13")
async def test_at_the_depth_limit_ordinary_tools_stay(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[calls_agent("a", "again")]), Says("done"))
    provider.script("m-a", Says("deep"))
    agents = agent("a", tools=["read_file"], sub_agents=["a"], sub_agents_config={"max_depth": 1})
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
    assert [offered(request.body) for request in provider.requests] == [
        ["read_file", "call_agent"],
        ["read_file"],
        ["read_file", "call_agent"],
    ]


@pytest.mark.req("001-8.2")
async def test_a_tool_that_was_not_offered_is_unknown(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[Call("list_directory", {"path": "."})]), Says("done"))
    async with bench(provider, tmp_path, agent("a", tools=["read_file"])) as work:
        await work.run("a")
    assert results(provider.requests[-1].body) == ['Unknown tool: "list_directory"']


@pytest.mark.req("001-8.2", "001-11.3")
async def test_results_keep_the_order_of_the_calls_and_errors_are_text(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("A")
    calls = [Call("read_file", {"path": path}) for path in ("a", "absent", "a")]
    provider.script("m-a", Says(calls=calls), Says("done"))
    async with bench(provider, tmp_path, agent("a", tools=["read_file"])) as work:
        result = await work.run("a")
    assert results(provider.requests[-1].body) == [
        "1: A",
        "absent: no such file or directory",
        "1: A",
    ]
    assert result.tool_calls == 3


async def test_keys_that_tools_come_across_are_in_no_event(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("KEY=my-very-secret-key\n")
    arguments = {"path": ".env", "offset": "my-very-secret-key"}
    calls = [Call("read_file", {"path": ".env"}), Call("read_file", arguments)]
    provider.script("m-a", Says(calls=calls), Says("done"))
    secret = {"OPENAI_API_KEY": "my-very-secret-key"}
    async with bench(provider, tmp_path, agent("a", tools=["read_file"]), secret) as work:
        await work.run("a")
    assert "my-very-secret-key" not in str(work.events)
    assert {event.content for event in work.of(ToolEnd)} == {
        "1: KEY=[redacted]",
        'invalid offset "[redacted]": not a whole number',
    }
    assert work.of(ToolBegin)[-1].arguments["offset"] == "[redacted]"
    assert work.of(TurnEnd)[0].tool_calls[1]["arguments"]["offset"] == "[redacted]"


@pytest.mark.req("003-15", "003-16")
async def test_a_child_answers_a_question_about_the_whole(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "auth.py").write_text("def login(): ...\n")
    (tmp_path / "server" / "pages.py").write_text("from auth import login\n")
    provider.script("m-lead", Says(calls=[calls_agent("scout", "How do users log in?")]), Says("F"))
    reads = [Call("read_file", {"path": path}) for path in ("server/auth.py", "server/pages.py")]
    provider.script(
        "m-scout",
        Says(calls=[Call("list_directory", {"path": "."})]),
        Says(
            calls=[Call("grep", {"pattern": "login"}), Call("find_files", {"pattern": "**/*.py"})]
        ),
        Says(calls=reads),
        Says("pages.py calls login of auth.py."),
    )
    scout = agent("scout", tools=["List", "Grep", "Glob", "Read"])
    path = {"PATH": os.environ["PATH"]}
    async with bench(provider, tmp_path, agent("lead", sub_agents=["scout"]) | scout, path) as work:
        await work.run("lead")
    assert results(provider.asked("m-scout")[-1].body)[0].splitlines()[-1] == "server/"
    assert results(provider.asked("m-scout")[-1].body)[1:] == [
        "server/auth.py:1:def login(): ...\nserver/pages.py:1:from auth import login",
        "server/auth.py\nserver/pages.py",
        "1: def login(): ...",
        "1: from auth import login",
    ]
    assert results(provider.asked("m-lead")[-1].body) == ["pages.py calls login of auth.py."]
