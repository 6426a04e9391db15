"""Agents in copies on other machines: the same as in copies here, and what happens when a machine is lost."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.hosting.places.machines import Machines, MirroredCopy
from axe_lsp.runtime.events import AgentEnd, AgentPlace, ToolBegin
from axe_lsp.runtime.safety.questions import Answer
from support.answers import Call, Says, calls_agent
from support.copies import HELP, Person, Place, answer, placed, results, waiting
from support.engines import Bench, agent, running
from support.machines import SshMachines
from support.processes import Sleepers
from support.scripted_provider import ScriptedProvider
from support.waiting import promptly, until


class FarPlace(Place):
    """A place whose copies are on two machines."""

    def __init__(self, tmp_path: Path, provider: ScriptedProvider) -> None:
        super().__init__(tmp_path, provider)
        self.machines = SshMachines(tmp_path / "machines", "build1", "build2")
        self.config = tmp_path / "config"
        self.machines.configure(self.config)
        self.silence = 15.0

    @asynccontextmanager
    async def bench(self, *arguments: Any, **keys: Any) -> AsyncIterator[tuple[Bench, Person]]:
        environment = {**self.environment, **self.provider.environment}
        machines = Machines(environment, silence=self.silence)
        async with super().bench(*arguments, machines=machines, **keys) as (made, person):
            yield made, person
        await self.machines.wait_until_gone()


@pytest.fixture
def place(tmp_path: Path, provider: ScriptedProvider) -> FarPlace:
    return FarPlace(tmp_path, provider)


async def test_changes_come_home_as_from_a_copy_here(place: FarPlace) -> None:
    place.repository.write({"a.txt": "dirty\n", "untracked.txt": "u\n", "gone.txt": "g\n"})
    before = place.repository.state
    place.lead(HELP)
    place.provider.script(
        "m-helper",
        Says(calls=[Call("read_file", {"path": "a.txt"}, "c1")]),
        Says(calls=[Call("write_file", {"path": "sub/new.txt", "content": "new\n"}, "c2")]),
        Says(
            calls=[
                Call(
                    "run_command",
                    {
                        "command": "cat a.txt untracked.txt; echo there > a.txt; rm gone.txt;"
                        "printf '\\0\\377' > bin; chmod +x bin; ln -s a.txt link; echo $MACHINE; git log --oneline | wc -l"
                    },
                    "c3",
                )
            ]
        ),
        Says("helped"),
    )
    async with place.bench() as (made, person):
        result = await made.run("lead", "go")
    assert result.content == "done"
    assert results(made, "read_file")[0].content == "1: dirty"
    assert results(made)[0].content == "dirty\nu\n\n1\n"
    assert placed(made) == [("", "a machine"), ("ssh://build1", None)]
    names = ["a.txt", "bin", "gone.txt", "link", "sub/new.txt"]
    assert person.asked == [("apply_changes", name) for name in names]
    assert person.questions[0].change is not None
    assert person.questions[0].change.before == "dirty\n"
    assert place.read() == "there\n"
    assert (place.folder / "bin").read_bytes() == b"\0\377"
    assert (place.folder / "bin").stat().st_mode & 0o100
    assert (place.folder / "link").readlink() == Path("a.txt")
    assert not (place.folder / "gone.txt").exists()
    assert (place.repository.refs, place.left) == ([], [])
    assert place.repository.state == before


async def test_no_prompt_and_no_key_gets_there(place: FarPlace) -> None:
    place.lead(HELP)
    place.commands("env | sort")
    place.environment["OPENAI_API_KEY"] = "sk-of-the-user"
    async with place.bench(system_prompt="a secret prompt") as (made, _):
        await made.run("lead", "go")
    assert "OF-THE-USER" not in place.machines.environment("build1").upper()
    shown = results(made)[0].content
    assert "PATH=" in shown
    assert "API_KEY" not in shown
    (asked,) = place.machines.asked
    assert asked.endswith("build1 axe-lsp hands")


async def test_copies_go_to_the_machine_with_the_fewest(place: FarPlace, tmp_path: Path) -> None:
    place.machines.configure(place.config, "slots = 1")
    place.lead(*(calls_agent("helper", f"help {n}", call_id=f"c{n}") for n in range(4)))
    place.repository.write({"wait.sh": f"until [ -e {tmp_path}/go ]; do sleep 0.02; done\n"})
    wait = Call("run_command", {"command": "sh wait.sh"}, "r")
    place.provider.script("m-helper", *[Says(calls=[wait])] * 4, *[Says("helped")] * 4)
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await until(lambda: len(waiting(made)) == 2)
        (tmp_path / "go").touch()
        await run
    seats: dict[str, str] = {}
    for each in made.of(AgentPlace):
        if each.place:
            seats[each.run.run_id] = each.place
    assert sorted(seats.values()) == ["ssh://build1"] * 2 + ["ssh://build2"] * 2
    assert waiting(made) == ["ssh://build1", "ssh://build2"]
    assert len(place.machines.asked) == 2


async def test_the_clock_stands_still_while_a_run_waits_for_a_slot(place: FarPlace) -> None:
    place.machines.hosts = ("build1",)
    place.machines.configure(place.config, "slots = 1")
    place.lead(*(calls_agent("helper", f"help {n}", call_id=f"c{n}") for n in range(3)))
    place.provider.script(
        "m-helper",
        *[Says(calls=[Call("run_command", {"command": "sleep 4"}, "r")])] * 3,
        *[Says("helped")] * 3,
    )
    async with place.bench(timeout=10) as (made, _):
        await made.run("lead", "go")
    ends = [each for each in made.of(AgentEnd) if each.run.agent == "helper"]
    assert [each.status for each in ends] == ["completed"] * 3
    assert max(each.duration_ms for each in ends) > 10_000


async def test_the_next_command_does_not_wait_until_changes_are_brought_here(
    place: FarPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.machines.hosts = ("build1",)
    place.machines.configure(place.config, "slots = 1")
    marks = tmp_path / "marks"
    place.repository.write({"mark.sh": f"echo x >> {marks}\n"})
    place.lead(*(calls_agent("helper", f"help {n}", call_id=f"c{n}") for n in range(2)))
    mark = Call("run_command", {"command": "sh mark.sh"}, "r")
    place.provider.script("m-helper", *[Says(calls=[mark])] * 2, *[Says("helped")] * 2)
    collect = MirroredCopy._collect

    async def late(self: MirroredCopy, location: Any) -> None:
        await until(lambda: marks.read_text() == "x\nx\n")
        await collect(self, location)

    monkeypatch.setattr(MirroredCopy, "_collect", late)
    async with place.bench() as (made, _):
        await made.run("lead", "go")
    assert [each.is_error for each in results(made)] == [False, False]


async def test_a_lost_machine_costs_a_reading_call_nothing(place: FarPlace) -> None:
    place.lead(HELP)
    place.provider.script(
        "m-helper",
        Says(calls=[Call("write_file", {"path": "a.txt", "content": "written\n"}, "c1")]),
        Says(calls=[Call("read_file", {"path": "a.txt"}, "c2")]),
        Says("helped"),
    )
    async with place.bench(tools=["write_file", "read_file"]) as (made, _):

        def lose(event: object) -> None:
            if isinstance(event, ToolBegin) and event.name == "read_file":
                place.machines.kill("build1")

        made.on_event = lose
        await made.run("lead", "go")
    assert results(made, "read_file")[0].content == "1: written"
    assert [each for each, _ in placed(made) if each] == ["ssh://build1", "ssh://build2"]
    assert any("was lost" in each and "ssh://build2" in each for each in made.warnings)
    assert place.read() == "written\n"


async def test_agents_whose_only_machine_was_lost_share_a_new_connection(place: FarPlace) -> None:
    place.machines.hosts = ("build1",)
    place.machines.configure(place.config)
    place.lead(*(calls_agent("helper", f"help {n}", call_id=f"c{n}") for n in range(3)))
    place.provider.script(
        "m-helper",
        *[Says(calls=[Call("read_file", {"path": "a.txt"}, "r")])] * 3,
        *[Says("helped")] * 3,
    )
    async with place.bench() as (made, _):
        begun: list[ToolBegin] = []

        def lose(event: object) -> None:
            if isinstance(event, ToolBegin) and event.name == "read_file":
                begun.append(event)
                if len(begun) == 1:
                    place.machines.kill("build1")

        made.on_event = lose
        await made.run("lead", "go")
    assert [each.content for each in results(made, "read_file")] == ["1: a"] * 3
    assert len(place.machines.asked) == 2


async def test_a_changing_call_on_a_lost_machine_is_told_and_not_repeated(
    place: FarPlace, tmp_path: Path
) -> None:
    mark = tmp_path / "effects"
    place.lead(HELP)
    # A command may reach out of its copy by way of a script.
    place.repository.write({"effect.sh": f"echo x >> {mark}; echo lost > a.txt; sleep 60\n"})
    place.commands("echo first > a.txt", "sh effect.sh", "cat a.txt")
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await until(mark.exists)
        place.machines.kill("build1")
        await run
    told = results(made)[1]
    assert told.is_error
    assert "was lost during this call" in told.content
    assert "Look before you do it again" in told.content
    assert results(made)[2].content == "first\n"
    assert mark.read_text() == "x\n"
    assert place.read() == "first\n"


async def test_the_second_loss_ends_the_agent_and_keeps_its_work(place: FarPlace) -> None:
    place.lead(HELP)
    place.provider.script(
        "m-helper",
        Says(calls=[Call("write_file", {"path": "a.txt", "content": "kept\n"}, "w")]),
        *[Says(calls=[Call("read_file", {"path": "a.txt"}, f"r{n}")]) for n in range(3)],
    )
    async with place.bench(tools=["write_file", "read_file"]) as (made, _):

        def lose(event: object) -> None:
            if isinstance(event, ToolBegin) and event.name == "read_file":
                place.machines.kill("build1")
                place.machines.kill("build2")

        made.on_event = lose
        await made.run("lead", "go")
    (end,) = (each for each in made.of(AgentEnd) if each.run.agent == "helper")
    assert end.status == "failed"
    assert "for the second time" in str(end.error)
    (ref,) = place.repository.refs
    assert place.repository.git("show", f"{ref}:a.txt") == "kept"
    assert place.read() == "a\n"


async def test_a_machine_that_does_not_answer_is_lost(place: FarPlace) -> None:
    place.silence = 4.0
    place.lead(HELP)
    place.provider.script(
        "m-helper", Says(calls=[Call("read_file", {"path": "a.txt"}, "r")]), Says("helped")
    )
    async with place.bench() as (made, _):

        def lose(event: object) -> None:
            if isinstance(event, ToolBegin) and event.name == "read_file":
                place.machines.kill("build1", signal.SIGSTOP)  # Our side ends it later.

        made.on_event = lose
        await made.run("lead", "go")
        assert results(made, "read_file")[0].content == "1: a"
        assert any("nothing was heard from it for 4 s" in each for each in made.warnings)
        place.machines.kill("build1")


@pytest.mark.parametrize(
    ("words", "wait", "told"),
    [
        (
            "ssh: connect to host build1 port 22: Connection refused",
            3,
            "no machine for its copy can be reached within 3 s: ssh://build1: ssh: connect to host build1 port 22: "
            "Connection refused; ssh://build2: ",
        ),
        (
            "me@build1: Permission denied (publickey).",
            60,
            "no machine for its copy can be reached: ssh://build1: me@build1: Permission denied (publickey); ",
        ),
    ],
)
async def test_without_a_machine_the_agent_fails_and_nothing_is_done_here(
    place: FarPlace, words: str, wait: int, told: str
) -> None:
    place.machines.configure(place.config, f"wait = {wait}")
    for host in place.machines.hosts:
        place.machines.refuse(host, words)
    place.lead(HELP)
    async with place.bench() as (made, _):
        await made.run("lead", "go")
    (end,) = (each for each in made.of(AgentEnd) if each.run.agent == "helper")
    assert told in str(end.error)
    assert 'engine = "here"' in str(end.error)
    assert made.warnings == [f'agent "helper": {end.error}']
    assert end.turns == 0
    assert place.left == []


async def test_without_ssh_on_this_machine_nobody_is_told_to_install_something_elsewhere(
    place: FarPlace,
) -> None:
    place.machines.ssh.unlink()
    place.lead(HELP)
    async with place.bench() as (made, _):
        await made.run("lead", "go")
    (end,) = (each for each in made.of(AgentEnd) if each.run.agent == "helper")
    missing = f"{place.machines.ssh} is not installed on this machine; install OpenSSH"
    assert f"no machine for its copy can be reached: ssh://build1: {missing}" in str(end.error)
    assert "there" not in str(end.error)


async def test_a_machine_that_comes_up_in_time_is_used(place: FarPlace) -> None:
    for host in place.machines.hosts:
        place.machines.refuse(host, "ssh: connect to host: Connection refused")
    place.lead(HELP)
    place.writes()
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await made.heard(AgentPlace, lambda event: event.waiting == "a machine")
        place.machines.admit("build2")
        await run
    assert placed(made)[-1] == ("ssh://build2", None)
    assert place.read() == "changed\n"


async def test_another_version_is_said_in_one_line(place: FarPlace) -> None:
    hello = '{"type":"hello","version":"9.9.9 1"}'
    place.machines.ssh.write_text(
        f"#!/bin/sh\necho Welcome!\necho '{hello}'\nexec cat >/dev/null\n"
    )
    place.lead(HELP)
    async with place.bench() as (made, _):
        await made.run("lead", "go")
    (end,) = (each for each in made.of(AgentEnd) if each.run.agent == "helper")
    assert "axe-lsp there is version 9.9.9, and here it is 0." in str(end.error)
    assert "\n" not in str(end.error)


async def test_a_cancelled_run_ends_its_command_there(place: FarPlace) -> None:
    sleepers = Sleepers()
    place.lead(HELP)
    place.commands(sleepers.command)
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await made.heard(ToolBegin, lambda event: event.name == "run_command")
        await until(sleepers.count)
        run.cancel()
        with promptly():
            await until(lambda: not sleepers.count())
        await asyncio.wait([run])
    assert place.left == []


async def test_agents_that_are_called_in_a_copy_work_there_too(place: FarPlace) -> None:
    more = {
        **agent("other", tools=["run_command"], isolation={"mode": "process"}),
        **agent("third", tools=["write_file"], isolation={"mode": "copy", "changes": "apply"}),
    }
    place.lead(HELP)
    place.provider.script(
        "m-helper",
        Says(calls=[Call("write_file", {"path": "a.txt", "content": "one\n"}, "w")]),
        Says(calls=[calls_agent("other", "look", call_id="o")]),
        Says(calls=[calls_agent("third", "change", call_id="t")]),
        Says(calls=[Call("run_command", {"command": "cat a.txt b.txt"}, "r")]),
        Says("helped"),
    )
    look = Call("run_command", {"command": "cat a.txt"}, "r")
    place.provider.script("m-other", Says(calls=[look]), Says("seen"))
    change = Call("write_file", {"path": "b.txt", "content": "two\n"}, "w")
    place.provider.script("m-third", Says(calls=[change]), Says("changed"))
    async with place.bench(more=more, sub_agents=["other", "third"]) as (made, _):
        await made.run("lead", "go")
    seen, after = results(made)
    assert seen.content == "one\n"
    assert after.content == "one\ntwo\n"
    assert placed(made, "other") == [("ssh://build1", None)]
    assert placed(made, "third")[-1] == ("ssh://build2", None)
    assert (place.read(), place.read("b.txt")) == ("one\n", "two\n")


async def test_nothing_is_asked_of_a_machine_with_the_engine_here(place: FarPlace) -> None:
    place.machines.configure(place.config)
    file = place.config / "axe" / "config.toml"
    file.write_text(file.read_text().replace('engine = "ssh"', 'engine = "here"'))
    place.lead(HELP)
    place.writes()
    async with place.bench() as (made, person):
        person.decides = lambda _: Answer("allow")
        await made.run("lead", "go")
    assert [each for each, _ in placed(made)] == ["here"]
    assert not (place.machines.folder / "asked").exists()
    assert not answer(made).is_error


async def test_a_machine_that_lies_about_a_command_gets_no_rule_for_another_one(
    place: FarPlace,
) -> None:
    elsewhere = json.dumps(f"{place.folder}\ntouch here")
    lie = f'"purpose":"look","details":"ls","subject":{elsewhere},"forRun":"nothing"'
    place.machines.lie("build1", r'"purpose":.*(?=\}$)', lie)
    here = Call("run_command", {"command": "touch here"}, "l2")
    place.provider.script("m-lead", Says(calls=[HELP]), Says(calls=[here]), Says("done"))
    place.commands("touch there")
    lead = agent("lead", sub_agents=["helper"], tools=["run_command"])
    async with place.bench(allow=(), more=lead) as (made, person):
        person.decides = lambda _: Answer("allowForRun")
        await made.run("lead", "go")
    commands = [each for each in person.questions if each.tool == "run_command"]
    assert [each.details for each in commands] == ["touch there", "touch here"]
    assert [each.for_run for each in commands] == ["this command"] * 2
    assert not any("look" in each.reason for each in commands)
