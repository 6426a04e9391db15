"""Tools of MCP servers, over both transports, against servers made with the same SDK."""

from __future__ import annotations

import asyncio
import gzip
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.runtime.errors import (
    ConfigError,
    McpServerError,
    RunCancelledError,
    RunError,
    RunTimeoutError,
)
from axe_lsp.runtime.events import ToolBegin, ToolEnd
from axe_lsp.runtime.mcp.server_tools import access_to
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.approval import Approval, allowed
from axe_lsp.runtime.safety.questions import Answer as Reply
from axe_lsp.runtime.safety.questions import Question
from axe_lsp.runtime.tools.tool import Workplace
from support.engines import Bench, agent, running
from support.engines import bench as bench_where_somebody_asks
from support.mcp_server import TRANSPORTS, McpTestServer
from support.scripted_provider import (
    PATIENCE,
    Answer,
    Call,
    Hold,
    Raw,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.waiting import promptly


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:
    """Import it beforehand: on a busy machine that takes longer than some runs may."""
    import_module("mcp.client.streamable_http")


@pytest.fixture(scope="module", params=TRANSPORTS)
def server(request: pytest.FixtureRequest) -> Iterator[McpTestServer]:
    with McpTestServer(request.param) as server:
        yield server


bench = partial(bench_where_somebody_asks, approve=allowed)
"""Most of this is not about who may call tools."""


def bot(*servers: dict[str, Any], **keys: Any) -> dict[str, str]:
    return agent("bot", mcp_servers=list(servers), **keys)


def offered(provider: ScriptedProvider, model: str = "m-bot") -> list[str]:
    tools = provider.asked(model)[0].body.get("tools", [])
    return [each["function"]["name"] for each in tools]


def results(provider: ScriptedProvider, model: str = "m-bot") -> list[str]:
    messages = provider.asked(model)[-1].body["messages"]
    return [each["content"] for each in messages if each["role"] == "tool"]


async def test_tools_of_a_server_are_offered_and_called(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    agents = bot(server.table("maths"), tools=["read_file"], sub_agents=["other"])
    provider.script("m-bot", Says(calls=[Call("add", {"a": 1, "b": 2.5})]), Says("done"))
    async with bench(provider, tmp_path, agents | agent("other")) as work:
        assert (await work.run("bot")).content == "done"
    server.wait_until_left()
    assert offered(provider)[:3] == ["read_file", "call_agent", "add"]
    add = provider.requests[0].body["tools"][2]["function"]
    assert add["description"] == "Adds two numbers."
    assert add["parameters"]["required"] == ["a", "b"]
    assert add["parameters"]["properties"]["a"]["type"] == "integer"
    assert results(provider) == ["3.5"]
    (end,) = work.of(ToolEnd)
    assert (end.name, end.content, end.is_error) == ("add", "3.5", False)
    assert work.warnings == []
    assert work.notes == [
        f'[mcp] Connecting to "maths" at {server.url} ({server.transport})',
        '[mcp] "maths" discovered 6 tool(s), registered 6',
        '[mcp] Routing tool "add" to server "maths"',
    ]


async def test_what_a_server_may_do_is_asked_unless_it_only_looks(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        return Reply("allowForRun") if question.tool == "maths/add" else Reply("deny", "not that")

    calls = [Call(name, {"a": 1, "b": 2}) for name in ("look", "add", "add", "echo")]
    calls.insert(3, Call("add", {"a": 1, "b": 3}))
    provider.script("m-bot", *[Says(calls=[call]) for call in calls], Says("done"))
    with McpTestServer("streamable-http", "add", "look", "echo") as server:
        agents = bot(server.table("maths"))
        async with bench(provider, tmp_path, agents, approve=Approval(ask)) as work:
            await work.run("bot")
    assert results(provider) == [
        "nothing to be seen",
        "3.0",
        "3.0",
        "4.0",
        "echo was not allowed: not that",
    ]
    assert [question.tool for question in questions] == [
        "maths/add",
        "maths/add",
        "maths/echo",
    ]
    assert questions[0].reason == 'agent "bot" wants to call add of the MCP server "maths"'
    assert questions[0].details == f'{server.url}\nadd {{\n  "a": 1,\n  "b": 2\n}}'
    assert questions[0].arguments == {"a": 1, "b": 2}


async def test_a_server_is_allowed_by_its_address_and_not_by_its_name(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def ask(question: Question) -> Reply:
        asked.append(question.tool)
        return Reply("deny")

    with McpTestServer("streamable-http", "echo") as server:
        for rule in ("trusted/echo", "https://trusted.example/mcp#*", f"{server.url}#echo"):
            provider.script("m-bot", Says(calls=[Call("echo", {"texts": ["a"]})]), Says("done"))
            approval = Approval(ask, (rule,))
            agents = bot(server.table("trusted"))
            async with bench(provider, tmp_path, agents, approve=approval) as work:
                await work.run("bot")
    assert asked == ["trusted/echo"] * 2
    assert results(provider) == ["a"]


async def test_results_are_texts_joined_and_errors_are_results(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    calls = [
        Call("echo", {"texts": ["a", "b"]}),
        Call("add", {"a": "1", "b": "2", "negate": "true"}),
        Call("picture", {}),
        Call("failing", {}),
        Call("flood", {}),
        Call("add", {}),
    ]
    provider.script("m-bot", Says(calls=calls), Says("done"))
    async with bench(provider, tmp_path, bot(server.table("s"))) as work:
        await work.run("bot")
    texts = results(provider)
    assert texts[:3] == ["a\nb", "-3.0", "pictures: 1"]
    assert texts[3] == "Error executing tool failing"
    assert len(texts[4]) < 110_000
    assert "bytes left out: the output exceeds 100KB]" in texts[4]
    assert "Field required" in texts[5]
    errors = {each.call_id: each.is_error for each in work.of(ToolEnd)}
    begun = [each.call_id for each in work.of(ToolBegin)]
    assert [errors[call_id] for call_id in begun] == [False, False, False, True, False, True]


_TOO_LONG = Raw(b"0" * 34_000_000, headers={"Content-Type": "application/json"})
_ERROR = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": "was unpacked"}}'
_COMPRESSED = Raw(
    gzip.compress(_ERROR),
    400,
    headers={"Content-Type": "application/json", "Content-Encoding": "gzip"},
)


@pytest.mark.parametrize(
    ("answer", "reason"), [(_TOO_LONG, "more than 32 MB"), (_COMPRESSED, "400 Bad Request")]
)
async def test_an_answer_that_takes_too_much_memory_is_given_up(
    provider: ScriptedProvider, tmp_path: Path, answer: Raw, reason: str
) -> None:
    """What is compressed may become a thousand times as long, and nothing of that kind was asked for."""
    provider.script("", Answer(answer, repeat=True))
    table = {"name": "s", "url": f"{provider.url}/mcp", "transport": "streamable-http"}
    async with bench(provider, tmp_path, bot(table)) as work:
        with pytest.raises(McpServerError, match=reason) as error:
            await work.run("bot")
    assert "unpacked" not in str(error.value)


async def test_headers_are_filled_in_sent_and_never_told(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    secret = "a-very-secret-word"
    table = server.table("s", headers={"X-Key": "Bearer ${MY_WORD}", "X-Plain": "$HOME {x}"})
    call = Call("echo", {"texts": [f"Bearer {secret}", "$HOME {x}"]})
    provider.script("m-bot", Says(calls=[call]), Says("done"))
    before = len(server.requests())
    async with bench(provider, tmp_path, bot(table), {"MY_WORD": secret}) as work:
        await work.run("bot")
    requests = server.requests()[before:]
    assert requests
    assert {each["x-key"] for each in requests} == {f"Bearer {secret}"}
    assert {each["x-plain"] for each in requests} == {"$HOME {x}"}
    (end,) = work.of(ToolEnd)
    assert end.content == "Bearer [redacted]\n$HOME {x}"
    assert secret not in repr(work.of(ToolBegin))
    assert secret not in repr(work.notes)


@pytest.mark.parametrize("value", [None, ""])
async def test_a_variable_that_is_not_set_is_a_mistake_of_configuration(
    provider: ScriptedProvider, tmp_path: Path, value: str | None
) -> None:
    table = {"name": "s", "url": "http://127.0.0.1:9/", "transport": "sse"}
    agents = bot({**table, "headers": {"A": "${NOT_THERE}"}})
    environment = {} if value is None else {"NOT_THERE": value}
    async with bench(provider, tmp_path, agents, environment) as work:
        with pytest.raises(ConfigError) as error:
            await work.run("bot")
    assert str(error.value) == (
        'failed to connect MCP server "s": environment variable "NOT_THERE" is not set or empty'
    )
    assert error.value.exit_code == 2
    assert provider.requests == []


async def test_built_in_tools_win_and_denied_ones_and_odd_names_are_left_out(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-bot", Says("done"))
    names = ("read_file=add", "grep=add", "not.a.name=add", "drop_table=add", "add")
    with McpTestServer("streamable-http", *names) as server:
        agents = bot(server.table("s"), tools=["read_file"], tool_policy={"deny": ["drop_*"]})
        async with bench(provider, tmp_path, agents) as work:
            await work.run("bot")
    assert offered(provider) == ["read_file", "grep", "add"]
    assert provider.requests[0].body["tools"][0]["function"]["description"] != "Adds two numbers."
    assert '[mcp] Skipping "read_file" from "s" (conflicts with built-in tool)' in work.notes
    assert work.notes[-1] == '[mcp] "s" discovered 5 tool(s), registered 2'
    (warning,) = work.warnings
    assert warning.startswith('tool "not.a.name" of MCP server "s" is left out: ')


async def test_two_servers_with_the_same_tool_are_a_mistake_of_configuration(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    with (
        McpTestServer("streamable-http", "add") as one,
        McpTestServer("sse", "echo", "add") as two,
    ):
        async with bench(provider, tmp_path, bot(one.table("one"), two.table("two"))) as work:
            with pytest.raises(ConfigError) as error:
                await work.run("bot")
        one.wait_until_left()
        two.wait_until_left()
    assert str(error.value) == (
        'failed to register MCP tools from "two": MCP tool "add" collision between servers '
        '"one" and "two"'
    )
    assert error.value.exit_code == 2


async def test_children_connect_their_own_servers_only(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("bot", "1"), calls_agent("bot", "2")]))
    provider.script("m-lead", Says("done"))
    provider.script("m-bot", *[Says(calls=[Call("add", {"a": 1, "b": 1})])] * 2)
    provider.script("m-bot", *[Says("two")] * 2)
    agents = agent("lead", sub_agents=["bot"]) | bot(server.table("s"))
    async with bench(provider, tmp_path, agents) as work:
        await work.run("lead")
    assert offered(provider, "m-lead") == ["call_agent"]
    assert results(provider, "m-lead") == ["two", "two"]
    await asyncio.to_thread(server.wait_until_left)


# -- when things go wrong


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    "answer",
    [
        Raw(b"", 401),
        Raw(b"<html>hello</html>", 200, {"Content-Type": "text/html"}),
        Raw(b"{}", 500, {"Content-Type": "application/json"}),
        Raw(b"event: message\ndata: nonsense\n\n", 200, {"Content-Type": "text/event-stream"}),
        Raw(b"", 302, {"Location": "http://127.0.0.1:9/elsewhere"}),
        Raw(b"{", 200, {"Content-Type": "application/json"}, cut=1),
    ],
)
async def test_what_is_no_mcp_server_is_named(
    provider: ScriptedProvider,
    tmp_path: Path,
    transport: str,
    answer: Raw,
) -> None:
    provider.script("", Answer(answer, repeat=True))
    table = {"name": "s", "url": f"{provider.url}/mcp", "transport": transport}
    table |= {"startup_timeout": 3}
    async with bench(provider, tmp_path, bot(table)) as work:
        with pytest.raises(McpServerError) as error:
            await asyncio.wait_for(work.run("bot"), PATIENCE)
    assert str(error.value).startswith('failed to connect MCP server "s": ')
    assert "\n" not in str(error.value)
    assert (error.value.kind, error.value.exit_code) == ("api", 3)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_no_text_says_the_password_in_an_address(
    provider: ScriptedProvider, tmp_path: Path, transport: str
) -> None:
    provider.script("", Answer(Raw(b"", 403), repeat=True))
    url = provider.url.replace("://", "://me:hidden@")
    table = {"name": "s", "url": f"{url}/?key=hidden", "transport": transport}
    async with bench(provider, tmp_path, bot(table)) as work:
        with pytest.raises(McpServerError) as error:
            await work.run("bot")
    assert "hidden" not in str(error.value)
    assert "403 Forbidden" in str(error.value)
    assert f"({provider.url}/?… by {transport})" in str(error.value)
    assert f"at {provider.url}/?… ({transport})" in work.notes[0]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_server_that_is_not_there_is_named(
    provider: ScriptedProvider, tmp_path: Path, transport: str
) -> None:
    table = {"name": "s", "url": "http://127.0.0.1:9/mcp", "transport": transport}
    agents = agent("lead", sub_agents=["bot"]) | bot(table)
    provider.script("m-lead", Says(calls=[calls_agent("bot", "1")]), Says("done"))
    async with bench(provider, tmp_path, agents) as work:
        await work.run("lead")
    (text,) = results(provider, "m-lead")
    assert text.startswith(
        'Error: sub-agent "bot" failed - failed to connect MCP server "s": connect MCP server "s": '
    )


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_server_that_says_nothing_is_waited_for_as_long_as_the_run_may_take(
    provider: ScriptedProvider, tmp_path: Path, transport: str
) -> None:
    hold = Hold()
    provider.script("", Answer(Raw(), hold=hold, repeat=True))
    table = {"name": "s", "url": f"{provider.url}/mcp", "transport": transport}
    async with bench(provider, tmp_path, bot(table)) as work:
        with pytest.raises(RunTimeoutError):
            await asyncio.wait_for(work.run("bot", timeout=4), PATIENCE)
        await hold.hung_up()


async def wait_for_slow(server: McpTestServer, count: int) -> None:
    await asyncio.to_thread(server.wait_for_calls, count)


async def test_a_run_that_is_stopped_stops_the_call_and_leaves(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    provider.script("m-bot", Says(calls=[Call("slow", {}), Call("slow", {})]))
    async with bench(provider, tmp_path, bot(server.table("s"))) as work:
        run = work.engine.run(RunRequest("bot"), "run-1")
        async with running(run) as task:
            await wait_for_slow(server, 1)  # The second call waits: it may change something.
            with promptly():
                assert work.engine.cancel("run-1")
                with pytest.raises(RunCancelledError):
                    await asyncio.wait_for(task, PATIENCE)
        await wait_for_slow(server, 0)
        await asyncio.to_thread(server.wait_until_left)
        assert_nothing_goes_on(work)


async def test_a_run_whose_caller_gives_up_leaves_as_well(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    provider.script("m-bot", Says(calls=[Call("slow", {})]))
    async with bench(provider, tmp_path, bot(server.table("s"))) as work:
        async with running(work.run("bot")):
            await wait_for_slow(server, 1)
        await wait_for_slow(server, 0)
        await asyncio.to_thread(server.wait_until_left)
        assert_nothing_goes_on(work)


@pytest.mark.slow
async def test_a_call_takes_no_longer_than_the_run_may(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    provider.script("m-bot", Says(calls=[Call("slow", {})]))
    async with bench(provider, tmp_path, bot(server.table("s"))) as work:
        with pytest.raises(RunTimeoutError):
            await asyncio.wait_for(work.run("bot", timeout=4), PATIENCE)
    await wait_for_slow(server, 0)
    await asyncio.to_thread(server.wait_until_left)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_server_that_dies_is_an_error_result_and_the_run_goes_on(
    provider: ScriptedProvider, tmp_path: Path, transport: str
) -> None:
    both = [Call("slow", {}), Call("list_directory", {"path": "."})]
    provider.script("m-bot", Says(calls=both), Says(calls=[Call("add", {"a": 1, "b": 1})]))
    provider.script("m-bot", Says("without it, then"))
    with McpTestServer(transport) as server:
        agents = bot(server.table("s"), tools=["list_directory"])
        async with bench(provider, tmp_path, agents) as work, running(work.run("bot")) as task:
            await wait_for_slow(server, 1)
            server.kill()
            assert (await asyncio.wait_for(task, PATIENCE)).content == "without it, then"
    first, _, last = results(provider)
    assert first.startswith('MCP server "s": ')
    assert last.startswith('MCP server "s": ')


async def test_a_failing_run_leaves_its_servers(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    async with bench(provider, tmp_path, bot(server.table("s"))) as work:
        with pytest.raises(RunError):  # The provider has nothing to say.
            await work.run("bot")
        await asyncio.to_thread(server.wait_until_left)
        assert_nothing_goes_on(work)


def assert_nothing_goes_on(work: Bench) -> None:
    """No task of a connection is left."""
    names = [task.get_name() for task in asyncio.all_tasks()]
    assert not [name for name in names if "MCP" in name], work


# -- in detail


def test_only_references_in_braces_are_filled_in(tmp_path: Path) -> None:
    server = McpServer("s", "http://x", "sse", {"A": "${ONE}-${ONE}", "B": "$ONE ${1} ${}"})
    access = access_to(server, Workplace(tmp_path, {"ONE": "1$"}))
    assert access.headers == {"A": "1$-1$", "B": "$ONE ${1} ${}"}


async def test_without_the_sdk_the_error_says_what_to_install(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    agents = bot({"name": "m", "url": "http://127.0.0.1:9/mcp", "transport": "sse"})
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ConfigError, match=r'need the Python package "mcp".*CLONE\[mcp\]'):
            await work.run("bot")
    assert provider.requests == []
