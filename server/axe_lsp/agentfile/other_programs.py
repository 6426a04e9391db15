"""The programs besides axe whose agents are known, and where their files lie."""

from __future__ import annotations

from collections.abc import Container

from msgspec import Struct


class Program(Struct, frozen=True):
    """A program with agents in a dialect of its own, which is named as the program is.

    Its `layer` is the folder that it has in a project (`.codex`), with agents below `agents`. The user
    has such a folder in the home folder, or where `home_variable` says. With `is_recursive`, folders
    below `agents` hold agents, too. `own_key` is at the top of its agents, and of no other program's; "" if there is none.
    """

    name: str
    layer: str
    home_variable: str
    is_recursive: bool = False
    own_key: str = ""

    @property
    def agents(self) -> str:
        """The folder of agents, below a project."""
        return f"{self.layer}/{AGENTS}"

    def has_agents_in(self, below: str) -> bool:
        """Whether a folder, as a path below a layer, holds agents."""
        return below == AGENTS or (self.is_recursive and below.startswith(f"{AGENTS}/"))


AGENTS = "agents"
SETTINGS_FILE = "config.toml"
"""The name of each program's file of settings, which may have the keys of its agents."""

CODEX = Program(
    "codex", ".codex", "CODEX_HOME", is_recursive=True, own_key="developer_instructions"
)
VIBE = Program("vibe", ".vibe", "VIBE_HOME")

PROGRAMS = (CODEX, VIBE)
"""The programs in the order in which a name is looked up, after axe's own agents."""


def program_of(folder: str, homes: tuple[tuple[str, str], ...] = ()) -> Program | None:
    """The program of the agents in a folder; None for axe's own. `homes` are the user's folders."""
    for program in PROGRAMS:
        if _place_in(folder, program) is not None:
            return program
        home = dict(homes).get(program.name)
        if home and program.has_agents_in(folder.removeprefix(f"{home}/")):
            return program
    return None


def program_by_keys(keys: Container[str]) -> Program | None:
    """The program of an agent in none of the usual folders, by the keys at its top; None for axe's own."""
    return next((each for each in PROGRAMS if each.own_key and each.own_key in keys), None)


def project_of(folder: str) -> str | None:
    """The project whose `.codex/agents` or the like a folder is or lies in, by its name alone."""
    found = (_place_in(folder, program) for program in PROGRAMS)
    return next((folder[:index] for index in found if index is not None), None)


def _place_in(folder: str, program: Program) -> int | None:
    """Where the folder of agents begins in a folder's path."""
    start = f"/{program.layer}/"
    index = folder.find(start + AGENTS)
    return index if index >= 0 and program.has_agents_in(folder[index + len(start) :]) else None
