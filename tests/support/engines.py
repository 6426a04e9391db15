"""Engines for tests: agents as text, a scripted provider, and every event kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from axe_lsp.agentfile.definition import AgentDefinition
from axe_lsp.runtime.agent_files import AgentFolders
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.runs import RunRequest, RunResult
from support.scripted_provider import ScriptedProvider

E = TypeVar("E", bound=Event)


@dataclass
class Bench:
    """An engine at work and what is heard of it."""

    engine: Engine
    workspace: Path
    events: list[Event]
    warnings: list[str]
    notes: list[str]

    async def run(self, agent: str, task: str | None = None, **options: Any) -> RunResult:
        """Run an agent."""
        return await self.engine.run(RunRequest(agent, task, **options))

    def of(self, kind: type[E]) -> list[E]:
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def bench(
    provider: ScriptedProvider,
    workspace: Path,
    agents: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> AsyncIterator[Bench]:
    """An engine for these agents; what the user has set lies below the workspace, too."""
    events: list[Event] = []
    warnings: list[str] = []
    notes: list[str] = []
    places = {
        "XDG_CONFIG_HOME": str(workspace / "config"),
        "XDG_DATA_HOME": str(workspace / "data"),
        "HOME": str(workspace / "home"),
    }
    engine = Engine(
        resolve=resolver(agents),
        workspace=workspace,
        emit=events.append,
        warn=warnings.append,
        note=notes.append,
        environment={**places, **provider.environment, **(environment or {})},
        **options,
    )
    async with engine:
        yield Bench(engine, workspace, events, warnings, notes)


def resolver(agents: Mapping[str, str]) -> Callable[[str, Path], AgentDefinition]:
    """Finds agents among texts, by name; in the words in which real folders are searched."""
    folder = Path("/agents")
    folders = AgentFolders(
        [folder], {folder / f"{name}.toml": text for name, text in agents.items()}
    )
    return lambda name, _base: folders.resolve(name)
