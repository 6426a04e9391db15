"""The user's permanent permissions: the rules of the setting `tools.allow`.

| rule | allows |
|---|---|
| `write_file`, `*_file`, `Write` | every call of these tools of ours |
| `run_command(git diff)` | this command, alone or with operands, and no further option |
| `run_command(git diff *)` | this command with plain words, options too |
| `run_mcp(uvx mcp-server-git)` | to start this MCP server, word for word as the question shows it |
| `run_mcp(uvx mcp-server-git)#tool` | tools of the MCP server that is started so |
| `https://host/path#tool`, `https://host/path#*` | tools of the MCP server at this address |
| `*#*` | all tools of all MCP servers |
| `*` | everything |

No rule for a command allows an option that starts another program or writes a file (`_DANGEROUS`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from axe_lsp.agentfile.schema.tool_names import tools_meant
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import Json, argument_text

ALL_SERVERS = "*#*"

START = "run_mcp"
"""The start of an MCP server, as questions and rules name it."""

_COMMAND = re.compile(r"(\w+)\((.+)\)", re.DOTALL)
_PLAIN_WORDS = re.compile(r"[\w @%+=:,./'\"-]*")
"""Nothing in which a shell would see a second command, a redirection or something to be expanded."""

_DANGEROUS = frozenset(
    {
        # git and tools like it
        "output",
        "ext-diff",
        "open-files-in-pager",
        "config-env",
        "exec-path",
        "upload-pack",
        "receive-pack",
        # ripgrep
        "pre",
        "hostname-bin",
        # find
        "exec",
        "execdir",
        "ok",
        "okdir",
        "delete",
        "fls",
        "fprint",
        "fprint0",
        "fprintf",
        # tar, sort, sed, shells
        "to-command",
        "checkpoint-action",
        "use-compress-program",
        "compress-program",
        "in-place",
        "command",
    }
)
"""Options that start a program or write a file, in whichever command, without their dashes."""

_NOT_SHORTENED = frozenset({"check"})
"""Options of many commands that begin as a dangerous one does and are none."""

_SHORT = re.compile(r"-[A-Za-z0-9]*[coO]")
"""`-c` (git, shells), `-o` (git archive, sort, curl) and `-O` (git grep): alone, among others as in
`-lc`, and with a value behind it as in `-cx=y`. Harmless words that look so are asked about."""


def is_allowed(
    allowances: Collection[str], tool: str, arguments: Mapping[str, Json], address: str = ""
) -> bool:
    """Whether a call, or the start of an MCP server at `address`, was allowed beforehand.

    The tool of a server is named `server/tool`; what the server is called there says its agent file,
    so it counts for nothing here.
    """
    rules = (allowance.strip() for allowance in allowances)
    return any(
        rule == "*" or (rule_fault(rule) is None and _allows(rule, tool, arguments, address))
        for rule in rules
    )


def is_for_everything(allowance: str) -> bool:
    """Whether a rule allows tools of MCP servers whatever these servers say of them."""
    return allowance.strip() in ("*", ALL_SERVERS)


def rule_fault(allowance: str) -> str | None:
    """Why a rule has no effect, and what to write instead; None if it may have one."""
    rule = allowance.strip()
    if of_command := _COMMAND.fullmatch(rule):
        return _command_rule_fault(*of_command.groups())
    if "/" in rule and "#" not in rule:
        return (
            "names a server of MCP by the name that an agent file gives it; "
            "write the server's address and the tool, such as `https://host/path#tool`"
        )
    return None


def _command_rule_fault(tool: str, command: str) -> str | None:
    if tool == START:
        return None if command.strip() else "names no command"
    if "run_command" not in tools_meant([tool]):
        return f"has parentheses behind {quoted(tool)}; only `run_command` takes a command"
    if command.strip() in ("", "*"):
        return "names no command; `run_command` alone allows all commands"
    words = _words(_without_star(command)[0])
    if words is None:
        return "has a quotation mark that is not closed"
    if dangerous := next((word for word in words if _is_dangerous_in_rule(word)), None):
        return f"has the option {quoted(dangerous)}, which no rule allows: it may run or write"
    return None


def _allows(rule: str, tool: str, arguments: Mapping[str, Json], address: str) -> bool:
    if "/" in tool:
        return _allows_remote(rule, tool.rsplit("/", maxsplit=1)[-1], address)
    if tool == START:
        return bool(address) and rule == address
    of_command = _COMMAND.fullmatch(rule)
    if of_command is None:
        return tool == rule or tool in tools_meant([rule])
    if tool != "run_command":
        return False
    return _allows_command(of_command[2], argument_text(arguments.get("command")).strip(" "))


def _allows_remote(rule: str, tool: str, address: str) -> bool:
    """Addresses are compared letter by letter; only tools may be meant by a glob."""
    of_server, separator, of_tool = rule.rpartition("#")
    is_server = rule == ALL_SERVERS or (bool(address) and of_server == address)
    return bool(separator) and is_server and fnmatchcase(tool, of_tool)


def _allows_command(text: str, command: str) -> bool:
    beginning, is_open = _without_star(text)
    wanted, given = _words(beginning), _words(command)
    if not (wanted and given):
        return False
    if command == beginning:
        return True
    rest = given[len(wanted) :]
    if not _PLAIN_WORDS.fullmatch(command) or given[: len(wanted)] != wanted:
        return False
    return not any(map(_is_dangerous, rest)) and (is_open or all(map(_is_operand, rest)))


def _without_star(text: str) -> tuple[str, bool]:
    """The words of a rule, and whether it ends with `*`."""
    text = text.strip()
    return (text[:-2].rstrip(), True) if text.endswith(" *") else (text, False)


def _words(text: str) -> list[str] | None:
    """As the shell splits them; None where a quotation mark is not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _is_operand(word: str) -> bool:
    """No option, and no assignment as `make` takes it."""
    return not word.startswith("-") and "=" not in word


def _is_dangerous_in_rule(word: str) -> bool:
    """For the words that the user has written: `-count` is not taken for `-c` among others there."""
    return word == "-c" or _is_long(word)


def _is_dangerous(word: str) -> bool:
    return _SHORT.match(word) is not None or _is_long(word)


def _is_long(word: str) -> bool:
    """Whether a word is a dangerous option: `--x`, `--x=y`, find's `-x`, or `--` and how one begins."""
    name = word.lstrip("-").partition("=")[0]
    if word.startswith("--"):
        is_whole = name in _NOT_SHORTENED
        return bool(name) and not is_whole and any(each.startswith(name) for each in _DANGEROUS)
    return word.startswith("-") and name in _DANGEROUS
