"""`axe-lsp export`: agents as files of other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from axe_lsp.agentfile.convert.conversion import FORMATS
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.file_conversion import add_options, convert_all, files_at, options_of
from axe_lsp.daemon import disk
from axe_lsp.runtime.agent_search import agent_search
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.files.workspace_folders import agent_folders_below
from axe_lsp.runtime.plain_text import shown_path


def main(arguments: Sequence[str]) -> int:
    """Export the agents."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    named = chosen.agents or [str(agent_search().workspace)]
    paths = dict.fromkeys(file for each in named for file in _files(each))
    return convert_all(parser.prog, paths, options_of(chosen, FORMATS[chosen.to]))


def _files(name: str) -> Iterator[Path]:
    """Yield the file of an agent, a file, or the agents of axe in a folder or a project."""
    path = working_folder() / name
    if path.is_dir():
        folders = list(agent_folders_below(path))
        files = [file for folder in folders for file in disk.agent_files_in(folder)]
        if not folders:
            files = disk.loose_agents_in(path)
        if not files:
            raise ConfigError(f"no agent files in {shown_path(path)}")
        yield from files
    elif path.exists() or "/" in name or path.suffix:
        yield from files_at(path)
    else:
        yield agent_search().agents.find(name)


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp export",
        description="Convert agents to files of another program, in its own folder of the workspace. The exit "
        "code is 1 if a file can't be converted, else 0.",
    )
    parser.add_argument(
        "--to", required=True, choices=list(FORMATS), metavar="FORMAT", help=", ".join(FORMATS)
    )
    parser.add_argument(
        "agents",
        nargs="*",
        metavar="NAME|PATH",
        help="names of agents, agent files or folders (default: all agents of the workspace)",
    )
    add_options(parser)
    return parser
