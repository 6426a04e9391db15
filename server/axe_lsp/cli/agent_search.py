"""The search of commands for agents, from the folder of this process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, SUFFIX
from axe_lsp.runtime.agent_search import AgentSearch, agent_search_in
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.files.workspace_folders import workspace_above
from axe_lsp.runtime.plain_text import shown_path


def agent_search(agents_dir: Path | None = None) -> AgentSearch:
    """The search for agents from the folder of this process; `agents_dir` is searched first. Raises ConfigError."""
    return agent_search_in(working_folder(), agents_dir)


def project_agents_folder() -> Path | None:
    """The folder of agents of the current project, if it has one."""
    workspace = workspace_above(working_folder(), os.environ)
    return next((folder for each in AGENT_FOLDERS if (folder := workspace / each).is_dir()), None)


def named_file(text: str, folder: Path) -> Path | None:
    """The agent file whose path was given instead of a name; None if it is a name.

    Raises ConfigError if there is no such file.
    """
    if not text.endswith(SUFFIX) or "\0" in text:
        return None
    path = Path(os.path.normpath(folder / text))
    if path.is_file():
        return path
    if os.sep in text or "/" in text:
        raise ConfigError(f"agent file not found: {text}")
    return None


def ways_to_agents(folders: Iterable[Path]) -> str:
    """What to do in folders without agents: convert those of other programs in Markdown, or create one."""
    import shlex

    from axe_lsp.agentfile.convert.format_table import FORMATS

    markdown = [each.folder for each in FORMATS.values() if each.is_markdown]
    found = dict.fromkeys(
        top / each for top in folders for each in markdown if (top / each).is_dir()
    )
    if found:
        named = shlex.join(map(shown_path, found))
        return f"`axe-lsp import {named}` converts the agents there."
    return "`axe-lsp init` creates an agent."


def spellings(folder: str) -> tuple[str, ...]:
    """A folder as runs may have named it: as it is written here, and without links."""
    return tuple(dict.fromkeys(map(str, (Path(folder).absolute(), Path(folder).resolve()))))
