"""What a session offers: its agents, models and thinking efforts, and commands that are typed instead of a message.

Commands are answered without a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.schema.models import MODELS
from axe_lsp.agentfile.schema.providers import EFFORTS
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.queries import Wanted, past_runs
from axe_lsp.hosting.history.stored_sessions import StoredSession
from axe_lsp.runtime.agent_search import AgentSearch, agent_search_in
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.prepare import prepare_request
from axe_lsp.runtime.preview import preview_json
from axe_lsp.runtime.runs import RunRequest

AS_IN_FILE = "file"
"""The value of an option that leaves the choice to the agent file."""

Option = dict[str, Any]
"""A SessionConfigOption of the protocol."""


class Offers(Struct, frozen=True):
    """The agents of a folder that can be run, as name and description, and the models for which there is a key.

    The first agent is the one that nobody has to choose. `folders` are those in which agents were looked for.
    """

    agents: tuple[tuple[str, str], ...]
    models: tuple[str, ...]
    folders: tuple[Path, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the agents."""
        return frozenset(name for name, _ in self.agents)

    def options(self, agent: str, model: str, effort: str) -> list[Option]:
        """Return the options of a session, with their values."""
        return [
            _select("agent", "Agent", "mode", agent, self.agents),
            _select("model", "Model", "model", model or AS_IN_FILE, _with_file(self.models, model)),
            _select("effort", "Effort", "thought_level", effort or AS_IN_FILE, _with_file(EFFORTS)),
        ]

    def modes(self, agent: str) -> dict[str, Any]:
        """Return the agents as modes, for clients that know no options."""
        modes = [
            {"id": name, "name": name, **({"description": text} if text else {})}
            for name, text in self.agents
        ]
        return {"currentModeId": agent, "availableModes": modes}


def offers_in(folder: Path) -> Offers:
    """Return the choices in a folder. Blocks. Raises RunError if no agent can be run there."""
    here = agent_search_in(folder)
    found = list(here.agents.list())
    sound = [(name, it) for name, _, it in found if isinstance(it, AgentDefinition)]
    called = {child for _, agent in sound for child in agent.sub_agents}
    # Agents that others call come last: they are helpers, mostly.
    ordered = sorted(sound, key=lambda each: (each[0] in called, each[0]))
    agents = tuple((name, agent.description) for name, agent in ordered)
    return Offers(agents, _models(), (*here.agents.all_folders,))


def no_agent(folder: Path) -> ConfigError:
    """Return why a session can't begin."""
    return ConfigError(
        f"no agent can be run in {folder}; `axe-lsp init` makes one there, and "
        "`axe-lsp check` says what is wrong with those that are there"
    )


def _models() -> tuple[str, ...]:
    """Return the known models of the providers for which the user has a key."""
    try:
        config = load_user_config(os.environ)
    except RunError:  # It is told when an agent is run.
        return ()
    providers = {model.provider for model in MODELS}
    usable = {name for name in providers if config.key_origin(name)}
    return tuple(str(model) for model in MODELS if model.provider in usable)


def _with_file(values: Sequence[str], current: str = "") -> Iterable[tuple[str, str]]:
    yield AS_IN_FILE, ""
    for value in dict.fromkeys((*([current] if current else ()), *values)):
        yield value, ""


def _select(
    id_: str, name: str, category: str, current: str, values: Iterable[tuple[str, str]]
) -> Option:
    options = [
        {
            "value": value,
            "name": "as in the agent file" if value == AS_IN_FILE else value,
            **({"description": text} if text else {}),
        }
        for value, text in values
    ]
    return {
        "id": id_,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": options,
    }


# -- commands


COMMANDS: Mapping[str, str] = {
    "agents": "list the agents of this folder",
    "graph": "show whom the chosen agent calls",
    "preview": "show what the chosen agent would send, without sending it",
    "history": "list the last runs in this folder",
}
"""The commands after a slash, and their effects."""

_MOST_RUNS = 20


def command_in(task: str) -> str:
    """Return the command that a message is; "" if it is none."""
    word = task.strip()
    return word[1:] if word.startswith("/") and word[1:] in COMMANDS else ""


def answer_to(command: str, session: StoredSession, more_folders: tuple[str, ...]) -> str:
    """Return the answer to a command, in Markdown. Blocks."""
    folder = Path(session.folder)
    try:
        match command:
            case "agents":
                return "\n".join(_agents(folder, session.agent))
            case "graph":
                here = agent_search_in(folder)
                return "```\n" + "\n".join(_graph(here, session.agent, "", ())) + "\n```"
            case "preview":
                return _preview(folder, session, more_folders)
            case _:
                return "\n".join(_runs(folder)) or "No run in this folder is remembered."
    except RunError as error:
        return f"{error}. {error.hint}" if error.hint else str(error)


def _agents(folder: Path, chosen: str) -> Iterator[str]:
    for name, description in offers_in(folder).agents:
        mark = " (chosen)" if name == chosen else ""
        yield f"- **{name}**{mark}{': ' if description else ''}{description}"


def _graph(here: AgentSearch, name: str, indent: str, above: tuple[str, ...]) -> Iterator[str]:
    """Yield an agent and below it those that it calls. One that calls itself is named once more, and not followed."""
    if name in above:
        yield f"{indent}{name} (calls itself)"
        return
    try:
        children = here.agents.resolve(name).sub_agents
    except ConfigError as error:
        yield f"{indent}{name} ({error})"
        return
    yield f"{indent}{name}"
    for child in children:
        yield from _graph(here, child, indent + "  ", (*above, name))


def _preview(folder: Path, session: StoredSession, more_folders: tuple[str, ...]) -> str:
    here = agent_search_in(folder)
    workspace = here.workspace_of(here.agents.find(session.agent))
    request = RunRequest(
        session.agent, "", model=session.model, effort=session.effort, more_folders=more_folders
    )
    prepared = prepare_request(request, here.lookup.resolver(), workspace, os.environ)
    return f"```\n{preview_json(prepared)['text']}\n```"


def _runs(folder: Path) -> Iterator[str]:
    with opened_history() as connection:
        runs = past_runs(connection, Wanted(limit=_MOST_RUNS, folders=(str(folder),)))
    for run in runs:
        task = " ".join(str(run.get("task", "")).split())[:80]
        began = str(run["began"])[:16].replace("T", " ")
        yield f"- `{str(run['runId'])[:8]}` {began} UTC, {run['agent']}, {run['status']}: {task}"
