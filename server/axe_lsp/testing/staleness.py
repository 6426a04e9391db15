"""Recordings that no longer fit the files of their agents, found without a run.

A run is stale if its request differs; its files, its skill and its children's results are known only then.
What is known before are the model, the agent's own prompt, with which the recorded one begins, the agents that it
may call, and the tools of the agents that are tested. Only what certainly makes a replay stale is reported. Everything here may block.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.schema.providers import ModelNameError, parse_model_name
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import Lookup, agent_places, caller_of
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.prepare import offered_tools
from axe_lsp.runtime.recordings.file import load_recording
from axe_lsp.runtime.recordings.recording import RecordedRun, comparable_tools
from axe_lsp.runtime.recordings.replay import differing_at, excerpt
from axe_lsp.runtime.safety.redaction import redact

_Stamp = tuple[int, int, int]
"""Modification time in nanoseconds, size and inode of a file. A file that is written again has another one."""

_Resolve = Callable[[str, Caller], AgentDefinition | None]


def stale_recordings(
    paths: Iterable[Path], agent: str, project: Path, environment: Environment
) -> Iterator[tuple[Path, str]]:
    """Yield each recording with the reason why its replay for a test of `agent` will fail, "" if none is known.

    A recording outside the project, or one that is not there, is left out.
    """
    try:
        resolve = _resolver(project, environment)
        secrets = known_secrets(environment)
    except ConfigError:
        return
    root = project.resolve()
    for path in paths:
        try:
            real = path.resolve()
            status = real.stat()
        # Not there; a circle of links; a NUL in the name.
        except (OSError, RuntimeError, ValueError):
            continue
        if root in real.parents:
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            recorded = _recorded(real, stamp)
            changes = _Changes(resolve, project, environment, secrets)
            yield path, recorded.fault or next(changes.of(recorded, agent), "")


class _Recorded(NamedTuple):
    """The runs of a recording without their turns, or the fault because of which it can't be read.

    `has_results` says whether all results of calls are compared: one written by hand may leave them out.
    """

    runs: tuple[RecordedRun, ...] = ()
    has_results: bool = False
    fault: str = ""


@lru_cache(maxsize=4096)
def _recorded(path: Path, _: _Stamp) -> _Recorded:
    """Return what a recording says. A file is parsed once."""
    try:
        recording = load_recording(path)
    except ConfigError as error:
        return _Recorded(fault=str(error))
    # Most recordings of a project have the same prompts.
    runs = tuple(
        replace(each, system=sys.intern(each.system) if each.system is not None else None, turns=())
        for each in recording.runs
        if each.turns
    )
    has_results = all(turn.sent is not None for each in recording.runs for turn in each.turns[1:])
    return _Recorded(runs, has_results)


def _resolver(project: Path, environment: Environment) -> _Resolve:
    """Find agents as a run does. Each file is read once. Raises ConfigError without a home folder."""
    resolve = Lookup(agent_places([project], environment)).resolver()

    @cache
    def found(name: str, caller: Caller) -> AgentDefinition | None:
        try:
            return resolve(name, caller)
        except ConfigError:
            return None

    return found


class _Changes:
    """The differences from a recording."""

    def __init__(
        self, resolve: _Resolve, project: Path, environment: Environment, secrets: frozenset[str]
    ) -> None:
        self._resolve = resolve
        self._project = project
        self._environment = environment
        self._secrets = secrets

    def of(self, recorded: _Recorded, agent: str) -> Iterator[str]:
        """Yield the changes since a recording was made for a test of `agent`, in the order of its runs."""
        runs = recorded.runs
        if not any(run.agent == agent and run.depth == 0 for run in runs):
            yield f"it has no run of agent {quoted(agent)}"
            return
        levels: dict[int, list[AgentDefinition]] = {}
        unknown: set[int] = set()
        for number, run in enumerate(runs, 1):
            callers = levels.get(run.depth - 1, [])
            now = list(self._now(run, callers))
            levels.setdefault(run.depth, []).extend(now)
            if not now:
                unknown.add(run.depth)
            is_known = recorded.has_results and callers and run.depth - 1 not in unknown
            # As a sub-agent, or as a type of the tool `Task`.
            may_call = any(
                run.agent in each.sub_agents or each.task is not None for each in callers
            )
            if is_known and not may_call:
                yield f"run {number}: no caller has agent {quoted(run.agent)} in sub_agents"
            changes = [next(self._compared(run, each), "") for each in now]
            if changes and all(changes):
                yield f"run {number} (agent {quoted(run.agent)}), {changes[0]}"

    def _now(
        self, run: RecordedRun, callers: Iterable[AgentDefinition]
    ) -> Iterator[AgentDefinition]:
        """Yield the agents of today that a recorded run may be one of.

        A called agent is looked up from each that may have called it, where the place of that is known before a
        run. A type of the tool `Task` may differ with its caller.
        """
        if run.depth == 0:
            seen_from = [Caller()]
        else:
            seen_from = [
                self._place(each)
                for each in callers
                if run.agent in each.sub_agents
                and not each.workdir
                and (each.task is None or each.task.find(run.agent) is None)
            ]
        for caller in dict.fromkeys(seen_from):
            definition = self._resolve(run.agent, caller)
            if definition is not None:
                yield definition

    def _place(self, definition: AgentDefinition) -> Caller:
        return caller_of(definition, "", self._project, self._environment)

    def _compared(self, run: RecordedRun, now: AgentDefinition) -> Iterator[str]:
        """Yield the fields of the first request that are certainly not the recorded ones."""
        try:
            model = str(parse_model_name(now.model)) if now.model else ""
        except ModelNameError:
            model = ""
        if model and run.model and model != run.model:
            yield f"model: recorded {quoted(run.model)}, now {quoted(model)}"
        if run.system is not None:
            own = redact(now.system_prompt, self._secrets)
            if not run.system.startswith(own) or not _may_follow(run.system[len(own) :], now):
                place = differing_at(run.system, own)
                yield (
                    f"system differs at character {place + 1}: "
                    f"recorded {excerpt(run.system, place)}, now {excerpt(own, place)}"
                )
        if run.tools is not None and run.depth == 0:
            yield from self._changed_tools(run.tools, now)

    def _changed_tools(self, recorded: tuple[str, ...], now: AgentDefinition) -> Iterator[str]:
        """Yield a reason if the tools have changed. Tools of MCP servers come after the agent's own."""
        if now.workdir and now.sub_agents:
            return  # Its children are looked up from a folder of the copied workspace.
        place = self._place(now) if not now.workdir else Caller()
        tools, _ = offered_tools(
            now, 0, now.max_depth, lambda name: self._loaded(name, place), asks_editor=True
        )
        names = comparable_tools(tools, recorded)
        known = recorded[: len(names)] if now.mcp_servers else recorded
        if known != names:
            yield f"tools: recorded {', '.join(recorded) or 'none'}, now {', '.join(names) or 'none'}"

    def _loaded(self, name: str, caller: Caller) -> AgentDefinition:
        definition = self._resolve(name, caller)
        if definition is None:
            raise ConfigError(f"agent {quoted(name)} can't be loaded")
        return definition


def _may_follow(rest: str, now: AgentDefinition) -> bool:
    """Return whether a recorded prompt may go on so after the agent's own."""
    has_more = now.skill or now.files or now.memory.enabled or now.output is not None
    return not rest or (bool(has_more) and rest.startswith("\n\n"))
