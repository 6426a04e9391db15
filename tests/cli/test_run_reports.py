"""What `axe-lsp run` tells of a run besides its answer: what goes on, what it costs, what its budget says."""

from __future__ import annotations

import json
import re

import pytest

from axe_lsp.cli.verbose import VerboseLog
from axe_lsp.runtime.run_result import RunResult
from support.command_line import Home
from support.engines import agent
from support.scripted_provider import (
    Call,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

TEAM = agent("parent", sub_agents=["helper"]) | agent("helper")


@pytest.mark.req("001-8.7", "001-8.8", "001-N9", "001-7.5", "001-T2", "001-C5")
def test_verbose_tells_on_standard_error_what_is_going_on(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(TEAM)
    provider.script(
        "m-parent",
        Says(calls=[calls_agent("helper", "é" * 81), calls_agent("nobody", "x")]),
        Says("F"),
    )
    provider.script("m-helper", Says("réß"))
    code, out, err = home.call("run", "parent", "-v", stdin="some input")
    assert (code, out) == (0, "F")
    lines = err.splitlines()
    assert lines[:9] == [
        "Model:    openai/m-parent",
        f"Workdir:  {home.work}",
        "Skill:    (none)",
        "Files:    0 file(s)",
        "Stdin:    yes",
        "Timeout:  120s",
        "Params:   temperature=0, max_tokens=0",
        "[turn 1] Sending request (1 messages, 0 tool calls pending)",
        "[turn 1] Received response: tool_calls (2 tool calls)",
    ]
    assert lines[9] == f'[sub-agent] Calling "helper" (depth 1) with task: {"é" * 80}...'
    assert lines[10].startswith('[sub-agent] "helper" completed in ')
    assert lines[10].endswith("ms (3 chars returned)")
    assert lines[11] == "[turn 2] Sending request (3 messages, 2 tool calls pending)"
    assert lines[12] == "[turn 2] Received response: stop (0 tool calls)"
    assert lines[13].startswith("Duration: ")
    assert lines[14:] == ["Tokens:   20 input, 10 output (cumulative)", "Stop:     stop"]

    home.environment["TERM"] = "dumb"
    provider.script("m-parent", Says(calls=[calls_agent("helper", "x")]), Says("F"))
    provider.script("m-helper", Says("R"))
    err = home.call("run", "parent", "-v")[2]
    assert "(cumulative)\n          30 input, 15 output with all sub-agents\n" in err, (
        "for a person"
    )


def test_verbose_tells_thoughts_beside_the_answer(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo", "anthropic"))
    provider.script("m-solo", Says("Done", thinking="First\nthis, then that"))
    _, out, err = home.call("run", "solo", "-p", "go", "--verbose", "--stream")
    assert out == "Done"
    thoughts = [line for line in err.splitlines() if line.startswith("[thinking]")]
    assert thoughts == ["[thinking] First", "[thinking] this, then that"]


def test_verbose_tells_that_an_answer_is_not_whole(capsys: pytest.CaptureFixture[str]) -> None:
    log = VerboseLog()
    log.finished(
        RunResult(
            run_id="1",
            agent="solo",
            status="completed",
            model="m",
            content="Half a",
            stop_reason="max_tokens",
            input_tokens=1,
            output_tokens=1,
            turns=1,
            tool_calls=0,
            duration_ms=9,
            incomplete="length",
        )
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "Stop:     max_tokens (the answer was cut off at the output limit)"


@pytest.mark.req("001-7.5")
def test_verbose_tells_why_a_child_failed(home: Home, provider: ScriptedProvider) -> None:
    home.add(TEAM)
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]), Says("coped"))
    provider.script("m-helper", Refuses(500, "boom"))
    code, out, err = home.call("run", "parent", "-v")
    assert (code, out) == (0, "coped")
    assert '[sub-agent] "helper" failed: server: boom\n' in err


def test_verbose_tells_about_memory_and_of_failures(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo", memory={"enabled": True}))
    provider.script("m-solo", Says("fine"), Refuses(500, "boom"))
    _, _, err = home.call("run", "solo", "-v")
    assert "Memory:   0 entries (no memory file)\n" in err
    assert "Tokens:   10 input, 5 output\n" in err
    code, out, err = home.call("run", "solo", "-v")
    assert (code, out) == (3, "")
    assert f"Memory:   1 entries loaded from {home.data}/memory/solo.md\n" in err
    assert err.splitlines()[-2].startswith("Duration: ")
    assert err.splitlines()[-1] == "server: boom"


def test_verbose_tells_what_is_sent_again_and_nobody_else_hears_of_it(
    home: Home, provider: ScriptedProvider
) -> None:
    retry = {"max_retries": 3, "backoff": "linear", "initial_delay_ms": 1}
    home.add(agent("solo", retry=retry))
    provider.script("m-solo", Refuses(429), Refuses(500), Says("done"))
    code, out, err = home.call("run", "solo", "-v")
    assert (code, out) == (0, "done")
    lines = [line for line in err.splitlines() if line.startswith("[retry]")]
    assert lines == [
        "[retry] Attempt 1/3 after rate_limit, waiting 1ms",
        "[retry] Attempt 2/3 after server, waiting 2ms",
    ]
    provider.script("m-solo", Refuses(429), Says("done"))
    assert home.call("run", "solo") == (0, "done", "")


def test_verbose_tells_how_a_full_context_is_made_to_fit(
    home: Home, provider: ScriptedProvider
) -> None:
    for name in "ab":
        (home.work / name).write_text(f"{name * 70}\n" * 400)
    home.add(agent("solo", tools=["read_file"], context={"compaction": True}))
    reads = [Says(calls=[Call("read_file", {"path": name})]) for name in "ab"]
    provider.script("m-solo", *reads, Refuses(400, "Prompt is too long."), Says("A is a."))
    provider.script("m-solo", Says("done"))
    code, out, err = home.call("run", "solo", "-p", "go", "--verbose")
    assert (code, out) == (0, "done")
    asked, made, shortened = (line for line in err.splitlines() if line.startswith("[context]"))
    assert re.fullmatch(r"\[context\] Asking for a summary \(about \d+ tokens .*\)", asked)
    assert re.fullmatch(r"\[context\] 3 messages replaced by a summary \(.*\)", made)
    assert re.fullmatch(r"\[context\] 1 old tool result\(s\) shortened .*\)", shortened)


def test_verbose_tells_why_there_is_no_summary(home: Home, provider: ScriptedProvider) -> None:
    for name in "ab":
        (home.work / name).write_text(f"{name * 70}\n" * 100)
    home.add(agent("solo", tools=["read_file"], context={"compaction": True}))
    reads = [Says(calls=[Call("read_file", {"path": name})]) for name in "ab"]
    provider.script("m-solo", *reads, Refuses(400, "Prompt is too long."), Says(""), Says("done"))
    _, _, err = home.call("run", "solo", "-p", "go", "--verbose")
    assert "[context] No summary: the model has written no summary\n" in err


@pytest.mark.parametrize(
    ("read", "written", "reported"),
    [
        (0, 0, {}),
        (0, 70, {"cache_read_tokens": 0, "cache_status": "MISS", "cache_write_tokens": 70}),
        (70, 5, {"cache_read_tokens": 70, "cache_status": "HIT", "cache_write_tokens": 5}),
    ],
)
def test_what_came_from_the_provider_s_cache_is_reported(
    home: Home, provider: ScriptedProvider, read: int, written: int, reported: dict[str, object]
) -> None:
    home.add(agent("solo", "anthropic"))
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }
    provider.script("m-solo", Says("ok", extra={"usage": usage}))
    code, out, err = home.call("run", "solo", "--json", "--verbose")
    assert code == 0
    envelope = json.loads(out)
    assert list(envelope) == sorted(envelope)
    assert {key: value for key, value in envelope.items() if "cache" in key} == reported
    assert envelope["input_tokens"] == 10 + read + written
    assert (f"Cache:    {read} read, {written} written\n" in err) == bool(reported)


def test_a_run_ends_when_its_budget_is_used_up(home: Home, provider: ScriptedProvider) -> None:
    parts = agent("parent", sub_agents=["helper"], budget={"max_tokens": 1000}) | agent("helper")
    home.add(parts)
    for _ in range(3):
        provider.script("m-parent", Says("Asking.", [calls_agent("helper", "t")]))
        provider.script("m-helper", Says("r", usage=(100, 1)))
    told = "budget exceeded: used 116 of 20 tokens\n"
    assert home.call("run", "parent", "--max-tokens", "20") == (4, "Asking.", told)
    code, out, err = home.call("run", "parent", "--max-tokens=20", "-v")
    assert (code, out) == (4, "Asking.")
    assert "\nTokens:   10 input, 5 output (cumulative, budget: 116/20)\nStop:" in err
    assert err.endswith(told)
    code, out, err = home.call("run", "parent", "--max-tokens=20", "--json")
    assert (code, err) == (4, told)
    answer = json.loads(out)
    assert answer["content"] == "Asking."
    assert answer["budget_exceeded"] is True
    assert answer["budget_max_tokens"] == 20
    assert answer["budget_used_tokens"] == 116
    assert list(answer) == sorted(answer)


def test_a_run_within_its_budget_says_what_it_has_used(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", budget={"max_tokens": 1000}))
    provider.script("m-solo", Says("done"), Says("done"))
    code, out, _ = home.call("run", "solo", "--json", "--max-tokens", "0")
    answer = json.loads(out)
    assert (code, answer["budget_exceeded"], answer["budget_max_tokens"]) == (0, False, 1000)
    _, _, err = home.call("run", "solo", "-v")
    assert "Tokens:   10 input, 5 output (cumulative, budget: 15/1000)\n" in err


def test_a_budget_is_a_whole_number(home: Home) -> None:
    code, out, err = home.call("run", "solo", "--max-tokens", "-5")
    assert (code, out) == (1, "")
    assert "'-5' is not a whole number of tokens from 0" in err


@pytest.mark.parametrize("amount", ["-1", "1e3", "much", "1."])
def test_an_amount_of_dollars_is_a_plain_number(home: Home, amount: str) -> None:
    home.add(agent("solo"))
    code, _, err = home.call("run", "solo", f"--max-cost={amount}")
    assert code == 1
    assert f"{amount!r} is not an amount of dollars from 0, such as 0.50" in err


def test_a_run_that_costs_too_much_says_so(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("claude-haiku-4-5", Says("Dear.", usage=(50_000, 0)))
    model = "--model=anthropic/claude-haiku-4-5"
    told = "budget exceeded: used $0.0500 of $0.01\n"
    assert home.call("run", "solo", model, "--max-cost", "0.01") == (4, "Dear.", told)


def test_an_agent_beyond_the_first_axe_tells_its_tool_calls_one_by_one(
    home: Home, provider: ScriptedProvider
) -> None:
    (home.work / "long.txt").write_text("é" * 2000)
    calls = [
        Call("read_file", {"path": "long.txt", "offset": 1}, "same"),
        Call("read_file", {"path": "none.txt"}, "same"),
    ]
    retry = {"max_retries": 1, "initial_delay_ms": 1}
    # Calls of the same id can be told apart only if they are executed one after the other.
    in_order = {"parallel": False}
    home.add(agent("solo", tools=["read_file"], retry=retry, sub_agents_config=in_order))
    provider.script("m-solo", Refuses(500), Says(calls=calls), Says(calls=calls[1:]), Says("done"))
    code, out, _ = home.call("run", "solo", "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["refused"], answer["retry_attempts"], answer["tool_calls"]) == (False, 1, 3)
    long, none, again = answer["tool_call_details"]
    assert all(call.pop("duration_ms") >= 0 for call in (long, none, again))
    assert long["output"].startswith("1: éé")
    assert long.pop("output").endswith("é... (truncated)")
    assert long == {
        "input": {"path": "long.txt", "offset": "1"},
        "is_error": False,
        "name": "read_file",
        "turn": 0,
    }
    assert (none["input"], none["is_error"], none["turn"]) == ({"path": "none.txt"}, True, 0)
    assert (again["turn"], again["output"]) == (1, none["output"])
    assert answer["cost"] is None
    assert answer["tree"] == {"cost": None, "input_tokens": 30, "output_tokens": 15}


def test_a_refusal_is_told_in_json(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Says("I cannot do that."), Says("Done."))
    assert json.loads(home.call("run", "solo", "--json")[1])["refused"] is True
    assert "refused" not in json.loads(home.call("run", "solo", "--json")[1])


def test_the_cost_of_a_run_and_of_all_that_it_called(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("parent", sub_agents=["helper"]) | agent("helper"))
    for name, model in (("parent", "gpt-6.1-sol"), ("helper", "gpt-6-luna")):
        path = home.config / "agents" / f"{name}.toml"
        path.write_text(path.read_text().replace(f"m-{name}", model))
    for _ in range(2):
        call = calls_agent("helper", "t")
        provider.script("gpt-6.1-sol", Says(calls=[call], usage=(1000, 0)), Says("done"))
        provider.script("gpt-6-luna", Says("helped", usage=(1_000, 1_000)))
    answer = json.loads(home.call("run", "parent", "--json")[1])
    assert answer["cost"] == 0.00207
    assert answer["tree"] == {"cost": 0.00267, "input_tokens": 2010, "output_tokens": 1005}
    _, _, err = home.call("run", "parent", "-v")
    assert "Cost:     $0.0021 ($0.0027 with all sub-agents)\n" in err


SOURCE = "https://example.com/a"
CITED = {"search_results": [{"title": "A page", "url": SOURCE}]}


def test_sources_are_under_the_answer_of_an_agent_beyond_the_first_axe(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo", tools=["read_file"]))
    provider.script("m-solo", *[Says("It is so.", extra=CITED)] * 2)
    code, out, err = home.call("run", "solo")
    assert (code, out, err) == (0, "It is so.", f"Sources:\n1. A page {SOURCE}\n")
    answer = json.loads(home.call("run", "solo", "--json")[1])
    assert answer["sources"] == [{"title": "A page", "url": SOURCE}]
    run_id = json.loads(home.call("history", "list", "--json")[1])[0]["runId"]
    assert f"It is so.\n\nSources:\n1. A page {SOURCE}\n" in home.call("history", "show", run_id)[1]


def test_sources_of_an_agent_of_the_first_axe_change_no_output_for_programs(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", *[Says("It is so.", extra=CITED)] * 2)
    assert home.call("run", "solo") == (0, "It is so.", "")
    assert "sources" not in json.loads(home.call("run", "solo", "--json")[1])
