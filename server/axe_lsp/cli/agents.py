"""`axe-lsp agents`: the agents that can be run from here."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import SUFFIX
from axe_lsp.agentfile.scaffold import scaffold
from axe_lsp.cli.arguments import Parser, agents_folder, days
from axe_lsp.cli.streams import complain, tell_person
from axe_lsp.daemon import disk
from axe_lsp.runtime.agent_search import agent_search, project_agents_folder, ways_to_agents
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.agent_files import AgentFolders, check_name
from axe_lsp.runtime.files.default_model import model_to_begin_with
from axe_lsp.runtime.files.folders import config_folder
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.plain_text import os_fault, shown_path, valid_text, visible
from axe_lsp.runtime.preview import shown_number


def main(arguments: Sequence[str]) -> int:
    """List, show, create or edit agents."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return int(_COMMANDS[options.command](options))
    except RunError as error:
        complain(error)
        return 1


def _list(options: argparse.Namespace) -> int:
    """Print one line per agent. Files without an agent are left out, as in axe; on a terminal they are mentioned."""
    folders = _folders(options)
    found = list(folders.list())
    definitions = [agent for _, _, agent in found if isinstance(agent, AgentDefinition)]
    if options.names:
        for name in sorted(name for name, _, agent in found if isinstance(agent, AgentDefinition)):
            print(visible(name))
        return 0
    for agent in sorted(definitions, key=lambda agent: agent.name):
        print(visible(f"{agent.name} - {agent.description}" if agent.description else agent.name))
    for _, path, fault in found:
        if isinstance(fault, ConfigError):
            tell_person(visible(f"{path} contains no agent that can be run: {fault}"))
    if not found:
        looked = ", ".join(map(shown_path, folders.folders))
        tell_person(f"No agents in {looked}. {ways_to_agents([agent_search().workspace])}")
    return 0


def _show(options: argparse.Namespace) -> int:
    folders = _folders(options)
    agent = folders.resolve(options.agent)
    # axe, whose output scripts read, shows no path.
    tell_person(f"{'File:':<16}{visible(str(folders.find(options.agent)))}")
    for label, value in _facts(agent):
        lines = map(visible, value.split("\n"))  # A file that somebody else has written.
        print(f"{label + ':':<16}" + "\n".join(lines))
    return 0


def _init(options: argparse.Namespace) -> int:
    check_name(options.agent)
    name = options.agent.removesuffix(SUFFIX)
    if name != options.agent:
        raise ConfigError(
            f"give the name without {SUFFIX}: axe-lsp agents init {shlex.quote(name)}"
        )
    if valid_text(name) != name:
        raise ConfigError(f"{valid_text(name)} is not UTF-8, which agent names must be")
    path = _folder_for_new(options) / f"{name}{SUFFIX}"
    try:
        disk.create(path, scaffold(name, model_to_begin_with(load_user_config(os.environ))))
    except FileExistsError:
        raise ConfigError(f"agent config already exists: {path}") from None
    except OSError as error:
        raise ConfigError(f"failed to write agent config: {os_fault(error)}") from error
    print(path)
    return 0


def _edit(options: argparse.Namespace) -> int:
    path = _folders(options).find(options.agent)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise ConfigError(
            "$EDITOR environment variable is not set",
            hint=f"Set it to an editor, or open {shown_path(path)} yourself.",
        )
    command = [*shlex.split(editor), str(path)]
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        message = f"failed to start $EDITOR ({editor}): {error.strerror}"
        raise ConfigError(message) from error


def _stats(options: argparse.Namespace) -> int:
    from axe_lsp.cli.agent_stats import stats  # noqa: PLC0415 - shells complete names with this command

    return stats(options)


_COMMANDS = {"list": _list, "show": _show, "init": _init, "edit": _edit, "stats": _stats}


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp agents",
        description="List, show, create and edit agents, and show statistics of their runs.",
    )
    parser.add_argument("--agents-dir", metavar="DIR", help="search this folder first")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, help_ in (
        ("list", "list all agents"),
        ("show", "show the contents of an agent file"),
        ("init", "create a new agent file"),
        ("edit", "open an agent file in $VISUAL or $EDITOR"),
    ):
        command = commands.add_parser(
            name, help=help_, description=f"{help_[0].upper()}{help_[1:]}."
        )
        command.add_argument(
            "--agents-dir", metavar="DIR", default=argparse.SUPPRESS, help="search DIR first"
        )
        if name == "list":
            command.add_argument(
                "--names", action="store_true", help="print only the names by which agents are run"
            )
        else:
            command.add_argument("agent", help="agent name (file name without `.toml`)")
    _add_stats(commands)
    return parser


def _add_stats(commands: argparse._SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "stats",
        help="show what the runs of agents were like",
        description="Show runs, failures, cost, time and tokens of the agents of a workspace, of axe-lsp's runs. "
        "With --source the logs of other programs are read, too, and nothing of them is stored.",
    )
    command.add_argument("agents", nargs="*", metavar="AGENT", help="only agents of these names")
    command.add_argument(
        "--in",
        dest="folder",
        metavar="DIR",
        help="the workspace (default: that of the current folder)",
    )
    command.add_argument(
        "--days",
        type=days,
        help="days to look back, at most 365 (default: `run_log.days` of config.toml, else 30)",
    )
    command.add_argument(
        "--rebuild",
        action="store_true",
        help="read all logs again and make the index in the cache folder again",
    )
    command.add_argument(
        "--source",
        action="append",
        default=[],
        choices=["axe", "codex", "claude", "opencode", "all"],
        help="whose runs (default: `run_log.sources` of config.toml, else axe); can be repeated",
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _folders(options: argparse.Namespace) -> AgentFolders:
    return agent_search(agents_folder(options.agents_dir)).agents


def _folder_for_new(options: argparse.Namespace) -> Path:
    """Return where a new agent goes: the named folder, else the project's if it has one, else the user's."""
    if options.agents_dir:
        return Path(options.agents_dir)
    return project_agents_folder() or config_folder(os.environ) / "agents"


def _facts(agent: AgentDefinition) -> list[tuple[str, str]]:
    """Return the values of an agent as axe shows them: set keys, in its order and words."""
    facts = [
        ("Name", agent.name),
        ("Description", agent.description),
        ("Model", agent.model),
        ("Type", agent.type),
        ("System Prompt", agent.system_prompt),
        ("Skill", agent.skill),
        ("Files", ", ".join(agent.files)),
        ("Workdir", agent.workdir),
        ("Timeout", str(agent.timeout or "")),
        ("Tools", ", ".join(agent.tools)),
        *_delegation_facts(agent),
        ("Task", ", ".join(agent.task.offered) if agent.task is not None else ""),
        ("Memory Enabled", "true" if agent.memory.enabled else ""),
        ("Memory Path", agent.memory.path),
        ("Memory LastN", str(agent.memory.last_n or "")),
        ("Memory MaxEntries", str(agent.memory.max_entries or "")),
        ("Temperature", shown_number(agent.params.temperature) if agent.params.temperature else ""),
        ("Max Tokens", str(agent.params.max_tokens or "")),
    ]
    return [(label, value) for label, value in facts if value]


def _delegation_facts(agent: AgentDefinition) -> list[tuple[str, str]]:
    if not agent.sub_agents:
        return []
    config = agent.sub_agents_config
    return [
        ("Sub-Agents", ", ".join(agent.sub_agents)),
        ("Max Depth", str(agent.max_depth)),
        ("Parallel", "true" if config.parallel else "false"),
        # axe M7 says `Timeout`, which since 1.7 may also be the agent's own.
        ("Sub-Agent Timeout" if agent.timeout else "Timeout", str(config.timeout)),
    ]
