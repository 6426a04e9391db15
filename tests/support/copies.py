"""Agents with `[isolation] mode = "copy"` in tests: a repository, a lead that calls a helper, and a person."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from axe_lsp.runtime.events import AgentPlace, ToolEnd
from axe_lsp.runtime.safety.approval import Approval
from axe_lsp.runtime.safety.questions import Answer, Question
from support.answers import Call, Says, calls_agent
from support.engines import Bench, agent, bench
from support.repositories import Repository
from support.scripted_provider import ScriptedProvider

HELP = calls_agent("helper", "help", call_id="c1")


class Person:
    """Somebody who is asked: `decides` about each question, and otherwise agrees."""

    def __init__(self, allow: tuple[str, ...]) -> None:
        self.questions: list[Question] = []
        self.decides: Callable[[Question], Answer] = lambda _: Answer("allow")
        self.approval = Approval(self._ask, allow)

    async def _ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.decides(question)

    @property
    def asked(self) -> list[tuple[str, object]]:
        return [(each.tool, each.arguments.get("path")) for each in self.questions]


class Place:
    """A repository in which a lead calls an agent in a copy."""

    def __init__(self, tmp_path: Path, provider: ScriptedProvider) -> None:
        self.repository = Repository(tmp_path / "project", {"a.txt": "a\n", "sub/b.txt": "b\n"})
        self.folder = self.repository.folder
        self.state = tmp_path / "state" / "axe" / "copies"
        self.provider = provider
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path / "home"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }

    @asynccontextmanager
    async def bench(
        self,
        isolation: Mapping[str, str] | None = None,
        *,
        allow: tuple[str, ...] = ("write_file", "run_command"),
        more: Mapping[str, str] | None = None,
        machines: Any = None,
        **keys: Any,
    ) -> AsyncIterator[tuple[Bench, Person]]:
        person = Person(allow)
        keys.setdefault("tools", ["write_file", "read_file", "run_command"])
        agents = {
            **agent("lead", sub_agents=["helper", "other"]),
            **agent("helper", isolation={"mode": "copy", **(isolation or {})}, **keys),
            **(more or {}),
        }
        approve = person.approval
        async with bench(
            self.provider, self.folder, agents, self.environment, approve=approve, machines=machines
        ) as made:
            yield made, person

    def lead(self, *calls: Call) -> None:
        self.provider.script("m-lead", Says(calls=list(calls)), Says("done"))

    def writes(self, **files: str) -> None:
        """The helper writes `a.txt`, or whatever is given."""
        named = files or {"a.txt": "changed\n"}
        calls = [
            Call("write_file", {"path": path.replace("__", "/"), "content": text}, f"w{number}")
            for number, (path, text) in enumerate(named.items())
        ]
        self.provider.script("m-helper", Says(calls=calls), Says("helped"))

    def commands(self, *commands: str) -> None:
        """The helper executes commands, one after the other."""
        calls = (Call("run_command", {"command": each}, f"r{n}") for n, each in enumerate(commands))
        self.provider.script("m-helper", *(Says(calls=[call]) for call in calls), Says("helped"))

    def read(self, path: str = "a.txt") -> str:
        return (self.folder / path).read_text()

    @property
    def left(self) -> list[str]:
        """What there is of copies."""
        return [each.name for each in self.state.iterdir() if each.is_dir()]


def answer(made: Bench) -> ToolEnd:
    """Return what the lead is told of its call."""
    return next(each for each in made.of(ToolEnd) if each.name == "call_agent")


def placed(made: Bench, name: str = "helper") -> list[tuple[str, str | None]]:
    """Return the places of an agent, and what it waited for."""
    return [(each.place, each.waiting) for each in made.of(AgentPlace) if each.run.agent == name]


def results(made: Bench, name: str = "run_command") -> list[ToolEnd]:
    return [each for each in made.of(ToolEnd) if each.name == name]


def waiting(made: Bench) -> list[str]:
    """Return the machines on which somebody has waited for a slot."""
    return sorted(each.place for each in made.of(AgentPlace) if each.waiting == "a slot")
