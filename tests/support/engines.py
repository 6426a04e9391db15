"""Engines for tests: agents as text, a scripted provider, and every event kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import tomli_w

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.files.agent_files import AgentFolders
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices
from support.scripted_provider import PATIENCE, ScriptedProvider, name_providers

E = TypeVar("E", bound=Event)
T = TypeVar("T")


@dataclass
class Bench:
    """An engine at work and what is heard of it."""

    engine: Engine
    workspace: Path
    environment: dict[str, str]
    events: list[Event]
    warnings: list[str]
    notes: list[str]
    something_new: asyncio.Event
    on_event: Callable[[Event], object] = bool

    async def run(self, name: str, task: str | None = None, **options: Any) -> RunResult:
        """Run an agent."""
        return await self.engine.run(RunRequest(name, task, **options))

    async def heard(self, kind: type[E], test: Callable[[E], bool] = bool) -> E:
        """Return the first event of a kind that passes the test, as soon as it has happened."""
        while True:
            for event in self.of(kind):
                if test(event):
                    return event
            self.something_new.clear()
            await asyncio.wait_for(self.something_new.wait(), PATIENCE)

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def bench(
    provider: ScriptedProvider,
    workspace: Path,
    agents: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> AsyncIterator[Bench]:
    """Provide an engine for these agents; what the user has set lies below the workspace, too."""
    events: list[Event] = []
    something_new = asyncio.Event()

    def hear(event: Event) -> None:
        events.append(event)
        something_new.set()
        created.on_event(event)

    warnings: list[str] = []
    notes: list[str] = []
    places = {
        "XDG_CONFIG_HOME": str(workspace / "config"),
        "XDG_DATA_HOME": str(workspace / "data"),
        "HOME": str(workspace / "home"),
    }
    name_providers(workspace / "config", agents.values())
    settings = {**places, **provider.environment, **(environment or {})}
    options.setdefault("resolve", resolver(agents))
    of_engine = {name: options.pop(name) for name in ("http", "provider_hook") if name in options}
    services = RunServices(
        workspace=workspace,
        emit=hear,
        warn=warnings.append,
        note=notes.append,
        environment=settings,
        trust=TrustPolicy(settings, trusts_all=True),
        **options,
    )
    engine = Engine(services, **of_engine)
    async with engine:
        created = Bench(engine, workspace, settings, events, warnings, notes, something_new)
        yield created


@asynccontextmanager
async def running(coroutine: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Provide a task that does not outlive its test."""
    task = asyncio.create_task(coroutine)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


def agent(name: str, dialect: str = "openai", **keys: Any) -> dict[str, str]:
    """Return an agent file, by name; its model is `m-<name>`."""
    return {name: tomli_w.dumps({"name": name, "model": f"{dialect}/m-{name}", **keys})}


def resolver(agents: Mapping[str, str]) -> Callable[[str, Caller], AgentDefinition]:
    """Finds agents among texts, by name; in the words in which real folders are searched."""
    folder = Path("/agents")
    folders = AgentFolders(
        [folder], {folder / f"{name}.toml": text for name, text in agents.items()}
    )
    return lambda name, _caller: folders.resolve(name)
