"""Who delegates to whom, one step at a time."""

from __future__ import annotations

import pytest

from axe_lsp.features.call_hierarchy import Call, hierarchy_of, incoming_calls, outgoing_calls
from axe_lsp.workspace.agent_file import AgentFile
from support.fixture import FOLDER, Fixture, open_fixture

WORKSPACE = """
    --- main.toml
    name = "main"
    sub_agents = ["one", "gone", "two", "one"]
    task.types = ["plan", "one", "mine"]
    task.type.mine.tools = []
    --- one.toml
    sub_agents = ["main", "one"]
    --- two.toml
    task.types = ["one"]
    --- /project/sub/axe/agents: one.toml
    --- /project/sub/axe/agents: other.toml
    sub_agents = ["one"]
"""


def agent(opened: Fixture, name: str) -> AgentFile:
    file = opened.snapshot.file(f"{FOLDER}/{name}.toml")
    assert file is not None
    return file


def shown(opened: Fixture, calls: list[Call]) -> list[str]:
    """Return each call: the other agent, and how often it is named."""
    return [f"{call.agent.place.stem} {len(call.names)}" for call in calls]


def test_outgoing_calls_are_those_that_lead_to_an_agent() -> None:
    opened = open_fixture(WORKSPACE)
    calls = outgoing_calls(opened.snapshot, opened.file)
    assert shown(opened, calls) == ["one 3", "two 1"]
    assert [where.of(opened.text) for where in calls[0].names] == ['"one"'] * 3
    assert calls[0].agent.uri == f"{FOLDER}/one.toml"


def test_incoming_calls_are_those_that_mean_this_very_file() -> None:
    opened = open_fixture(WORKSPACE)
    calls = incoming_calls(opened.snapshot, agent(opened, "one"))
    assert shown(opened, calls) == ["main 3", "one 1", "two 1"]
    names = [where.of(opened.text) for where in calls[0].names]
    assert names == ['"one"'] * 3


def test_cycles_go_round_as_often_as_one_likes() -> None:
    opened = open_fixture(WORKSPACE)
    one = agent(opened, "one")
    assert "one 1" in shown(opened, outgoing_calls(opened.snapshot, one))
    assert shown(opened, incoming_calls(opened.snapshot, agent(opened, "main"))) == ["one 1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('sub_agents = ["b<|>"]', "b"),
        ('name<|> = "a"', "a"),
        ('system_prompt = "<|>"', "a"),
        ("<|>", "a"),
        ('sub_agents = ["gone<|>"]', None),
        ('task.types = ["plan<|>"]', None),
    ],
)
def test_it_begins_at_the_agent_under_the_cursor(text: str, expected: str | None) -> None:
    opened = open_fixture(f"--- a.toml\n{text}\n--- b.toml\n")
    found = hierarchy_of(opened.snapshot, opened.file, opened.offset)
    assert (found.place.stem if found is not None else None) == expected
