"""The user's permanent permissions: the rules of the setting `tools.allow`.

| rule | allows |
|---|---|
| `write_file`, `*_file`, `Write` | every call of these tools of ours, except in protected places |
| `write_file(GLOB)`, `edit_file(GLOB)` | calls for files that the glob matches, also in protected places that it names |
| `run_command(git diff)` | this command, word for word, or with plain arguments |
| `run_command(git diff *)` | this command with the options that `command_table.py` allows, too |
| `run_mcp(uvx mcp-server-git)` | to start this MCP server, word for word as the question shows it |
| `run_mcp(uvx mcp-server-git)#tool` | tools of the MCP server that is started so |
| `https://host/path#tool`, `https://host/path#*` | tools of the MCP server at this address |
| `*#*` | all tools of all MCP servers |
| `*` | everything, except changes of files in protected places |

`protected_places.py` has the protected places.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from axe_lsp.agentfile.schema.tools import tools_meant
from axe_lsp.agentfile.text.globs import BadPatternError, segments_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import Json, argument_text
from axe_lsp.runtime.safety.protected_places import ChangedFile, glob_of, names_place

if TYPE_CHECKING:
    from axe_lsp.runtime.safety.command_rules import CommandRule

ALL_SERVERS = "*#*"

START = "run_mcp"
"""The start of an MCP server, as questions and rules name it."""

_COMMAND = "run_command"
_FILE_TOOLS = ("write_file", "edit_file")
"""The tools whose rules may have a glob."""

_WITH_PARENTHESES = r"(?s)(\w+)\((.+)\)"


class CheckedCall(Struct, frozen=True):
    """A call, or the start of an MCP server at `address`, as rules see it.

    The tool of a server is named `server/tool`; what the server is called there says its agent file, so it counts for
    nothing here. `file` is the file that the call changes, if it changes one, and `folder` that of a command.
    """

    tool: str
    arguments: Mapping[str, Json]
    address: str = ""
    file: ChangedFile | None = None
    folder: Path | None = None

    @property
    def is_protected(self) -> bool:
        """Whether the call changes a protected place, so that only a rule that names it allows the call."""
        return self.file is not None and bool(self.file.protected)

    @property
    def command(self) -> str:
        """The command of `run_command`."""
        return argument_text(self.arguments.get("command")).strip(" \n")


def is_allowed(allowances: Collection[str], call: CheckedCall) -> bool:
    """Return whether a rule allows a call."""
    return allowing_rule(allowances, call) is not None


def allowing_rule(allowances: Collection[str], call: CheckedCall) -> str | None:
    """Return the first rule that allows a call; None if there is none."""
    rules = (allowance.strip() for allowance in allowances)
    return next((rule for rule in rules if rule_fault(rule) is None and _allows(rule, call)), None)


def names_command(allowance: str) -> bool:
    """Return whether a rule allows single commands, not all of them."""
    return _parentheses(allowance.strip(), _COMMAND) is not None


def near_miss(allowances: Collection[str], call: CheckedCall) -> str:
    """Return a remark about a rule for this command that does not allow it, with the rule that does; "" if there is none."""
    if call.tool != _COMMAND:
        return ""
    for allowance in allowances:
        rule = _command_rule(allowance.strip())
        refusal = rule.refusal(call.command, call.folder) if rule is not None else None
        if refusal:
            narrow = narrowest_rule(call)
            remedy = f"; `{narrow}` would allow it" if narrow else ""
            return f"`{allowance.strip()}` does not allow it, because {refusal}{remedy}"
    return ""


def narrowest_rule(call: CheckedCall) -> str:
    """Return the rule that allows a call and as little else as rules can say; "" if no rule allows it."""
    tool = call.tool
    if "/" in tool:
        rule = f"{call.address}#{tool.rpartition('/')[2]}" if call.address else ""
    elif tool == START:
        rule = call.address
    elif tool == _COMMAND:
        # A last `*` would stand for further words.
        rule = "" if call.command.endswith(" *") else f"{_COMMAND}({call.command})"
    elif call.file is not None:
        glob = glob_of(call.file)
        rule = f"{tool}({glob})" if glob and tool in _FILE_TOOLS else ""
    else:
        rule = tool
    return rule if is_allowed([rule], call) else ""


def is_copyable(rule: str) -> bool:
    """Return whether a person may copy a rule without a second look: its command is no pipe and no list of commands.

    The words of the narrowest rule for a call are those of a model.
    """
    text = _parentheses(rule, _COMMAND)
    if text is None:
        return True
    from axe_lsp.runtime.safety.command_rules import is_plain_command

    return is_plain_command(text)


def is_for_everything(allowance: str) -> bool:
    """Return whether a rule allows tools of MCP servers whatever these servers say of them."""
    return allowance.strip() in ("*", ALL_SERVERS)


def rule_fault(allowance: str) -> str | None:
    """Return why a rule has no effect, and what to write instead; None if it may have one."""
    rule = allowance.strip()
    if match := re.fullmatch(_WITH_PARENTHESES, rule):
        return _fault_in_parentheses(*match.groups())
    if "/" in rule and "#" not in rule:
        return (
            "names a server of MCP by the name that an agent file gives it; "
            "write the server's address and the tool, such as `https://host/path#tool`"
        )
    return None


def rule_warning(allowance: str) -> str | None:
    """Return that a rule allows all commands, and why; None if it does not, or has no effect."""
    rule = _command_rule(allowance.strip())
    return (rule.warning or None) if rule is not None and not rule.fault else None


def _fault_in_parentheses(tool: str, text: str) -> str | None:
    if tool == START:
        return None if text.strip() else "names no command"
    tools = tools_meant([tool])
    if _COMMAND in tools:
        if text.strip() in ("", "*"):
            return "names no command; `run_command` alone allows all commands"
        rule = _parsed(text)
        return "has a quotation mark that is not closed" if rule is None else rule.fault or None
    if any(each in tools for each in _FILE_TOOLS):
        try:
            segments_of(text)
        except BadPatternError:
            return f"has a glob that is malformed: {quoted(text)}"
        return None
    return (
        f"has parentheses behind {quoted(tool)}; only `run_command` takes a command, "
        "and only `write_file` and `edit_file` take a glob"
    )


def _parentheses(rule: str, tool: str) -> str | None:
    """Return the text in the parentheses of a rule for a tool; None for other rules."""
    match = re.fullmatch(_WITH_PARENTHESES, rule)
    return match[2] if match is not None and tool in tools_meant([match[1]]) else None


def _command_rule(rule: str) -> CommandRule | None:
    text = _parentheses(rule, _COMMAND)
    return None if text is None else _parsed(text)


def _parsed(text: str) -> CommandRule | None:
    """Return the rule for commands with this text; None if a quotation mark is not closed."""
    from axe_lsp.runtime.safety.command_rules import parse_command_rule

    return parse_command_rule(text)


def _allows(rule: str, call: CheckedCall) -> bool:
    tool = call.tool
    if rule == "*":
        return not call.is_protected
    if "/" in tool:
        return _allows_remote(rule, tool.rsplit("/", maxsplit=1)[-1], call.address)
    if tool == START:
        return bool(call.address) and rule == call.address
    if call.is_protected or re.fullmatch(_WITH_PARENTHESES, rule):
        return _allows_by_parentheses(rule, call)
    return tool == rule or tool in tools_meant([rule])


def _allows_by_parentheses(rule: str, call: CheckedCall) -> bool:
    if call.tool == _COMMAND:
        command_rule = _command_rule(rule)
        return command_rule is not None and command_rule.refusal(call.command, call.folder) == ""
    if call.file is None or call.tool not in _FILE_TOOLS:
        return False
    glob = _parentheses(rule, call.tool)
    return glob is not None and names_place(glob, call.file)


def _allows_remote(rule: str, tool: str, address: str) -> bool:
    """Return whether a rule allows a tool of a remote server. Only tools match by a glob, addresses exactly."""
    of_server, separator, of_tool = rule.rpartition("#")
    is_server = rule == ALL_SERVERS or (bool(address) and of_server == address)
    return bool(separator) and is_server and fnmatchcase(tool, of_tool)
