"""MCP servers that are commands: started after a question, with little of the environment, and ended."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.agentfile.rights import asked_by_server
from axe_lsp.runtime.errors import ConfigError, McpServerError, RunCancelledError
from axe_lsp.runtime.mcp import connection, stdio_server
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.allowances import CheckedCall, is_allowed, rule_fault
from axe_lsp.runtime.safety.approval import Approval, allowed
from axe_lsp.runtime.safety.questions import Answer as Reply
from axe_lsp.runtime.safety.questions import Question
from support.engines import agent, running
from support.engines import bench as bench_where_somebody_asks
from support.plain_mcp import plain_server
from support.processes import bearing
from support.scripted_provider import PATIENCE, Answer, Call, Hold, Says, ScriptedProvider

Json = Any
bench = partial(bench_where_somebody_asks, approve=allowed)

SERVE = "import sys; from support.mcp_serving import serve; serve(sys.argv[1], sys.argv[2:])"
IN_PATH = {"PYTHONPATH": os.pathsep.join(sys.path)}


def sdk_server(*tools: str, **more: Any) -> dict[str, Any]:
    """Return a server made with the SDK of our own client."""
    args = ["-c", SERVE, "stdio", *(tools or ("add", "picture"))]
    return {"name": "maths", "command": sys.executable, "args": args, "env": IN_PATH} | more


def bot(*servers: dict[str, Any], **keys: Any) -> dict[str, str]:
    return agent("bot", mcp_servers=list(servers), **keys)


TELL = Says(calls=[Call("tell", {})])


def results(provider: ScriptedProvider) -> list[str]:
    messages = provider.asked("m-bot")[-1].body["messages"]
    return [each["content"] for each in messages if each["role"] == "tool"]


async def test_tools_of_a_command_are_offered_and_called_and_it_ends_with_the_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    mark = f"of-{tmp_path}"
    server = sdk_server(env={**IN_PATH, "MARK": mark})
    calls = [Call("add", {"a": 1, "b": 2.5}), Call("picture", {})]
    provider.script("m-bot", Says(calls=calls), Says("done"))
    async with bench(provider, tmp_path, bot(server)) as work:
        assert (await work.run("bot")).content == "done"
        assert bearing(f"MARK={mark}") == {}
    first, second = results(provider)
    assert first == "3.5"
    assert "picture" in str(second)
    assert work.warnings == []
    assert work.notes[1:] == [
        '[mcp] "maths" discovered 2 tool(s), registered 2',
        '[mcp] Routing tool "add" to server "maths"',
        '[mcp] Routing tool "picture" to server "maths"',
    ]


async def test_the_start_is_asked_with_the_exact_line_and_a_denial_ends_the_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        return Reply("deny", "not this one")

    server = plain_server(tmp_path, env={"MODE": "x y", "HOME": "${HOME}"})
    async with bench(provider, tmp_path, bot(server), approve=Approval(ask)) as work:
        with pytest.raises(McpServerError, match='"plain" was not started: not this one'):
            await work.run("bot")
    (question,) = questions
    line = f"MODE='x y' {sys.executable} {tmp_path}/plain_server.py"
    assert (question.tool, question.details) == ("run_mcp", line)
    assert question.reason == 'agent "bot" wants to start the MCP server "plain"'
    assert question.for_run == "this MCP server"
    assert provider.requests == []


async def test_where_nobody_can_be_asked_the_error_has_the_rule(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    server = plain_server(tmp_path)
    rule = rf"rule `run_mcp\({sys.executable} {tmp_path}/plain_server.py\)` in axe.tools.allow"
    async with bench_where_somebody_asks(provider, tmp_path, bot(server)) as work:
        with pytest.raises(McpServerError, match=rule):
            await work.run("bot")


async def test_a_rule_allows_the_line_and_not_the_name(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async def never(question: Question) -> Reply:
        return Reply("deny", question.tool)

    server = plain_server(tmp_path)
    line = f"{sys.executable} {tmp_path}/plain_server.py"
    provider.script("m-bot", TELL, Says("done"))
    approve = Approval(never, (f"run_mcp({line})", f"run_mcp({line})#t*"))
    async with bench(provider, tmp_path, bot(server), approve=approve) as work:
        assert (await work.run("bot")).content == "done"
    assert results(provider) == ["tell"]


@pytest.mark.parametrize(
    ("rule", "address", "is_right"),
    [
        ("run_mcp(uvx git)", "run_mcp(uvx git)", True),
        ("*", "run_mcp(uvx git)", True),
        ("run_mcp(uvx git)", "run_mcp(uvx git -c x)", False),
        ("run_mcp(uvx *)", "run_mcp(uvx git)", False),
        ("run_command", "run_mcp(uvx git)", False),
        ("run_mcp", "run_mcp(uvx git)", False),
        ("*#*", "run_mcp(uvx git)", False),
        ("run_mcp(uvx git)#*", "run_mcp(uvx git)", False),
    ],
)
def test_rules_for_the_start_of_a_server(rule: str, address: str, is_right: bool) -> None:
    assert rule_fault(rule) is None
    call = CheckedCall("run_mcp", {"command": "uvx git"}, address)
    assert is_allowed([rule], call) is is_right


def test_the_line_has_all_that_the_file_adds() -> None:
    server = McpServer(
        "s",
        command="npx",
        args=("-y", "a b"),
        env={"B": "${B}", "NODE_OPTIONS": "--require ./x.js", "A": "${B}"},
        pass_env=("C",),
        cwd="sub",
    )
    assert server.line == ("cd sub && A='${B}' NODE_OPTIONS='--require ./x.js' npx -y 'a b'")
    assert asked_by_server(server).variables == ("B", "C")


def test_the_shown_line_hides_secrets_and_a_strange_name_is_quoted() -> None:
    server = McpServer("s", command="x", env={"API_TOKEN": "abc", "KEY": "${K}", "uvx #": "1"})
    assert server.shown_place == "API_TOKEN='***' KEY='${K}' 'uvx #'=1 x"
    assert "API_TOKEN=abc" in server.line


async def test_a_command_gets_the_named_variables_and_little_else(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = (
        "serve(lambda name: {'content': [{'type': 'text', 'text': json.dumps(dict(os.environ))}]})"
    )
    server = plain_server(tmp_path, ending, env={"OWN": "<${GIVEN}>"}, pass_env=["PASSED", "GONE"])
    provider.script("m-bot", TELL, Says("done"))
    environment = {"GIVEN": "g", "PASSED": "p", "OTHER": "o", "ANTHROPIC_API_KEY": "sk-1"}
    async with bench(provider, tmp_path, bot(server), environment=environment) as work:
        await work.run("bot")
    (text,) = results(provider)
    for expected in ('"OWN": "<g>"', '"PASSED": "p"', '"AXE_RUN": "[\\"bot\\"]"'):
        assert expected in text
    for other in ("GONE", "OTHER", "sk-1"):
        assert other not in text


async def test_a_variable_that_is_not_set_ends_the_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    server = plain_server(tmp_path, env={"TOKEN": "${AXE_TEST_NOT_SET}"})
    async with bench(provider, tmp_path, bot(server)) as work:
        with pytest.raises(ConfigError, match='"AXE_TEST_NOT_SET" is not set or empty'):
            await work.run("bot")


async def test_a_server_starts_below_the_working_directory_only(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = "serve(lambda name: {'content': [{'type': 'text', 'text': os.getcwd()}]})"
    below, link = tmp_path / "below", tmp_path / "link"
    below.mkdir()
    link.symlink_to("/")
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending, cwd="below"))) as work:
        await work.run("bot")
    assert results(provider) == [str(below)]
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending, cwd="link"))) as work:
        with pytest.raises(ConfigError, match='cwd "link" is not a folder below'):
            await work.run("bot")


async def test_what_a_model_does_not_get_is_named(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
        KINDS = [
            {"type": "audio", "mimeType": "audio/wav", "data": "A" * 4096},
            {"type": "image", "mimeType": "image/png", "data": "A" * 8_000_000},
            {"type": "resource_link", "name": "log", "uri": "file:///log"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
        ]
        serve(lambda name: {"content": KINDS})
    """
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        await work.run("bot")
    assert results(provider)[0].splitlines() == [
        "[audio/wav, 4 KB]",
        "[image/png, 5860 KB]",
        "[log: file:///log]",
        "inside",
        "[file:///b, 1 KB]",
    ]


PIXEL = "iVBORw0KGgoAAAAN"
"""The beginning of a PNG, in Base64."""


async def test_pictures_are_told_by_their_bytes_and_no_more_than_models_take(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = f"""
        def picture(type, data):
            return {{"type": "image", "mimeType": type, "data": data}}
        odd = [picture("image/svg+xml", "PHN2Zy8+"), picture("image/png", "%%%%")]
        serve(lambda name: {{"content": [*odd, *[picture("image/jpg", "{PIXEL}")] * 21]}})
    """
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        await work.run("bot")
    named = ["[image/svg+xml, 1 KB]", "[image/png, 1 KB]", "[image/jpg, 1 KB]"]
    assert results(provider)[0].splitlines() == named
    (*_, sent) = provider.asked("m-bot")[-1].body["messages"]
    pictures = [part["image_url"]["url"] for part in sent["content"][1:]]
    assert pictures == [f"data:image/png;base64,{PIXEL}"] * 20


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ("serve(lambda _: {'content': [], 'structuredContent': {'a': 1}})", '{"a": 1}'),
        (  # A schema whose pattern would never come to an end, and which the result does not fit.
            "TOOLS[0]['outputSchema'] = {'type': 'object', 'properties': {'a': {'pattern': '^(a+)+$'}}}\n"
            "serve(lambda _: {'content': [], 'structuredContent': {'a': 'a' * 40 + 'b'}})",
            f'{{"a": "{"a" * 40}b"}}',
        ),
        (  # Half an emoji.
            "serve(lambda _: {'content': [{'type': 'text', 'text': 'cut \\ud83d'}]})",
            "cut \N{REPLACEMENT CHARACTER}",
        ),
        ("serve(lambda _: [])", 'MCP server "plain": the answer of the server is not valid'),
        (
            "serve(lambda _: {'content': 'x'})",
            'MCP server "plain": the answer is not valid: content: Input should be a valid list',
        ),
        (
            "serve(lambda _: {'content': [{'type': 'hologram'}]})",
            'MCP server "plain": the answer is not valid: content.0',
        ),
        (
            "serve(lambda _: print('{\"jsonrpc\"' + '[' * 9999, flush=True))",
            'MCP server "plain": the server has sent a message that can\'t be read',
        ),
    ],
)
async def test_an_odd_result_is_one_all_the_same_or_an_error_at_once(
    provider: ScriptedProvider, tmp_path: Path, ending: str, told: str
) -> None:
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        await work.run("bot")
    assert results(provider)[0].startswith(told)


async def test_a_list_of_tools_that_is_not_valid_is_an_error_with_the_place(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, "TOOLS = 7\nserve()"))) as work:
        with pytest.raises(McpServerError, match=r"tools: Input should be a valid list"):
            await work.run("bot")


@pytest.mark.parametrize(
    ("tool", "name", "fault"),
    [
        ({"name": "x", "inputSchema": {"type": "array"}}, "x", "inputSchema.type: Input should be"),
        ({"name": "x", "inputSchema": 7}, "x", "inputSchema: Input should be"),
        ({"name": "x", "inputSchema": {}, "description": 7}, "x", "description: Input should be"),
        ({"inputSchema": {}}, "without a name", "name: Field required"),
        (7, "without a name", "Input should be"),
    ],
)
async def test_a_tool_that_is_not_valid_is_left_out_and_the_others_stay(
    provider: ScriptedProvider, tmp_path: Path, tool: Json, name: str, fault: str
) -> None:
    provider.script("m-bot", TELL, Says("done"))
    server = plain_server(tmp_path, f"TOOLS.append({tool!r})\nserve()")
    async with bench(provider, tmp_path, bot(server)) as work:
        await work.run("bot")
    assert results(provider) == ["tell"]
    (warning,) = work.warnings
    assert warning.startswith(f'tool "{name}" of MCP server "plain" is left out: {fault}')


@pytest.mark.parametrize("schema", [{}, {"anyOf": [{"type": "object"}]}, None])
async def test_a_tool_without_the_type_of_its_schema_is_offered(
    provider: ScriptedProvider, tmp_path: Path, schema: Json
) -> None:
    provider.script("m-bot", Says("done"))
    tool = {"name": "x", "inputSchema": schema}
    server = plain_server(tmp_path, f"TOOLS.append({tool!r})\nserve()")
    async with bench(provider, tmp_path, bot(server)) as work:
        await work.run("bot")
    tell, other = provider.asked("m-bot")[0].body["tools"]
    assert (tell["function"]["name"], other["function"]["name"]) == ("tell", "x")
    assert other["function"]["parameters"]["type"] == "object"
    assert work.warnings == []


async def test_a_run_goes_on_without_a_server_that_is_not_required(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "more").mkdir()
    servers = (
        plain_server(tmp_path),
        {"name": "none", "command": "axe-test-no-such-program", "required": False},
        {"name": "far", "url": "http://127.0.0.1:9/mcp", "transport": "sse", "required": False},
        plain_server(tmp_path / "more", "sys.exit(3)", name="dead", required=False),
        plain_server(tmp_path, name="key", env={"K": "${AXE_TEST_UNSET}"}, required=False),
    )
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(*servers)) as work:
        assert (await work.run("bot")).content == "done"
    assert results(provider) == ["tell"]
    named = [each.split(": ")[0] for each in work.warnings]
    assert sorted(named) == [f'without MCP server "{n}"' for n in ("dead", "far", "key", "none")]


@pytest.mark.parametrize("default", ["float('nan')", "json.loads('[' * 300 + ']' * 300)"])
async def test_a_tool_whose_schema_can_not_be_sent_is_left_out(
    provider: ScriptedProvider, tmp_path: Path, default: str
) -> None:
    ending = f"""
        TOOLS.append({{"name": "x", "inputSchema": {{"type": "object", "default": {default}}}}})
        serve()
    """
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        await work.run("bot")
    assert results(provider) == ["tell"]
    assert work.warnings == [
        'tool "x" of MCP server "plain" is left out: its schema is not valid JSON'
    ]


async def test_a_server_that_exits_at_the_newer_protocol_is_started_once_more(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    server = plain_server(tmp_path, "serve(discovers=False)")
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(server)) as work:
        await work.run("bot")
    assert results(provider) == ["tell"]


async def test_what_is_no_message_is_skipped(provider: ScriptedProvider, tmp_path: Path) -> None:
    ending = """
        sys.stdout.buffer.write(b"starting \\xff\\n\\n{}\\n")
        sys.stdout.flush()
        serve()
    """
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        await work.run("bot")
    assert results(provider) == ["tell"]


@pytest.mark.parametrize(
    "lines",
    [
        '[debug] <- {"jsonrpc":"2.0","id":1}',
        """{'raw': '{"jsonrpc": "2.0"}'}""",  # As Python writes a table.
        "\n".join(json.dumps({"id": number, "msg": "called"}) for number in range(9)),
    ],
)
async def test_lines_of_a_log_are_no_messages(
    provider: ScriptedProvider, tmp_path: Path, lines: str
) -> None:
    """Not at the start, nor in a call that waits for an answer with one of these ids."""
    ending = f"""
        def log(name):
            print({lines!r}, flush=True)
            return call(name)
        log("starts")
        serve(log)
    """
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        with anyio.fail_after(PATIENCE):
            await work.run("bot")
    assert results(provider) == ["tell"]


async def test_a_server_that_ends_at_once_says_why(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = "sys.exit('no certificate for ' + os.environ['TOKEN'])"
    server = plain_server(tmp_path, ending, env={"TOKEN": "the-secret-token"})
    async with bench(provider, tmp_path, bot(server)) as work:
        with pytest.raises(McpServerError) as caught:
            await work.run("bot")
    text = str(caught.value)
    assert "it has exited with code 1; it wrote: no certificate for" in text
    assert "the-secret-token" not in text


async def test_a_command_that_does_not_exist_is_named(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    server = {"name": "none", "command": "axe-test-no-such-program"}
    async with bench(provider, tmp_path, bot(server)) as work:
        with pytest.raises(McpServerError, match="axe-test-no-such-program: No such file"):
            await work.run("bot")


async def test_a_server_that_dies_at_work_fails_the_call_alone(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = "serve(lambda name: os._exit(7))"
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        assert (await work.run("bot")).content == "done"
    (text,) = results(provider)
    assert text.startswith('MCP server "plain": ')
    assert "exited with code 7" in text


async def test_a_server_that_has_died_is_started_once_more(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
        from pathlib import Path
        starts = Path(sys.argv[0]).with_name("starts")
        starts.write_text((starts.read_text() if starts.exists() else "") + "x")
        number, calls = len(starts.read_text()), []

        def tell(name):
            calls.append(name)
            if number == 1 or len(calls) == 2:
                os._exit(7)
            return call(name)

        serve(tell)
    """
    provider.script("m-bot", *[TELL] * 4, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        assert (await work.run("bot")).content == "done"
    first, second, third, fourth = results(provider)
    assert second == "tell"
    for failed in (first, third, fourth):
        assert failed.startswith('MCP server "plain": the connection was closed')
    assert (tmp_path / "starts").read_text() == "xx"


async def test_a_line_without_an_end_ends_the_connection(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio_server, "LONGEST_LINE", 100_000)
    ending = "serve(lambda name: sys.stdout.write('x' * 200_000) and sys.stdout.flush())"
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, ending))) as work:
        assert (await work.run("bot")).content == "done"
    assert "more than 16 MB" in results(provider)[0]


async def test_a_server_that_says_nothing_fails_in_time(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
        print("waiting for the moon", file=sys.stderr, flush=True)
        sys.stdin.read()
    """
    server = plain_server(tmp_path, ending, startup_timeout=6)
    async with bench(provider, tmp_path, bot(server)) as work:
        with pytest.raises(
            McpServerError, match=r"no answer within 6s \(.*\); it wrote: waiting for the moon"
        ):
            await work.run("bot")
        assert bearing(f"{tmp_path}/plain_server.py") == {}


_STUBBORN = """
    import signal, subprocess, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[0]]
    subprocess.Popen(child, start_new_session=True)
    serve()
    time.sleep(600)
"""


async def test_a_stubborn_server_and_what_it_started_is_ended(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ENDING_SECONDS", 0.2)
    provider.script("m-bot", TELL, Says("done"))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, _STUBBORN))) as work:
        await work.run("bot")
        assert bearing(f"{tmp_path}/plain_server.py") == {}


async def test_a_stubborn_server_does_not_hold_up_the_end_of_a_cancelled_run(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ENDING_SECONDS", 600)
    hold = Hold()
    provider.script("m-bot", Answer(Says("late"), hold=hold))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path, _STUBBORN))) as work:
        async with running(work.engine.run(RunRequest("bot"), "run-1")) as task:
            await hold.arrived()
            assert work.engine.cancel("run-1")
            with anyio.fail_after(60), pytest.raises(RunCancelledError):
                await task
        assert bearing(f"{tmp_path}/plain_server.py") == {}


async def test_a_cancelled_run_leaves_no_server(provider: ScriptedProvider, tmp_path: Path) -> None:
    hold = Hold()
    provider.script("m-bot", Answer(Says("late"), hold=hold))
    async with bench(provider, tmp_path, bot(plain_server(tmp_path))) as work:
        async with running(work.engine.run(RunRequest("bot"), "run-1")) as task:
            await hold.arrived()
            assert bearing(f"{tmp_path}/plain_server.py") != {}
            assert work.engine.cancel("run-1")
            with pytest.raises(RunCancelledError):
                await task
        assert bearing(f"{tmp_path}/plain_server.py") == {}
