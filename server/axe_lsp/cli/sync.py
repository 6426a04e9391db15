"""`axe-lsp sync`: changes of an agent in its files for other programs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.convert.carry_over import CarriedOver, TwinFile, carry_over
from axe_lsp.agentfile.convert.conversion import FORMATS, stem_of
from axe_lsp.agentfile.convert.formats import Format
from axe_lsp.agentfile.convert.intermediate import ConversionError
from axe_lsp.agentfile.other_programs import SETTINGS_FILE
from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.file_conversion import (
    NotConvertedError,
    prompt_beside,
    require_inside,
    show_diff,
    shown_from_here,
)
from axe_lsp.cli.streams import agrees, complain
from axe_lsp.daemon import disk
from axe_lsp.runtime.agent_search import AgentSearch, agent_search
from axe_lsp.runtime.errors import ConfigError, ExitCode
from axe_lsp.runtime.plain_text import os_fault, visible
from axe_lsp.runtime.safety.reach import is_users

LEFT = 1
"""Exit code if a file was left as it is though it differs."""


class _Plan(Struct, frozen=True):
    """The change of one file; `reason` says why it is left as it is."""

    path: Path
    format: Format
    before: str = ""
    change: CarriedOver | None = None
    reason: str = ""

    @property
    def is_change(self) -> bool:
        return self.change is not None and self.change.text != self.before


def main(arguments: Sequence[str]) -> int:
    """Carry the changes over."""
    options = _parser().parse_args(arguments)
    search = agent_search()
    files = list(search.agents.files_of(options.agent))
    source = _source(search, files, options)
    text = disk.read(source.path)
    if text is None or text.fault:
        raise ConfigError(f"{shown_from_here(source.path)} can't be read as text")
    twin = _twin(source.path, source.format, text.text)
    others = [
        (FORMATS[program or "axe"], path)
        for program, path in files
        if path != source.path and is_users(path, os.environ) == is_users(source.path, os.environ)
    ]
    if not others:
        raise ConfigError(
            f"agent {quoted(options.agent)} has no other file",
            hint="`axe-lsp export --to PROGRAM` writes one.",
        )
    return _sync([_plan(search, twin, of, path) for of, path in others], options)


def _source(
    search: AgentSearch, files: Sequence[tuple[str, Path]], options: argparse.Namespace
) -> _Plan:
    """Return the file that `--from` names. Raises ConfigError if it is no file of the agent."""
    named = Path(os.path.normpath(search.folder / options.source))
    for program, path in files:
        if Path(os.path.normpath(search.folder / path)) == named:
            return _Plan(path, FORMATS[program or "axe"])
    shown = ", ".join(shown_from_here(path) for _, path in files) or "there is none"
    message = f"{options.source} is not a file of agent {quoted(options.agent)}"
    raise ConfigError(message, hint=f"Its files: {shown}.")


def _twin(path: Path, of: Format, text: str) -> TwinFile:
    return TwinFile(text, stem_of(path.name), of, partial(prompt_beside, path))


def _plan(search: AgentSearch, source: TwinFile, of: Format, path: Path) -> _Plan:
    if path.name == SETTINGS_FILE:
        return _Plan(path, of, reason="the agent is declared in settings, which stay as they are")
    content = disk.read(path)
    if content is None or content.fault:
        return _Plan(path, of, reason=content.fault if content is not None else "it is gone")
    try:
        if not is_users(path, os.environ):
            require_inside(path, search.workspace)
        change = carry_over(source, _twin(path, of, content.text))
    except ConversionError as error:
        where = f"line {error.line}: " if error.line else ""
        return _Plan(path, of, reason=f"{where}{error}")
    except NotConvertedError as error:
        return _Plan(path, of, reason=str(error))
    return _Plan(path, of, content.text, change)


def _sync(plans: Sequence[_Plan], options: argparse.Namespace) -> int:
    for plan in plans:
        for line in _report(plan):
            print(visible(line))
        if plan.is_change and plan.change is not None:
            show_diff(plan.path, plan.change.text)
    changes = [each for each in plans if each.is_change]
    is_left = any(each.reason for each in plans)
    if not changes or options.dry_run:
        return LEFT if is_left else ExitCode.OK
    question = f"Write {counted(len(changes), 'file')}"
    if not options.yes and not agrees(question, "--yes writes the files without a question"):
        return LEFT
    for plan in changes:
        is_left |= not _write(plan)
    return LEFT if is_left else ExitCode.OK


def _report(plan: _Plan) -> Iterator[str]:
    title = f"{shown_from_here(plan.path)} ({plan.format.title})"
    if plan.change is None:
        yield f"{title}: left as it is: {plan.reason}"
        return
    yield f"{title}: {'' if plan.is_change else 'nothing to carry over'}".removesuffix(": ")
    if plan.change.carried:
        yield f"  carried  {', '.join(plan.change.carried)}"
    if plan.change.differing:
        yield f"  differs  {', '.join(plan.change.differing)}: left as in this file"
    for note in plan.change.lost if plan.is_change else ():
        yield f"  lost     {note.key}: {note.text or f'{plan.format.title} has no counterpart'}"


def _write(plan: _Plan) -> bool:
    """Write a file unless it has changed since it was shown. Returns whether it is written."""
    assert plan.change is not None
    shown = shown_from_here(plan.path)
    now = disk.read(plan.path)
    if now is None or now.text != plan.before:
        complain(ConfigError(f"{shown} has changed meanwhile, and is left"))
        return False
    try:
        plan.path.write_text(plan.change.text, encoding="utf-8", newline="")
    except OSError as error:
        complain(ConfigError(f"{shown} can't be written: {os_fault(error)}"))
        return False
    return True


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp sync",
        description="Carry the description, the instructions, the tools and the limits of an agent over from one of "
        "its files to those of the same name for other programs, all other keys of which stay as they are. The "
        "changes are shown first. The exit code is 1 if a file is left that differs, else 0.",
    )
    parser.add_argument("agent", metavar="NAME", help="the name of the agent")
    parser.add_argument(
        "--from", dest="source", required=True, metavar="FILE", help="the file that has changed"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show the changes, and write nothing"
    )
    parser.add_argument("--yes", action="store_true", help="write the files without asking")
    return parser
