"""The programs besides axe whose agents are known, and where their files lie."""

from __future__ import annotations

from collections.abc import Container, Iterable

from msgspec import Struct
from msgspec.structs import replace


class Program(Struct, frozen=True):
    """A program with agents in a dialect of its own, which is named as the program is.

    Its `layer` is the folder that it has in a project (`.codex`), with agents in files that end with `suffix`, in the
    `folders` below it. The user has such a folder in the home folder, at `user_layer` if it has another name there, or where
    `home_variable` says. A program with an `upper_user_layer` reads all of these, and the last ones win over a project. With `is_recursive`, folders below hold agents, too. `settings` is the name of the file of
    settings in the layer, "" if it has none that is read. `own_key` is at the top of its agents, and of no other program's;
    "" if there is none. Files whose names begin with `unread` are left out.

    Of agents of one name in several layers, the one nearest to the working folder counts, the outermost one where
    `outer_wins`, and the user's own before both where `user_wins`. Of several in one layer the first counts, or where
    `last_wins` the last one. A byte order mark is content for a program that `refuses_mark`.
    """

    name: str
    layer: str
    home_variable: str = ""
    is_recursive: bool = False
    own_key: str = ""
    folders: tuple[str, ...] = ("agents",)
    suffix: str = ".toml"
    settings: str = ""
    user_layer: str = ""
    upper_user_layer: str = ""
    unread: str = ""
    outer_wins: bool = False
    user_wins: bool = False
    last_wins: bool = False
    refuses_mark: bool = False

    def homes_in(self, homes: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return the user's own folders of the program, the weakest first, from those of all programs with their names."""
        return tuple(folder for name, folder in homes if name == self.name)

    @property
    def agents(self) -> tuple[str, ...]:
        """The folders of agents, below a project."""
        return tuple(f"{self.layer}/{each}" for each in self.folders)

    def is_agent_file(self, name: str) -> bool:
        """Return whether a file in a folder of agents is one, by its name."""
        is_left_out = bool(self.unread) and name.startswith(self.unread)
        return name.endswith(self.suffix) and name != self.suffix and not is_left_out

    def has_agents_in(self, below: str) -> bool:
        """Return whether a folder, as a path below a layer, holds agents."""
        return below in self.folders or (
            self.is_recursive and below.startswith(tuple(f"{each}/" for each in self.folders))
        )


AGENTS = "agents"
SETTINGS_FILE = "config.toml"
"""The name of the files of settings of axe, Codex and Vibe, which may have the keys of agents."""

CODEX = Program(
    "codex",
    ".codex",
    "CODEX_HOME",
    is_recursive=True,
    own_key="developer_instructions",
    settings=SETTINGS_FILE,
)
VIBE = Program("vibe", ".vibe", "VIBE_HOME", settings=SETTINGS_FILE)

CLAUDE = Program(
    "claude", ".claude", "CLAUDE_CONFIG_DIR", is_recursive=True, suffix=".md", last_wins=True
)
COPILOT = Program(
    "copilot", ".github", is_recursive=True, suffix=".md", user_layer=".copilot", user_wins=True
)
OPENCODE = Program(
    "opencode",
    ".opencode",
    "OPENCODE_CONFIG_DIR",
    is_recursive=True,
    folders=("agent", "agents", "mode", "modes"),
    suffix=".md",
    user_layer=".config/opencode",
    upper_user_layer=".opencode",
    outer_wins=True,
    last_wins=True,
)
GEMINI = Program("gemini", ".gemini", suffix=".md", unread="_", user_wins=True, refuses_mark=True)
GEMINI_COMMANDS = Program(
    "gemini commands", ".gemini", is_recursive=True, folders=("commands",), refuses_mark=True
)
OPENCODE_COMMANDS = replace(
    OPENCODE, name="opencode commands", folders=("command", "commands"), last_wins=False
)
CURSOR = Program("cursor", ".cursor", suffix=".md")
KIRO = Program("kiro", ".kiro", suffix=".md")

IN_TOML = (CODEX, VIBE)
IN_MARKDOWN = (CLAUDE, COPILOT, OPENCODE, GEMINI)

PROGRAMS = (*IN_TOML, *IN_MARKDOWN)
"""The programs whose agents are run, in the order in which a name is looked up, after axe's own agents."""

ALL_PROGRAMS = (*PROGRAMS, GEMINI_COMMANDS, OPENCODE_COMMANDS, CURSOR, KIRO)


def stem_of(file_name: str) -> str:
    """Return the name of an agent's file without its ending: `review` of `review.agent.md`."""
    stem, dot, ending = file_name.rpartition(".")
    return stem.removesuffix(".agent") if ending == "md" else stem if dot else file_name


OF_AXE = "axe:"
"""Stands before the name of an agent of axe that agents of other programs have, too."""


def program_named(name: str) -> Program | None:
    """Return the program in `PROGRAM:NAME`, None without one."""
    if ":" not in name:
        return None
    prefix = name.partition(":")[0]
    return next((each for each in PROGRAMS if each.name == prefix), None)


def without_program(name: str) -> str:
    """Return the name in `PROGRAM:NAME`, also without a program."""
    is_chosen = name.startswith(OF_AXE) or program_named(name) is not None
    return name.partition(":")[2] if is_chosen else name


def program_of(folder: str, homes: tuple[tuple[str, str], ...] = ()) -> Program | None:
    """Return the program of the agents in a folder; None for axe's own. `homes` are the user's folders."""
    for program in ALL_PROGRAMS:
        if _place_in(folder, program) is not None:
            return program
        for home in program.homes_in(homes):
            if program.has_agents_in(folder.removeprefix(f"{home}/")):
                return program
    return None


def program_by_keys(keys: Container[str]) -> Program | None:
    """Return the program of an agent in none of the usual folders, by the keys at its top; None for axe's own."""
    return next((each for each in PROGRAMS if each.own_key and each.own_key in keys), None)


def project_of(folder: str) -> str | None:
    """Return the project whose `.codex/agents` or the like a folder is or lies in, by its name alone."""
    found = (_place_in(folder, program) for program in ALL_PROGRAMS)
    return next((folder[:index] for index in found if index is not None), None)


def _place_in(folder: str, program: Program) -> int | None:
    """Return where the layer of a folder of agents begins in the folder's path."""
    start = f"/{program.layer}/"
    index = folder.find(start)
    return index if index >= 0 and program.has_agents_in(folder[index + len(start) :]) else None
