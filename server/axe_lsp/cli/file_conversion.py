"""Agent files from one format to another, on the disk: the work of `axe-lsp import` and `export`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import unified_diff
from functools import cache, partial
from itertools import takewhile
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.convert.axe import AXE, MODEL_IS_MISSING
from axe_lsp.agentfile.convert.conversion import (
    FORMATS,
    Converted,
    convert,
    format_of,
    is_agent_in_markdown,
    stem_of,
)
from axe_lsp.agentfile.convert.formats import Format
from axe_lsp.agentfile.convert.intermediate import ConversionError
from axe_lsp.agentfile.other_programs import AGENTS, VIBE
from axe_lsp.agentfile.scaffold import NO_MODEL
from axe_lsp.agentfile.text.ranges import LineIndex
from axe_lsp.agentfile.text.secrets import without_secrets
from axe_lsp.cli.arguments import Parser
from axe_lsp.daemon import disk
from axe_lsp.runtime.errors import ConfigError, ExitCode
from axe_lsp.runtime.files.default_model import model_to_begin_with
from axe_lsp.runtime.files.dialect_agents import PROMPTS, read_prompt
from axe_lsp.runtime.files.folders import homes_of_dialects, working_folder
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.files.workspace_folders import files_below, workspace_above
from axe_lsp.runtime.plain_text import os_fault, shown_path, visible

NOT_CONVERTED = 1
"""Exit code if one of the files was not converted. The others are."""

_MARKDOWN, _TOML, _SKILL = ".md", ".toml", "SKILL.md"


class Options(Struct, frozen=True):
    """The options of both commands. `source` is the format of all files, if it was named."""

    target: Format
    source: Format | None
    output: Path | None
    model: str
    force: bool
    dry_run: bool


def add_options(parser: Parser) -> None:
    """Add the options that both commands have."""
    parser.add_argument(
        "--from",
        dest="source",
        choices=list(FORMATS),
        metavar="FORMAT",
        help=f"the format of the files (default: by folder and suffix; {', '.join(FORMATS)})",
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="write the new files to DIR")
    parser.add_argument("--dry-run", action="store_true", help="show a diff and write nothing")
    parser.add_argument("--force", action="store_true", help="replace existing files")


def options_of(chosen: argparse.Namespace, target: Format) -> Options:
    """Return the options as they were chosen."""
    return Options(
        target,
        FORMATS[chosen.source] if chosen.source else None,
        chosen.output,
        getattr(chosen, "model", None) or "",
        chosen.force,
        chosen.dry_run,
    )


def convert_all(prog: str, paths: Iterable[Path], options: Options) -> int:
    """Convert each file; print what became of its keys. Returns the exit code."""
    target = options.target
    workspace = workspace_above(working_folder(), os.environ)
    folder = options.output or workspace / target.folder
    written: dict[Path, Path] = {}
    code: int = ExitCode.OK
    converted = without_model = 0
    for path in paths:
        try:
            source, new = _converted(path, options)
            if options.output is None:
                require_inside(folder / new.file_name, workspace)
            _write(folder / new.file_name, new.text, path, written, options)
        except NotConvertedError as error:
            print(visible(f"{prog}: {error}"), file=sys.stderr)
            code = NOT_CONVERTED
            continue
        _report(path, source, folder / new.file_name, new, target)
        if options.dry_run:
            show_diff(folder / new.file_name, new.text)
        converted += 1
        without_model += any(each == MODEL_IS_MISSING for each in new.notes)
    if without_model:
        again = "" if options.dry_run else "--force "
        print(
            f"{prog}: agents without a model, which can't run: {without_model} of {converted}; "
            f"`{again}--model {_example_of_model()}` gives them one",
            file=sys.stderr,
        )
    return code


def _example_of_model() -> str:
    try:
        return model_to_begin_with(load_user_config(os.environ))
    except ConfigError:  # A broken config.toml, which a conversion does not need.
        return NO_MODEL


class NotConvertedError(Exception):
    """One file stays as it is; the message says which, where and why."""


def prompt_beside(agent: Path, file: str) -> str:
    """Return the text of a prompt of Vibe in the folder of prompts beside that of an agent, else in the user's."""
    home = dict(homes_of_dialects(os.environ)).get(VIBE.name)
    folders = [agent.parent.parent / PROMPTS, *([Path(home, PROMPTS)] if home else [])]
    return read_prompt(folders, _text_of, file)


def _text_of(path: Path) -> str:
    content = disk.read(path)
    return content.text if content is not None and not content.fault else ""


def _converted(path: Path, options: Options) -> tuple[Format, Converted]:
    content = disk.read(path)
    shown = shown_from_here(path)
    if content is None:
        raise NotConvertedError(f"{shown}: there is no such file")
    if content.fault:
        line = LineIndex(content.text).line_at(content.fault_at or 0) + 1
        raise NotConvertedError(f"{shown}:{line}: {content.fault}")
    source = options.source or format_of(path.as_posix(), content.text)
    if source is options.target:
        raise NotConvertedError(f"{shown}: it is an agent of {source.title} already")
    try:
        return source, convert(
            content.text,
            stem_of(path.name),
            source,
            options.target,
            options.model,
            beside=partial(prompt_beside, path),
        )
    except ConversionError as error:
        place = f"{shown}:{error.line}" if error.line else shown
        raise NotConvertedError(f"{place}: {error}") from error


def require_inside(path: Path, workspace: Path) -> None:
    """Refuse a path outside: a repository could bring a link to the user's own folder of agents, whose files are trusted."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(workspace)):
        raise NotConvertedError(
            f"{shown_from_here(path)} is written nowhere: a link leads out of the workspace, to {shown_path(real)}; "
            "--output names another folder"
        )


def _write(
    path: Path, text: str, source: Path, written: dict[Path, Path], options: Options
) -> None:
    if path in written:
        reason = f"{shown_from_here(path)} was just made of {shown_from_here(written[path])}"
        way_out = "rename one of the agents"
        if options.target is AXE and not options.source:
            first, second = (format_of(each.as_posix()).name for each in (written[path], source))
            if first != second:
                way_out += f", or import those of one program, such as `--from {second}`"
            elif source.parent != written[path].parent:
                way_out += f", or import one of the folders alone, such as {shown_from_here(source.parent)}"
        raise NotConvertedError(f"{shown_from_here(source)}: {reason}; {way_out}")
    written[path] = source
    if options.dry_run:
        return
    try:
        if options.force and disk.exists(path):
            path.write_text(text, encoding="utf-8", newline="")
        else:
            disk.create(path, text)
    except FileExistsError:
        reason = f"{shown_from_here(path)} already exists; --force replaces it"
        raise NotConvertedError(f"{shown_from_here(source)}: {reason}") from None
    except OSError as error:
        reason = f"the new file can't be written: {os_fault(error)}"
        raise NotConvertedError(f"{shown_from_here(source)}: {reason}") from error


def show_diff(path: Path, text: str) -> None:
    """Print the change of the file, without API keys: the output may end up anywhere."""
    before = disk.read(path)
    old = before.text if before is not None else ""
    lines = unified_diff(
        without_secrets(old).splitlines(),
        without_secrets(text).splitlines(),
        shown_from_here(path) if before is not None else os.devnull,
        shown_from_here(path),
        lineterm="",
    )
    for line in lines:
        print(visible(line))


def _report(path: Path, source: Format, new_path: Path, new: Converted, target: Format) -> None:
    print(
        visible(
            f"{shown_from_here(path)} ({source.title}) → {shown_from_here(new_path)} ({target.title})"
        )
    )
    if new.kept:
        print(visible(f"  kept    {', '.join(new.kept)}"))
    for note in new.notes:
        text = note.text or f"{target.title} has no counterpart"
        print(visible(f"  {note.kind.value:<7} {note.key}: {text}"))


def shown_from_here(path: Path) -> str:
    """Return a path as short as it can be said here."""
    here = working_folder()
    return shown_path(path.relative_to(here) if path.is_relative_to(here) else path)


# -- which files


def files_at(path: Path, source: str | None = None) -> Iterator[Path]:
    """Yield a file itself; of a folder the agents of other formats below it in their usual folders.

    If a format is named that has its usual folder there, it is that one's alone. Of a folder without them it is
    all files that look like agents. Raises ConfigError if nothing is there.
    """
    if not path.is_dir():
        if not path.exists():
            raise ConfigError(f"no such file or folder: {shown_path(path)}")
        yield path
        return
    others = [each for each in FORMATS.values() if each is not AXE]
    usual = [(path / each.folder, each) for each in others if (path / each.folder).is_dir()]
    if source in [each.name for _, each in usual]:
        usual = [(folder, each) for folder, each in usual if each.name == source]
    found = [file for folder, each in usual for file in _agents_in(folder, each.is_markdown)]
    if not usual:
        found = list(_loose_agents_in(path))
    if not found:
        raise ConfigError(f"no agent files in {shown_path(path)}")
    yield from found


def _agents_in(folder: Path, is_markdown: bool) -> Sequence[Path]:
    suffix = _MARKDOWN if is_markdown else _TOML
    files = (each for each in folder.rglob(f"*{suffix}") if each.is_file())
    return sorted(each for each in files if each.stem.lower() != "readme")


def _loose_agents_in(folder: Path) -> Iterator[Path]:
    """Yield the agents in a folder that belongs to no program, and report how much Markdown is no agent."""
    left_out = 0
    has_skill = cache(_has_skill)
    for path in files_below(folder, _MARKDOWN, _TOML):
        if _is_of_skill(path, folder, has_skill):
            continue
        content = disk.read(path)
        if content is None:
            continue
        if path.suffix == _TOML:
            is_agent = format_of(path.as_posix(), content.text) is not AXE
        else:
            is_agent = bool(content.fault) or is_agent_in_markdown(content.text)
            left_out += not is_agent
        if is_agent:
            yield path
    if left_out:
        print(
            "axe-lsp import: Markdown without `name` and `description` at its beginning is left out "
            f"(files: {left_out}); name a file to convert it all the same",
            file=sys.stderr,
        )


def _has_skill(folder: Path) -> bool:
    return (folder / _SKILL).is_file()


def _is_of_skill(path: Path, top: Path, has_skill: Callable[[Path], bool]) -> bool:
    """Return whether a file is a skill or one of its references: not of an agent that comes with it, in `agents`."""
    if path.name == _SKILL:
        return True
    between = [*takewhile(top.__ne__, path.parents), top]
    return all(each.name != AGENTS for each in between) and any(map(has_skill, between))
