"""`tools = "recorded"` in files of tests: a replay executes no tool, and connects no MCP server."""

from __future__ import annotations

import pytest

from support.agent_tests import Project
from support.command_line import Home
from support.engines import agent
from support.mcp_server import McpTestServer
from support.scripted_provider import Call, Says, ScriptedProvider

CASES = """\
agent = "boss"
workspace = "fixtures/small"
tools = "recorded"
allow = ["run_command(ls *)", "run_command(cat *)", "write_file", "*#*"]

[[case]]
name = "asks"
task = "Go."

[case.expect]
answer = { equals = "done" }

[[case.expect.tools]]
match = "unordered"
calls = [{ name = "run_command", args = { command = { contains = "cat" } } }, { name = "run_command", error = true }, { name = "call_agent" }]

[[case.expect.children]]
agent = "bot"

[[case.expect.children.tools]]
match = "exact"
calls = [{ name = "add", args = { a = 1 }, error = false }, { name = "write_file", error = false }]
"""


@pytest.fixture
def project(home: Home, provider: ScriptedProvider) -> Project:
    """Return a boss that runs commands, and a child with a server and a file to write. All is recorded."""
    project = Project(home.work)
    commands = [Call("run_command", {"command": "cat src/a.py"})]
    commands.append(Call("run_command", {"command": "ls nowhere"}))
    child = Call("call_agent", {"agent": "bot", "task": "Add."})
    provider.script("m-boss", Says(calls=[*commands, child]), Says("done"))
    add, write = Call("add", {"a": 1, "b": 2}), Call("write_file", {"path": "x", "content": "y"})
    provider.script("m-bot", Says(calls=[add]), Says(calls=[write]), Says("three"))
    project.write(
        "axe/agents/boss.toml",
        agent("boss", tools=["run_command"], sub_agents=["bot"])["boss"],
    )
    project.case(head=CASES)
    with McpTestServer("streamable-http", "add") as server:
        bot = agent("bot", tools=["write_file"], mcp_servers=[server.table("maths")])["bot"]
        project.write("axe/agents/bot.toml", bot)
        code, out, err = home.call("test", "--trust", "--record")
    assert code == 0, out + err
    return project


def test_a_replay_needs_no_trust_no_server_and_executes_nothing(
    home: Home, project: Project
) -> None:
    project.edit("axe/tests/fixtures/small/src/a.py", "a = 1", "a = 2")
    code, out, _ = home.call("test", "axe/tests/release.toml")
    assert code == 0, out


def test_recording_again_needs_trust(home: Home, project: Project) -> None:
    for option in ("--record", "--live"):
        code, _, err = home.call("test", option)
        assert (code, "you have not trusted that" in err) == (2, True)


def test_tools_are_executed_when_replay_is_off(home: Home, project: Project) -> None:
    project.edit("axe/tests/release.toml", '"recorded"', '"run"')
    code, out, _ = home.call("test", "--trust")
    assert (code, "STALE asks" in out) == (1, True)
    assert "MCP server" in out, "the server is gone"
    project.edit("axe/tests/fixtures/small/src/a.py", "a = 1", "a = 2")
    code, out, _ = home.call("test", "--trust")
    assert 'recorded "a = 1' in out


def test_an_agent_that_has_lost_a_tool_is_stale(home: Home, project: Project) -> None:
    project.edit("axe/agents/bot.toml", '    "write_file",\n', '    "read_file",\n')
    code, out, _ = home.call("test")
    assert code == 1
    assert "STALE asks" in out
    assert "tools differs at character 1: recorded" in out


def test_missing_result_is_reported(home: Home, project: Project) -> None:
    recording = project.tests / "recordings/release/asks.toml"
    text = recording.read_text()
    start = text.index("sent = [", text.index('name = "add"'))
    end = text.index("\n]\n", start) + 3
    recording.write_text(text[:start] + text[end:])
    code, out, _ = home.call("test")
    assert code == 1
    assert "STALE asks" in out
    assert 'run 2 (agent "bot"), turn 2: the recording has no result of the call of "add"' in out


def test_a_called_agent_is_still_judged_by_its_own_requests(home: Home, project: Project) -> None:
    file = project.root / "axe/agents/bot.toml"
    file.write_text('system_prompt = "Other."\n' + file.read_text())
    code, out, _ = home.call("test")
    assert (code, "STALE asks" in out, 'agent "bot"' in out) == (1, True, True)


def test_files_can_not_be_expected_where_nothing_changes_them(home: Home, project: Project) -> None:
    project.edit("axe/tests/release.toml", "answer =", "files = { x = true }\nanswer =")
    code, _, err = home.call("test")
    assert code == 2
    assert 'axe/tests/release.toml:11: nothing changes files here: with `tools = "recorded"`' in err
