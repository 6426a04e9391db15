"""`axe-lsp run` of an agent with MCP servers: what goes to which stream, and how it ends."""

from __future__ import annotations

import json
import signal

import pytest

from support.command_line import COMMAND, Home
from support.engines import agent
from support.mcp_server import TRANSPORTS, McpTestServer
from support.plain_mcp import plain_server
from support.processes import bearing, wait_for_none
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider
from support.terminal import Terminal


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_tool_of_a_server_is_used(home: Home, provider: ScriptedProvider, transport: str) -> None:
    call = Call("add", {"a": 1, "b": 2})
    provider.script("m-bot", *[Says(calls=[call]), Says("three")] * 2)
    with McpTestServer(transport, "add") as server:
        home.add(agent("bot", mcp_servers=[server.table("maths")]))
        assert home.call("run", "bot") == (0, "three", "")
        code, out, err = home.call("run", "bot", "--json", "-v")
        server.wait_until_left()
    assert (code, json.loads(out)["tool_calls"]) == (0, 1)
    lines = err.splitlines()
    assert lines[:2] == [
        f'[mcp] Connecting to "maths" at {server.url} ({transport})',
        '[mcp] "maths" discovered 1 tool(s), registered 1',
    ]
    assert '[mcp] Routing tool "add" to server "maths"' in lines
    assert "Traceback" not in err


def test_a_person_is_asked_before_a_tool_of_a_server_is_called(
    home: Home, provider: ScriptedProvider
) -> None:
    call = Call("add", {"a": 1, "b": 2})
    provider.script("m-bot", Says(calls=[call]), Says("three"))
    with McpTestServer("streamable-http", "add") as server:
        home.add(agent("bot", mcp_servers=[server.table("maths")]))
        with Terminal([*COMMAND, "run", "bot"], home.environment, home.work) as terminal:
            asks = 'agent "bot" wants to call add of the MCP server "maths":'
            screen = terminal.shows(lambda rows: any("Allow maths/add?" in row for row in rows))
            assert asks in screen
            assert f"  {server.url}" in screen
            terminal.type(b"y\n")
            assert terminal.end()[0] == 0
    assert provider.requests[1].body["messages"][-1]["content"] == "3.0"


def test_a_person_is_asked_before_a_server_starts(home: Home, provider: ScriptedProvider) -> None:
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("told"))
    home.add(agent("bot", mcp_servers=[plain_server(home.work)]))
    with Terminal([*COMMAND, "run", "bot"], home.environment, home.work) as terminal:
        screen = terminal.shows(lambda rows: any("Allow run_mcp?" in row for row in rows))
        assert 'agent "bot" wants to start the MCP server "plain":' in screen
        terminal.type(b"y\n")
        terminal.shows(lambda rows: any("Allow plain/tell?" in row for row in rows))
        terminal.type(b"y\n")
        assert terminal.end()[0] == 0


def test_a_server_needs_approval_and_in_a_workspace_trust(
    home: Home, provider: ScriptedProvider
) -> None:
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("told"))
    folder = home.work / "axe" / "agents"
    folder.mkdir(parents=True)
    text = agent("bot", mcp_servers=[plain_server(home.work)])["bot"]
    (folder / "bot.toml").write_text(text)
    code, _, err = home.call("run", "bot", "--yes")
    assert (code, "plain_server.py" in err) == (2, True)
    code, _, err = home.call("run", "bot", "--trust")
    assert (code, "nobody can be asked here" in err) == (3, True)
    assert provider.requests == []
    assert home.call("run", "bot", "--trust", "--yes")[:2] == (0, "told")


def test_nothing_is_left_of_a_server_whose_run_was_killed(
    home: Home, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-bot", Answer(Says("late"), hold=hold))
    server = plain_server(home.work, env={"MARK": (mark := f"of-{home.work}")})
    home.add(agent("bot", mcp_servers=[server]))
    process = home.start("run", "bot", "--yes")
    hold.wait_until_arrived()
    assert bearing(f"MARK={mark}") != {}
    process.kill()
    process.communicate()
    wait_for_none(f"MARK={mark}")


def test_without_the_sdk_the_server_for_mcp_clients_says_what_to_install(home: Home) -> None:
    stub = home.work / "stub" / "mcp"
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text("raise ModuleNotFoundError('none', name='mcp')")
    home.environment["PYTHONPATH"] = str(stub.parent)
    code, out, err = home.call("mcp")
    assert (code, out) == (2, "")
    assert 'axe-lsp mcp needs the Python package "mcp"' in err
    assert "pip install 'CLONE[mcp]'" in err


def test_error_of_a_server_is_one_line(home: Home, provider: ScriptedProvider) -> None:
    table = {"name": "s", "url": "http://127.0.0.1:9/", "transport": "streamable-http"}
    home.add(agent("bot", mcp_servers=[table]))
    code, out, err = home.call("run", "bot", "-p", "x")
    assert (code, out) == (3, "")
    assert err.startswith('failed to connect MCP server "s": connect MCP server "s": ')
    assert err.endswith(" (http://127.0.0.1:9/ by streamable-http)\n")
    assert err.count("\n") == 1
    home.add(agent("bot", mcp_servers=[{**table, "headers": {"A": "${NOT_SET_HERE}"}}]))
    assert home.call("run", "bot", "-p", "x") == (
        2,
        "",
        'failed to connect MCP server "s": environment variable "NOT_SET_HERE" is not set or '
        "empty\n",
    )
    code, out, _ = home.call("run", "bot", "--dry-run")
    assert code == 0
    assert "--- MCP Servers ---\ns: http://127.0.0.1:9/ (streamable-http)\n" in out


def test_a_resumed_run_connects_its_servers_again(home: Home, provider: ScriptedProvider) -> None:
    calls = [Call("add", {"a": 1, "b": 2}), Call("slow", {}), Call("add", {"a": 2, "b": 2})]
    provider.script("m-bot", *[Says(calls=[call]) for call in calls], Says("four"))
    with McpTestServer("streamable-http", "add", "slow") as server:
        home.add(agent("bot", mcp_servers=[server.table("maths")]))
        process = home.start("run", "bot", "-p", "go", "--yes")
        server.wait_for_calls(1)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL

        assert home.call("resume", "--yes") == (0, "four", "")

        server.wait_until_left()
    first, *_, last = [request.body for request in provider.requests]
    assert last["tools"] == first["tools"]
    results = [each["content"] for each in last["messages"] if each["role"] == "tool"]
    assert (results[0], results[2]) == ("3.0", "4.0")
    assert "Whether it took effect is not known" in results[1]
    assert len(provider.requests) == 4
