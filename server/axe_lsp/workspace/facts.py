"""Facts from outside a file, found at some moment by code that may look at the disk.

Facts are handed in like texts. They are answers to a `Question`; while the user types, those parts
of them stay true whose part of the question is still the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.rights import Reach
from axe_lsp.agentfile.schema.providers import Wire
from axe_lsp.workspace.outside_values import Question


class Found(Struct, frozen=True):
    """A path that a file names: where it leads, as people read it, and whether anything is there."""

    uri: str
    shown: str
    exists: bool


class MatchedFile(Struct, frozen=True):
    """A file that a glob matches: its name as seen from the working directory, its size in bytes."""

    name: str
    uri: str
    size: int


class Matches(Struct, frozen=True):
    """The matches of a glob: the first files by name, their number and their size in bytes.

    The search ends early where it would take too long; then there may be more, and not all
    `is_complete`. `picture` is the name of one that is among them, "" if none is.
    """

    files: tuple[MatchedFile, ...] = ()
    count: int = 0
    size: int = 0
    is_complete: bool = True
    picture: str = ""


class ProviderKey(Struct, frozen=True):
    """A provider that can be asked, on which wire, and whether its key is there, never the key itself.

    `origin` says where it was found, in a word for people; `variable` is where it may be put.
    """

    provider: str
    variable: str
    wire: Wire = "openai-chat"
    origin: str = ""
    address_origin: str = ""
    is_needed: bool = True

    @property
    def is_missing(self) -> bool:
        return self.is_needed and not self.origin


class Recording(Struct, frozen=True):
    """Where the recording of a model `replay/NAME` was looked for, and where it lies if it does."""

    searched: tuple[str, ...]
    uri: str = ""


class Remembered(Struct, frozen=True):
    """The file of a memory, as people read its path, and how many entries it has."""

    shown: str
    entries: int


class Unready(Struct, frozen=True):
    """An MCP server, by its index, whose program is not there, or that needs variables which are not set."""

    index: int
    program: str = ""
    variables: tuple[str, ...] = ()


class SeenTool(Struct, frozen=True):
    """A tool of an MCP server: its name, and a line of what the server says of it, which is a stranger's text."""

    name: str
    description: str


class KnownServer(Struct, frozen=True):
    """The facts about an MCP server that are known without asking it.

    `program` is where its command lies, `is_allowed` whether a rule of the user allows to start it,
    `is_trusted` whether the agent file may use it without a question. `tools` are those that a run has
    seen at the time `seen`; None if no run has. `instructions` is the beginning of those that it gave to the model.
    """

    program: str = ""
    is_allowed: bool = False
    is_trusted: bool = False
    tools: tuple[SeenTool, ...] | None = None
    seen: str = ""
    instructions: str = ""


class Instructions(Struct, frozen=True):
    """A file with instructions for every agent in a folder: the folder's URI, the file's name and its size in bytes."""

    folder: str
    name: str
    size: int


class Facts(Struct, frozen=True):
    """The answers to `question`. What nobody asked for, or nobody can tell, is None.

    `folder` is the working directory in force; it `is_certain` unless it depends on where a run is
    started. `skill_fault` is what is wrong with a skill that is there. `reaches` is what
    needs trust, of a file that is not the user's own. `added` is what skill, files and memory add to the prompt, in characters, about.
    `named_providers` are those that the user's config.toml adds. `paths` start at the folder of the file.
    `contents` says of files whose content matters, by kind and path, what is to be said about it, "" for nothing.
    `instructions` has one file for a folder, the user's own first, then those from the outermost folder on, at last
    those in folders below.
    `skills` are those that an agent of Claude Code names, as far as their place can be told.
    `installed` is the version of the file's program on this machine, "" if there is none.
    `unready` has the servers that a run could not connect, `servers` what is known of each server. `stale` has the reason for each of these paths that is a recording which no longer fits its agents.
    """

    question: Question
    folder: Found | None = None
    is_certain: bool = True
    skill: Found | None = None
    skill_fault: str = ""
    matches: Mapping[str, Matches] = field(default_factory=dict)
    key: ProviderKey | None = None
    named_providers: tuple[str, ...] | None = None
    recording: Recording | None = None
    memory: Remembered | None = None
    reaches: tuple[Reach, ...] = ()
    added: int | None = None
    paths: Mapping[str, Found] = field(default_factory=dict)
    stale: Mapping[str, str] = field(default_factory=dict)
    unready: tuple[Unready, ...] = ()
    servers: tuple[KnownServer, ...] = ()
    contents: Mapping[tuple[str, str], str] = field(default_factory=dict)
    installed: str = ""
    instructions: tuple[Instructions, ...] = ()
    skills: Mapping[str, Found] = field(default_factory=dict)

    def as_far_as_true(self, question: Question) -> Facts:
        """Return the part of the facts that answers another question, too."""
        asked = self.question
        if question == asked:
            return self
        same_model = question.model == asked.model
        same_skill = question.skill == asked.skill
        same_folder = question.workdir == asked.workdir
        same_files = same_folder and question.globs == asked.globs
        same_prompt = same_skill and same_files and question.memory == asked.memory
        return replace(
            self,
            folder=self.folder if same_folder else None,
            skill=self.skill if same_skill else None,
            skill_fault=self.skill_fault if same_skill else "",
            matches=self.matches if same_folder else {},
            key=self.key if same_model else None,
            recording=self.recording if same_model and same_folder else None,
            memory=self.memory if question.memory == asked.memory else None,
            reaches=self.reaches if question.asked == asked.asked else (),
            added=self.added if same_prompt else None,
            unready=self.unready if question.servers == asked.servers else (),
            servers=self.servers if question.servers == asked.servers else (),
            stale=self.stale if question.tested == asked.tested else {},
        )
