"""Questions of MCP servers to a person: forms and addresses, over each transport and in both eras of the protocol."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest

from axe_lsp.runtime.mcp.elicitation import Elicitation, Elicitor, Reply
from axe_lsp.runtime.safety.approval import allowed
from axe_lsp.runtime.safety.questions import DISMISSED, NOBODY_ANSWERS, Answer, Question, reply
from support.engines import agent, running
from support.engines import bench as bench_where_somebody_asks
from support.mcp_server import McpTestServer
from support.plain_mcp import plain_server
from support.scripted_provider import Call, Says, ScriptedProvider

Json = Any
bench = partial(bench_where_somebody_asks, approve=allowed)

SERVE = "import sys; from support.mcp_serving import serve; serve(sys.argv[1], sys.argv[2:])"


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:
    """Import it beforehand: on a busy machine that takes longer than some runs may."""
    import_module("mcp.client.streamable_http")


@pytest.fixture(params=["sse", "streamable-http", "stdio"])
def table(request: pytest.FixtureRequest) -> Iterator[dict[str, Json]]:
    """Provide a server of each transport. That with `sse` speaks the older protocol."""
    tools = ("confirm", "visit")
    if request.param == "stdio":
        paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
        args = ["-c", SERVE, "stdio", *tools]
        yield {"name": "git", "command": sys.executable, "args": args, "env": paths}
        return
    with McpTestServer(request.param, *tools) as server:
        yield server.table("git")


class Person:
    """Answers questions, in order, and keeps them. The last one has no answer."""

    def __init__(self, *answers: str | Answer) -> None:
        self.questions: list[Question] = []
        self.asked, self.taken_back = anyio.Event(), anyio.Event()
        self._answers = list(answers)

    async def __call__(self, question: Question) -> Answer:
        self.questions.append(question)
        if not self._answers:
            self.asked.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.taken_back.set()
        answer = self._answers.pop(0)
        return reply(answer) if isinstance(answer, str) else answer

    @property
    def texts(self) -> list[str]:
        return [each.details for each in self.questions]


def bot(server: dict[str, Any]) -> dict[str, str]:
    return agent("bot", mcp_servers=[server])


def result(provider: ScriptedProvider) -> str:
    messages = provider.asked("m-bot")[-1].body["messages"]
    (text,) = [each["content"] for each in messages if each["role"] == "tool"]
    assert isinstance(text, str)
    return text


def calls(tool: str) -> Says:
    return Says(calls=[Call(tool, {})])


async def test_a_form_is_asked_property_by_property_and_shown_before_it_is_sent(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json]
) -> None:
    person = Person("NEXT", "ten", "10", "3", "Leave out", "Send")
    provider.script("m-bot", calls("confirm"), Says("done"))
    async with bench(provider, tmp_path, bot(table), ask=person) as work:
        assert (await work.run("bot")).content == "done"
    assert json.loads(result(provider)) == ["accept", {"branch": "next", "count": 3}]
    count = "[2 of 3] count\nA whole number."
    assert person.texts == [
        "Where shall I push?\n\n[1 of 3] Branch",
        count,
        f"That does not fit: it is not a number.\n\n{count}",
        f"That does not fit: the most is 9.\n\n{count}",
        "[3 of 3] note (may be left out)",
        "These answers go to the server:\nBranch: NEXT\ncount: 3\nnote: Leave out",
    ]
    assert [each.choices for each in person.questions] == [
        *(("main", "next"), None, None, None),
        *(("Leave out",), ("Send", "Decline")),
    ]
    for each in person.questions:
        assert each.reason == 'MCP server "git" of agent "bot" asks'
        assert (each.tool, each.call_id, each.subject) == ("ask_user", None, None)
    assert work.warnings == []


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (("main", "3", "Leave out", "Decline"), "decline"),
        ((DISMISSED,), "cancel"),
        (("main", DISMISSED), "cancel"),
        (("x", "y", "z"), "cancel"),
    ],
)
async def test_a_form_that_is_not_sent_is_declined_or_cancelled(
    provider: ScriptedProvider,
    tmp_path: Path,
    table: dict[str, Json],
    answers: tuple[str | Answer, ...],
    expected: str,
) -> None:
    provider.script("m-bot", calls("confirm"), Says("done"))
    async with bench(provider, tmp_path, bot(table), ask=Person(*answers)) as work:
        await work.run("bot")
    assert json.loads(result(provider)) == [expected, None]
    assert work.warnings == []


async def test_where_nobody_can_be_asked_it_is_declined_with_a_warning(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json]
) -> None:
    provider.script("m-bot", calls("confirm"), Says("done"))
    async with bench(provider, tmp_path, bot(table)) as work:
        await work.run("bot")
    assert json.loads(result(provider)) == ["decline", None]
    assert work.warnings == [
        'MCP server "git" asks for an input, and nobody can be asked here; this was declined'
    ]


async def test_an_address_is_shown_and_not_opened(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json]
) -> None:
    person = Person("Done")
    provider.script("m-bot", calls("visit"), Says("done"))
    async with bench(provider, tmp_path, bot(table), ask=person) as work:
        await work.run("bot")
    assert json.loads(result(provider)) == ["accept", None]
    assert person.texts == [
        "Log in.\n\nThe server wants you to open an address of login.example.com:\n"
        "https://login.example.com/start?x=1\n\n"
        "Open it in a browser if you know login.example.com, and choose Done when you are done there."
    ]
    assert person.questions[0].choices == ("Done", "Decline")


async def test_the_end_of_a_run_takes_the_question_back(
    provider: ScriptedProvider, tmp_path: Path, table: dict[str, Json]
) -> None:
    person = Person()
    provider.script("m-bot", calls("confirm"))
    async with (
        bench(provider, tmp_path, bot(table), ask=person) as work,
        running(work.run("bot")) as run,
    ):
        await person.asked.wait()
        run.cancel()
        await person.taken_back.wait()


ASKS = """
    import time

    def ask(id, mode, **more):
        params = {"mode": mode, "message": "Well?", **more}
        request = {"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params}
        print(json.dumps(request), flush=True)

    def say(**more):
        print(json.dumps({"jsonrpc": "2.0", **more}), flush=True)

    def text(text):
        return {"content": [{"type": "text", "text": text}]}

    FORM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
"""


def asking(folder: Path, ending: str) -> dict[str, str]:
    """Return an agent with a server of the older protocol, without a library."""
    return bot(plain_server(folder, f"{ASKS}{ending}"))


async def test_a_server_takes_its_question_back(provider: ScriptedProvider, tmp_path: Path) -> None:
    ending = """
    def call(name):
        ask("q", "form", requestedSchema=FORM)
        while not os.path.exists(sys.argv[0] + ".asked"):
            time.sleep(0.01)
        say(method="notifications/cancelled", params={"requestId": "q"})
        while not os.path.exists(sys.argv[0] + ".over"):
            time.sleep(0.01)
        return text("went on")
    serve(call)
    """
    person = Person()
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    async with (
        bench(provider, tmp_path, asking(tmp_path, ending), ask=person) as work,
        running(work.run("bot")) as run,
    ):
        await person.asked.wait()
        (tmp_path / "plain_server.py.asked").touch()
        await person.taken_back.wait()
        (tmp_path / "plain_server.py.over").touch()
        assert (await run).content == "done"


async def test_the_result_of_a_call_takes_its_questions_back(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
    def call(name):
        ask("q", "form", requestedSchema=FORM)
        while not os.path.exists(sys.argv[0] + ".asked"):
            time.sleep(0.01)
        return text("no matter")
    serve(call)
    """
    person = Person()
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    async with (
        bench(provider, tmp_path, asking(tmp_path, ending), ask=person) as work,
        running(work.run("bot")) as run,
    ):
        await person.asked.wait()
        (tmp_path / "plain_server.py.asked").touch()
        await person.taken_back.wait()
        assert (await run).content == "done"
    assert result(provider) == "no matter"


async def test_what_a_server_asks_without_a_call_is_declined(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
    def started(line):
        if json.loads(line)["method"] == "notifications/initialized":
            ask("q", "form", requestedSchema=FORM)
            TOOLS[0]["description"] = sys.__stdin__.readline() + sys.__stdin__.readline()
            answer(json.loads(TOOLS[0]["description"].splitlines()[0])["id"], {"tools": TOOLS})
        return line
    sys.stdin = map(started, sys.__stdin__)
    serve()
    """
    person = Person()
    provider.script("m-bot", Says("done"))
    async with bench(provider, tmp_path, asking(tmp_path, ending), ask=person) as work:
        assert (await work.run("bot")).content == "done"
    assert '"action":"decline"' in provider.requests[0].body["tools"][0]["function"]["description"]
    assert person.questions == []


@pytest.mark.parametrize(("answer", "expected"), [("Done", "visited"), ("Decline", "visit it")])
async def test_a_call_that_needs_a_visit_is_repeated_after_it(
    provider: ScriptedProvider, tmp_path: Path, answer: str, expected: str
) -> None:
    ending = """
    serve_once, calls = serve, []
    class Lines:
        def __iter__(self):
            for line in sys.__stdin__:
                message = json.loads(line)
                if message["method"] == "tools/call" and not calls:
                    calls.append(1)
                    visit = {"mode": "url", "message": "Log in.", "elicitationId": "1",
                             "url": "https://login.example.com/"}
                    say(id=message["id"], error={"code": -32042, "message": "visit it",
                                                 "data": {"elicitations": [visit]}})
                else:
                    yield line
    sys.stdin = Lines()
    serve(lambda name: text("visited"))
    """
    person = Person(answer)
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    async with bench(provider, tmp_path, asking(tmp_path, ending), ask=person) as work:
        await work.run("bot")
    assert expected in result(provider)
    assert "https://login.example.com/" in person.texts[0]


async def test_other_requests_of_a_server_are_refused(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    ending = """
    def call(name):
        answers = []
        for method, params in (
            ("roots/list", {}),
            ("sampling/createMessage", {"messages": [], "maxTokens": 1}),
            ("strange/method", {}),
        ):
            say(id=method, method=method, params=params)
            answers.append(json.loads(sys.stdin.readline()))
        return text(json.dumps([each["error"]["code"] for each in answers]))
    serve(call)
    """
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    async with bench(provider, tmp_path, asking(tmp_path, ending)) as work:
        await work.run("bot")
    assert json.loads(result(provider)) == [-32601, -32601, -32601]


# What is asked, without a server.


class Heard:
    """Answers the questions of an Elicitor."""

    def __init__(self, *answers: str) -> None:
        self.texts: list[str] = []
        self.choices: list[tuple[str, ...]] = []
        self.warnings: list[str] = []
        self._answers = list(answers)
        self.elicit = Elicitor("git", self._ask, self.warnings.append)

    async def _ask(self, server: str, text: str, choices: tuple[str, ...]) -> Answer:
        assert server == "git"
        self.texts.append(text)
        self.choices.append(choices)
        return reply(self._answers.pop(0)) if self._answers else NOBODY_ANSWERS


def form(**properties: Json) -> Elicitation:
    return Elicitation("Well?", {"type": "object", "properties": properties})


@pytest.mark.parametrize(
    ("written", "choices", "answer", "value"),
    [
        ({"type": "string"}, (), "x", "x"),
        ({"type": "string", "default": "main"}, ("main",), "other", "other"),
        ({"type": "string", "enum": ["main", "next"]}, ("main", "next"), "m", "main"),
        ({"type": "boolean"}, ("Yes", "No"), "yes", True),
        ({"type": "boolean", "default": False}, ("Yes", "No"), "No", False),
        ({"type": "string", "enum": ["a"], "enumNames": ["Apple"]}, ("Apple",), "apple", "a"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "B"}]}, ("B",), "a", "a"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, (), "b, a", ["b", "a"]),
        (
            {"type": "array", "items": {"anyOf": [{"const": 1, "title": "One"}]}, "default": [1]},
            ("One",),
            "One",
            [1],
        ),
    ],
)
async def test_each_kind_of_property(
    written: Json, choices: tuple[str, ...], answer: str, value: Json
) -> None:
    heard = Heard(answer)
    assert await heard.elicit(form(p=written)) == Reply("accept", {"p": value})
    assert heard.choices == [(*choices, "Leave out")]


@pytest.mark.parametrize(("answer", "value"), [("1", {"p": 1}), ("leave out", {})])
async def test_numbers_have_no_choices_which_a_terminal_would_count(
    answer: str, value: Json
) -> None:
    heard = Heard(answer)
    written = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 42}
    assert await heard.elicit(form(p=written)) == Reply("accept", value)
    assert heard.choices == [()]
    assert heard.texts[0].endswith(
        'A whole number.\nThe server proposes 42.\nAnswer "Leave out" to leave it out.'
    )


async def test_a_form_without_properties_asks_for_consent() -> None:
    heard = Heard("Accept")
    assert await heard.elicit(form()) == Reply("accept")
    assert heard.choices == [("Accept", "Decline")]


async def test_a_property_that_looks_like_a_secret_says_so_and_is_not_shown_again() -> None:
    heard = Heard("abc", "x", "Send")
    asked = form(api_token={"type": "string"}, other={"type": "string"})
    await heard.elicit(asked)
    assert "This looks like a secret, which servers must not ask for" in heard.texts[0]
    assert heard.texts[-1].endswith("api_token: ***\nother: x")
    assert heard.choices[0] == ("Leave out",)


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (form(p={"type": "object"}), 'asks for "p", which is neither a text'),
        (form(p={"type": "array", "items": {"type": "string"}}), 'asks for "p", a list of any'),
        (form(p={"enum": [*range(51)], "type": "string"}), "among more than 50 values"),
        (form(**{f"p{n}": {"type": "string"} for n in range(21)}), "more than 20"),
        (Elicitation("", {"properties": 3}), "a form that has no properties"),
        (Elicitation("", url="file:///etc/passwd"), "else than a plain web address"),
        (Elicitation("", url="javascript:alert(1)"), "else than a plain web address"),
        (
            Elicitation("", url="https://bank.example@evil.example/"),
            "else than a plain web address",
        ),
        (Elicitation("", url="https://exаmple.com/"), "else than a plain web address"),
        (
            Elicitation("", url="https://a.example/\n\nhttps://b.example"),
            "else than a plain web address",
        ),
        # What browsers open here is evil.example.
        (
            Elicitation("", url="https://evil.example\\.bank.example/"),
            "else than a plain web address",
        ),
        (Elicitation("", url="https://["), "else than a plain web address"),
        (form(p={"type": "string"}), "nobody can be asked here"),
    ],
)
async def test_what_can_not_be_asked_is_declined_with_a_warning(
    asked: Elicitation, fault: str
) -> None:
    heard = Heard()
    assert await heard.elicit(asked) == Reply("decline")
    (warning,) = heard.warnings
    assert fault in warning
    assert warning.endswith("this was declined")


async def test_numbers_that_no_float_holds_are_numbers() -> None:
    huge = 10**400
    heard = Heard(str(huge), str(huge))
    asked = form(p={"type": "integer", "minimum": -huge, "maximum": huge})
    assert await heard.elicit(asked) == Reply("accept", {"p": huge})
    assert await heard.elicit(form(p={"type": "integer"})) == Reply("accept", {"p": huge})


async def test_a_server_that_asks_without_end_is_heard_no_more() -> None:
    heard = Heard(*["Accept"] * 40)
    replies = [(await heard.elicit(form())).action for _ in range(31)]
    assert replies == ["accept"] * 30 + ["decline"]


async def test_long_and_disguised_texts_are_shortened_and_shown() -> None:
    heard = Heard("x")
    title = "a\u202eb" + "c" * 200
    await heard.elicit(
        Elicitation("m" * 9999, {"properties": {"p": {"type": "string", "title": title}}})
    )
    assert len(heard.texts[0]) < 2200
    assert "a\\u202eb" in heard.texts[0]
