"""The values of a file that refer to things outside it: paths, globs, a model that needs a key."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import MemoryConfig, Params
from axe_lsp.agentfile.rights import Asked, Server
from axe_lsp.agentfile.schema.tools import WEB_TOOLS, tools_meant
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.vibe_agent import TOOLS as VIBE_TOOLS
from axe_lsp.agentfile.vibe_agent import matches
from axe_lsp.workspace.file_values import FileValues, Written

PARAMS = ("params",)

_PARAMS = Params.__struct_fields__
_NO_MEMORY = MemoryConfig()
_DENIED = ("tool_policy", "deny")


class WrittenServer(Struct, frozen=True):
    """An MCP server, and where its address or command stands."""

    server: Server
    range: TextRange


class Outside(Struct, frozen=True):
    """The values of one file that name something outside it, and where they stand."""

    skill: Written | None = None
    workdir: Written | None = None
    globs: tuple[Written, ...] = ()
    memory: MemoryConfig = _NO_MEMORY
    params: tuple[Written, ...] = ()
    """The names of the keys of `[params]`."""
    memory_path: Written | None = None
    servers: tuple[WrittenServer, ...] = ()
    web: tuple[Written, ...] = ()
    """The tools for the web that the file names."""
    hosts: tuple[str, ...] = ()
    """The hosts that pages may come from, of a file with such tools."""
    denied: tuple[Written, ...] = ()
    """The tools that `tool_policy.deny` names, of a file with servers."""
    paths: tuple[Written, ...] = ()
    """Paths of files that start at the folder of the file itself."""
    tested: str = ""
    """The agent whose tests the file has; then its paths are their recordings."""
    contents: tuple[tuple[str, str], ...] = ()
    """The paths of files whose content matters, each after the kind of content."""
    program: str = ""
    """The program whose installed version matters, by its name."""
    instructions: tuple[str, ...] = ()
    """The paths of which the first file has the instructions of the folder that the file is about."""
    inherits_instructions: bool = False
    """Whether other layers may name further files with instructions."""
    skills: tuple[Written, ...] = ()
    """The names of skills of an agent of Claude Code."""


class Question(Struct, frozen=True):
    """The same without the places: the question about a file, for code that can look at the disk.

    A keystroke elsewhere in the file leaves the question as it is.
    """

    model: str = ""
    skill: str = ""
    workdir: str = ""
    globs: tuple[str, ...] = ()
    memory: MemoryConfig = _NO_MEMORY
    servers: tuple[Server, ...] = ()
    web: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tested: str = ""
    contents: tuple[tuple[str, str], ...] = ()
    program: str = ""
    instructions: tuple[str, ...] = ()
    inherits_instructions: bool = False
    skills: tuple[str, ...] = ()

    @property
    def asked(self) -> Asked:
        """The values that may lead outside the workspace."""
        return Asked(
            self.skill,
            self.workdir,
            self.globs,
            self.memory,
            self.servers,
            self.web,
            self.hosts,
        )


NOTHING = Outside()


def read_outside(values: FileValues) -> Outside:
    """Return the values that the file names. Most files name nothing, and share one value."""
    servers = tuple(WrittenServer(asked, where) for asked, where in values.servers())
    web = tuple(_web(values))
    outside = Outside(
        skill=values.string(("skill",)),
        workdir=values.string(("workdir",)),
        globs=tuple(values.strings(("files",))),
        memory=_memory(values) if values.has(("memory",)) else _NO_MEMORY,
        params=tuple(values.names(PARAMS, _PARAMS)) if values.has(PARAMS) else (),
        memory_path=values.string(("memory", "path")),
        servers=servers,
        web=web,
        hosts=tuple(each.value for each in values.strings(("allowed_hosts",))) if web else (),
        denied=tuple(values.strings(_DENIED)) if servers else (),
    )
    return outside if outside != NOTHING else NOTHING


def question(outside: Outside, model: Written | None) -> Question:
    """Return the question about a file."""
    return Question(
        model=_value(model),
        skill=_value(outside.skill),
        workdir=_value(outside.workdir),
        globs=tuple(dict.fromkeys(each.value for each in outside.globs)),
        memory=outside.memory,
        servers=tuple(each.server for each in outside.servers),
        web=tuple(each for each in WEB_TOOLS if any(each == tool.value for tool in outside.web)),
        hosts=outside.hosts,
        paths=tuple(dict.fromkeys(each.value for each in outside.paths)),
        tested=outside.tested,
        contents=outside.contents,
        program=outside.program,
        instructions=outside.instructions,
        inherits_instructions=outside.inherits_instructions,
        skills=tuple(dict.fromkeys(each.value for each in outside.skills)),
    )


def _web(values: FileValues) -> Iterator[Written]:
    """Yield the tools for the web that the file names and does not deny."""
    own = [*values.strings(("tools",)), *values.strings(("tool_policy", "allow"))]
    own = [each for each in own if each.value in WEB_TOOLS]
    denied = [each.value for each in values.strings(_DENIED)] if own else []
    kept = tools_meant([each.value for each in own], deny=denied)
    yield from (each for each in own if each.value in kept)


def web_of_vibe(values: FileValues) -> Iterator[Written]:
    """Yield the same in an agent file of Vibe, by the names of our tools."""
    denied = [each.value for each in values.strings(("disabled_tools",))]
    for each in values.strings(("enabled_tools",)):
        (ours,) = VIBE_TOOLS.get(each.value, ("",))[:1]
        is_never = values.decoded(("tools", each.value, "permission")) == "never"
        if ours in WEB_TOOLS and not (is_never or matches(each.value, denied)):
            yield replace(each, value=ours)


def _memory(values: FileValues) -> MemoryConfig:
    path = values.decoded(("memory", "path"))
    last_n = values.decoded(("memory", "last_n"))
    scope = values.decoded(("memory", "scope"))
    return MemoryConfig(
        enabled=values.decoded(("memory", "enabled")) is True,
        path=path if isinstance(path, str) else "",
        last_n=last_n if isinstance(last_n, int) and last_n > 0 else 0,
        scope=scope if isinstance(scope, str) else _NO_MEMORY.scope,
    )


def _value(text: Written | None) -> str:
    return text.value if text is not None else ""
