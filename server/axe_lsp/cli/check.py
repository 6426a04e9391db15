"""`axe-lsp check`: the editor's diagnostics without an editor."""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TextIO

from msgspec.structs import replace

from axe_lsp.agentfile.check.secret_values import printable
from axe_lsp.agentfile.dialects import LAYERED, dialect_of_loose
from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS
from axe_lsp.agentfile.other_programs import program_of
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import LineIndex
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.check_formats import FORMATS, Checked
from axe_lsp.cli.streams import obeys_escapes, print_message, tell_person
from axe_lsp.daemon import disk
from axe_lsp.daemon.links import real_uris
from axe_lsp.daemon.outside_facts import PathContext, Searched, find_out
from axe_lsp.daemon.processes import shared
from axe_lsp.daemon.project_severities import severities_for
from axe_lsp.daemon.projects import layers_around, projects_of
from axe_lsp.daemon.uris import uri_of
from axe_lsp.features.diagnostics import Severities, diagnostics
from axe_lsp.features.finding import SEVERITY_NAMES, Finding, Severity
from axe_lsp.features.rules import RULES, not_axe
from axe_lsp.runtime.agent_search import ways_to_agents
from axe_lsp.runtime.errors import ConfigError, ExitCode
from axe_lsp.runtime.files.folders import homes_of_dialects, working_folder
from axe_lsp.runtime.files.workspace_folders import (
    agent_folders_below,
    folders_of_layer,
    is_agents_folder,
    project_of_tests,
    workplace,
    workspace_above,
)
from axe_lsp.runtime.plain_text import shown_path, visible
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.places import Places, Scope
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace

PROBLEMS = 1
"""Exit code when a file has an error, or a warning if that was asked for."""

_FOR_AXE = {not_axe.RULE.code: Severity.ERROR}


class Progress:
    """Tells a person at a terminal how far a long check has got, in one line that goes away."""

    _PATIENCE, _PAUSE = 1.0, 0.1
    """Seconds before the first line, and between two."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._next = clock() + self._PATIENCE if self._is_watched() else float("inf")
        self._is_shown = False

    def checked(self, number: int, of: int) -> None:
        """Show how many files have been checked."""
        if self._clock() >= self._next:
            self._next = self._clock() + self._PAUSE
            self._is_shown = True
            self._write(f"\rchecking {number:,} of {of:,} files\x1b[K")

    def end(self) -> None:
        """Leave the line empty."""
        if self._is_shown:
            self._write("\r\x1b[K")

    def _is_watched(self) -> bool:
        return self._stream.isatty() and obeys_escapes(self._stream, os.environ)

    def _write(self, text: str) -> None:
        with suppress(OSError):  # Nobody need see it.
            self._stream.write(text)
            self._stream.flush()


def main(arguments: Sequence[str]) -> int:
    """Check the files and print what is wrong with them."""
    chosen = _parser().parse_args(arguments)
    try:
        paths = [_place(path) for path in chosen.paths] or [_default_folder()]
        markdown = [
            path
            for path in paths
            if path.suffix == ".md" and path.is_file() and not _is_agent(path)
        ]
        recordings = [path for path in paths if _is_recording(path)]
        agents = [path for path in paths if path not in (*recordings, *markdown)]
        levels = {**(_FOR_AXE if chosen.strict_axe else {}), **dict(chosen.severity)}
        progress = Progress(sys.stderr)
        try:
            files = check(agents, levels, progress)
        finally:
            progress.end()
    except ConfigError as error:
        print_message(f"axe-lsp check: {visible(str(error))}")
        return error.exit_code
    for path in recordings:
        shown = visible(_shown(path, _here()))
        print_message(f"axe-lsp check: {shown} is a recording, not an agent file")
    for path in markdown:
        print_message(f"axe-lsp check: {visible(_about_markdown(path))}")
    is_nothing_checked = not (files or recordings or markdown)
    if is_nothing_checked:
        looked = ", ".join(map(str, chosen.paths)) or "."
        print_message(
            f"axe-lsp check: no agent files below {looked} (agent folders are {_agent_folders()}; "
            "other files can be named). " + ways_to_agents(paths)
        )
    FORMATS[chosen.format](files, sys.stdout)
    found = (each.severity for file in files for each in file.findings)
    worst = min(found, default=Severity.HINT)
    if markdown or (is_nothing_checked and chosen.strict):
        return ExitCode.CONFIG
    return (
        PROBLEMS
        if worst <= (Severity.WARNING if chosen.strict else Severity.ERROR)
        else ExitCode.OK
    )


def _agent_folders() -> str:
    names = [f"`{each}`" for each in (*AGENT_FOLDERS, *(f for p in LAYERED for f in p.agents))]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _is_agent(path: Path) -> bool:
    """Return whether a Markdown file lies in a folder of agents of some program."""
    return program_of(path.parent.as_posix(), homes_of_dialects(os.environ)) is not None


def _about_markdown(path: Path) -> str:
    """Return what to do with Markdown, every line of which would be an error."""
    import shlex

    from axe_lsp.agentfile.convert.conversion import is_agent_in_markdown

    shown, content = _shown(path, _here()), disk.read(path)
    if content is None or not is_agent_in_markdown(content.text):
        return f"{shown} is Markdown, not an agent file"
    return f"{shown} is Markdown; `axe-lsp import {shlex.quote(shown)}` makes an agent file of it"


def _is_recording(path: Path) -> bool:
    if path.is_dir():
        return False
    from axe_lsp.runtime.recordings.file import is_recording

    return is_recording(path)


def check(
    paths: Sequence[Path], severities: Severities | None = None, progress: Progress | None = None
) -> list[Checked]:
    """Return the results for the files at `paths`, in their order.

    Other agents count where names are concerned: those of the workspace that a file belongs to, those
    in the same folders, and the user's own.
    """
    user_folder = disk.user_folder(os.environ)
    here = workspace_above(working_folder(), os.environ)
    files_in = cache(disk.agent_files_in)  # Paths are slow: thousands of files get one each.
    workspaces: dict[Path, Path] = {}
    wanted: dict[Path, Path] = {}
    for path in paths:
        start = workspace_above(path, os.environ) if path.is_dir() else here
        for file, folder in _files(path, files_in):
            if folder not in workspaces:  # The user's own agents work where they are run.
                is_users = folder == user_folder
                workspaces[folder] = here if is_users else workplace(folder, (start,))
            wanted[file] = folder
    together: dict[Path, dict[Path, Path]] = {}
    for file, folder in wanted.items():
        together.setdefault(workspaces[folder], {})[file] = folder
    found: dict[Path, Checked] = {}
    for workspace, files in together.items():
        found.update(_check_in(workspace, files, files_in, severities, progress))
    return list({**{file: found[file] for file in wanted if file in found}, **found}.values())


def _check_in(
    root: Path,
    wanted: Mapping[Path, Path],
    files_in: _FilesIn,
    severities: Severities | None,
    progress: Progress | None,
) -> dict[Path, Checked]:
    """Return the results for the files of one workspace, `wanted`, each with its folder."""
    user_folder = disk.user_folder(os.environ)
    users = [user_folder] if user_folder is not None else []
    places = Places(
        user_folder=uri_of(user_folder) if user_folder is not None else "",
        roots=(uri_of(root),),
        homes=disk.user_layers(os.environ),
    )
    inside = list(agent_folders_below(root, tuple(LAYERED)))
    layers = [*inside, *_folders_around(inside), *disk.user_layer_folders(os.environ)]
    declared = {
        **_of_other_programs(wanted, places),
        **disk.declared_files(places, layers),
    }
    places = replace(places, declared={uri_of(path): layer for path, layer in declared.items()})
    folders = [each for each in dict.fromkeys(wanted.values()) if each != user_folder]
    named = [
        each for each in folders if not (is_agents_folder(each) or places.is_in_layer(uri_of(each)))
    ]
    neighbours = dict.fromkeys([*folders, *layers, *users])
    known = dict.fromkeys([*wanted, *(f for each in neighbours for f in files_in(each))])
    known.update(dict.fromkeys(declared))
    wanted = {**wanted, **_named_by(wanted, declared, places)}
    places = replace(places, extra_folders=tuple(uri_of(each) for each in named))
    read = partial(_read, places, root)
    files = dict(shared(read, [(path, path in wanted) for path in known]))
    workspace = Workspace(places)
    changes = [Change(file.uri, None, file=file) for file, _ in files.values()]
    facts = {file.uri: facts for file, facts in files.values() if facts is not None}
    workspace.apply(changes, complete=True, facts=facts)
    uris = [each.uri for each in changes]
    snapshot = workspace.apply(
        [],
        real_uris=real_uris(workspace.snapshot, uris),
        projects=projects_of(workspace.snapshot, uris),
    ).snapshot
    here = _here()
    projects = {each: _severities_of_project(each) for each in set(wanted.values())}
    there = [path for path in wanted if path in files]
    found: dict[Path, Checked] = {}
    for number, path in enumerate(there):
        if progress is not None:
            progress.checked(number, len(there))
        levels = {**projects[wanted[path]], **(severities or {})}
        file = files[path][0]
        found[path] = _checked(path, here, snapshot, file, diagnostics(snapshot, file, levels))
    return found


def _folders_around(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders of the layers around those in a workspace, up to the root of their project."""
    programs = {each.layer: each for each in LAYERED if each.settings}
    around = (
        each for folder in folders if folder.name in programs for each in layers_around(folder)
    )
    for layer in dict.fromkeys(around):
        yield from folders_of_layer(layer, programs[layer.name])


def _severities_of_project(folder: Path) -> Severities:
    """Return the severities that the project of a folder sets. Raises ConfigError for a setting without effect."""
    found = severities_for(folder)
    if found.complaints:
        raise ConfigError("; ".join(found.complaints))
    return found.severities


def _of_other_programs(wanted: Iterable[Path], places: Places) -> dict[Path, str]:
    """Return the agents of other programs in none of the usual folders, as if settings beside them declared them."""
    loose = [each for each in wanted if places.locate(uri_of(each)).scope is Scope.LOOSE]
    texts = {each: content.text for each in loose if (content := disk.read(each)) is not None}
    found = {path: dialect_of_loose(path.name, text).program for path, text in texts.items()}
    return {
        path: f"{uri_of(path.parent)}/{each.layer}"
        for path, each in found.items()
        if each is not None
    }


def _named_by(
    wanted: Mapping[Path, Path], declared: Mapping[Path, str], places: Places
) -> dict[Path, Path]:
    """Return the declared files, as far as the settings that declare them are wanted, each with its folder."""
    if not declared:
        return {}
    layers = {
        uri_of(folder)
        for path, folder in wanted.items()
        if not places.locate(uri_of(path)).kind.is_agent
    }
    return {path: path.parent for path, layer in declared.items() if layer in layers}


def _read(
    places: Places, workspace: Path, paths: Sequence[tuple[Path, bool]]
) -> list[tuple[Path, tuple[AgentFile, Facts | None]]]:
    """Return the files that are there, and what lies outside those that are wanted."""
    read = []
    searched = Searched()  # Many agents ask for the same files, and lie in the same folder.
    for path, is_wanted in paths:
        content = disk.read(path)
        if content is None:
            continue
        place = places.locate(uri_of(path))
        file = read_agent_file(place, content.text, fault=content.fault, fault_at=content.fault_at)
        facts = None
        if is_wanted:  # As in an editor that has the workspace of the agent open.
            is_usual = place.folder != places.user_folder
            context = PathContext(path.stem, workspace, os.environ, is_usual=is_usual, file=path)
            facts = find_out(file.question, context, searched=searched, with_prompt=False)
        read.append((path, (file, facts)))
    return read


def _checked(
    path: Path, here: str, snapshot: Snapshot, file: AgentFile, found: Sequence[Finding]
) -> Checked:
    # Nothing is printed of a file with nothing to say about it.
    content = disk.read(path) if found else None
    # What is printed may end up anywhere.
    text = printable(content.text, file.schema) if content is not None else ""
    return Checked(_shown(path, here), LineIndex(text), tuple(found), file, snapshot)


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp check",
        description="Check agent files, or config.toml if it is named. The exit code is 1 if there is an error, else 0.",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="files, or folders to search for agents (default: the current folder; without agents below it, "
        "the nearest folder above that has some, as for `axe-lsp run`)",
    )
    parser.add_argument(
        "--format", choices=sorted(FORMATS), default="human", help="output format (default: human)"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 after warnings, too")
    parser.add_argument(
        "--strict-axe", action="store_true", help="report as errors what axe ignores or refuses"
    )
    parser.add_argument(
        "--severity",
        metavar="CODE=LEVEL",
        type=_severity,
        action="append",
        default=[],
        help=f"the severity of a diagnostic code, such as name-mismatch=off: {', '.join(SEVERITY_NAMES)}",
    )
    return parser


def _severity(text: str) -> tuple[str, Severity | None]:
    code, _, level = text.partition("=")
    codes = [rule.code for rule in RULES]
    if code not in codes:
        meant = nearest(code, codes)
        hint = f"; did you mean {meant}?" if meant is not None else ""
        raise ArgumentTypeError(f"{code!r} is not a diagnostic code{hint}")
    if level not in SEVERITY_NAMES:
        raise ArgumentTypeError(f"{level!r} is none of {', '.join(SEVERITY_NAMES)}")
    return code, SEVERITY_NAMES[level]


def _place(given: Path) -> Path:
    """Return the whole path without `..`, by which no folder would be known. A link at its end stays one. Raises ConfigError."""
    if not given.exists():
        raise ConfigError(f"no such file or folder: {given}")
    path = working_folder() / given
    if ".." not in path.parts:
        return path
    end = len(path.parts) - path.parts[::-1].index("..")
    return Path(*path.parts[:end]).resolve().joinpath(*path.parts[end:])


def _default_folder() -> Path:
    """Return the current folder, or the workspace above if no agent lies below the current folder."""
    folder = working_folder()
    above = workspace_above(folder, os.environ)
    if above == folder or any(_files(folder, disk.agent_files_in)):
        return folder
    tell_person(f"No agents below this folder; these are those of {shown_path(above)}.")
    return above


_FilesIn = Callable[[Path], Sequence[Path]]


def _files(path: Path, files_in: _FilesIn) -> Iterator[tuple[Path, Path]]:
    """Yield a file itself; of a folder the agents below it, or, if it has no agent folders, in it. Each with its folder.

    Where `.axe` itself is named, its agents are meant. The folder that config.toml is in has that too.
    """
    if not path.is_dir():
        yield path, path.parent
        return
    config = disk.config_file(os.environ)
    if config is not None and config.parent == path and config.exists():
        yield config, path
    inside = path / "agents"
    folders = list(agent_folders_below(path, tuple(LAYERED)))
    is_usual = is_agents_folder(path) or project_of_tests(path) is not None
    if not folders and not is_usual and not is_agents_folder(inside):
        yield from ((file, file.parent) for file in disk.loose_agents_in(path))
        return
    folders = folders or [inside if is_agents_folder(inside) else path]
    for folder in (*folders, *disk.tests_beside(folders)):
        yield from ((file, folder) for file in files_in(folder))


def _here() -> str:
    """Return the current folder, with a slash behind it."""
    return f"{working_folder()}{os.sep}".replace(os.sep * 2, os.sep)


def _shown(path: Path, here: str) -> str:
    return str(path).removeprefix(here)
