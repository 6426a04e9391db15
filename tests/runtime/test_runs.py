"""Runs over real HTTP: what is sent, what comes back, how agents call agents."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import (
    AgentError,
    ConfigError,
    MissingKeyError,
    ProviderError,
    RunError,
)
from axe_lsp.runtime.events import AgentEnd, ToolBegin, ToolEnd, TurnEnd
from axe_lsp.runtime.prepare import Prepared
from support.answers import DIALECTS
from support.engines import agent, bench, running
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Raw,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

DEFAULT = "Execute the task described in your instructions."

pytestmark = pytest.mark.req("001-T1")


def results_in(body: dict[str, Any]) -> list[str]:
    """The tool results of an OpenAI request."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


@pytest.mark.req("001-8.4", "001-9.2", "001-5.6a", "001-C2", "001-T2")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_agent_without_sub_agents_asks_once(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-solo", Says("Hello", usage=(3, 4), model="served", stop_reason="why"))
    async with bench(provider, tmp_path, agent("solo", dialect, system_prompt="SP")) as work:
        result = await work.run("solo", "ask")
    (request,) = provider.requests
    assert "tools" not in request.body
    assert not request.body.get("stream")
    assert "SP" in str(request.body)
    assert (result.content, result.model, result.stop_reason) == ("Hello", "served", "why")
    assert (result.input_tokens, result.output_tokens) == (3, 4)
    assert (result.turns, result.tool_calls, result.status) == (1, 0, "completed")


@pytest.mark.req(
    "001-P1",
    "001-P2",
    "001-P3",
    "001-DD2",
    "001-N1",
    "001-C7",
    "001-8.1",
    "001-9.1",
    "001-T2",
    "000-2",
    "000-8",
    "002-2",
    "001-5.6b",
    "000-3",
    "002-15",
    "002-22",
    "003-29",
)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_delegated_task_comes_back_as_text(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script(
        "m-parent",
        Says("On it.", [calls_agent("helper", "do it")], usage=(1, 2)),
        Says("Final", usage=(3, 4)),
    )
    provider.script("m-helper", Says("helper result", usage=(100, 100)))
    agents = agent("parent", dialect, sub_agents=["helper"]) | agent("helper", dialect)
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("parent")
    first, child, last = provider.requests
    assert "call_agent" in str(first.body["tools"])
    assert "tools" not in child.body
    assert child.body["messages"][-1]["content"] == "Task: do it"
    assert "helper result" in str(last.body["messages"][-1])
    assert result.content == "Final"
    assert (result.turns, result.tool_calls) == (2, 1)
    # The parent's own cost, without the child's (001-DD5).
    assert (result.input_tokens, result.output_tokens) == (4, 6)


@pytest.mark.req(
    "001-DD4",
    "000-15",
    "000-16",
    "003-10",
    "003-11",
    "001-7.3.8",
    "001-7.3.12",
    "000-5",
    "002-4",
    "002-17",
    "003-12",
    "003-28",
)
async def test_a_child_gets_its_own_configuration_and_nothing_else(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "h").mkdir()
    (tmp_path / "p" / "one.txt").write_text("parent file")
    (tmp_path / "h" / "two.txt").write_text("helper file")
    provider.script(
        "m-parent", Says("secret thought", [calls_agent("helper", "t", "c")]), Says("F")
    )
    provider.script("m-helper", Says("r"))
    agents = agent(
        "parent",
        system_prompt="PARENT",
        sub_agents=["helper"],
        files=["*.txt"],
        workdir="p",
        params={"temperature": 0.9, "max_tokens": 11},
    ) | agent(
        "helper",
        system_prompt="HELPER",
        files=["*.txt"],
        workdir="h",
        params={"temperature": 0.1, "max_tokens": 22},
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("parent", "the user's words")
    child = provider.asked("m-helper")[0].body
    assert child["messages"] == [
        {
            "role": "system",
            "content": "HELPER\n\n---\n\n## Context Files\n\n### two.txt\n```txt\nhelper file\n```",
        },
        {"role": "user", "content": "Task: t\n\nContext:\nc"},
    ]
    assert (child["temperature"], child["max_tokens"]) == (0.1, 22)


@pytest.mark.req("001-DD4", "002-14")
async def test_a_child_without_workdir_works_in_the_workspace(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "here.txt").write_text("in the workspace")
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]), Says("F"))
    provider.script("m-helper", Says("r"))
    agents = agent("parent", sub_agents=["helper"]) | agent("helper", files=["*.txt"])
    async with bench(provider, tmp_path, agents) as work:
        await work.run("parent", workdir=str(tmp_path / "p"))
    assert "in the workspace" in str(provider.asked("m-helper")[0].body)


@pytest.mark.req(
    "001-11.1",
    "001-11.3",
    "001-5.5b",
    "001-T2",
    "000-21",
    "000-25",
    "002-20",
    "002-27",
    "002-29",
    "003-24",
    "004-24",
)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_several_calls_run_at_the_same_time_and_keep_their_order(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    first, second = Hold(), Hold()
    provider.script(
        "m-parent", Says(calls=[calls_agent("a", "1"), calls_agent("b", "2")]), Says("F")
    )
    provider.script("m-a", Answer(Says("from a"), hold=first))
    provider.script("m-b", Answer(Says("from b"), hold=second))
    agents = (
        agent("parent", dialect, sub_agents=["a", "b"]) | agent("a", dialect) | agent("b", dialect)
    )
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        await first.arrived()
        await second.arrived()
        second.release()  # The second one is ready first.
        first.release()
        await run
    last = str(provider.requests[-1].body)
    assert last.index("from a") < last.index("from b")


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
async def test_calls_to_which_the_provider_gives_the_same_id_are_told_apart(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    same = [calls_agent("a", "1", call_id="same"), calls_agent("b", "2", call_id="same")]
    provider.script("m-parent", Says(calls=same, thinking="Both."), Says("F"))
    provider.script("m-a", Says("from a"))
    provider.script("m-b", Says("from b"))
    agents = (
        agent("parent", dialect, sub_agents=["a", "b"]) | agent("a", dialect) | agent("b", dialect)
    )
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("parent")).content == "F"
    ids = ["same", "same-2"]
    assert [call["id"] for call in work.of(TurnEnd)[0].tool_calls] == ids
    assert [event.call_id for event in work.of(ToolBegin)] == ids
    told = {event.call_id: event.content for event in work.of(ToolEnd)}
    assert ["from a" in told["same"], "from b" in told["same-2"]] == [True, True]
    last = json.dumps(provider.requests[-1].body["messages"])
    assert [last.count(f'"{each}"') for each in ids] == [4, 0]  # Its own id, of calls and results.
    assert last.index("from a") < last.index("from b")


@pytest.mark.req("001-11.5", "001-5.5c", "001-8.2", "001-T2")
async def test_without_parallel_the_second_call_starts_after_the_first(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script(
        "m-parent", Says(calls=[calls_agent("a", "1"), calls_agent("b", "2")]), Says("F")
    )
    provider.script("m-a", Says("from a"))
    provider.script("m-b", Says("from b"))
    agents = (
        agent("parent", sub_agents=["a", "b"], sub_agents_config={"parallel": False})
        | agent("a")
        | agent("b")
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("parent")
    assert [request.model for request in provider.requests] == [
        "m-parent",
        "m-a",
        "m-b",
        "m-parent",
    ]
    assert provider.max_in_flight == 1


@pytest.mark.req(
    "001-C9",
    "001-7.3.14",
    "001-8.2",
    "001-11.1",
    "001-N3",
    "001-N4",
    "001-5.2b",
    "002-6",
    "002-7",
    "002-23",
)
async def test_a_child_delegates_as_its_own_file_says(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """The root is sequential; the child says nothing about it, so its calls are parallel."""
    holds = [Hold(), Hold()]
    provider.script("m-parent", Says(calls=[calls_agent("mid", "go")]), Says("F"))
    provider.script(
        "m-mid", Says(calls=[calls_agent("leaf", "1"), calls_agent("leaf", "2")]), Says("mid done")
    )
    provider.script(
        "m-leaf",
        Answer(Says("r1"), match="Task: 1", hold=holds[0]),
        Answer(Says("r2"), match="Task: 2", hold=holds[1]),
    )
    agents = (
        agent("parent", sub_agents=["mid"], sub_agents_config={"parallel": False})
        | agent("mid", sub_agents=["leaf"])
        | agent("leaf")
    )
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        for hold in holds:
            await hold.arrived()
        for hold in holds:
            hold.release()
        await run
    assert results_in(provider.asked("m-mid")[1].body) == ["r1", "r2"]


async def test_max_concurrent_limits_the_children_at_work(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    calls = [calls_agent("leaf", str(number)) for number in range(6)]
    holds = [Hold(), Hold()]
    provider.script("m-parent", Says(calls=calls), Says("F"))
    provider.script("m-leaf", *(Answer(Says("r"), hold=hold) for hold in holds))
    provider.script("m-leaf", Answer(Says("r"), repeat=True))
    config = {"max_concurrent": 2}
    agents = agent("parent", sub_agents=["leaf"], sub_agents_config=config) | agent("leaf")
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        for hold in holds:
            await hold.arrived()
        for hold in holds:
            hold.release()
        await run
    assert provider.max_in_flight == 2


@pytest.mark.req("001-11.4", "001-5.5d", "001-13.1", "000-27", "000-28", "001-T2", "001-13.4")
async def test_one_failure_cancels_no_sibling(provider: ScriptedProvider, tmp_path: Path) -> None:
    slow = Hold()
    provider.script(
        "m-parent", Says(calls=[calls_agent("slow", "1"), calls_agent("bad", "2")]), Says("F")
    )
    provider.script("m-slow", Answer(Says("slow result"), hold=slow))
    provider.script("m-bad", Refuses(500, "boom"))
    agents = agent("parent", sub_agents=["slow", "bad"]) | agent("slow") | agent("bad")
    async with bench(provider, tmp_path, agents) as work, running(work.run("parent")) as run:
        await slow.arrived()
        await work.heard(AgentEnd, lambda end: end.run.agent == "bad")
        slow.release()
        result = await run
    assert result.content == "F"
    assert results_in(provider.requests[-1].body) == [
        "slow result",
        'Error: sub-agent "bad" failed - server: boom. '
        "You may retry or proceed without this result.",
    ]


@pytest.mark.req("001-13.2", "001-7.3.10", "001-5.7b", "001-5.7c", "001-7.3.7")
@pytest.mark.parametrize(
    ("child", "inner"),
    [
        ("", 'failed to load agent "c": agent config missing required field: name'),
        ('name = "c"\nmodel = "noslash"', 'invalid model for agent "c": invalid model format'),
        ('name = "c"\nmodel = "x/y"', 'failed to create provider for agent "c": unsupported'),
        ('name = "c"\nmodel = "anthropic/y"', 'API key for provider "anthropic" is not configured'),
        ('name = "c"\nmodel = "openai/y"\nskill = "none.md"', 'failed to load skill for agent "c"'),
        ('name = "c"\nmodel = "openai/y"\nfiles = ["[x"]', 'failed to resolve files for agent "c"'),
        ("name = ", 'failed to load agent "c": failed to parse agent config "c": line 1'),
    ],
)
async def test_whatever_is_wrong_with_a_child_is_a_text_for_its_parent(
    provider: ScriptedProvider, tmp_path: Path, child: str, inner: str
) -> None:
    provider.script("m-parent", Says(calls=[calls_agent("c", "t")]), Says("coped"))
    agents = agent("parent", sub_agents=["c"]) | {"c": child}
    keys = {"ANTHROPIC_API_KEY": ""}
    async with bench(provider, tmp_path, agents, keys) as work:
        result = await work.run("parent")
    (text,) = results_in(provider.requests[-1].body)
    assert text.startswith(f'Error: sub-agent "c" failed - {inner}')
    assert text.endswith(". You may retry or proceed without this result.")
    assert result.content == "coped"


@pytest.mark.req("001-8.2", "001-5.1g", "001-C8", "001-DD1")
async def test_an_unknown_tool_is_an_error_for_the_model(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-parent", Says(calls=[Call("read_file", {"path": "/x"}, "1")]), Says("F"))
    agents = agent("parent", sub_agents=["helper"]) | agent("helper")
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("parent")
    assert results_in(provider.requests[-1].body) == ['Unknown tool: "read_file"']
    assert result.tool_calls == 1


@pytest.mark.req(
    "001-10.1",
    "001-10.3",
    "001-9.3",
    "001-5.2e",
    "000-20",
    "000-23",
    "001-10.4",
    "001-5.2f",
    "002-30",
)
@pytest.mark.parametrize(("max_depth", "runs"), [(0, 4), (1, 2), (2, 3), (5, 6)])
async def test_the_roots_depth_limit_governs_the_tree(
    provider: ScriptedProvider, tmp_path: Path, max_depth: int, runs: int
) -> None:
    """An agent that calls itself; children's own limits count for nothing."""
    provider.script("m-a", Answer(Says("leaf"), match='"Task: last"', repeat=True))
    for _ in range(runs - 1):
        provider.script("m-a", Answer(Says(calls=[calls_agent("a", "go")]), match='"tools"'))
    provider.script("m-a", Answer(Says("done"), repeat=True))
    config = {"max_depth": max_depth} if max_depth else {}
    agents = agent("a", sub_agents=["a"], sub_agents_config=config)
    async with bench(provider, tmp_path, agents) as work:
        await work.run("a")
    asked = provider.requests[:runs]
    assert ["tools" in request.body for request in asked] == [True] * (runs - 1) + [False]
    assert len(provider.requests) == runs + runs - 1


@pytest.mark.req("001-5.6d", "002-28")
async def test_calls_may_be_other_ones_in_every_turn(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script(
        "m-p",
        Says(calls=[calls_agent("a", "1", call_id="x")]),
        Says("so", [calls_agent("b", "2", call_id="y"), Call("zz", {}, "z")]),
        Says("F"),
    )
    provider.script("m-a", Says("from a"))
    provider.script("m-b", Says("from b"))
    agents = agent("p", sub_agents=["a", "b"]) | agent("a") | agent("b")
    async with bench(provider, tmp_path, agents) as work:
        result = await work.run("p")
    assert results_in(provider.requests[-1].body) == ["from a", "from b", 'Unknown tool: "zz"']
    assert (result.turns, result.tool_calls) == (3, 3)


@pytest.mark.req("001-8.3", "001-5.6c", "001-T2")
async def test_a_conversation_without_end_ends_after_50_turns(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Answer(Says(calls=[calls_agent("h", "again")]), repeat=True))
    provider.script("m-h", Answer(Says("r"), repeat=True))
    agents = agent("p", sub_agents=["h"]) | agent("h")
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(AgentError) as caught:
            await work.run("p")
    assert str(caught.value) == "agent exceeded maximum conversation turns (50)"
    assert caught.value.exit_code == 1
    assert len(provider.asked("m-p")) == 50
    assert caught.value.partial is not None
    assert caught.value.partial.turns == 50


@pytest.mark.req("001-5.7g", "001-13.2")
async def test_a_child_without_end_is_a_text_for_its_parent(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Says(calls=[calls_agent("mid", "go")]), Says("coped"))
    provider.script("m-mid", Answer(Says(calls=[calls_agent("h", "again")]), repeat=True))
    provider.script("m-h", Answer(Says("r"), repeat=True))
    agents = agent("p", sub_agents=["mid"]) | agent("mid", sub_agents=["h"]) | agent("h")
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    (text,) = results_in(provider.asked("m-p")[1].body)
    assert "agent exceeded maximum conversation turns (50)" in text


@pytest.mark.req("001-13.5", "001-5.6e")
async def test_a_failure_of_the_parents_own_provider_ends_the_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-p", Says("thinking", [calls_agent("h", "t")]), Refuses(429, "slow down"))
    provider.script("m-h", Says("r"))
    async with bench(provider, tmp_path, agent("p", sub_agents=["h"]) | agent("h")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("p")
    error = caught.value
    assert str(error) == "rate_limit: slow down"
    assert error.exit_code == 3
    assert error.partial is not None
    assert error.run_id == error.partial.run_id != ""
    assert (error.partial.content, error.partial.tool_calls) == ("thinking", 1)


@pytest.mark.req("001-5.6g")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_empty_answer_is_an_answer(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-solo", Says(""))
    async with bench(provider, tmp_path, agent("solo", dialect)) as work:
        assert (await work.run("solo")).content == ""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Raw(b"<html>"),
            "server: failed to parse response: it is not JSON: Expecting value (line 1",
        ),
        (Raw(b" "), "server: failed to parse response: it is empty"),
        (Raw(b'{"choices": {}}'), "server: failed to parse response: response.choices is not an"),
        (Raw(b"", cut=0), "server: the connection was closed before an answer arrived"),
        (Raw(b'{"choices": []}', cut=5), "server: the connection was closed in the middle of"),
        (Raw(b"", status=302, headers={"Location": "/v1/elsewhere"}), "server: Found"),
        (
            Raw(b"\x1f\x8bnonsense", headers={"Content-Encoding": "gzip"}),
            "server: the answer can't be decompressed (openai at http://127.0.0.1:",
        ),
    ],
)
@pytest.mark.req("001-13.5", "001-C3")
async def test_a_broken_answer_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path, answer: Raw, message: str
) -> None:
    provider.script("m-solo", answer)
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert str(caught.value).startswith(message)
    assert len(provider.requests) == 1, "neither repeated nor redirected"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Raw(status=302, headers={"Location": "https://me:word@login.example/x?token=abc"}),
            "server: Found: {url}/v1/chat/completions redirects to https://login.example/x, "
            "which is not followed (check the base URL)",
        ),
        (
            Raw(b"<html>", status=404, headers={"Content-Type": "text/html"}),
            "bad_request: Not Found: {url}/v1/chat/completions (check the base URL)",
        ),
        (
            Raw(b"<html>", headers={"Content-Type": "text/html; charset=utf-8"}),
            "server: failed to parse response: it is not JSON: Expecting value (line 1, column 1) "
            "(text/html from {url}/v1/chat/completions)",
        ),
    ],
)
async def test_what_a_wrong_base_url_leads_to_names_the_address(
    provider: ScriptedProvider, tmp_path: Path, answer: Raw, message: str
) -> None:
    provider.script("m-solo", answer)
    async with bench(provider, tmp_path, agent("solo")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("solo")
    assert str(caught.value) == message.format(url=provider.url)


@pytest.mark.parametrize(
    ("base_url", "shown"),
    [
        ("ftp://me:se@cret@host/v1", "ftp://host/v1"),
        ("htps://host/v1?api_key=secret", "htps://host/v1"),
        ("postgres://me:secret", "postgres://me:…"),
        ("me:secret@host://x", "host://x"),
        ("http://me:secret@[::1/x", "http://[::1/x"),
        ("http://me:secret@host:99999/x", "http://host:99999/x"),
    ],
)
async def test_a_base_url_that_can_not_be_used_is_shown_without_its_secrets(
    provider: ScriptedProvider, tmp_path: Path, base_url: str, shown: str
) -> None:
    changed = {"AXE_OPENAI_BASE_URL": base_url}
    async with bench(provider, tmp_path, agent("solo"), changed) as work:
        with pytest.raises(ConfigError) as caught:
            await work.run("solo")
    assert f'base URL "{shown}" of provider "openai"' in str(caught.value)
    assert "cret" not in str(caught.value)


async def test_an_answer_that_is_no_http_is_a_clear_error(tmp_path: Path) -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    with ScriptedProvider() as provider:
        changed = {"AXE_OPENAI_BASE_URL": place}
        async with server, bench(provider, tmp_path, agent("solo"), changed) as work:
            with pytest.raises(ProviderError) as caught:
                await work.run("solo")
    said = f"server: the answer is not valid HTTP: Bad status line (openai at {place})"
    assert str(caught.value) == said


async def test_a_provider_that_is_not_there_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    nowhere = {
        "AXE_OPENAI_BASE_URL": "http://127.0.0.1:1",
        "AXE_OLLAMA_BASE_URL": "http://user:pass@127.0.0.1:1",
    }
    agents = agent("o") | agent("l", "ollama")
    async with bench(provider, tmp_path, agents, nowhere) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("o")
        assert str(caught.value) == "server: connection refused (openai at http://127.0.0.1:1)"
        with pytest.raises(ProviderError) as caught:
            await work.run("l")
    assert str(caught.value) == (
        "server: connection refused: is Ollama running? (expected at http://127.0.0.1:1)"
    )


async def test_a_user_and_a_password_may_stand_in_a_base_url(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    place = f"http://user:p%40ss@127.0.0.1:{provider.port}"
    changed = {"AXE_OLLAMA_BASE_URL": place, "AXE_OPENAI_BASE_URL": place}
    provider.script("m-l", Says("r"))
    provider.script("m-o", Says("r"))
    async with bench(provider, tmp_path, agent("l", "ollama") | agent("o"), changed) as work:
        await work.run("l")
        await work.run("o")
    without_key, with_key = (request.headers["authorization"] for request in provider.requests)
    assert without_key == "Basic " + b64encode(b"user:p@ss").decode()
    assert with_key == "Bearer key-openai"


@pytest.mark.parametrize(
    "url",
    ["nonsense", "ftp://x", "http://", "http://[::1", "http://h:x", "http://user:p4ss@h:99999"],
)
async def test_a_base_url_that_is_none_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path, url: str
) -> None:
    async with bench(provider, tmp_path, agent("o"), {"AXE_OPENAI_BASE_URL": url}) as work:
        with pytest.raises(ConfigError, match="AXE_OPENAI_BASE_URL") as caught:
            await work.run("o")
    assert "p4ss" not in str(caught.value)


@pytest.mark.req("001-5.7c")
async def test_without_a_key_nothing_is_sent(provider: ScriptedProvider, tmp_path: Path) -> None:
    async with bench(provider, tmp_path, agent("o"), {"OPENAI_API_KEY": ""}) as work:
        with pytest.raises(MissingKeyError) as caught:
            await work.run("o")
    assert str(caught.value) == (
        'API key for provider "openai" is not configured (set OPENAI_API_KEY or add to config.toml)'
    )
    assert caught.value.exit_code == 3
    assert provider.requests == []


async def test_a_key_that_cannot_be_sent_is_not_shown(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, agent("o"), {"OPENAI_API_KEY": "sk-é\nx"}) as work:
        with pytest.raises(ConfigError) as caught:
            await work.run("o")
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "sk-" not in str(caught.value)


async def test_a_key_that_the_provider_repeats_is_not_shown(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-o", Refuses(401, "Incorrect API key provided: key-openai."))
    async with bench(provider, tmp_path, agent("o")) as work:
        with pytest.raises(ProviderError) as caught:
            await work.run("o")
    assert str(caught.value) == "auth: Incorrect API key provided: [redacted]."
    assert "key-openai" not in repr(work.events)


@pytest.mark.req("001-7.3.9")
async def test_keys_go_to_their_own_provider(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-p", Says(calls=[calls_agent("o", "1"), calls_agent("l", "2")]), Says("F"))
    provider.script("m-o", Says("r"))
    provider.script("m-l", Says("r"))
    agents = (
        agent("p", "anthropic", sub_agents=["o", "l"]) | agent("o", "openai") | agent("l", "ollama")
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    p, o, ollama = (provider.asked(model)[0].headers for model in ("m-p", "m-o", "m-l"))
    assert (p["x-api-key"], p["anthropic-version"]) == ("key-anthropic", "2023-06-01")
    assert o["authorization"] == "Bearer key-openai"
    assert "key-openai" not in str(p)
    assert "key-" not in str(ollama)


@pytest.mark.req("001-C4")
async def test_a_key_is_read_when_it_is_needed(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-o", Says("one"), Says("two"))
    async with bench(provider, tmp_path, agent("o")) as work:
        await work.run("o")
        work.environment["OPENAI_API_KEY"] = "another"
        await work.run("o")
    keys = [request.headers["authorization"] for request in provider.requests]
    assert keys == ["Bearer key-openai", "Bearer another"]


async def test_a_number_that_json_does_not_have_is_a_clear_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    agents = {"o": 'name = "o"\nmodel = "openai/m-o"\n[params]\ntemperature = inf'}
    async with bench(provider, tmp_path, agents) as work:
        with pytest.raises(ConfigError, match="must be a finite number"):
            await work.run("o")


async def test_an_unknown_agent_is_a_configuration_error(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async with bench(provider, tmp_path, {}) as work:
        with pytest.raises(ConfigError) as caught:
            await work.run("nobody")
    assert (str(caught.value), caught.value.exit_code) == ("agent config not found: nobody", 2)
    assert work.events == [], "a name that means nobody is no run"


async def test_a_bug_is_an_error_of_the_run_not_of_the_engine(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-ok", Says("fine"))

    def broken(prepared: Prepared) -> bool:
        return {"ok": False}[prepared.definition.name]

    agents = agent("ok") | agent("ko")
    async with bench(provider, tmp_path, agents, streams=broken) as work:
        with pytest.raises(RunError, match="internal error: KeyError"):
            await work.run("ko")
        assert (await work.run("ok")).content == "fine"
    assert work.of(AgentEnd)[0].status == "failed"


async def test_ten_megabytes_in_a_line_are_no_trouble(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    text = "x" * 10_000_000
    provider.script("m-o", Says(text), Says(text))
    async with bench(provider, tmp_path, agent("o")) as work:
        assert (await work.run("o")).content == text
    async with bench(provider, tmp_path, agent("o"), streams=lambda _: True) as work:
        assert (await work.run("o")).content == text


async def test_lines_end_where_the_standard_says(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """U+2028 and U+0085 may stand in the JSON of an event."""
    provider.script("m-o", Says("one\u2028two \x85 three"))
    async with bench(provider, tmp_path, agent("o"), streams=lambda _: True) as work:
        assert (await work.run("o")).content == "one\u2028two \x85 three"
