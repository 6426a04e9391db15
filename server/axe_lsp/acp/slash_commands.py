"""Commands that are typed instead of a message, and answered without a model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from axe_lsp.acp.offers import offers_in
from axe_lsp.hosting.history import local
from axe_lsp.hosting.history.queries import Wanted
from axe_lsp.hosting.history.stored_sessions import StoredSession
from axe_lsp.runtime.agent_search import AgentSearch, agent_search_in
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.prepare import prepare_request
from axe_lsp.runtime.preview import preview_json
from axe_lsp.runtime.runs import RunRequest

COMMANDS: Mapping[str, str] = {
    "agents": "list the agents of this folder",
    "graph": "show whom the chosen agent calls",
    "preview": "show what the chosen agent would send, without sending it",
    "history": "list the last runs in this folder",
}
"""The commands after a slash, and their effects."""

_MOST_RUNS = 20


def command_in(task: str) -> str:
    """The command that a message is; "" if it is none."""
    word = task.strip()
    return word[1:] if word.startswith("/") and word[1:] in COMMANDS else ""


def answer_to(command: str, session: StoredSession, more_folders: tuple[str, ...]) -> str:
    """The answer to a command, in Markdown. Blocks."""
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
    """An agent and below it those that it calls. One that calls itself is named once more, and not followed."""
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
    for run in local.runs(Wanted(limit=_MOST_RUNS, folders=(str(folder),))):
        task = " ".join(str(run.get("task", "")).split())[:80]
        began = str(run["began"])[:16].replace("T", " ")
        yield f"- `{str(run['runId'])[:8]}` {began} UTC, {run['agent']}, {run['status']}: {task}"
