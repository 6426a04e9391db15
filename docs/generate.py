"""Writes the pages, and the parts of other files, that say what a table in the code says.

    python docs/generate.py

It also wraps the paragraphs of all pages. Tests compare the files with what this would write, so a
stale page fails.
"""

from __future__ import annotations

import json
import re
import textwrap
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import shtab

from axe_lsp.agentfile.convert.conversion import FORMATS
from axe_lsp.agentfile.convert.formats import Format
from axe_lsp.agentfile.convert.intermediate import FIELDS
from axe_lsp.agentfile.rights import RIGHTS
from axe_lsp.agentfile.schema import agent_keys, key_spec
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.key_spec import KeySpec, KeyType, Schema
from axe_lsp.agentfile.schema.models import ENDING_SOURCES, MODELS, READ_ON, SOURCES, Model
from axe_lsp.agentfile.schema.published_schema import PUBLISHED, json_schema
from axe_lsp.agentfile.schema.tools import TOOLS
from axe_lsp.cli import full_result
from axe_lsp.cli.examples import EXAMPLES
from axe_lsp.cli.main import COMMANDS, module_of
from axe_lsp.cli.shell_completion import SHELLS
from axe_lsp.daemon import project_severities
from axe_lsp.features.describe import dearer, price
from axe_lsp.features.rule import Rule
from axe_lsp.features.rules import RULES
from axe_lsp.runtime.safety.command_table import GIT, PROGRAMS, RUN_OPERANDS, RUNNERS
from axe_lsp.runtime.safety.protected_places import PROTECTED_ENDINGS, PROTECTED_NAMES
from axe_lsp.settings import SETTINGS, Setting
from axe_lsp.testing import result

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "server" / "axe_lsp" / "pages"
SCHEMAS = ROOT / "docs" / "schemas"
SECURITY = ROOT / "docs" / "security.md"
COMPLETIONS = ROOT / "server" / "axe_lsp" / "completions"
EXTENSION = ROOT / "vscode-extension" / "package.json"
PROSE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "server" / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
"""Pages that people read; their paragraphs are wrapped."""
_NOTE = "<!-- Written by docs/generate.py. -->\n\n"


def generated() -> dict[Path, str]:
    """Return every generated file with its text."""
    return {
        path: wrapped(text) if path.suffix == ".md" else text for path, text in _unwrapped().items()
    }


def _unwrapped() -> dict[Path, str]:
    return {
        ROOT / "docs" / "agent-files.md": _NOTE + agent_files_page(),
        ROOT / "docs" / "command-line.md": _NOTE + command_line_page(),
        ROOT / "docs" / "config-file.md": _NOTE + config_file_page(),
        ROOT / "docs" / "converting.md": _NOTE + converting_page(),
        ROOT / "docs" / "diagnostics.md": _NOTE + diagnostics_page(),
        ROOT / "docs" / "models.md": _NOTE + models_page(),
        SECURITY: security_page(),
        ROOT / "docs" / "settings.md": _NOTE + settings_page(),
        **{
            SCHEMAS / f"{kind}.json": schema_file(json_schema(each))
            for kind, each in PUBLISHED.items()
        },
        SCHEMAS / "check.json": schema_file(project_severities.json_schema()),
        SCHEMAS / "test-result.json": schema_file(result.json_schema()),
        SCHEMAS / "run-result.json": schema_file(full_result.json_schema()),
        EXTENSION: extension_manifest(),
        **{COMPLETIONS / f"axe-lsp.{shell}": completion_script(shell) for shell in SHELLS},
        **{PAGES / f"{rule.code}.md": rule_page(rule) for rule in RULES},
    }


_COLUMNS = 100
_FIXED = re.compile(r"\s*(\||#|<|!\[|>)")
"""A line of Markdown that is not part of a paragraph: a table, a heading, HTML, a picture, a quote."""
_ITEM = re.compile(r"(\s*)([-*] |\d+\. )?")


def wrapped(markdown: str) -> str:
    """Markdown with its paragraphs and list items wrapped; tables and code stay as they are."""
    lines: list[str] = []
    paragraph: list[str] = []
    is_code = False
    for line in [*markdown.splitlines(), ""]:
        is_fence = line.lstrip().startswith("```")
        is_part = bool(line.strip()) and not (is_code or is_fence or _FIXED.match(line))
        found = _ITEM.match(line)
        if paragraph and not (is_part and found is not None and found[2] is None):
            lines += _wrapped_paragraph(paragraph)
            paragraph = []
        if is_part:
            paragraph.append(line)
        else:
            lines.append(line)
        is_code ^= is_fence
    return "\n".join(lines)


def _wrapped_paragraph(lines: list[str]) -> list[str]:
    found = _ITEM.match(lines[0])
    assert found is not None
    indent, mark = found[1], found[2] or ""
    text = " ".join([lines[0][found.end() :], *(line.strip() for line in lines[1:])])
    return textwrap.wrap(
        text,
        _COLUMNS,
        initial_indent=indent + mark,
        subsequent_indent=indent + " " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )


# -- security


def security_page() -> str:
    """Return the page, with the table of who may ask for what between its two marks."""
    before, rest = SECURITY.read_text(encoding="utf-8").split(_RIGHTS)
    after = rest.split(_END_OF_RIGHTS)[1]
    rows = [
        f"| {each.what} | {each.user.value} | {each.workspace.value} | {each.model.value} |\n"
        for each in RIGHTS
    ]
    head = "| an agent asks for | the user | the workspace | the model |\n|---|---|---|---|\n"
    return f"{before}{_RIGHTS}\n{head}{''.join(rows)}{_END_OF_RIGHTS}{after}"


_RIGHTS, _END_OF_RIGHTS = "<!-- rights -->", "<!-- end of rights -->"


# -- agent files


def agent_files_page() -> str:
    """Return all keys of an agent file, table by table."""
    tables = [key for key in agent_keys.KEYS if key.is_table]
    sections = [_table_section(agent_keys.AGENT, key) for key in tables]
    return "\n".join([_AGENT_FILES, _rows(agent_keys.keys_of(())), *sections, _tools()])


_AGENT_FILES = """\
# Agent files

An agent is a TOML file. Its name is the name of the file: `sub_agents = ["lint"]` means `lint.toml`. The folders of
agent files are

- `axe/agents/` and `.axe/agents/` of a workspace folder, and the folders of the setting `axe.agentPaths`,
- `axe/agents/` in the user's configuration folder (`$XDG_CONFIG_HOME`, usually `~/.config`).

In an editor, a TOML document with the language id `axe-agent` is an agent file in any folder.

```toml
name = "reviewer"
model = "anthropic/claude-sonnet-5-5"
description = "Reviews a change"
system_prompt = \"\"\"
You review code. Be brief.
\"\"\"
files = ["CONTRIBUTING.md", "src/**/*.py"]
sub_agents = ["lint", "test-runner"]

[sub_agents_config]
max_depth = 2
```

A run ignores unknown keys; the editor reports them. Keys marked *axe-lsp* are extensions: axe loads a file with such
keys, and ignores them. This version checks all keys below; a run reports a key that it does not support yet.
More about some keys: [agents that start agents](delegation.md), [typed agents](typed-agents.md),
[MCP servers](mcp.md), [limits of runs](limits.md).

## Which file a name means

`axe-lsp` looks for `NAME.toml` in these folders, in this order. The first file counts.

1. The folder of `--agents-dir`, if a run has it.
2. `axe/agents`, then `.axe/agents`, of the `workdir` that the calling agent's file or `--workdir` names.
3. The folder of the calling agent's file, unless that is the user's folder.
4. `axe/agents`, then `.axe/agents`, of the workspace folder. If an editor has several workspace folders open, the one
   of the calling agent comes first.
5. The folders of the setting `axe.agentPaths`, in the editor.
6. The user's folder.
7. Every other `axe/agents` and `.axe/agents` below the workspace folder, those nearer to the top first, then by name.
   Hidden folders, linked folders and folders of dependencies (`node_modules`, `venv`, `build` and the like) are
   not searched, nor are folders more than 12 levels deep.
8. Agents of [other programs](markdown-agents.md#runs) in the folder of the caller's project: of Codex, Vibe, Claude Code, Copilot,
   opencode, Gemini CLI. `claude:NAME` means that of one program, `axe:NAME` one of axe.

A repository below the workspace folder (a submodule, a clone, a worktree) is a project of its own: in steps 4 and 7, an
agent's file names only agents of its own repository, and two agents of one name in two repositories do not cause
[`duplicate-name`](diagnostics.md#duplicate-name). A `.git` file or a `.git` folder with a `HEAD` makes a folder a
repository. A name that you type, as for `axe-lsp run`, means agents of all of them.

The editor, `axe-lsp check`, `axe-lsp run`, runs from the editor and the graph all use this order. Steps 1, 2, 4
(`axe/agents`) and 6 are axe's own; axe does not know the others. A workspace's agent thus precedes a user's agent of
the same name. A run warns about that.

Two differences remain. The editor does not follow `~` and variables in `workdir`, and it reads no folder
outside the workspace that a `workdir` names.

On the command line, the workspace folder is the nearest folder, from the current one upwards, that has `axe/agents` or
`.axe/agents`; if there is none, it is the current folder. The search ends at the top of a Git repository, below the home
folder, and at agents that belong to another user of the machine. Agents below the root of a file system are not searched. An agent of the workspace works in the workspace
folder; any other agent works in the current folder. `axe-lsp run PATH` runs the agent file at a path that ends in
`.toml`: a file in `axe/agents` works in its own workspace. [Trust](security.md) applies to the folder in which the agent works.

## Top level
"""


def _table_section(of: Schema, table: KeySpec) -> str:
    brackets = "[[{}]]" if table.type is KeyType.TABLES else "[{}]"
    title = brackets.format(table.dotted.replace(key_spec.ANY_NAME, "NAME"))
    keys = [key for key in of.keys_of(table.path) if not key.is_table]
    mark = f" *{key_spec.EXTENSION}*" if table.is_extension else ""
    rows = _rows(keys) if keys else ""
    return f"\n## `{title}`\n\n{table.doc}{mark}\n{rows}"


def _rows(keys: Iterator[KeySpec] | tuple[KeySpec, ...] | list[KeySpec]) -> str:
    lines = ["", "| key | type | default | |", "|---|---|---|---|"]
    lines += [
        f"| `{key.path[-1]}` | {key.type.value} | {_default(key)} | {_meaning(key)} |"
        for key in keys
        if not key.is_table
    ]
    return "\n".join([*lines, ""])


def _default(key: KeySpec) -> str:
    if key.required:
        return "required"
    return f"`{key.default}`" if key.default is not None else ""


def _meaning(key: KeySpec) -> str:
    facts = [key.doc]
    if key.choices:
        facts.append("One of " + ", ".join(f"`{choice}`" for choice in key.choices) + ".")
    if key.minimum is not None and key.maximum is not None:
        facts.append(f"{key.minimum} to {key.maximum}.")
    if key.is_extension:
        facts.append(f"*{key_spec.EXTENSION}*")
    elif key.since != key_spec.FIRST_AXE:
        facts.append(f"*{key.since}*")
    return " ".join(facts)


def _tools() -> str:
    lines = ["\n## Tools\n", "| name | also | |", "|---|---|---|"]
    lines += [
        f"| `{tool.name}` | {', '.join(f'`{alias}`' for alias in tool.aliases)} | {tool.documentation} |"
        for tool in TOOLS.values()
    ]
    return "\n".join([*lines, _ABOUT_TOOLS])


_ABOUT_TOOLS = """
Names may be globs such as `*_file`; `*` means all tools but `ask_user` and those that ask the editor, which have to be named. The failure of a tool is an error result for the model; it
does not end the run.

Tools work only inside the working directory: absolute paths, `..` and symbolic links that lead outside are refused.
For commands this check is only a precaution against mistakes, because a command can construct any path.
`write_file`, `edit_file` and `run_command` need approval: the editor or the terminal asks you and shows the exact
change or command; `axe-lsp run --allow RULE`, `[tools] allow` in [config.toml](config-file.md) and the setting `axe.tools.allow` answer in advance, and
`--yes` allows everything, except for
[protected places](settings.md#protected-places). If nobody can be asked, or
after a denial, the model gets an error result with the reason.

A file that `edit_file` or `write_file` changes keeps its line endings (CRLF), its byte order mark, its mode and its
hard links; `old_string` also matches text whose lines end differently. If a file has changed since the agent last read
or wrote it, `write_file` does not overwrite it: the agent gets an error and has to read it again. This also holds
between agents that work in parallel, and when a conversation goes on later.

Commands run with `sh -c`. Their environment has `PATH`, the locale and the user's name, but no keys. Their `HOME` is
the working directory. If that has hidden files (except those of repositories, `.editorconfig`, `.axe` and `.venv`),
it is the folder `~/.cache/axe/home`, so that no program reads start-up files of a repository.
So a command that leaves a folder such as `.npm` in the working directory changes `HOME` for the next one. Programs
keep caches in `~/.cache/axe/home`, which axe-lsp never trims; delete it whenever no agent runs. A command may
take ten minutes; of more than 100 KB of output the model gets the beginning and the end; processes that it leaves running end with it. `grep` and `find_files` skip ignored
files, `.git`, and (unless a path names it) `axe/tests`, and find hidden files. They use [ripgrep](https://github.com/BurntSushi/ripgrep) if it is installed,
else a slower search of axe-lsp with the same results; each search ends after 60 seconds. `url_fetch` accesses the `allowed_hosts`, or
any host if there are none, and never private addresses. Agents of a workspace need [trust](security.md#trust) for it and for `web_search`, which uses Tavily with the key in `TAVILY_API_KEY`.

`ask_user` asks the person who started the run, also from a sub-agent: in the editor, or at the terminal of
`axe-lsp run`, where the answer is the number of a choice or a line of text. The tool's result is the answer, and the
run's time is paused until then. If nobody can be asked, the question is dismissed, or the setting
`axe.approvalTimeout` is over, the model gets an error result with the reason; `--yes` answers no question. A question
has at most 2,000 characters, and at most 8 choices of 80 characters.

`diagnostics`, `definition`, `references`, `symbols`, `hover` and `call_hierarchy` ask the [language servers of the
editor](editor-tools.md). A run gets them only if its editor answers them.
"""


# -- config.toml


def command_line_page() -> str:
    """Return the commands of axe-lsp with their arguments, as `--help` describes them."""
    sections = "".join(
        _command(name, what, find_parser(module_of(name))) for name, what in COMMANDS.items()
    )
    return (
        "# The command line\n\n"
        "`axe-lsp --help` lists the commands, and `axe-lsp COMMAND --help` describes one. Without a command, "
        "or with options of `axe-lsp serve` alone, `axe-lsp` is the language server.\n\n"
        "| exit code | |\n|---|---|\n"
        + "".join(f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items())
        + "\nCtrl-C in the first tenth of a second, while Python itself starts, can print a traceback of Python.\n"
        + "\nErrors go to standard error. A hint below an error names the next step, or the place in an agent file. "
        "If neither `TERM` nor `CI` is set, there are no hints, so programs get exactly axe's messages.\n"
        + f"\n{sections}"
    )


EXIT_CODES = {
    0: "success",
    1: "an agent failed, a check found an error, or the command line is wrong",
    2: "the configuration is wrong: an agent file, a model, a missing file",
    3: "the provider failed",
    4: "a budget was used up",
    130: "Ctrl-C",
}


def completion_script(shell: str) -> str:
    """Return the script by which a shell completes the command line, as `axe-lsp completion` prints it."""
    root = ArgumentParser(prog="axe-lsp")
    below = root.add_subparsers(dest="command")
    for name, what in COMMANDS.items():
        parser = find_parser(module_of(name)) or ArgumentParser(prog=f"axe-lsp {name}")
        _offer_values(parser)
        below.add_parser(name, help=what)
        below._name_parser_map[name] = parser
    text = shtab.complete(root, shell)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


_AGENT_NAMES = "axe-lsp agents list --names 2>/dev/null"


def _offer_values(parser: ArgumentParser) -> None:
    """Say of which kind values are: agents, models, files, folders."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for child in action.choices.values():
                _offer_values(child)
        elif action.dest in ("agent", "agents"):
            vars(action)["complete"] = shtab.cmd(_AGENT_NAMES)
        elif action.dest == "model":
            action.choices = [str(model) for model in MODELS]
        elif action.metavar in ("FILE", "PATH"):
            vars(action)["complete"] = shtab.FILE
        elif action.metavar == "DIR":
            vars(action)["complete"] = shtab.DIRECTORY


def find_parser(module: str) -> ArgumentParser | None:
    """Return the parser of a command; None for one without arguments of its own."""
    make = getattr(import_module(module), "_parser", None)
    return make() if make is not None else None


def _command(name: str, about: str, parser: ArgumentParser | None) -> str:
    text = f"## axe-lsp {name}\n\n{(parser and parser.description) or about.capitalize() + '.'}\n\n"
    text += "```sh\n" + "".join(f"{each}\n" for each in EXAMPLES[name]) + "```\n\n"
    if parser is None:
        return text
    below = [each for each in parser._actions if isinstance(each, _SubParsersAction)]
    arguments = [each for each in parser._actions if each not in below]
    text += _arguments(arguments)
    for action in below:
        for command, own in action.choices.items():
            text += (
                f"### axe-lsp {name} {command}\n\n{own.description}\n\n{_arguments(own._actions)}"
            )
    return text


def _arguments(actions: Iterable[Action]) -> str:
    rows = [each for each in actions if each.dest != "help" and each.help not in (None, SUPPRESS)]
    if not rows:
        return ""
    table = "".join(
        f"| {_argument(each)} | {(each.help or '').replace('%%', '%')} |\n" for each in rows
    )
    return f"| argument | |\n|---|---|\n{table}\n"


def _argument(action: Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else None
    if value is None and action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if value is None and action.nargs != 0:
        value = action.dest.upper() if action.option_strings else action.dest
    if not action.option_strings:
        return f"`[{value}]`" if action.nargs in ("?", "*") else f"`{value}`"
    names = ", ".join(f"`{each}`" for each in action.option_strings)
    return names if action.nargs == 0 else f"{names} `{value}`".replace("|", "\\|")


def config_file_page() -> str:
    """Return the same of config.toml."""
    tables = (key for key in CONFIG.keys if key.is_table)
    return "\n".join([_CONFIG_FILE, *(_table_section(CONFIG, table) for table in tables)])


_CONFIG_FILE = """\
# config.toml

`axe/config.toml` in the user's configuration folder (`$XDG_CONFIG_HOME`, usually `~/.config`) configures the
providers for all agents of one user. axe and axe-lsp share it; `axe-lsp config init` writes a first one that only its
owner may read. Each run reads it again, so changes take effect at once. Environment variables take precedence over it.

```toml
[providers.anthropic]
api_key = "..."

[providers.ollama]
base_url = "http://localhost:11434"
```

A `base_url` replaces the provider's address. For `openai` with a compatible server, the address may end in `/v1` or
another version (`/api/v3`, `/v1beta/openai`), or have no version, and requests use only common parameters:
`max_tokens`, unless the server requires `max_completion_tokens`. A server in place of `anthropic` gets cache markers
from the third request of a run on, Anthropic itself from the first. If a model refuses `temperature`, the request is
sent without it, and the run reports that.

The editor checks, completes and explains this file like agent files. `axe-lsp check` checks it if you name the file or
its folder; without a path it checks only the agents of the current folder, so that CI gets the same result as you. A
workspace can't have such a file: a repository must not decide where your keys are sent.

The value of `api_key` is never shown: not in messages, not in the outline, not in the output of `axe-lsp check`.
"""


# -- JSON Schemas


def schema_file(schema: dict[str, object]) -> str:
    """Return a JSON Schema, as `axe-lsp schema` prints it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


# -- conversion


def converting_page() -> str:
    """Return what each format has of an agent, a row for each field and for each tool."""
    formats = list(FORMATS.values())
    head = f"| | {' | '.join(each.title for each in formats)} |\n|{'---|' * (len(formats) + 1)}"
    files = " | ".join(f"`{each.folder}/*{each.suffix}`" for each in formats)
    fields = [
        f"| {title} | {' | '.join(_field_key(each, name) for each in formats)} |"
        for name, title in FIELDS.items()
    ]
    tools = [
        f"| `{tool}` | {' | '.join(_tool_names(each, tool) for each in formats[2:])} |"
        for tool in TOOLS
    ]
    tool_head = f"| axe | {' | '.join(each.title for each in formats[2:])} |\n|{'---|' * (len(formats) - 1)}"
    return _CONVERTING.format(
        fields="\n".join([head, f"| files | {files} |", *fields]),
        tools="\n".join([tool_head, *tools]),
        names=", ".join(f"`{name}`" for name in FORMATS),
    )


def _field_key(of: Format, name: str) -> str:
    key = of.keys.get(name)
    return "lost" if key is None else f"`{key}`" if key else "the text"


def _tool_names(of: Format, tool: str) -> str:
    names = [f"`{name}`" for name, meant in of.tools.items() if tool in meant]
    return ", ".join(names) or "lost"


_CONVERTING = """\
# Converting agents

`axe-lsp import` converts agents of Codex, Claude Code, GitHub Copilot, Gemini CLI, opencode and Mistral Vibe to agents of axe.
`axe-lsp export` converts agents to files of these programs.

```sh
axe-lsp import .                                # all agents of other programs in this project
axe-lsp import .claude/agents/reviewer.md --model anthropic/claude-opus-5
axe-lsp export --to codex reviewer              # one agent, by its name
axe-lsp export --to claude --dry-run            # all agents of the workspace: a diff, no files
```

New files go to the folder of the program in the workspace, or to `--output DIR`; imported agents go to `axe/agents`. The
formats are {names}. The format of a file follows from its folder and suffix, or is given with `--from FORMAT`. A Markdown
file outside these folders is read as an agent of Claude Code. If a folder contains none of these folders, every file in it that looks like an agent is converted:
Markdown that begins with `name` and `description`, and TOML with `developer_instructions`. Skills are left out, with their references: the files below a folder with `SKILL.md`, except those in `agents`.
If a project has the same agents for several programs, `--from claude` imports only the agents of Claude Code. Without
`--force`, no file is replaced. A file that can't be read is reported with its line, and the others are converted.

The exit code is 0 if all files were converted, 1 if one was not, and 2 if a named file, folder or agent does not exist.

In editors, **Convert to an agent of …** is a code action on the name and the description of an agent. Its title names
the keys that the new file would not have. It does not replace existing files.

## The report

A conversion prints one word for each key:

- `kept`: the new file has the same value, under the name that its format has for it.
- `mapped`: the new file has another value with the same meaning, as far as the format can express it.
- `added`: the new file needs a value that the old one did not have.
- `lost`: the new file does not have it.

Instructions are kept byte for byte, except line breaks around the text in Markdown, which these programs ignore. Comments
stay with their keys; comments of lost keys are at the end.

## Fields

{fields}

A model is kept if the other program uses its provider: OpenAI for Codex, Anthropic for Claude Code, Google for Gemini CLI.
On import, `sonnet` and the like mean the newest model of that name in the [table](models.md). An agent whose file names no
model gets the one of `--model`, or a placeholder that `axe-lsp check` reports.

MCP servers (programs and addresses) are converted if the agent may use all of their tools; axe has no limits
such as `enabled_tools`. Keys that limit nothing, such as `tool_timeout_sec`, are reported and left out. Codex ignores servers of
an agent, and Gemini CLI and Vibe have their own forms of keys, so these are reported instead.

## Tools

A list of tools never gets longer by a conversion. Codex has no such list, and its agents can always patch files; a
conversion to Codex reports that.

{tools}

- Codex has no list of tools. An agent without `run_command` gets `features.shell_tool = false`, and one that changes
  nothing gets `sandbox_mode = "read-only"`; Codex 0.169 ignores the latter, which is reported, and axe-lsp obeys it.
- Codex and Vibe agents are imported with the tools that a [run](dialects.md#runs) gives them.
- In the other programs an agent without a list has all tools. Imported, it gets those that axe has, as a list; exported, it
  gets an empty list where the agent has no tools.
- A name that stands for several tools is written only if the agent has all of them, except those that only read the
  workspace.
- A tool with a limit on its arguments, such as `Bash(git:*)`, is left out, as axe has no such limits. If a part of a tool
  is denied, the whole tool is left out.
- In opencode the last rule of `permission` that matches counts. A tool whose rules deny some of its arguments is left out;
  exported, tools that change something get `ask`.
- `allowed_hosts` has no counterpart, so `url_fetch` is left out with it. The types `explore` and `plan` protect the
  workspace, which other programs do not do, so they are exported without tools that change something.
- Sub-agents are exported only for agents that may change everything: Claude Code and Copilot may let an agent start
  every other one.

## Sources

The formats were read in the documentation and the code of the programs:
[Claude Code](https://code.claude.com/docs/en/sub-agents),
[Copilot](https://docs.github.com/en/copilot/reference/custom-agents-configuration),
[VS Code](https://code.visualstudio.com/docs/copilot/customization/custom-agents), Gemini CLI 0.61, Codex 0.169 and
Mistral Vibe 3.0.3. Gemini CLI accepts `mcp_servers`, not the `mcpServers` of its documentation. Exported agents were loaded with Codex 0.169,
Gemini CLI 0.61 and `claude plugin validate` of Claude Code 2.1.197.

Front matter is read as its program reads it. A value with an unquoted colon or the like is imported as it is meant, also
where the program would not load the file.
"""


# -- models


def models_page() -> str:
    """Return a row for each model."""
    pages = "\n".join(f"- {provider}: <{page}>" for provider, page in SOURCES.items())
    endings = "\n".join(f"- {provider}: <{page}>" for provider, page in ENDING_SOURCES.items())
    return _MODELS.format(
        date=READ_ON, pages=pages, endings=endings, rows="\n".join(map(_model_row, MODELS))
    )


def _model_row(model: Model) -> str:
    notes = []
    if model.dearer_above:
        notes.append(dearer(model))
    if model.doubles:
        notes.append(f"twice these prices from {model.doubles}")
    if model.ends:
        notes.append(f"ends {model.ends}")
    prices = (model.input_price, model.cached_price, model.written_price, model.output_price)
    costs = " | ".join(map(price, prices))
    note = ", ".join(notes)
    return f"| `{model}` | {model.context:,} | {model.max_output:,} | {costs} | {note} |"


_MODELS = """\
# Models

Completion and hover on `model` use this table. Other names are valid, too. Completion offers models that other agents
of the workspace use first, whether or not they are in the table. When you type `ollama/`, the server asks a running
Ollama for its installed models, in the background, at the address that runs use.

Sizes are in tokens, prices in US dollars for a million tokens, as read on {date}. The
[cost of a run](limits.md#cost) is computed from them. A model that its provider has switched off, or will, is
[reported](diagnostics.md#ending-model) with the day and the model in its place.

| model | context | longest answer | input | from the cache | into the cache | output | |
|---|---|---|---|---|---|---|---|
{rows}

## Updating the table

The tables are in `server/axe_lsp/agentfile/schema/models.py`. Read the providers' pages again, change the rows, put the
newest models of each provider first, delete those that have ended, add the announced days to `_ENDINGS`, set `READ_ON`,
and run `python docs/generate.py`. Omit values that a page does not state. The pages are

{pages}

and, about the ends of models,

{endings}
"""


# -- diagnostics


def diagnostics_page() -> str:
    """Return a section for each rule."""
    return "\n".join([_DIAGNOSTICS, *map(_rule_row, RULES), "", *map(_rule_section, RULES)])


_DIAGNOSTICS = """\
# Diagnostics

The editor and `axe-lsp check` report the same diagnostics. Each has a stable code. The setting `axe.diagnostics` changes
the severity of a code or switches it off:

```json
{ "axe.diagnostics": { "name-mismatch": "off", "unknown-agent": "error" } }
```

The file `axe/check.toml` (or `.axe/check.toml`) of a project does the same for everyone who works on it. It applies
to the agents in the folder `agents` and the tests in `tests` next to it, in editors and in `axe-lsp check`:

```toml
[diagnostics]
name-mismatch = "off"
unknown-agent = "error"
```

A [JSON Schema](schemas.md) completes and checks it in editors. The setting overrides the project's file, and
`axe-lsp check --severity CODE=LEVEL` overrides both. Neither the project's file nor a
[comment](#unused-ignore) in a file of the project can weaken `plain-secret` and `outside-workspace`, since these
rules protect the user from the project. Editors report an entry without effect as a message, `axe-lsp check` by exit
code 2.

Setting a severity switches on a diagnostic that is off by default.

| code | severity | |
|---|---|---|"""


def _rule_row(rule: Rule) -> str:
    return f"| [`{rule.code}`](#{rule.code}) | {_severity(rule)} | {rule.summary} |"


def _severity(rule: Rule) -> str:
    return rule.severity.name.lower() + ("" if rule.is_on else ", off")


def _rule_section(rule: Rule) -> str:
    return f"## {rule.code}\n\n{rule.documentation.strip()}\n"


def rule_page(rule: Rule) -> str:
    """Return what an editor opens for the code of a diagnostic."""
    return _RULE_PAGE.format(
        code=rule.code,
        severity=_severity(rule),
        summary=rule.summary,
        documentation=rule.documentation.strip(),
        where=""
        if not rule.is_protecting
        else " of your own agents (in a workspace no comment suppresses it)",
    )


_RULE_PAGE = """\
# {code}

{summary} Severity: {severity}.

{documentation}

---

To change the severity, or to switch the diagnostic off or on, in the settings of the editor:

```json
{{ "axe.diagnostics": {{ "{code}": "off" }} }}
```

To suppress it in one place{where}, at the end of the line or on a line of its own above:

```toml
# axe: ignore[{code}]
```
"""


# -- settings


def settings_page() -> str:
    """Return a row for each setting."""
    rows = [
        f"| `axe.{each.name}` | `{json.dumps(each.default)}` | {each.doc} |" for each in SETTINGS
    ]
    return "\n".join(
        [
            _SETTINGS,
            *rows,
            _ALLOW_RULES.format(
                programs=_names(PROGRAMS),
                git=_names(name for name, row in GIT.items() if not row.runs_hooks),
                hooks=_names(name for name, row in GIT.items() if row.runs_hooks),
                runners=_names(RUNNERS),
                open_to_all=_names(RUN_OPERANDS),
                protected=_names(
                    (*PROTECTED_NAMES, *(f"*{ending}" for ending in PROTECTED_ENDINGS))
                ),
            ),
        ]
    )


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


_ALLOW_RULES = """
## Allow rules

The rules of `axe.tools.allow` are the user's permanent permissions. `[tools] allow` in
[config.toml](config-file.md) has the same rules, for editors and the command line; `--allow RULE`
of `run`, `chat`, `resume`, `acp`, `mcp` and `test --live` adds rules for one command; `allow` in a [file of tests](testing.md) has the
same rules. Anything that no rule allows causes a question.

| rule | allows |
|---|---|
| `write_file`, `*_file`, `Write` | every call of these tools, except in protected places |
| `write_file(docs/**)`, `edit_file(.github/**)` | changes of the files that the glob matches, also in protected places that it names |
| `run_command(git diff)` | exactly this command, or with plain arguments after it |
| `run_command(git diff *)` | also options after it, as far as they are known to be harmless |
| `run_command` | every command |
| `run_mcp(uvx mcp-server-git)`, `run_mcp(uvx mcp-server-git)#*` | the start of this MCP server; its tools |
| `https://host/path#tool`, `https://host/path#*`, `*#*` | tools of MCP servers |
| `*` | everything, except changes of files in protected places |

### Commands

A rule without `*` allows its own text, letter by letter, whatever the command does: also pipes, redirections and any
option. With more words than that, or with `*`, it allows one plain command: no pipe, redirection, substitution,
wildcard or second command, no variable in front that the rule does not have. Which further words the command may have
depends on the program. `time`, `env`, `nice`, `timeout`, `uv run`, `npx`, `python -m` and their like stand for the
program after them.

- **Programs whose options are known**: only options that run no program, write no file and read no configuration, by
  their whole names; options before a subcommand of git such as `-c`, `--git-dir` and `--work-tree` are not among them.
  The programs are {programs}; and these subcommands of git: {git}. `sed` and `awk` need `--sandbox` in the rule, and
  `sqlite3` needs `-safe`. `tar` may only list.
- **Subcommands of git that run the repository's hooks**: {hooks}. The same, if the rule names the subcommand, such as
  `run_command(git commit *)`; the rule then allows the hooks, too. All other subcommands, such as `push`, are allowed
  by a rule with the whole command only.
- **Project runners** execute the code of the project whatever their options are: {runners}. All options are allowed, except those that name a program, a
  configuration or a place to write to, such as `pytest -p` and `make CC=…`; paths that lead out of the working
  directory, also by a link, are not. Of programs with subcommands, those that build and test are allowed.
  `npm`, `pnpm`, `yarn` and `bun` hand options on to a script: those of `jest`, `vitest`, `mocha`, `eslint` and `tsc` that
  name a program or a place to write to are not allowed for them either, such as `npm test -- --globalSetup x`.
- **All other programs**: plain arguments, and the options that the rule itself names. `run_command(gcc -O2 *)` allows
  `gcc -O2 a.c`, but not `gcc -O2 -wrapper x a.c`. A plain argument begins with no sign, and has no `=` and, except
  for `https://`, no colon. With plain arguments alone, `cp -r` and `unzip` can still overwrite files in protected
  places that the command does not name.

If a rule is about the program but does not allow the command, the question says which word is the reason, and has the
narrowest rule that allows the command. Arguments that name a protected place are not allowed, except for programs
that only read.

A rule that allows all commands, because its program runs the program that its operands name, causes a warning:
{open_to_all}.

A rule for a command of git applies only if the configuration of the repository starts no program: with a key such as
`core.fsmonitor`, `diff.x.textconv` or `filter.x.clean` in `.git/config`, of the repository or a submodule, or with the
hook `post-index-change`, the command causes a question that names the key.

### Protected places

Changes of these files and folders are asked about each time, also if `*`, `write_file` or the answer "for this run"
allows the tool, since other programs execute them or take rights from them: {protected}, and `axe` in the
workspace's top folder, or with `agents` in it anywhere. Upper and lower case, invisible characters, trailing dots and
spaces, and links make no difference. Only a rule that spells out the protected name allows such a change:
`write_file(.github/**)` and `write_file(**/.envrc)` do, `write_file(**)` does not. `axe-lsp run --yes` denies it, and
the message has the rule.

Not protected is what the user starts knowingly, and agents are there to write: `conftest.py` and other tests, a
`Makefile`, and the scripts of `package.json`. A user who allows `pytest` or `make` allows this code. A whole command, and a
rule that allows all commands (`run_command`, `*`), can change protected places: commands run without a sandbox.
"""


_SETTINGS = """\
# Settings

Clients send settings in the section `axe` of `workspace/configuration`, or as `initializationOptions`. An invalid value
is ignored, and a message gives the reason.

With `initializationOptions.trusted = false`, the user does not trust the workspace: everything works except runs, which
are refused. With `true`, the user trusts it. Without either, the user is asked about
[each file that reaches outside the workspace](security.md#trust).

| setting | default | |
|---|---|---|"""


_OF_THE_EXTENSION = ("axe.server.", "axe.editor.")
"""Settings of the extension alone; they are written in package.json by hand."""


def extension_manifest() -> str:
    """Return the VS Code extension's package.json with the server's settings in it."""
    manifest = json.loads(EXTENSION.read_text("utf-8"))
    properties = manifest["contributes"]["configuration"]["properties"]
    names = {f"axe.{setting.name}" for setting in SETTINGS}
    own = {
        name: value
        for name, value in properties.items()
        if name in names or name.startswith(_OF_THE_EXTENSION)
    }
    own.update({f"axe.{setting.name}": _property(setting) for setting in SETTINGS})
    manifest["contributes"]["configuration"]["properties"] = own
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _property(setting: Setting) -> dict[str, object]:
    scope = {"scope": "machine"} if setting.personal else {}
    doc = {"markdownDescription": setting.doc}
    return {**setting.schema, "default": setting.default, **scope, **doc}


def main() -> None:
    for folder in (PAGES, SCHEMAS):
        folder.mkdir(exist_ok=True)
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    for path in PROSE:
        path.write_text(wrapped(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
