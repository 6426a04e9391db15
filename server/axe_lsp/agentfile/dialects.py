"""The dialects of agent files besides axe's own: where their files lie, and what they mean for a run."""

from __future__ import annotations

from msgspec import Struct


class Dialect(Struct, frozen=True):
    """A dialect. `title` is the program that it belongs to.

    Its agents lie in `folder` of a project (`.codex`) and of the user, below `agents`. `variable` is
    the environment variable that names the user's folder in place of the one in the home folder.
    With `is_deep`, folders below `agents` hold agents, too.
    """

    name: str
    title: str
    folder: str
    variable: str
    is_deep: bool = False

    @property
    def agents(self) -> str:
        """The folder of agents, below a project."""
        return f"{self.folder}/{AGENTS}"


AGENTS = "agents"
CODEX = Dialect("codex", "Codex", ".codex", "CODEX_HOME", is_deep=True)
VIBE = Dialect("vibe", "Vibe", ".vibe", "VIBE_HOME")

DIALECTS = (CODEX, VIBE)
"""In the order in which a name is looked up, after axe's own agents."""


def dialect_of(folder: str, homes: tuple[tuple[str, str], ...] = ()) -> Dialect | None:
    """The dialect of the agents in a folder; None for axe's own. `homes` are the user's folders."""
    for dialect in DIALECTS:
        if _place_in(folder, dialect) is not None:
            return dialect
        home = dict(homes).get(dialect.name)
        if home and _fits(folder.removeprefix(home), f"/{AGENTS}", is_deep=dialect.is_deep):
            return dialect
    return None


def project_of(folder: str) -> str | None:
    """The project whose `.codex/agents` or the like a folder is or lies in, by its name alone."""
    found = (_place_in(folder, dialect) for dialect in DIALECTS)
    return next((folder[:index] for index in found if index is not None), None)


def _place_in(folder: str, dialect: Dialect) -> int | None:
    """Where the folder of agents begins in a folder's path."""
    ending = f"/{dialect.agents}"
    index = folder.find(ending)
    if index < 0 or not _fits(folder[index:], ending, is_deep=dialect.is_deep):
        return None
    return index


def _fits(path: str, ending: str, *, is_deep: bool) -> bool:
    return path == ending or (is_deep and path.startswith(f"{ending}/"))
