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
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from axe_lsp.agentfile.schema.tool_names import tools_meant
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import Json, argument_text

ALL_SERVERS = "*#*"

START = "run_mcp"
"""The start of an MCP server, as questions and rules name it."""

_COMMAND = r"(?s)(\w+)\((.+)\)"
_PLAIN_WORDS = r"[\w @%+=:,./'\"-]*"
"""Nothing in which a shell would see a second command, a redirection or something to be expanded."""

_DANGEROUS = frozenset(
    " ".join(
        (
            # git and programs like it
            "output output-directory output-dir output-file output-document ext-diff extcmd export-marks",
            "open-files-in-pager config config-env exec-path upload-pack receive-pack template",
            "smtp-server sendmail-cmd to-cmd cc-cmd header-cmd",
            # ripgrep
            "pre hostname-bin",
            # find, fd
            "exec execdir exec-batch ok okdir delete fls fprint fprint0 fprintf",
            # tar, sort, rsync
            "to-command checkpoint-action use-compress-program compress-program info-script",
            "new-volume-script rmt-command rsh-command rsh rsync-path",
            # sed, shells, make, interpreters
            "in-place inplace command eval",
            # wget, curl
            "execute use-askpass dump-header cookie-jar trace-ascii libcurl stderr etag-save",
            "remote-name engine hsts alt-svc",
            # npm
            "script-shell node-options userconfig globalconfig",
        )
    ).split()
)
"""Options that start a program, read others from a file, or write a file, in whichever command,
without their dashes."""

_DANGEROUS_AS_A_WHOLE = frozenset(
    " ".join(
        (
            # git filter-branch
            "setup env-filter tree-filter index-filter parent-filter msg-filter commit-filter",
            "tag-name-filter",
            # go
            "toolexec vettool outputdir coverprofile cpuprofile memprofile blockprofile mutexprofile",
            # pytest, pagers, zip
            "basetemp junitxml junit-xml log-file pdbcls override-ini pager unzip-command",
            # mypy, zip
            "python-executable TT",
        )
    ).split()
)
"""Such options of programs that know them by their whole names only."""

_NOT_SHORTENED = frozenset({"check", "cookie"})
"""Options of many commands that begin as a dangerous one does and are none."""

_SHORT = "coO"
"""`-c` (git, shells), `-o` (git archive, sort, curl) and `-O` (git grep): alone, among others as in
`-lc`, and with a value behind it as in `-cx=y`. Harmless words that look so are asked about."""

_LONG_OF = {
    "gmake": ("file", "makefile"),
    "make": ("file", "makefile"),
    "man": ("config-file", "html", "pager"),
    "node": ("experimental-loader", "import", "loader", "print", "require"),
}
"""Such options of single programs, which may be shortened."""

_SHORT_OF = {
    "awk": "fi",
    "curl": "DK",
    "fd": "xX",
    "fdfind": "xX",
    "gawk": "fi",
    "git": "x",
    "gmake": "Ef",
    "gsed": "fi",
    "make": "Ef",
    "man": "CHP",
    "node": "epr",
    "perl": "eEiMm",
    "php": "BdERr",
    "rsync": "e",
    "ruby": "ei",
    "sed": "fi",
    "ssh": "F",
    "tar": "FI",
    "wget": "e",
    "yq": "i",
}
"""The same for single programs."""

_EXECUTE_OPERANDS = {
    # Without this option, those that lack it end. But that of BSD and macOS goes on.
    "awk": "--sandbox" if sys.platform == "linux" else "",
    "gawk": "--sandbox",
    "gsed": "--sandbox",
    "mawk": "",
    "nawk": "",
    "original-awk": "",
    "sed": "--sandbox",
    "sqlite3": "-safe",
}
"""Programs whose operands may tell them to run or write something, as sed's `1e x` does, and the option that forbids it,
"" if there is none."""

_TAKE_VARIABLES = frozenset({"bmake", "gmake", "make"})
"""Programs that run what a variable among their operands says, such as `CC=x`."""

_RUN_OPERANDS = frozenset(
    " ".join(
        (
            "bash busybox bunx dash doas env exec fish ionice ksh nice nohup npx parallel pnpx setsid sh",
            "ssh stdbuf sudo timeout uvx watch xargs zsh",
        )
    ).split()
)
"""Programs that run whatever program their operands name."""


_SUBCOMMANDS_THAT_RUN = {
    "bisect": "run",
    "config": "config",
    "hook": "run",
    "instaweb": "instaweb",
    "merge-index": "merge-index",
    "submodule": "foreach",
}
"""Subcommands of git that run a program that they are told, now or later, and the word that no rule allows with them."""


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
    if of_command := re.fullmatch(_COMMAND, rule):
        return _command_rule_fault(*of_command.groups())
    if "/" in rule and "#" not in rule:
        return (
            "names a server of MCP by the name that an agent file gives it; "
            "write the server's address and the tool, such as `https://host/path#tool`"
        )
    return None


def rule_warning(allowance: str) -> str | None:
    """That a rule allows all commands, and why; None if it does not, or has no effect."""
    rule = allowance.strip()
    of_command = re.fullmatch(_COMMAND, rule)
    if of_command is None or of_command[1] == START or rule_fault(rule) is not None:
        return None
    words = _words(_without_star(of_command[2])[0]) or ()
    # Behind the program may be options with numbers, and variables.
    named = [word for word in words if "=" not in word and word[:1] not in "-0123456789"]
    program = next(_programs(reversed(named)), "")
    if program not in _RUN_OPERANDS:
        return None
    return f"allows all commands: {program} runs the program that its operands name"


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
    return _fault_of_words(words, is_open=_without_star(command)[1])


def _fault_of_words(words: Collection[str], *, is_open: bool) -> str | None:
    if dangerous := next((word for word in words if _is_dangerous_in_rule(word)), None):
        return f"has the option {quoted(dangerous)}, which no rule allows: it may run or write"
    if is_open and (program := _executes_operands(words)):
        option = _EXECUTE_OPERANDS[program]
        advice = f"add {option} to the rule" if option else "name the whole command"
        return f"allows {program} to run or write what its operands say; {advice}"
    return None


def _allows(rule: str, tool: str, arguments: Mapping[str, Json], address: str) -> bool:
    if "/" in tool:
        return _allows_remote(rule, tool.rsplit("/", maxsplit=1)[-1], address)
    if tool == START:
        return bool(address) and rule == address
    of_command = re.fullmatch(_COMMAND, rule)
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
    if not re.fullmatch(_PLAIN_WORDS, command) or given[: len(wanted)] != wanted:
        return False
    if rest and (_executes_operands(wanted) or _is_dangerous_place(wanted, rest)):
        return False
    return not _have_danger(rest, wanted) and (is_open or all(map(_is_operand, rest)))


def _have_danger(rest: Collection[str], wanted: Iterable[str]) -> bool:
    """Whether a dangerous option of the programs in a rule is among the words that follow the rule's."""
    programs = [*_programs(wanted)]
    letters = _SHORT + "".join(_SHORT_OF.get(each, "") for each in programs)
    longer = [option for each in programs for option in _LONG_OF.get(each, ())]
    return any(
        _is_dangerous(word, letters) or any(_begins(option, word) for option in longer)
        for word in rest
    )


def _programs(words: Iterable[str]) -> Iterator[str]:
    """The words as programs are named, wherever they lie. Before them may be others, such as `time`."""
    return (word.rpartition("/")[2] for word in words)


def _executes_operands(words: Collection[str]) -> str:
    """The program among the words of a rule that executes its operands, and is not kept from it; or ""."""
    found = (each for each in _programs(words) if each in _EXECUTE_OPERANDS)
    return next((each for each in found if _EXECUTE_OPERANDS[each] not in words), "")


def _is_dangerous_place(wanted: list[str], rest: list[str]) -> bool:
    """Whether what follows the words of a rule is dangerous at this place only."""
    programs = [*_programs(wanted)]
    behind_git = ([*wanted[at + 1 :], *rest] for at, each in enumerate(programs) if each == "git")
    if any(_is_dangerous_behind_git(words, rest) for words in behind_git):
        return True
    if not _TAKE_VARIABLES.isdisjoint(programs) and any("=" in word for word in rest):
        return True
    # The first word of tar may be options without a dash.
    return programs[-1] == "tar" and _is_dangerous(f"-{rest[0]}", _SHORT_OF["tar"])


def _is_dangerous_behind_git(words: list[str], rest: list[str]) -> bool:
    """Whether the `words` behind `git` run something because of the `rest`, which no rule names.

    Before its subcommand, git takes options that make any folder the repository whose configuration it reads.
    """
    has_options = words[0].startswith("-")
    if has_options and any(word == "--bare" or word.startswith("--git-dir") for word in rest):
        return True
    # Which word is the subcommand is known only without options, as some have values.
    subcommands = words if has_options else words[:1]
    if "clone" in subcommands and any(re.match("-[A-Za-z0-9]*u", word) for word in rest):
        return True  # The program that it starts elsewhere, which may be here.
    return any(
        name in subcommands and action in rest for name, action in _SUBCOMMANDS_THAT_RUN.items()
    )


def _without_star(text: str) -> tuple[str, bool]:
    """The words of a rule, and whether it ends with `*`."""
    text = text.strip()
    return (text[:-2].rstrip(), True) if text.endswith(" *") else (text, False)


def _words(text: str) -> list[str] | None:
    """As the shell splits them; None where a quotation mark is not closed."""
    import shlex

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


def _is_dangerous(word: str, letters: str) -> bool:
    """Whether a word is a dangerous option, or one of a single letter, of these, also among others."""
    return re.match(rf"-[A-Za-z0-9]*[{letters}]", word) is not None or _is_long(word)


def _begins(option: str, word: str) -> bool:
    """Whether a word is `--` and this option, or how it begins."""
    name = word.removeprefix("--").partition("=")[0]
    return word.startswith("--") and name != "" and option.startswith(name)


def _is_long(word: str) -> bool:
    """Whether a word is a dangerous option: `--x`, `--x=y`, find's `-x`, or `--` and how one begins."""
    name = word.lstrip("-").partition("=")[0]
    if not word.startswith("-") or not name:
        return False
    if name in _DANGEROUS or name in _DANGEROUS_AS_A_WHOLE:
        return True
    is_short = word.startswith("--") and name not in _NOT_SHORTENED
    return is_short and any(each.startswith(name) for each in _DANGEROUS)
