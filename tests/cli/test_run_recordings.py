"""Runs that `axe-lsp run` records and replays."""

from __future__ import annotations

import json

from support.command_line import Home
from support.engines import agent
from support.scripted_provider import (
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

TEAM = agent("parent", sub_agents=["helper"]) | agent("helper")


def test_a_run_is_recorded_and_replayed(home: Home, provider: ScriptedProvider) -> None:
    home.add(TEAM)
    provider.script("m-parent", Says(calls=[calls_agent("helper", "t")]), Says("Final"))
    provider.script("m-helper", Says("r"))
    assert home.call("run", "parent", "--record", "r.toml") == (0, "Final", "")
    home.environment.pop("OPENAI_API_KEY")
    replay = ["run", "parent", "--replay", "r.toml"]
    assert home.call(*replay) == (0, "Final", "")
    assert home.call(*replay, "--model", "anthropic/another") == (0, "Final", "")
    assert home.call(*replay, "--stream", "--record", "again.toml") == (0, "Final", "")
    assert home.call("run", "parent", "--replay", "again.toml") == (0, "Final", "")
    code, out, err = home.call(*replay, "-p", "something else")
    assert (code, out) == (1, "")
    assert err.startswith("bad_request: the request is not the recorded one: run 1 ")
    assert len(provider.requests) == 3


def test_a_recorded_run_says_that_nobody_gets_a_process_of_their_own(
    home: Home, provider: ScriptedProvider
) -> None:
    own = {"mode": "process"}
    home.add(agent("lead", sub_agents=["apart"], isolation=own) | agent("apart", isolation=own))
    told = []
    for flags in (["--record", "r.toml"], ["--replay", "r.toml"], []):
        provider.script("m-lead", Says(calls=[calls_agent("apart", "t")]), Says("done"))
        provider.script("m-apart", Says("r"))
        assert home.call("run", "lead", *flags) == (0, "done", "")
        events = [json.loads(line) for line in home.call("history", "export")[1].splitlines()]
        begins = [each["params"] for each in events if each["params"].get("kind") == "begin"]
        agents = [each for each in begins if "task" in each][-2:]
        told.append([each.get("isolation") for each in agents])
    assert told == [[None, "inline"], [None, "inline"], [None, None]]


def test_a_failed_run_is_recorded_as_far_as_it_came(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("solo"))
    provider.script("m-solo", Refuses(429, "slow down, key-openai"))
    assert home.call("run", "solo", "--record", "r.toml")[0] == 3
    text = (home.work / "r.toml").read_text()
    assert 'category = "rate_limit"' in text
    assert "key-openai" not in text
    assert home.call("run", "solo", "--replay", "r.toml") == (
        3,
        "",
        "rate_limit: slow down, [redacted]\n",
    )
