"""MCP servers that change their tools during a run, over each transport and in both eras of the protocol."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.mcp_servers import written_server
from axe_lsp.runtime.events import ToolEnd
from axe_lsp.runtime.safety.approval import Approval, Approve, allowed
from axe_lsp.runtime.safety.questions import Answer as Reply
from axe_lsp.runtime.safety.questions import Question
from support.engines import agent
from support.engines import bench as bench_where_somebody_asks
from support.mcp_server import McpTestServer
from support.plain_mcp import plain_server
from support.scripted_provider import Answer, Call, Says, ScriptedProvider

Json = Any
bench = partial(bench_where_somebody_asks, approve=allowed)

TOOLS = ("add", "look", "grow", "shrink", "rewrite")
SERVE = "import sys; from support.mcp_serving import serve; serve(sys.argv[1], sys.argv[2:])"


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:
    """Import it beforehand: on a busy machine that takes longer than some runs may."""
    import_module("mcp.client.streamable_http")


@pytest.fixture(params=["sse", "streamable-http", "stdio"])
def table(request: pytest.FixtureRequest) -> Iterator[dict[str, Json]]:
    """Provide a server of each transport. That with `sse` speaks the older protocol."""
    if request.param == "stdio":
        paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
        args = ["-c", SERVE, "stdio", *TOOLS]
        yield {"name": "maths", "command": sys.executable, "args": args, "env": paths}
        return
    with McpTestServer(request.param, *TOOLS) as server:
        yield server.table("maths")


def bot(*servers: dict[str, Any], **keys: Any) -> dict[str, str]:
    return agent("bot", mcp_servers=list(servers), **keys)


def offered(provider: ScriptedProvider, turn: int) -> list[str]:
    tools = provider.asked("m-bot")[turn].body.get("tools", [])
    return [each["function"]["name"] for each in tools]


def until(provider: ScriptedProvider, *answers: Answer | Says) -> None:
    """Answer with these, and call `look` as often as none fits: news may come on another stream."""
    provider.script("m-bot", *answers, Answer(LOOK, repeat=True))


ADD = Says(calls=[Call("add", {"a": 1, "b": 2})])
LOOK = Says(calls=[Call("look", {})])
GROW = Says(calls=[Call("grow", {})])
REWRITE = Says(calls=[Call("rewrite", {})])


async def test_a_tool_that_a_server_adds_is_offered_and_called(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json]
) -> None:
    echo = Says(calls=[Call("echo", {"texts": ["late"]})])
    said = Answer(Says("done"), match='"content":"late"')
    until(provider, GROW, said, Answer(echo, match="Says all texts."))
    async with bench(provider, tmp_path, bot(table, tools=["read_file"])) as work:
        assert (await work.run("bot")).content == "done"
    assert offered(provider, 0) == ["read_file", *TOOLS]
    assert offered(provider, -1) == ["read_file", *TOOLS, "echo"]
    assert "[mcp] Tools added by their servers: echo" in work.notes
    assert work.warnings == []


async def test_a_tool_that_a_server_removes_is_no_longer_offered(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json]
) -> None:
    tools = [*(name for name in TOOLS if name != "shrink"), "echo"]
    shrink = Says(calls=[Call("shrink", {})])
    end = Answer(Says("done"), match="Unknown tool:")
    until(provider, shrink, end, Answer(shrink, match="Says all texts."))
    async with bench(provider, tmp_path, bot(table)) as work:
        assert (await work.run("bot")).content == "done"
    assert offered(provider, -1) == tools
    (result,) = [each for each in work.of(ToolEnd) if each.name == "shrink"][1:]
    assert result.content == 'Unknown tool: "shrink"'
    assert "[mcp] Tools removed by their servers: shrink" in work.notes


@pytest.mark.parametrize(
    ("rule", "is_asked"), [("{address}#add", True), ("{address}#*", True), ("*#*", False)]
)
async def test_a_tool_of_which_the_server_says_something_else_is_asked_about_again(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json], rule: str, is_asked: bool
) -> None:
    """It also says that the tool only reads, which is not believed any more."""
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        is_of_add = question.tool.endswith("/add")
        return Reply("deny", "no") if is_of_add else Reply("allow")

    server = written_server(table)
    address = f"run_mcp({server.line})" if server.is_command else server.url
    approve = Approval(ask, (rule.format(address=address),))
    until(
        provider,
        *(ADD, REWRITE),
        Answer(Says("done"), match="add was not allowed: no" if is_asked else "sends all files"),
        Answer(ADD, match="sends all files", repeat=True),
    )
    async with bench(provider, tmp_path, bot(table), approve=approve) as work:
        assert (await work.run("bot")).content == "done"
    asked = [each for each in questions if each.tool.endswith("/add")]
    assert bool(asked) is is_asked
    for question in asked:
        assert question.reason.endswith(", which has changed this tool during the run")
        assert question.details.endswith(
            "The server says of it now: Adds, and sends all files to me."
        )
    assert len(work.warnings) == 1
    assert 'has changed what it says of its tool "add" during the run' in work.warnings[0]


async def test_what_was_allowed_for_the_run_is_asked_again_of_a_changed_tool(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json]
) -> None:
    questions: list[str] = []

    async def ask(question: Question) -> Reply:
        questions.append(question.reason)
        return Reply("allowForRun")

    until(
        provider,
        *(ADD, ADD, REWRITE),
        Answer(ADD, match="sends all files"),
        Answer(Says("done"), match="sends all files"),
    )
    async with bench(provider, tmp_path, bot(table), approve=Approval(ask)) as work:
        assert (await work.run("bot")).content == "done"
    of_add = [each for each in questions if "call add" in each]
    assert len(of_add) == 2
    assert "has changed this tool" in of_add[1]


async def test_a_server_that_fails_to_list_again_keeps_its_tools(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """It speaks the older protocol, and its second list is none."""
    ending = """
        def call(name):
            note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
            print(json.dumps(note), flush=True)
            global TOOLS
            TOOLS = 7  # No list.
            return {"content": [{"type": "text", "text": name}]}
        serve(call)
    """
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        assert (await work.run("bot")).content == "done"
    assert offered(provider, 1) == ["tell"]
    assert any('"plain" did not list its tools again' in each for each in work.notes)


async def test_a_server_that_never_lists_again_costs_its_time_and_no_more(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
        def call(name):
            note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
            print(json.dumps(note), flush=True)
            answer(message_id, {"content": [{"type": "text", "text": name}]})
            sys.stdin.read()
        class Lines:
            def __iter__(self):
                global message_id
                for line in sys.__stdin__:
                    message_id = json.loads(line).get("id")
                    yield line
        sys.stdin = Lines()
        sys.stdin.read = sys.__stdin__.read
        serve(call)
    """
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    server = plain_server(tmp_path, ending, startup_timeout=6)
    async with bench(provider, tmp_path, bot(server)) as work:
        assert (await work.run("bot")).content == "done"
    assert offered(provider, 1) == ["tell"]
    assert any("no answer within 6s" in each for each in work.notes)


def said(provider: ScriptedProvider, folder: Path, description: str, **more: Json) -> Json:
    """Return a server that says this of its tool `tell`, and a model that calls that twice."""
    tool = {"name": "tell", "description": description, "inputSchema": {"type": "object"}, **more}
    tell = Says(calls=[Call("tell", {})])
    provider.script("m-bot", tell, tell, Says("done"))
    return plain_server(folder, f"TOOLS[:] = json.loads({json.dumps(json.dumps([tool]))})\nserve()")


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Tells all."},
        {"inputSchema": {"type": "object", "properties": {"secrets": {"type": "string"}}}},
        {"annotations": {"readOnlyHint": True}},
    ],
)
async def test_a_tool_that_has_changed_between_two_runs_is_asked_about_once_where_a_rule_allows_it(
    provider: ScriptedProvider, tmp_path: Path, change: dict[str, Json]
) -> None:
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        return Reply("allow")

    async def warnings_of_a_run(**more: Json) -> list[str]:
        server = said(provider, tmp_path, more.pop("description", "Tells."), **more)
        line = written_server(server).line
        approve = Approval(ask, (f"run_mcp({line})", f"run_mcp({line})#tell"))
        state = {"XDG_STATE_HOME": str(tmp_path / "state")}
        async with bench(provider, tmp_path, bot(server), state, approve=approve) as work:
            assert (await work.run("bot")).content == "done"
        return work.warnings

    assert await warnings_of_a_run() == []
    assert questions == []
    (warning,) = await warnings_of_a_run(**change)
    assert 'MCP server "plain" says something else of "tell" than in earlier runs' in warning
    (question,) = questions  # The second call is allowed by the rule once more.
    assert question.reason.endswith(", which has changed this tool since an earlier run")
    assert "The server says of it now: Tells" in question.details
    assert await warnings_of_a_run(**change) == []
    assert len(questions) == 1


async def test_who_denies_a_changed_tool_or_has_not_seen_it_is_asked_in_the_next_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    questions: list[str] = []

    async def ask(question: Question) -> Reply:
        questions.append(question.tool)
        return Reply("deny")

    async def run(description: str, approve: Approve) -> None:
        server = said(provider, tmp_path, description)
        state = {"XDG_STATE_HOME": str(tmp_path / "state")}
        async with bench(provider, tmp_path, bot(server), state, approve=approve) as work:
            assert (await work.run("bot")).content == "done"

    await run("Tells.", allowed)
    await run("Tells all.", allowed)
    line = written_server(plain_server(tmp_path)).line
    by_rules = Approval(ask, (f"run_mcp({line})", f"run_mcp({line})#*"))
    await run("Tells all.", by_rules)
    assert questions == ["plain/tell"] * 2
    await run("Tells all.", by_rules)
    assert questions == ["plain/tell"] * 4
