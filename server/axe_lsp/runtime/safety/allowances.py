"""What users have allowed once and for all: the words of the setting `tools.allow`.

A tool's name or a glob allows every call of it; tools of MCP servers are named `server/tool`, and
a glob without a slash means none of them, unless it is `*`. `run_command(git diff)` allows that one command, alone or
with further plain words behind it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from axe_lsp.agentfile.tool_names import tools_meant
from axe_lsp.runtime.messages import Json, argument_text

_COMMAND = re.compile(r"(\w+)\((.+)\)")
_PLAIN_WORDS = re.compile(r"[\w @%+=:,./'\"-]*")
"""Nothing in which a shell would see a second command, a redirection or something to be expanded."""


def is_allowed(allowances: Collection[str], tool: str, arguments: Mapping[str, Json]) -> bool:
    """Whether a call was allowed beforehand."""
    return any(_allows(allowance.strip(), tool, arguments) for allowance in allowances)


def _allows(allowance: str, tool: str, arguments: Mapping[str, Json]) -> bool:
    of_command = _COMMAND.fullmatch(allowance)
    if of_command is None:
        if "/" in tool:
            return allowance == "*" or ("/" in allowance and fnmatchcase(tool, allowance))
        return tool == allowance or tool in tools_meant([allowance])
    name, beginning = of_command.groups()
    if tool != "run_command" or tool not in tools_meant([name]):
        return False
    command = argument_text(arguments.get("command")).strip()
    rest = command.removeprefix(beginning)
    is_beginning = command == beginning or (rest != command and rest.startswith(" "))
    return is_beginning and _PLAIN_WORDS.fullmatch(rest) is not None
