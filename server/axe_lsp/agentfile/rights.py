"""The rights of agent files: the one table of everything that a file can ask for outside its own text.

There are three sources. The user writes the files in the folder of axe's configuration, the settings and the
command line. The workspace is every other agent file. The model writes the arguments of tools and answers.
What the runtime enforces (`runtime/safety/reach.py`) and what docs/security.md says follow this table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition, MemoryConfig
from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.agentfile.schema.tools import WEB_TOOLS, named_tools


class May(Enum):
    """Whether a source may ask for something."""

    FREELY = "freely"
    WITH_TRUST = "if the user trusts it"
    WITH_APPROVAL = "if the user approves the call"
    NEVER = "never"


class Right(Struct, frozen=True):
    """The right of each source. `what` completes the sentence "an agent file asks for"."""

    what: str
    user: May
    workspace: May
    model: May


SKILL = "skill"
WORKDIR = "workdir"
FILES = "files"
MEMORY = "memory.path"
SERVER = "mcp_servers"

RIGHTS: tuple[Right, ...] = (
    Right(
        "`files`, `workdir` and `memory.path` inside the workspace",
        May.FREELY,
        May.FREELY,
        May.NEVER,
    ),
    Right("`skill` inside the workspace or the axe folder", May.FREELY, May.FREELY, May.NEVER),
    Right("`skill`, `files` or `workdir` anywhere else", May.FREELY, May.WITH_TRUST, May.NEVER),
    Right("the user's `config.toml` as `skill` or in `files`", May.FREELY, May.NEVER, May.NEVER),
    Right("`memory.path` below axe's data folder", May.FREELY, May.WITH_TRUST, May.NEVER),
    Right("`memory.path` anywhere else", May.FREELY, May.NEVER, May.NEVER),
    Right("an MCP server", May.FREELY, May.WITH_TRUST, May.NEVER),
    Right(
        "to start an MCP server that is a command", May.WITH_APPROVAL, May.WITH_APPROVAL, May.NEVER
    ),
    Right(
        "an environment variable for an MCP server, in a header, `env` or `pass_env`",
        May.FREELY,
        May.WITH_TRUST,
        May.NEVER,
    ),
    Right("a provider's key for an MCP server", May.FREELY, May.NEVER, May.NEVER),
    Right("an agent that is in `sub_agents` or `task.types`", May.FREELY, May.FREELY, May.FREELY),
    Right("to read files below the working directory", May.FREELY, May.FREELY, May.FREELY),
    Right(
        "to get a page of a public host (`url_fetch`), or to search the web",
        May.FREELY,
        May.WITH_TRUST,
        May.FREELY,
    ),
    Right(
        "a command, a change of a file, a call of an MCP server's tool",
        May.WITH_APPROVAL,
        May.WITH_APPROVAL,
        May.WITH_APPROVAL,
    ),
    Right("the address of a provider, or its key", May.FREELY, May.NEVER, May.NEVER),
    Right("another machine for the copies of agents", May.FREELY, May.NEVER, May.NEVER),
)


class Server(Struct, frozen=True):
    """The address or command line of an MCP server, and the environment variables that it gets.

    Without those that are `needed` it is not connected. `command` is the program that is started.
    """

    place: str
    variables: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    command: str = ""


class Asked(Struct, frozen=True):
    """The values of a file that may lead outside its workspace, as written.

    `web` are the tools of `WEB_TOOLS` that the file names, `hosts` the only ones that pages may come from.
    For an agent that has these tools by a glob or a type, the user is asked at the first call: most such
    agents never make one.
    """

    skill: str = ""
    workdir: str = ""
    files: tuple[str, ...] = ()
    memory: MemoryConfig = MemoryConfig()
    servers: tuple[Server, ...] = ()
    web: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


def asked_by(definition: AgentDefinition) -> Asked:
    """Return the values of an agent's file that may lead outside."""
    policy = definition.tool_policy
    named = named_tools((*definition.tools, *policy.allow), policy.deny)
    return Asked(
        definition.skill,
        definition.workdir,
        definition.files,
        definition.memory,
        tuple(map(asked_by_server, definition.mcp_servers)),
        tuple(each for each in WEB_TOOLS if each in named),
        definition.allowed_hosts,
    )


def reach_of_web_tool(tool: str, hosts: Iterable[str]) -> Reach:
    """Return the reach of one of `WEB_TOOLS`."""
    if tool == "url_fetch":
        return Reach(tool, ", ".join(hosts) or ANY_HOST)
    return Reach(tool, "Tavily")


def asked_by_server(server: McpServer) -> Server:
    """Return the rights that a server asks for."""
    needed = server.needed
    variables = tuple(dict.fromkeys((*needed, *server.pass_env)))
    return Server(server.shown_place, variables, needed, server.command)


ANY_HOST = "any public host"


class Reach(Struct, frozen=True):
    """One request of a workspace's agent file for something outside the workspace.

    `key` is where the file says so, `index` which element of an array. `place` is where it leads: a path without
    links, an address without passwords, or a command line. `variables` are the environment variables whose values go there,
    and `resemblances` says of each the kind of secret that it seems to hold, or "".
    `refused` is why it is never granted, or "".
    """

    key: str
    place: str
    index: int | None = None
    variables: tuple[str, ...] = ()
    refused: str = ""
    resemblances: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self._with_variables([f"${name}" for name in self.variables])

    @property
    def question(self) -> str:
        """The request with the kind of secret that each variable seems to hold, for the decision of the user.

        The values of variables differ between processes, so stored trust compares the text without it.
        """
        kinds = self.resemblances or ("",) * len(self.variables)
        return self._with_variables(
            [
                f"${name}, which {kind}" if kind else f"${name}"
                for name, kind in zip(self.variables, kinds, strict=True)
            ]
        )

    def _with_variables(self, variables: Sequence[str]) -> str:
        sent = " and ".join(variables)
        return f"{self.key}: {self.place}{f' (is sent {sent})' if sent else ''}"
