"""`axe-lsp check`: the editor's diagnostics without an editor."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from axe_lsp.agentfile.text import LineIndex
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.check_formats import FORMATS, Checked
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import uri_of
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.rule import Severity
from axe_lsp.runtime.errors import ExitCode
from axe_lsp.workspace.places import AGENT_FOLDERS, Places
from axe_lsp.workspace.workspace import Change, Workspace

PROBLEMS = 1
"""Exit code when a file has an error."""


def main(arguments: Sequence[str]) -> int:
    """Check the files and print what is wrong with them."""
    chosen = _parser().parse_args(arguments)
    missing = [path for path in chosen.paths if not path.exists()]
    if missing:
        print(f"axe-lsp check: no such file or folder: {missing[0]}", file=sys.stderr)
        return ExitCode.CONFIG
    files = check([path.absolute() for path in chosen.paths])
    if not files:
        looked = ", ".join(map(str, chosen.paths))
        print(
            f"axe-lsp check: no agent files below {looked} "
            "(they lie in `axe/agents` or `.axe/agents`; other files can be named)",
            file=sys.stderr,
        )
    FORMATS[chosen.format](files, sys.stdout)
    errors = (each for file in files for each in file.findings if each.severity is Severity.ERROR)
    return PROBLEMS if any(errors) else ExitCode.OK


def check(paths: Sequence[Path]) -> list[Checked]:
    """What there is to say about the agent files at `paths`, in their order.

    Other agents count where names are concerned: those in the same folders, and the user's own.
    """
    wanted = dict.fromkeys(file for path in paths for file in _files(path))
    folders = dict.fromkeys(file.parent for file in wanted)
    user_folder = disk.user_folder(os.environ)
    neighbours = [*folders, *([user_folder] if user_folder is not None else [])]
    known = dict.fromkeys([*wanted, *(f for each in neighbours for f in disk.agent_files_in(each))])
    contents = {path: content for path in known if (content := disk.read(path)) is not None}
    places = Places(
        user_folder=uri_of(user_folder) if user_folder is not None else "",
        extra_folders=tuple(uri_of(folder) for folder in folders if folder != user_folder),
    )
    workspace = Workspace(places)
    snapshot = workspace.apply(
        [
            Change(uri_of(path), content.text, fault=content.fault)
            for path, content in contents.items()
        ],
        complete=True,
    ).snapshot
    checked = []
    for path in wanted:
        file = snapshot.file(uri_of(path))
        if file is not None:
            found = diagnostics(snapshot, file)
            checked.append(Checked(_shown(path), LineIndex(contents[path].text), found))
    return checked


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp check",
        description="Check agent files. Exits with 1 if there is an error, else with 0.",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        default=[Path()],
        metavar="PATH",
        help="files, or folders in which to look for agents (default: the current one)",
    )
    parser.add_argument(
        "--format", choices=sorted(FORMATS), default="human", help="of the output (default: human)"
    )
    return parser


def _files(path: Path) -> Iterator[Path]:
    """A file itself; of a folder the agents below it, or, if it has no agent folders, in it.

    Where `.axe` itself is named, its agents are meant.
    """
    if not path.is_dir():
        yield path
        return
    inside = path / "agents"
    is_parent = inside.as_posix().endswith(AGENT_FOLDERS)
    folders = list(disk.agent_folders_below(path)) or [inside if is_parent else path]
    for folder in folders:
        yield from disk.agent_files_in(folder)


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
