"""Calls that change something are executed only if somebody agrees."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from axe_lsp.runtime.events import RunIds, ToolEnd
from axe_lsp.runtime.safety.approval import Approval, ApprovalRequest, Rehearsal, allowed
from axe_lsp.runtime.safety.questions import Answer, Question, denial, refusing
from support.engines import agent, bench, running
from support.scripted_provider import PATIENCE, Call, Says, ScriptedProvider, calls_agent

WRITE = Call("write_file", {"path": "a.txt", "content": "A"})


async def test_nothing_is_changed_where_nobody_can_be_asked(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[WRITE]), Says("done"))
    async with bench(provider, tmp_path, agent("a", tools=["write_file"])) as work:
        assert (await work.run("a")).content == "done"
    (end,) = work.of(ToolEnd)
    assert end.is_error
    assert end.content == (
        "write_file was not allowed: "
        "it needs the user's approval, and nobody can be asked here; go on without it"
    )
    assert not (tmp_path / "a.txt").exists()


async def test_what_was_agreed_to_happens(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-a", Says(calls=[WRITE]), Says("done"))
    agents = agent("a", tools=["write_file"])
    async with bench(provider, tmp_path, agents, approve=allowed) as work:
        await work.run("a")
    assert (tmp_path / "a.txt").read_text() == "A"


async def test_who_decides_knows_what_is_wanted_and_by_whom(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "b.txt").touch()
    requests = []

    async def refuse(request: ApprovalRequest) -> str:
        requests.append((request.run.agent, request.tool, request.arguments))
        return "the user said no"

    read = Call("read_file", {"path": "b.txt"})
    provider.script("m-a", Says(calls=[read, WRITE]), Says("done"))
    agents = agent("a", tools=["read_file", "write_file"])
    async with bench(provider, tmp_path, agents, approve=refuse) as work:
        await work.run("a")
    assert requests == [("a", "write_file", WRITE.arguments)]
    (refused,) = [event.content for event in work.of(ToolEnd) if event.is_error]
    assert refused == "write_file was not allowed: the user said no"


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
async def test_a_link_that_is_turned_round_while_the_question_is_open_is_not_followed(
    provider: ScriptedProvider, tmp_path: Path, tool: str
) -> None:
    for name in ("shown", "hidden"):
        (tmp_path / name).write_text("old")
    (tmp_path / "a.txt").symlink_to("shown")
    asked = []

    async def turn_round(question: Question) -> Answer:
        asked.append(question.reason)
        (tmp_path / "a.txt").unlink()
        (tmp_path / "a.txt").symlink_to("hidden")
        return Answer("allow")

    changes = {
        "write_file": {"path": "a.txt", "content": "new"},
        "edit_file": {"path": "a.txt", "old_string": "old", "new_string": "new"},
    }
    provider.script("m-a", Says(calls=[Call(tool, changes[tool])]), Says("done"))
    agents = agent("a", tools=[tool])
    async with bench(provider, tmp_path, agents, approve=Approval(turn_round)) as work:
        await work.run("a")
    assert len(asked) == 1
    assert "shown (through the link a.txt)" in asked[0]
    (end,) = work.of(ToolEnd)
    assert end.content == (
        f"{tool} was not allowed: the file changed its place while the user was asked; "
        "call the tool again"
    )
    assert {name: (tmp_path / name).read_text() for name in ("shown", "hidden")} == {
        "shown": "old",
        "hidden": "old",
    }


class Person:
    """Answers when it is told to; keeps what it was asked, and what was taken back."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.taken_back: list[Question] = []
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._news = asyncio.Event()

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        self._news.set()
        try:
            return await self.answer_to(question.details)
        except asyncio.CancelledError:
            self.taken_back.append(question)
            raise

    async def heard(self, count: int) -> None:
        """Wait until it has been asked so often."""
        while len(self.asked) < count:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)

    def forget(self, details: str) -> None:
        """Take back what was going to be said about these details."""
        del self._answers[details]

    def answer_to(self, details: str) -> asyncio.Future[Answer]:
        """Whatever will be said about a question with these details."""
        future = asyncio.get_running_loop().create_future()
        return self._answers.setdefault(details, future)


def request(details: str, tool: str = "run_command", root: str = "r") -> ApprovalRequest:
    async def rehearse() -> Rehearsal:
        return Rehearsal("run a command", details)

    return ApprovalRequest(RunIds("x", root, "a"), tool, {"command": details}, rehearse)


async def test_parallel_questions_each_get_their_own_answer() -> None:
    person = Person()
    approve = Approval(person)
    async with running(approve(request("one"))) as one, running(approve(request("two"))) as two:
        await person.heard(2)
        person.answer_to("two").set_result(denial("not this"))
        assert await two == "the user said no: not this"
        assert not one.done()
        person.answer_to("one").set_result(Answer("allow"))
        assert await one == ""


async def test_for_this_run_is_for_the_same_call_in_the_whole_tree_and_for_open_questions() -> None:
    person = Person()
    approve = Approval(person)
    async with (
        running(approve(request("one"))) as one,
        running(approve(request("one"))) as same,
        running(approve(request("two"))) as two,
    ):
        await person.heard(3)
        for details, decision in (("one", "allowForRun"), ("two", "deny")):
            person.answer_to(details).set_result(Answer(decision))
        assert (await one, await same, await two) == ("", "", "the user said no")
    assert await approve(request("one")) == ""
    person.forget("one")
    for other in (
        request("one; rm -r x"),
        request("one "),
        request("one", tool="write_file"),
        request("one", root="another"),
    ):
        asked = len(person.asked)
        person.answer_to((await other.rehearse()).details).cancel()
        with pytest.raises(asyncio.CancelledError):
            await approve(other)
        assert len(person.asked) == asked + 1


async def test_for_this_run_holds_for_a_call_that_is_just_being_rehearsed() -> None:
    person = Person()
    approve = Approval(person)
    rehearsing, rehearsed = asyncio.Event(), asyncio.Event()

    async def rehearse() -> Rehearsal:
        rehearsing.set()
        await rehearsed.wait()
        return Rehearsal("run a command", "one")

    slow = ApprovalRequest(RunIds("x", "r", "a"), "run_command", {}, rehearse)
    async with running(approve(slow)) as two:
        await rehearsing.wait()
        person.answer_to("one").set_result(Answer("allowForRun"))
        assert await approve(request("one")) == ""
        rehearsed.set()
        assert await two == ""
    assert [question.details for question in person.asked] == ["one"]


async def test_a_question_shows_what_a_terminal_would_obey_or_turn_round() -> None:
    person = Person()
    person.answer_to("echo a\\r\\x1b[2Jb\ncat \\u202ex").set_result(Answer("allow"))
    assert await Approval(person)(request("echo a\r\x1b[2Jb\ncat \u202ex")) == ""
    (question,) = person.asked
    assert question.reason == 'agent "a" wants to run a command'


async def test_children_at_any_depth_ask_and_the_note_reaches_the_model(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    asked = []

    async def ask(question: Question) -> Answer:
        asked.append((question.run.agent, question.run.depth, question.reason))
        return denial("put it into b.txt")

    provider.script("m-lead", Says(calls=[calls_agent("child", "do")]), Says("done"))
    provider.script("m-child", Says(calls=[WRITE]), Says("I may not"))
    agents = agent("lead", sub_agents=["child"]) | agent("child", tools=["write_file"])
    async with bench(provider, tmp_path, agents, approve=Approval(ask)) as work:
        await work.run("lead")
    assert asked == [("child", 1, 'agent "child" wants to write a.txt')]
    told = provider.asked("m-child")[-1].body["messages"][-1]["content"]
    assert told == "write_file was not allowed: the user said no: put it into b.txt"


async def test_a_question_holds_no_secret(provider: ScriptedProvider, tmp_path: Path) -> None:
    asked = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer("allow")

    provider.script("m-a", Says(calls=[WRITE_SECRET]), Says("done"))
    agents = agent("a", tools=["write_file"])
    environment = {"ANTHROPIC_API_KEY": SECRET}
    async with bench(provider, tmp_path, agents, environment, approve=Approval(ask)) as work:
        await work.run("a")
    assert SECRET not in str(asked)
    assert asked[0].arguments["content"] == "KEY=[redacted]"
    assert "+KEY=[redacted]" in asked[0].details
    assert asked[0].change
    assert asked[0].change.after == "KEY=[redacted]"


SECRET = "the-key-of-this-user"
WRITE_SECRET = Call("write_file", {"path": "a.txt", "content": f"KEY={SECRET}"})


async def test_question_about_a_server_does_not_show_its_address() -> None:
    asked = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer("deny")

    async def rehearse() -> Rehearsal:
        return Rehearsal("call a tool")

    for tool, address in (("s/t", "https://u:pw@host/mcp"), ("run_mcp", "run_mcp(x --key pw)")):
        await Approval(ask)(ApprovalRequest(RunIds("x", "r", "a"), tool, {}, rehearse, address))
    assert len(asked) == 2
    assert "pw" not in str(asked)


async def test_narrowest_rule_of_a_question_holds_no_secret(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    asked = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer("deny")

    calls = [
        Call("write_file", {"path": f"{SECRET}/.envrc", "content": "A"}, "1"),
        Call("run_command", {"command": f"gcc -O2 {SECRET}.c"}, "2"),
    ]
    provider.script("m-a", Says(calls=calls), Says("done"))
    agents = agent("a", tools=["write_file", "run_command"])
    approve = Approval(ask, ("run_command(gcc *)",))
    environment = {"ANTHROPIC_API_KEY": SECRET}
    async with bench(provider, tmp_path, agents, environment, approve=approve) as work:
        await work.run("a")
    assert len(asked) == 2
    assert SECRET not in str(asked)


async def test_what_can_not_be_done_is_not_asked_about(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async def ask(_: Question) -> Answer:
        raise AssertionError

    provider.script("m-a", Says(calls=[OUTSIDE, ABSENT]), Says("done"))
    agents = agent("a", tools=["run_command", "edit_file"])
    async with bench(provider, tmp_path, agents, approve=Approval(ask)) as work:
        await work.run("a")
    first, second = (event.content for event in work.of(ToolEnd))
    assert first.startswith("command rejected:")
    assert second == "a.txt: no such file or directory"


OUTSIDE = Call("run_command", {"command": "cat /etc/passwd"}, "1")
ABSENT = Call("edit_file", {"path": "a.txt", "old_string": "a", "new_string": "b"}, "2")


@pytest.mark.parametrize("allowance", ["write_file", "*_file", "Write"])
async def test_what_was_allowed_beforehand_is_not_asked_about(
    provider: ScriptedProvider, tmp_path: Path, allowance: str
) -> None:
    async def ask(_: Question) -> Answer:
        raise AssertionError

    provider.script("m-a", Says(calls=[WRITE]), Says("done"))
    agents = agent("a", tools=["write_file"])
    async with bench(provider, tmp_path, agents, approve=Approval(ask, [allowance])) as work:
        await work.run("a")
    assert (tmp_path / "a.txt").read_text() == "A"


PROTECTED = Call("write_file", {"path": ".github/workflows/ci.yml", "content": "on: push\n"})


@pytest.mark.parametrize("allowances", [(), ("*",), ("write_file", "edit_file(.github/**)")])
async def test_protected_place_is_asked_about_each_time(
    provider: ScriptedProvider, tmp_path: Path, allowances: tuple[str, ...]
) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer("allowForRun")

    provider.script("m-a", Says(calls=[PROTECTED]), Says(calls=[PROTECTED]), Says("done"))
    agents = agent("a", tools=["write_file"])
    async with bench(provider, tmp_path, agents, approve=Approval(ask, allowances)) as work:
        await work.run("a")
    assert len(asked) == 2
    assert asked[0].is_protected
    assert asked[0].for_run is None
    assert asked[0].rule == "write_file(.github/workflows/ci.yml)"
    assert asked[0].reason == (
        'agent "a" wants to write .github/workflows/ci.yml '
        "(a protected place, which is asked about each time)"
    )


async def test_protected_place_is_not_asked_about_where_a_rule_names_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    async def ask(_: Question) -> Answer:
        raise AssertionError

    provider.script("m-a", Says(calls=[PROTECTED]), Says("done"))
    agents = agent("a", tools=["write_file"])
    approve = Approval(ask, ("write_file(.github/**)",))
    async with bench(provider, tmp_path, agents, approve=approve) as work:
        await work.run("a")
    assert (tmp_path / ".github" / "workflows" / "ci.yml").read_text() == "on: push\n"


async def test_denial_of_a_protected_place_names_the_rule_to_the_user_and_the_model() -> None:
    warnings: list[str] = []
    refuse = refusing(warnings.append, "advice")
    run, rule = RunIds("x", "r", "a"), "write_file(.envrc)"
    question = Question(run, "write_file", {}, 'agent "a" wants to write .envrc', "", rule=rule)
    for _ in range(2):
        answer = await refuse(question)
        assert answer.decision == "deny"
        assert f"`{rule}`" in answer.why
    assert warnings == [
        'agent "a" was not allowed to change a protected place: the rule `write_file(.envrc)` allows it '
        '(agent "a" wants to write .envrc)'
    ]


async def test_question_says_why_a_rule_for_the_program_does_not_allow_the_command() -> None:
    person = Person()
    approve = Approval(person, ("run_command(gcc *)",))
    person.answer_to("gcc -O2 a.c").set_result(Answer("deny"))
    await approve(request("gcc -O2 a.c"))
    (question,) = person.asked
    assert question.rule == "run_command(gcc -O2 a.c)"
    assert question.reason == (
        'agent "a" wants to run a command (`run_command(gcc *)` does not allow it, because "-O2" is an '
        "option that the rule does not name; `run_command(gcc -O2 a.c)` would allow it)"
    )
