"""`axe/folders`: the folders for new agents (docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS
from axe_lsp.daemon.uris import canonical, uri_of
from axe_lsp.lsp.session import Session
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.serving.json_rpc import JsonObject


class AgentFolder(Struct, frozen=True):
    """A folder in which agents are found, or will be as soon as it is there."""

    path: Path
    is_users: bool
    exists: bool

    @property
    def uri(self) -> str:
        return uri_of(self.path)


def register(session: Session) -> None:
    @session.feature("axe/folders")
    def on_folders(_: Any) -> list[JsonObject]:
        return [
            {
                "uri": each.uri,
                "scope": "user" if each.is_users else "workspace",
                "exists": each.exists,
            }
            for each in agent_folders(session)
        ]


def agent_folders(session: Session) -> list[AgentFolder]:
    """Return all folders of agents: those of the workspace first, the user's own last."""
    view = session.view
    user = view.user_folder
    folders = dict.fromkeys([*_usual(session), *view.extra_folders, *view.folders])
    found = [AgentFolder(path, path == user, path.is_dir()) for path in folders]
    return sorted(found, key=lambda each: each.is_users)


def folder_at(session: Session, uri: str) -> Path:
    """Return the folder of agents at `uri`. Raises RequestFailed."""
    wanted = canonical(uri)
    for each in agent_folders(session):
        if canonical(each.uri) == wanted:
            return each.path
    raise RequestFailed(
        f"agents are not found in {uri}, which is outside every agent folder; add its folder to axe.agentPaths"
    )


def _usual(session: Session) -> Iterator[Path]:
    """Yield the usual folders of agents in each workspace folder; the first usual name if none exists."""
    for root in session.view.roots:
        usual = [root / each for each in AGENT_FOLDERS]
        yield from [folder for folder in usual if folder.is_dir()] or usual[:1]
