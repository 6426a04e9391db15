"""`axe-lsp mcp`, as the official client of MCP meets it, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from support.processes import bearing
from support.scripted_provider import (
    PATIENCE,
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.session import Project, agent_file
from support.waiting import until

Json = Any

LEGACY, MODERN = "legacy", "2026-07-28"
SERVER = [sys.executable, "-m", "axe_lsp", "mcp"]
KEY = "sk-ant-0123456789-the-key-of-the-user"
WRITE = Call("write_file", {"path": "notes.txt", "content": "new\n"})
TYPED = """
[input]
required = ["path"]
additionalProperties = false
[input.properties.path]
type = "string"
[output]
required = ["summary"]
[output.properties.summary]
type = "string"
"""

eras = pytest.mark.parametrize("era", [LEGACY, MODERN])


class Sessions:
    """A project, and clients of its server."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.asked: list[Json] = []
        self.notices: list[Json] = []
        self.progress: list[tuple[float, str | None]] = []
        self.changed = asyncio.Event()

    @asynccontextmanager
    async def client(
        self,
        era: str,
        *arguments: str,
        decides: Callable[[Json], str] | str | None = "allow",
        env: dict[str, str] | None = None,
    ) -> AsyncIterator[Client]:
        """Provide a connected client; without `decides` it can't ask its user."""

        async def elicit(_: Json, params: Json) -> types.ElicitResult:
            self.asked.append(params)
            decision = decides(params) if callable(decides) else decides
            if decision in ("decline", "cancel"):
                return types.ElicitResult(action=decision)
            return types.ElicitResult(action="accept", content={"decision": decision})

        async def heard(message: Json) -> None:
            self.notices.append(message)
            self.changed.set()

        environment = {**os.environ, **self.project.environment, **(env or {})}
        parameters = StdioServerParameters(
            command=SERVER[0],
            args=[*SERVER[1:], *arguments],
            env=environment,
            cwd=self.project.root,
        )
        async with Client(
            stdio_client(parameters),
            mode=era,
            message_handler=heard,
            read_timeout_seconds=PATIENCE,
            elicitation_callback=elicit if decides is not None else None,
        ) as client:
            yield client

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        self.progress.append((progress, message))


@pytest.fixture
def desk(tmp_path: Path, provider: ScriptedProvider) -> Sessions:
    project = Project(tmp_path, {**provider.environment, "ANTHROPIC_API_KEY": KEY})
    project.write("lead", agent_file("lead", tools=["write_file"], sub_agents=["reader"]))
    project.write("reader", agent_file("reader", tools=["read_file"]))
    project.write("typed", agent_file("typed") + TYPED)
    project.write("broken", "name = 3\n")
    return Sessions(project)


def text_of(result: Json) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


@eras
async def test_the_agents_that_nobody_calls_are_tools_with_their_schemas(
    desk: Sessions, era: str
) -> None:
    async with desk.client(era) as client:
        lead, typed = (await client.list_tools()).tools
    assert (lead.name, typed.name) == ("lead", "typed")
    assert lead.description == "The lead. May write files or run commands; asks first."
    assert lead.input_schema["required"] == ["task"]
    assert typed.input_schema["required"] == ["path"]
    assert typed.input_schema["type"] == "object"
    assert typed.output_schema["required"] == ["summary"]
    assert lead.annotations.read_only_hint is False
    assert lead.annotations.destructive_hint is True
    assert typed.annotations.read_only_hint is True
    assert typed.annotations.open_world_hint is False


async def test_annotations_of_a_tool_include_its_sub_agents(desk: Sessions) -> None:
    desk.project.write("calm", agent_file("calm", tools=["read_file"], sub_agents=["web"]))
    desk.project.write("web", agent_file("web", tools=["url_fetch", "run_command"]))
    async with desk.client(LEGACY, "calm") as client:
        (calm,) = (await client.list_tools()).tools
    assert calm.annotations.read_only_hint is False
    assert calm.annotations.open_world_hint is True


async def test_names_and_all_select_the_agents_that_are_tools(desk: Sessions) -> None:
    (desk.project.user_agents / "mine.toml").write_text(agent_file("mine"))
    desk.project.write("with blank", agent_file("with blank"))
    for arguments, names in [
        ((), ["lead", "typed"]),
        (("--all",), ["lead", "reader", "typed"]),
        (("reader", "mine"), ["mine", "reader"]),
    ]:
        async with desk.client(LEGACY, *arguments) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == names


@eras
async def test_a_call_runs_the_agent_and_names_its_run(
    desk: Sessions, provider: ScriptedProvider, era: str
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("reader", "Read")]), Says("Done."))
    provider.script("m-reader", Says("It says x."))
    async with desk.client(era) as client:
        result = await client.call_tool("lead", {"task": "Go", "context": "It is late."})
    assert (text_of(result), bool(result.is_error)) == ("Done.", False)
    assert len(result.meta["axe/runId"]) == 32
    assert "Task: Go\\n\\nContext:\\nIt is late." in json.dumps(
        provider.requests[0].body["messages"]
    )


@eras
async def test_typed_agents_take_and_give_values(
    desk: Sessions, provider: ScriptedProvider, era: str
) -> None:
    provider.script("m-typed", Says('{"summary": "short"}'))
    async with desk.client(era) as client:
        await client.list_tools()
        result = await client.call_tool("typed", {"path": "a.py"})
        assert result.structured_content == {"summary": "short"}
        refused = await client.call_tool("typed", {"lines": 1})
        assert refused.is_error
        assert "arguments.path is missing" in text_of(refused)
    assert len(provider.requests) == 1


async def test_an_answer_that_is_no_object_is_wrapped_for_older_clients(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    lists = '[output]\ntype = "array"\n[output.items]\ntype = "string"\n'
    desk.project.write("lists", agent_file("lists") + lists)
    provider.script("m-lists", Says('["a"]'), Says('["b"]'))
    for era, schema, value in [(LEGACY, "object", {"result": ["a"]}), (MODERN, "array", ["b"])]:
        async with desk.client(era, "lists") as client:
            (tool,) = (await client.list_tools()).tools
            assert tool.output_schema["type"] == schema
            result = await client.call_tool("lists", {"task": "List"})
            assert result.structured_content == value


@eras
async def test_a_failed_run_is_an_error_with_its_reason(
    desk: Sessions, provider: ScriptedProvider, era: str
) -> None:
    provider.script("m-lead", Refuses(400, "no such thing"))
    async with desk.client(era) as client:
        result = await client.call_tool("lead", {"task": "Go"})
        assert result.is_error
        assert "no such thing" in text_of(result)
        with pytest.raises(MCPError, match="there is no tool 'nobody'; the tools are: lead, typed"):
            await client.call_tool("nobody", {})


@eras
async def test_a_person_allows_a_change_before_it_is_made(
    desk: Sessions, provider: ScriptedProvider, era: str
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says("Written."))
    path = desk.project.root / "notes.txt"
    before: list[bool] = []
    async with desk.client(
        era, decides=lambda _: before.append(path.exists()) or "allow"
    ) as client:
        result = await client.call_tool("lead", {"task": "Write"})
    assert text_of(result) == "Written."
    assert before == [False]
    assert path.read_text() == "new\n"
    assert 'agent "lead" wants to write notes.txt' in desk.asked[0].message
    assert "+new" in desk.asked[0].message
    assert len(provider.requests) == 2


@eras
async def test_other_answer_is_a_denial(
    desk: Sessions, provider: ScriptedProvider, era: str
) -> None:
    decisions = ["deny", "decline", "cancel", "nonsense"]
    async with desk.client(era, decides=lambda _: decisions[len(desk.asked) - 1]) as client:
        for decision in decisions:
            provider.script("m-lead", Says(calls=[WRITE]), Says(f"Not after {decision}."))
            result = await client.call_tool("lead", {"task": "Write"})
            assert text_of(result) == f"Not after {decision}."
            assert not (desk.project.root / "notes.txt").exists()
    assert len(desk.asked) == len(decisions)


@pytest.mark.parametrize(
    ("arguments", "decides", "is_written", "asks"),
    [
        ((), None, False, 0),
        (("--approve", "deny"), "allow", False, 0),
        (("--approve", "allow"), None, True, 0),
        (("--approve", "ask"), "allow", True, 1),
        (("--allow", "write_file(notes.*)"), None, True, 0),
        (("--approve", "deny", "--allow", "write_file(notes.*)"), None, True, 0),
        (("--allow", "write_file(other.*)"), None, False, 0),
    ],
)
async def test_approve_option_decides_where_the_client_cannot_ask(
    desk: Sessions,
    provider: ScriptedProvider,
    arguments: tuple[str, ...],
    decides: str | None,
    is_written: bool,
    asks: int,
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says("Ended."))
    async with desk.client(LEGACY, *arguments, decides=decides) as client:
        await client.call_tool("lead", {"task": "Write"})
    assert (desk.project.root / "notes.txt").exists() is is_written
    assert len(desk.asked) == asks
    if not arguments:
        assert "--approve allow" in json.dumps(provider.requests[-1].body["messages"])


async def test_several_questions_of_a_modern_call_come_one_after_the_other(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    other = Call("write_file", {"path": "other.txt", "content": "x"}, "2")
    provider.script("m-lead", Says(calls=[WRITE, other]), Says("Both."))
    async with desk.client(MODERN) as client:
        assert text_of(await client.call_tool("lead", {"task": "Write"})) == "Both."
    assert len(desk.asked) == 2
    assert (desk.project.root / "other.txt").read_text() == "x"


async def test_questions_of_two_kinds_get_their_own_answers(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    question = Call("ask_user", {"question": "Which colour?"}, "2")
    desk.project.write("asker", agent_file("asker", tools=["write_file", "ask_user"]))
    provider.script("m-asker", Says(calls=[question, WRITE]), Says("Both."))

    def decides(params: Json) -> str:
        return "blue" if "Which colour?" in params.message else "allow"

    async with desk.client(MODERN, decides=decides) as client:
        assert text_of(await client.call_tool("asker", {"task": "Write"})) == "Both."
    assert "blue" in json.dumps(provider.requests[-1].body["messages"])
    assert (desk.project.root / "notes.txt").exists()


async def asks(client: Client, **more: Json) -> types.InputRequiredResult:
    """Return the question in the result of a call of `lead`."""
    params = types.CallToolRequestParams(name="lead", arguments={"task": "Write"}, **more)
    request = types.CallToolRequest(params=params)
    return await client.session.send_request(request, types.InputRequiredResult)


async def test_a_question_without_an_answer_is_asked_again(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]))
    async with desk.client(MODERN) as client:
        first = await asks(client)
        other = types.ElicitResult(action="accept", content={"decision": "allow"})
        state = {"request_state": first.request_state}
        again = await asks(client, input_responses={"other": other}, **state)
        assert again.input_requests == first.input_requests
        assert again.request_state not in (None, first.request_state)
        with pytest.raises(MCPError, match="used before"):
            await asks(client, **state)
    assert len(provider.requests) == 1


async def test_unanswered_questions_do_not_block_other_calls(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", *[Says(calls=[WRITE])] * 3)
    provider.script("m-reader", Says("read"))
    async with desk.client(MODERN, "--max-parallel", "1", "--all") as client:
        for _ in range(3):
            await asks(client)
        assert text_of(await client.call_tool("reader", {"task": "Read"})) == "read"


async def test_state_of_a_question_is_valid_once_and_only_in_its_server(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says("Written."))
    async with desk.client(MODERN, "--all") as client:
        params = types.CallToolRequestParams(name="lead", arguments={"task": "Write"})
        request = types.CallToolRequest(params=params)
        first = await client.session.send_request(request, types.InputRequiredResult)
        assert first.input_requests is not None
        yes = types.ElicitResult(action="accept", content={"decision": "allow"})

        async def again(name: str, state: str) -> Json:
            retry = types.CallToolRequestParams(
                name=name,
                arguments={"task": "Write"},
                request_state=state,
                input_responses={"decision": yes},
            )
            again = types.CallToolRequest(params=retry)
            return await client.session.send_request(again, types.CallToolResult)

        assert first.request_state is not None
        forged = first.request_state[:-1] + "x"
        for name, state in [
            ("lead", forged),
            ("lead", "nonsense"),
            ("reader", first.request_state),
        ]:
            with pytest.raises(MCPError, match="requestState"):
                await again(name, state)
        assert text_of(await again("lead", first.request_state)) == "Written."
        with pytest.raises(MCPError, match="used before"):
            await again("lead", first.request_state)
    assert len(provider.requests) == 2


@eras
async def test_progress_tells_of_turns_tools_and_called_agents(
    desk: Sessions, provider: ScriptedProvider, era: str
) -> None:
    (desk.project.root / "a.txt").write_text("x")
    provider.script("m-lead", Says(calls=[calls_agent("reader", "Read it")]), Says("Done."))
    read = Call("read_file", {"path": "a.txt"})
    provider.script("m-reader", Says(calls=[read]), Says("x"))
    async with desk.client(era) as client:
        await client.call_tool("lead", {"task": "Go"}, progress_callback=desk.on_progress)
    numbers = [number for number, _ in desk.progress]
    assert numbers == sorted(set(numbers))
    assert "reader > read_file a.txt" in [message for _, message in desk.progress]


@eras
async def test_a_cancelled_call_ends_its_run(
    desk: Sessions, provider: ScriptedProvider, era: str
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold), Says("next"))
    async with desk.client(era) as client:
        call = asyncio.ensure_future(client.call_tool("lead", {"task": "Go"}))
        await hold.arrived()
        call.cancel()
        await hold.hung_up()
        assert text_of(await client.call_tool("lead", {"task": "Go"})) == "next"


async def test_further_calls_wait(desk: Sessions, provider: ScriptedProvider) -> None:
    first, second = Hold(), Hold()
    provider.script("m-lead", Answer(Says("one"), hold=first), Answer(Says("two"), hold=second))
    async with desk.client(LEGACY, "--max-parallel", "1") as client:
        calls = [
            asyncio.ensure_future(client.call_tool("lead", {"task": task})) for task in ("a", "b")
        ]
        await first.arrived()
        assert len(provider.requests) == 1
        first.release()
        await second.arrived()
        second.release()
        assert [text_of(each) for each in await asyncio.gather(*calls)] == ["one", "two"]


@eras
async def test_a_changed_file_changes_the_tools_and_clients_hear_of_it(
    desk: Sessions, era: str
) -> None:
    async with desk.client(era) as client:
        await client.list_tools()
        if era == LEGACY:
            desk.project.write("fresh", agent_file("fresh"))
            await asyncio.wait_for(desk.changed.wait(), PATIENCE)
        else:
            async with client.listen(tools_list_changed=True) as changes:
                desk.project.write("fresh", agent_file("fresh"))
                await asyncio.wait_for(anext(aiter(changes)), PATIENCE)
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["fresh", "lead", "typed"]


async def test_nothing_is_left_when_the_client_goes_in_the_middle(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("never"), hold=hold))
    mark = str(desk.project.root)
    async with desk.client(LEGACY, env={"AXE_TEST_MARK": mark}) as client:
        call = asyncio.ensure_future(client.call_tool("lead", {"task": "Go"}))
        await hold.arrived()
    call.cancel()
    await until(lambda: not bearing(mark), lambda: bearing(mark))


async def test_a_long_answer_is_cut_and_says_so(desk: Sessions, provider: ScriptedProvider) -> None:
    provider.script("m-lead", Says("x" * 100_007))
    async with desk.client(LEGACY) as client:
        text = text_of(await client.call_tool("lead", {"task": "Go"}))
    assert text == "x" * 100_000 + "\n[cut: 7 more characters]"


async def test_sources_of_an_answer_follow_its_text(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    text = {"type": "text", "text": "It is so.", "citations": [{"url": "https://example.com/a"}]}
    cited = Says(extra={"content": [text]})
    provider.script("m-lead", Answer(cited, whole=True))
    async with desk.client(LEGACY) as client:
        answer = text_of(await client.call_tool("lead", {"task": "Go"}))
    assert answer == "It is so.\n\nSources:\n1. https://example.com/a"


async def test_an_agent_that_reaches_out_is_trusted_by_whoever_is_asked(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    (desk.project.root.parent / "outside.md").write_text("OUTSIDE")
    desk.project.write("reacher", agent_file("reacher", files=["../outside.md"]))
    provider.script("m-reacher", Says("one"), Says("two"))
    async with desk.client(LEGACY, decides="deny") as client:
        result = await client.call_tool("reacher", {"task": "Go"})
        assert result.is_error
        assert "outside.md" in desk.asked[0].message
    # --approve answers approvals; it is no trust.
    async with desk.client(LEGACY, "--approve", "allow", decides=None) as client:
        assert (await client.call_tool("reacher", {"task": "Go"})).is_error
    assert provider.requests == []
    async with desk.client(LEGACY, "--trust", decides=None) as client:
        assert text_of(await client.call_tool("reacher", {"task": "Go"})) == "one"


# HTTP.


@asynccontextmanager
async def served(desk: Sessions, *arguments: str) -> AsyncIterator[tuple[str, str]]:
    """Provide a server over HTTP: its address and its token."""
    process = await asyncio.create_subprocess_exec(
        *SERVER,
        *("--http", "0"),
        *arguments,
        cwd=desk.project.root,
        env={**os.environ, **desk.project.environment},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), PATIENCE)).decode()
        told = re.match(
            r'claude mcp add --transport http axe (http://127\.0\.0\.1:\d+/mcp) --header "Authorization: Bearer (\S+)"\n',
            line,
        )
        assert told, line
        yield told[1], told[2]
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


async def posted(address: str, token: str, **headers: str) -> int:
    """Return the status of a request."""
    every = {"accept": "application/json, text/event-stream", **headers}
    if token:
        every["authorization"] = f"Bearer {token}"
    async with httpx2.AsyncClient(trust_env=False) as client:
        response = await client.post(address, json=INITIALIZE, headers=every, timeout=PATIENCE)
    return response.status_code


async def test_http_needs_the_token_and_no_page_of_a_browser_gets_in(desk: Sessions) -> None:
    async with served(desk) as (address, token):
        assert len(token) > 30
        assert await posted(address, token) == 200
        assert await posted(address, "") == 401
        assert await posted(address, token[:-1]) == 401
        assert await posted(address, token, origin="https://evil.example") == 403
        assert await posted(address, token, host="evil.example") == 421


async def change_until(desk: Sessions, heard: list[asyncio.Event]) -> None:
    """Change an agent until all have heard of it: a client that has just connected may listen a moment later."""
    number = 0
    while not all(event.is_set() for event in heard):
        number += 1
        desk.project.write("fresh", agent_file("fresh", description=f"Version {number}"))
        await asyncio.wait([asyncio.ensure_future(event.wait()) for event in heard], timeout=1.0)


async def test_all_clients_over_http_hear_of_changes(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says("Done."))
    heard = [asyncio.Event(), asyncio.Event()]
    async with served(desk) as (address, token), AsyncExitStack() as stack:
        assert await posted(address, token) == 200
        clients = []
        for event in heard:

            async def on_message(_: Json, event: asyncio.Event = event) -> None:
                event.set()

            authorized = httpx2.AsyncClient(
                headers={"authorization": f"Bearer {token}"}, trust_env=False, timeout=PATIENCE
            )
            http = await stack.enter_async_context(authorized)
            transport = streamable_http_client(address, http_client=http)
            client = Client(transport, mode=LEGACY, message_handler=on_message)
            clients.append(await stack.enter_async_context(client))
        for client in clients:
            await client.list_tools()
        await asyncio.wait_for(change_until(desk, heard), PATIENCE)
        assert text_of(await clients[0].call_tool("lead", {"task": "Go"})) == "Done."


async def test_the_token_may_be_in_a_file_that_nobody_else_can_read(desk: Sessions) -> None:
    path = desk.project.root / "token"
    path.write_text("my-token\n")
    path.chmod(0o600)
    async with served(desk, "--token-file", str(path)) as (address, _):
        assert await posted(address, "my-token") == 200
        assert await posted(address, "other") == 401


def refused(desk: Sessions, *arguments: str) -> tuple[int, str]:
    """Return the exit code of a server that does not start, and what it says."""
    ended = subprocess.run(
        [*SERVER, *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=desk.project.root,
        env={**os.environ, **desk.project.environment},
    )
    assert ended.stdout == ""
    return ended.returncode, ended.stderr


def test_a_token_that_others_can_read_is_refused(desk: Sessions) -> None:
    path = desk.project.root / "token"
    path.write_text("my-token\n")
    path.chmod(0o644)
    code, told = refused(desk, "--http", "9", "--token-file", str(path))
    assert code == 2
    assert f"others can read {path}; chmod 600 {path}" in told


def test_a_port_that_is_taken_is_said_instead_of_the_address(desk: Sessions) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, told = refused(desk, "--http", address)
    assert code == 2
    assert told == (
        f"can't listen on {address}: Address already in use; choose another port, or 0 for a free one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--http", "0.0.0.0:80"], 1, "0.0.0.0 is not this machine"),
        (["--http", "x"], 1, "'x' is not a port"),
        (["--max-parallel", "0"], 1, "not a whole number above 0"),
        (["nobody"], 2, "agent config not found: nobody"),
        (["broken"], 2, "broken"),
        (["--in", "nowhere"], 2, "there is no folder"),
    ],
)
def test_wrong_arguments_are_named(
    desk: Sessions, arguments: list[str], code: int, told: str
) -> None:
    ended, said = refused(desk, *arguments)
    assert ended == code
    assert told in said


async def test_a_server_below_a_run_does_not_offer_the_agents_above_it(
    desk: Sessions, provider: ScriptedProvider
) -> None:
    """An agent whose command starts an MCP client could call itself for ever."""
    command = 'echo "$AXE_RUN" > above.json'
    desk.project.write("worker", agent_file("worker", tools=["run_command"]))
    desk.project.write("chief", agent_file("chief", sub_agents=["worker"]))
    provider.script("m-chief", Says(calls=[calls_agent("worker", "Do it")]), Says("Done."))
    provider.script("m-worker", Says(calls=[Call("run_command", {"command": command})]), Says("ok"))
    async with desk.client(LEGACY) as client:
        await client.call_tool("chief", {"task": "Go"})
    above = (desk.project.root / "above.json").read_text()
    assert json.loads(above) == ["chief", "worker"]
    async with desk.client(LEGACY, "--all", env={"AXE_RUN": above}) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["lead", "reader", "typed"]
