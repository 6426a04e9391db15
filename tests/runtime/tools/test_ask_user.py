"""`ask_user`: a model asks the person who started the run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.events import ToolEnd
from axe_lsp.runtime.safety.questions import Answer, Question, denial, reply
from support.answers import DIALECTS
from support.bodies import tools_of
from support.engines import agent, bench, running
from support.passing_time import passing_time
from support.scripted_provider import PATIENCE, Call, Says, ScriptedProvider, calls_agent

ASKER = agent("a", tools=["ask_user"])
WHICH = Call("ask_user", {"question": "Which database?", "choices": ["Postgres", "SQLite"]})


class Person:
    """Gives one answer to all that it is asked, once it is told to."""

    def __init__(self, answer: Answer, *, waits: bool = False) -> None:
        self.asked: list[Question] = []
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self._answer = answer
        if not waits:
            self.may_answer.set()

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        self.is_asked.set()
        await self.may_answer.wait()
        return self._answer


def results(provider: ScriptedProvider, model: str = "m-a") -> list[str]:
    """Return what the model was told last about its calls."""
    messages = provider.asked(model)[-1].body["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_persons_answer_is_the_result(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    person = Person(reply("DuckDB,\nif you can"))
    provider.script("m-a", Says(calls=[WHICH]), Says("done"))
    agents = agent("a", dialect, tools=["ask_user"])
    async with bench(provider, tmp_path, agents, ask=person) as work:
        assert (await work.run("a")).content == "done"
    (question,) = person.asked
    assert question.reason == 'agent "a" asks'
    assert (question.details, question.choices) == ("Which database?", ("Postgres", "SQLite"))
    (end,) = work.of(ToolEnd)
    assert (end.content, end.is_error) == ("DuckDB,\nif you can", False)
    assert "DuckDB,\\nif you can" in provider.requests[-1].raw.decode()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_models_are_told_that_choices_are_strings(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-a", Says("done"))
    async with bench(provider, tmp_path, agent("a", dialect, tools=["ask_user"])) as work:
        await work.run("a")
    ((name, _, schema),) = tools_of(provider.requests[0].body)
    assert name == "ask_user"
    assert schema["properties"]["choices"]["items"]["type"].lower() == "string"
    assert schema["required"] == ["question"]


@pytest.mark.parametrize(
    ("keys", "is_offered"),
    [
        ({"tools": ["ask_user"]}, True),
        ({"tool_policy": {"allow": ["ask_user"]}}, True),
        ({"tools": ["*"], "tool_policy": {"allow": ["ask_*"]}}, False),
        ({"tools": ["ask_user"], "tool_policy": {"deny": ["ask_*"]}}, False),
    ],
)
async def test_a_file_has_to_name_it(
    provider: ScriptedProvider, tmp_path: Path, keys: dict[str, Any], is_offered: bool
) -> None:
    provider.script("m-a", Says("done"))
    async with bench(provider, tmp_path, agent("a", **keys)) as work:
        await work.run("a")
    assert ("ask_user" in str(provider.requests[0].body.get("tools"))) is is_offered


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "nobody can be asked here; decide yourself and say what you assumed"),
        (reply(" "), "the user dismissed the question"),
        (denial(""), "the user said no"),
    ],
)
async def test_without_an_answer_the_model_learns_why(
    provider: ScriptedProvider, tmp_path: Path, answer: Answer | None, told: str
) -> None:
    provider.script("m-a", Says(calls=[WHICH]), Says("done"))
    options: dict[str, Any] = {"ask": Person(answer)} if answer else {}
    async with bench(provider, tmp_path, ASKER, **options) as work:
        await work.run("a")
    (end,) = work.of(ToolEnd)
    assert (end.content, end.is_error) == (told, True)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "question is required"),
        ({"question": " \n"}, "question is required"),
        ({"question": "x" * 2001}, "question has 2,001 characters; at most 2,000"),
        ({"question": "?", "choices": "a, b"}, "choices must be an array of strings"),
        ({"question": "?", "choices": list("abcdefghi")}, "choices has 9 entries; at most 8"),
        (
            {"question": "?", "choices": ["a", "b" * 81]},
            "choice 2 has 81 characters; 1 to 80 are possible",
        ),
        ({"question": "?", "choices": [""]}, "choice 1 has 0 characters; 1 to 80 are possible"),
    ],
)
async def test_what_nobody_could_be_shown_is_not_asked(
    provider: ScriptedProvider, tmp_path: Path, arguments: dict[str, Any], fault: str
) -> None:
    person = Person(reply("yes"))
    provider.script("m-a", Says(calls=[Call("ask_user", arguments)]), Says("done"))
    async with bench(provider, tmp_path, ASKER, ask=person) as work:
        await work.run("a")
    assert (results(provider), person.asked) == ([fault], [])


async def test_a_question_shows_what_it_hides_and_holds_no_key(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    person = Person(reply("my-very-secret-key"))
    text = "Is it\u202e my-very-secret-key\x1b[2J?\nReally?"
    call = Call("ask_user", {"question": text, "choices": ["a\nb", "my-very-secret-key", "a\nb"]})
    provider.script("m-a", Says(calls=[call]), Says("done"))
    secret = {"OPENAI_API_KEY": "my-very-secret-key"}
    async with bench(provider, tmp_path, ASKER, secret, ask=person) as work:
        await work.run("a")
    (question,) = person.asked
    assert question.details == "Is it\\u202e [redacted]\\x1b[2J?\nReally?"
    assert question.choices == ("a\\nb", "[redacted]")
    assert "my-very-secret-key" not in str(work.events)
    assert results(provider) == ["my-very-secret-key"]


async def test_a_child_asks_and_no_clock_of_the_tree_goes_on(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    person = Person(reply("Postgres"), waits=True)
    agents = agent("lead", sub_agents=["a"], timeout=60) | agent("a", tools=["ask_user"])
    provider.script("m-lead", Says(calls=[calls_agent("a", "choose")]), Says("done"))
    provider.script("m-a", Says(calls=[WHICH]), Says("It is Postgres."))
    with passing_time() as passing:
        async with (
            bench(provider, tmp_path, agents, ask=person) as work,
            running(work.run("lead")) as run,
        ):
            await asyncio.wait_for(person.is_asked.wait(), PATIENCE)
            assert (person.asked[0].run.agent, person.asked[0].run.depth) == ("a", 1)
            await passing.goes_by(500)
            person.may_answer.set()
            assert (await run).content == "done"


async def test_the_end_of_a_run_takes_its_question_back(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    is_taken_back = asyncio.Event()

    async def never(question: Question) -> Answer:
        person.asked.append(question)
        person.is_asked.set()
        try:
            return await asyncio.Future()
        finally:
            is_taken_back.set()

    person = Person(reply(""))
    provider.script("m-a", Says(calls=[WHICH]))
    async with (
        bench(provider, tmp_path, ASKER, ask=never) as work,
        running(work.run("a")) as run,
    ):
        await asyncio.wait_for(person.is_asked.wait(), PATIENCE)
        work.engine.cancel(person.asked[0].run.run_id)
        await asyncio.wait_for(is_taken_back.wait(), PATIENCE)
        await asyncio.wait([run])
    assert work.of(ToolEnd)[0].content == "cancelled"
