"""Agents with `[isolation] mode = "copy"`: where they work, and what becomes of their changes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import anyio
import pytest

from axe_lsp.runtime.copies.mirror import TrackedFiles
from axe_lsp.runtime.errors import RunCancelledError
from axe_lsp.runtime.events import AgentBegin, AgentEnd, ToolEnd, TurnBegin
from axe_lsp.runtime.safety.questions import Answer, Question, denial
from support.answers import Call, Says, calls_agent
from support.copies import HELP, Place, answer
from support.engines import Bench, agent, running
from support.scripted_provider import PATIENCE, ScriptedProvider


def ended(made: Bench) -> AgentEnd:
    return next(each for each in made.of(AgentEnd) if each.run.agent == "helper")


@pytest.fixture
def place(tmp_path: Path, provider: ScriptedProvider) -> Place:
    return Place(tmp_path, provider)


async def test_changes_are_applied_once_a_person_has_agreed(place: Place) -> None:
    place.repository.write({"a.txt": "dirty\n", "untracked.txt": "u\n"})
    before = place.repository.state
    place.lead(HELP)
    place.writes(**{"a.txt": "changed\n", "sub__new.txt": "new\n"})
    seen: list[str] = []
    async with place.bench() as (made, person):

        def decide(question: Question) -> Answer:
            seen.append(place.read())
            return Answer("allow")

        person.decides = decide
        result = await made.run("lead", "go")
    assert result.content == "done"
    assert person.asked == [("apply_changes", "a.txt"), ("apply_changes", "sub/new.txt")]
    assert person.questions[0].change is not None
    assert person.questions[0].change.before == "dirty\n"
    assert "-dirty\n+changed" in person.questions[0].details
    assert seen == ["dirty\n", "dirty\n"]
    assert (place.read(), place.read("sub/new.txt")) == ("changed\n", "new\n")
    told = answer(made)
    assert not told.is_error
    assert told.content == (
        "helped\n\n[It worked in a copy. Its changes were applied: M a.txt, A sub/new.txt]"
    )
    assert (place.repository.refs, place.left) == ([], [])
    assert place.repository.state == before


async def test_what_somebody_has_agreed_to_in_the_copy_is_not_asked_about_again(
    place: Place,
) -> None:
    calls = [
        Call("write_file", {"path": "a.txt", "content": "one\n"}, "w1"),
        Call("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "two"}, "w2"),
        Call("write_file", {"path": "new.txt", "content": "new\n"}, "w3"),
    ]
    place.lead(HELP)
    place.provider.script("m-helper", *(Says(calls=[call]) for call in calls), Says("helped"))
    tools = ["write_file", "edit_file"]
    async with place.bench(allow=(), tools=tools) as (made, person):
        await made.run("lead", "go")
    assert person.asked == [(call.name, call.arguments["path"]) for call in calls]
    assert (place.read(), place.read("new.txt")) == ("two\n", "new\n")
    assert "applied: M a.txt, A new.txt" in answer(made).content
    assert (place.repository.refs, place.left) == ([], [])


@pytest.mark.parametrize("what", ["a command", "a rule", "for this run", "somebody else"])
async def test_what_nobody_has_seen_as_it_is_applied_is_asked_about(
    place: Place, what: str
) -> None:
    first = Call("write_file", {"path": "a.txt", "content": "one\n"}, "w1")
    then = {
        "a command": Call("run_command", {"command": "echo two > a.txt"}, "r2"),
        "a rule": Call(
            "edit_file", {"path": "a.txt", "old_string": "on", "new_string": "tw"}, "w2"
        ),
        "for this run": Call("write_file", {"path": "a.txt", "content": "two\n"}, "w2"),
        "somebody else": Call("run_command", {"command": "true"}, "r2"),
    }[what]
    place.lead(HELP)
    place.provider.script("m-helper", Says(calls=[first]), Says(calls=[then]), Says("helped"))
    tools = ["write_file", "edit_file", "run_command"]
    async with place.bench(allow=("run_command", "edit_file"), tools=tools) as (made, person):

        def decide(question: Question) -> Answer:
            if what == "somebody else" and question.tool == "write_file":
                place.repository.write({"a.txt": "a\nmine\n"})
            is_for_run = what == "for this run" and question.tool == "write_file"
            return Answer("allowForRun" if is_for_run else "allow")

        person.decides = decide
        await made.run("lead", "go")
    asked = [("write_file", "a.txt")]
    if what != "somebody else":  # That is a conflict.
        asked.append(("apply_changes", "a.txt"))
    assert person.asked == asked


@pytest.mark.parametrize("is_seen", [True, False])
async def test_what_a_person_has_seen_of_a_copy_of_a_copy_is_not_asked_about_again(
    place: Place, is_seen: bool
) -> None:
    """With a command before it in the outer copy, they have not seen the whole change."""
    inner = agent("inner", tools=["write_file", "run_command"], isolation={"mode": "copy"})
    place.lead(HELP)
    unseen = Call("run_command", {"command": "true" if is_seen else "echo x > b.txt"}, "r1")
    then = calls_agent("inner", "go on", call_id="i1")
    place.provider.script("m-helper", Says(calls=[unseen]), Says(calls=[then]), Says("helped"))
    write = Call("write_file", {"path": "a.txt", "content": "seen\n"}, "w1")
    command = Call("run_command", {"command": "echo shown > b.txt"}, "r2")
    place.provider.script("m-inner", Says(calls=[write]), Says(calls=[command]), Says("done"))
    async with place.bench(allow=("run_command",), more=inner, sub_agents=["inner"]) as (
        made,
        person,
    ):
        await made.run("lead", "go")
    again = [] if is_seen else [("apply_changes", "b.txt")]
    assert person.asked == [("write_file", "a.txt"), ("apply_changes", "b.txt"), *again]
    assert (place.read(), place.read("b.txt")) == ("seen\n", "shown\n")


async def test_a_denial_is_for_that_file_and_keeps_the_work(place: Place) -> None:
    place.lead(HELP)
    place.writes(**{"a.txt": "changed\n", "b.txt": "new\n", "c.txt": "third\n"})
    async with place.bench() as (made, person):
        person.decides = lambda question: (
            denial("not so") if question.arguments["path"] == "b.txt" else Answer("allow")
        )
        await made.run("lead", "go")
    told = answer(made)
    (ref,) = place.repository.refs
    assert not told.is_error
    assert (
        f"It worked in a copy. All of its changes are kept as {ref} (`git show {ref}`). These were "
        "applied: M a.txt, A c.txt. These were denied: b.txt: the user said no: not so"
    ) in told.content
    assert ref in made.warnings[-1]
    assert ended(made).unapplied == "some"
    assert (place.read(), place.read("c.txt")) == ("changed\n", "third\n")
    assert not (place.folder / "b.txt").exists()
    assert place.repository.git("show", f"{ref}:b.txt") == "new"
    assert place.left == []


@pytest.mark.parametrize("no", [denial("not so"), Answer("deny", "the user did not answer")])
async def test_without_an_allowed_file_nothing_changes_and_the_work_is_kept(
    place: Place, no: Answer
) -> None:
    place.lead(HELP)
    place.writes(**{"a.txt": "changed\n", "b.txt": "new\n"})
    async with place.bench() as (made, person):
        person.decides = lambda question: (
            no if "said" in no.why or question.arguments["path"] == "b.txt" else Answer("allow")
        )
        await made.run("lead", "go")
    told = answer(made)
    assert told.is_error
    assert f"b.txt: {no.why}" in told.content
    (ref,) = place.repository.refs
    assert f"They are kept as {ref} (`git show {ref}`)" in told.content
    assert ended(made).unapplied == "all"
    assert ended(made).changes == told.content.partition("[Error: ")[2].rstrip("]")
    assert made.warnings[-1] == f'agent "helper": {ended(made).changes}'
    assert place.read() == "a\n"
    assert not (place.folder / "b.txt").exists()
    assert place.repository.git("show", f"{ref}:a.txt") == "changed"
    assert place.left == []


async def test_it_is_said_that_commits_of_a_repository_that_the_agent_makes_are_not_kept(
    place: Place,
) -> None:
    place.lead(HELP)
    name = "git -c user.name=a -c user.email=a@b"
    place.commands(
        f"git init -q made/inner && cd made/inner && echo x > x && git add x && {name} commit -qm one"
    )
    async with place.bench() as (made, _):
        await made.run("lead", "go")
    assert answer(made).content.endswith(
        "Its changes were applied: A made/inner/x. "
        "Of the repositories that it has made, only the files are there, no commits: made/inner]"
    )
    assert place.read("made/inner/x") == "x\n"
    assert ended(made).unapplied is None


async def test_kept_changes_are_a_commit(place: Place) -> None:
    place.lead(HELP)
    place.writes()
    async with place.bench({"changes": "keep"}) as (made, person):
        await made.run("lead", "go")
    told = answer(made)
    (ref,) = place.repository.refs
    assert not told.is_error
    assert f"1 file was changed there; nothing was applied. The changes are kept as {ref}" in (
        told.content
    )
    assert person.questions == []
    assert place.read() == "a\n"


@pytest.mark.parametrize(
    ("allow", "asked"),
    [
        (("run_command",), [("write_file", "a.txt")]),
        (("write_file", "run_command"), []),
        (("*",), []),
    ],
)
async def test_changes_are_applied_without_a_question_where_a_write_needs_none(
    place: Place, allow: tuple[str, ...], asked: list[tuple[str, str]]
) -> None:
    place.lead(HELP)
    place.writes()
    async with place.bench({"changes": "apply"}, allow=allow) as (made, person):
        await made.run("lead", "go")
    assert person.asked == asked
    assert place.read() == "changed\n"


async def test_a_rule_for_writes_allows_nothing_that_write_file_can_not_do(place: Place) -> None:
    place.lead(HELP)
    command = "rm a.txt; ln -s b.txt sub/link; touch new.txt tool; chmod +x tool"
    place.provider.script(
        "m-helper", Says(calls=[Call("run_command", {"command": command})]), Says("helped")
    )
    async with place.bench({"changes": "apply"}) as (made, person):
        await made.run("lead", "go")
    assert person.asked == [
        ("apply_changes", "a.txt"),
        ("apply_changes", "sub/link"),
        ("apply_changes", "tool"),
    ]
    assert (place.folder / "new.txt").exists()


async def test_a_conflict_is_an_error_text(place: Place) -> None:
    place.lead(HELP)

    async with place.bench() as (made, person):
        place.writes()

        def meanwhile(event: object) -> None:
            if isinstance(event, ToolEnd) and event.name == "write_file":
                place.repository.write({"a.txt": "mine\n"})

        made.on_event = meanwhile
        await made.run("lead", "go")
    told = answer(made)
    assert told.is_error
    assert "a.txt has been changed since in the same lines" in told.content
    assert place.repository.refs[0] in told.content
    assert place.read() == "mine\n"
    assert person.questions == []


async def test_a_file_that_changes_while_somebody_is_asked_is_asked_about_again(
    place: Place,
) -> None:
    lines = "".join(f"{number}\n" for number in range(20))
    place.repository.write({"a.txt": lines})
    place.lead(HELP)
    place.writes(**{"a.txt": lines + "theirs\n"})
    async with place.bench() as (made, person):

        def decide(_: Question) -> Answer:
            place.repository.write({"a.txt": f"mine\n{lines}"})
            return Answer("allow")

        person.decides = decide
        await made.run("lead", "go")
    assert person.asked == [("apply_changes", "a.txt")] * 2
    assert place.read() == f"mine\n{lines}theirs\n"


async def test_agents_side_by_side_do_not_see_each_other_and_both_come_home(place: Place) -> None:
    count = 4
    names = [f"h{number}" for number in range(count)]
    more = dict[str, str]()
    for name in names:
        more |= agent(name, tools=["write_file", "run_command"], isolation={"mode": "copy"})
        write = Call("write_file", {"path": f"{name}.txt", "content": name})
        look = Call("run_command", {"command": "ls h*.txt"})
        place.provider.script(f"m-{name}", Says(calls=[write]), Says(calls=[look]), Says("ok"))
    place.provider.script(
        "m-lead", Says(calls=[calls_agent(each, "go", call_id=each) for each in names]), Says("ok")
    )
    more |= agent("lead", sub_agents=names)
    async with place.bench(more=more, allow=("*",)) as (made, _):
        await made.run("lead", "go")
    listed = sorted(each.content.strip() for each in made.of(ToolEnd) if each.name == "run_command")
    assert listed == [f"{name}.txt" for name in names]
    assert sorted(each.name for each in place.folder.glob("h*.txt")) == listed
    assert (place.repository.refs, place.left) == ([], [])


async def test_an_agent_below_works_in_the_copy_of_its_caller(place: Place) -> None:
    place.lead(HELP)
    place.provider.script(
        "m-helper", Says(calls=[calls_agent("other", "go", call_id="c2")]), Says("helped")
    )
    write = Call("write_file", {"path": "a.txt", "content": "below\n"})
    place.provider.script("m-other", Says(calls=[write]), Says("ok"))
    async with place.bench(
        {"changes": "keep"}, more=agent("other", tools=["write_file"]), sub_agents=["other"]
    ) as (made, _):
        await made.run("lead", "go")
    (ref,) = place.repository.refs
    assert place.read() == "a\n"
    assert place.repository.git("show", f"{ref}:a.txt") == "below"


async def test_a_copy_in_a_copy_comes_home_to_that(place: Place) -> None:
    place.lead(HELP)
    calls = [calls_agent("other", "go", call_id="c2")]
    place.provider.script("m-helper", Says(calls=calls), Says("helped"))
    write = Call("write_file", {"path": "a.txt", "content": "below\n"})
    place.provider.script("m-other", Says(calls=[write]), Says("ok"))
    other = agent("other", tools=["write_file"], isolation={"mode": "copy", "changes": "apply"})
    async with place.bench({"changes": "keep"}, more=other, sub_agents=["other"]) as (made, person):
        await made.run("lead", "go")
    (ref,) = place.repository.refs
    assert person.questions == []
    assert place.read() == "a\n"
    assert place.repository.git("show", f"{ref}:a.txt") == "below"
    assert place.left == []


async def test_the_copy_of_an_agent_with_a_folder_of_its_own_is_that_of_this_folder(
    place: Place,
) -> None:
    place.lead(HELP)
    place.provider.script(
        "m-helper",
        Says(calls=[Call("write_file", {"path": "b.txt", "content": "changed\n"})]),
        Says(calls=[Call("run_command", {"command": "ls; touch ../outside.txt"})]),
        Says("helped"),
    )
    async with place.bench({"changes": "apply"}, workdir="sub") as (made, _):
        await made.run("lead", "go")
    assert place.read("sub/b.txt") == "changed\n"
    assert not (place.folder / "outside.txt").exists()


async def test_what_a_command_changes_outside_of_the_folder_is_not_applied(place: Place) -> None:
    place.lead(HELP)
    command = (
        """echo x > b.txt; python3 -c 'import os; open(os.pardir + os.sep + "outside.txt", "w")'"""
    )
    place.provider.script(
        "m-helper", Says(calls=[Call("run_command", {"command": command})]), Says("helped")
    )
    async with place.bench({"changes": "apply"}, allow=("*",), workdir="sub") as (made, _):
        await made.run("lead", "go")
    told = answer(made)
    assert told.is_error
    assert "outside.txt is outside of the working directory" in told.content
    assert place.read("sub/b.txt") == "b\n"


async def test_a_cancelled_run_leaves_no_copy_and_keeps_its_work(place: Place) -> None:
    place.lead(HELP)
    place.provider.script(
        "m-helper",
        Says(calls=[Call("write_file", {"path": "a.txt", "content": "half\n"})]),
        Says(calls=[Call("run_command", {"command": "sleep 600"})]),
    )
    before = place.repository.state
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        helper = await made.heard(AgentBegin, lambda event: event.run.agent == "helper")
        await made.heard(TurnBegin, lambda e: e.run.agent == "helper" and e.turn == 2)
        made.engine.cancel(helper.run.root_run_id)
        with anyio.fail_after(PATIENCE), pytest.raises(RunCancelledError):
            await run
    assert place.left == []
    (ref,) = place.repository.refs
    assert place.repository.git("show", f"{ref}:a.txt") == "half"
    assert place.read() == "a\n"
    assert place.repository.state == before


async def test_a_copy_that_is_being_made_can_be_stopped(place: Place, tmp_path: Path) -> None:
    """With a git that never ends."""
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    git.write_text(f"#!/bin/sh\necho > {fifo}\nexec sleep 600\n")
    git.chmod(0o755)
    place.environment["PATH"] = f"{git.parent}:{place.environment['PATH']}"
    place.lead(HELP)
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        with anyio.fail_after(PATIENCE):
            await anyio.to_thread.run_sync(fifo.read_bytes)
            made.engine.cancel(made.of(AgentBegin)[0].run.root_run_id)
            with pytest.raises(RunCancelledError):
                await run
    assert place.left == []


async def test_a_failed_run_keeps_its_work_and_says_where(place: Place) -> None:
    place.lead(HELP)
    write = Call("write_file", {"path": "a.txt", "content": "changed\n"})
    look = Call("read_file", {"path": "a.txt"})
    place.provider.script("m-helper", Says(calls=[write]), Says(calls=[look]), Says("never"))
    async with place.bench(budget={"max_tool_calls": 1}, allow=("*",)) as (made, _):
        await made.run("lead", "go")
    told = answer(made)
    (ref,) = place.repository.refs
    assert told.is_error
    assert ref in told.content
    assert place.read() == "a\n"
    assert place.left == []


@pytest.mark.parametrize("is_whole", [True, False])
async def test_work_that_cannot_be_kept_is_left_in_the_copy(
    place: Place, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    def fail(_: TrackedFiles) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(TrackedFiles, "now", fail)
    place.lead(HELP)
    place.writes(**{"a.txt": "changed\n"})
    budget = {} if is_whole else {"budget": {"max_tool_calls": 0}}
    async with place.bench(**budget) as (made, _):
        await made.run("lead", "go")
    told = answer(made)
    (left,) = place.left
    assert told.is_error
    assert f"files are left in {place.state / left / 'tree'}" in told.content
    assert (place.state / left / "tree" / "a.txt").exists()


async def test_a_folder_of_which_no_copy_can_be_made_is_an_error_for_the_caller(
    place: Place,
) -> None:
    place.environment["PATH"] = str(place.folder)
    place.lead(HELP)
    async with place.bench() as (made, _):
        await made.run("lead", "go")
    assert "can be made: git is not installed on this machine" in answer(made).content


async def test_a_root_works_in_its_folder(place: Place) -> None:
    place.writes()
    async with place.bench() as (made, _):
        await made.run("helper", "go")
    assert place.read() == "changed\n"


async def test_a_child_that_only_reads_leaves_nothing(place: Place) -> None:
    place.lead(HELP)
    place.provider.script(
        "m-helper", Says(calls=[Call("read_file", {"path": "a.txt"})]), Says("helped")
    )
    async with place.bench() as (made, person):
        await made.run("lead", "go")
    assert answer(made).content == "helped"
    assert (person.questions, place.repository.refs, place.left) == ([], [], [])


async def test_an_agent_in_a_copy_does_not_change_further_folders(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "library").mkdir()
    place.lead(HELP)
    path = str(tmp_path / "library" / "a.txt")
    place.provider.script(
        "m-helper", Says(calls=[Call("write_file", {"path": path, "content": "x"})]), Says("no")
    )
    async with place.bench() as (made, _):
        await made.run("lead", "go", more_folders=(str(tmp_path / "library"),))
    (write,) = [each for each in made.of(ToolEnd) if each.name == "write_file"]
    assert write.content.endswith("absolute paths are not allowed")
    assert not (tmp_path / "library" / "a.txt").exists()
    assert "## Further Directories" in str(place.provider.asked("m-lead")[0].body)
    assert "## Further Directories" not in str(place.provider.asked("m-helper")[0].body)
