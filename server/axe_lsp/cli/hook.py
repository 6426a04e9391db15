"""`axe-lsp hook`: diagnostics for the model of a coding agent, about the agent files that its tool call has changed.

Claude Code, Codex and Gemini CLI write an event to standard input after each tool call, and give the model what the hook
answers. A hook must not disturb its program: the exit code is always 0, and a hook without anything to say is silent.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field

from axe_lsp.agentfile.dialects import LAYERED
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.hook_marks import Marks, Stamps
from axe_lsp.cli.streams import print_message
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import uri_of
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.workspace_folders import agent_folders_below, workspace_above
from axe_lsp.runtime.plain_text import shown_path, visible
from axe_lsp.workspace.places import Places

if TYPE_CHECKING:  # Most calls change no agent file, and every call waits for its hook.
    from axe_lsp.cli.check_formats import Checked
    from axe_lsp.features.finding import Finding

SECONDS = "AXE_HOOK_SECONDS"
"""The variable with another limit than `_USUAL_SECONDS`."""

_USUAL_SECONDS = 2.0

_LONGEST_EVENT = 32_000_000
"""Characters of an event, which contains the text of a written file."""

_MOST_FINDINGS = 10
_LONGEST_ANSWER = 2_000
_LONGEST_MESSAGE = 300
"""Limits of the answer, in findings and characters."""

_ERROR, _WARNING = 1, 2
"""The values of `Severity`."""

AFTER_TOOLS = ("PostToolUse", "AfterTool")
_PATCH = "apply_patch"
SHELLS = ("Bash", "run_shell_command")
_WRITTEN = re.compile(r"^\*\*\* (?:(?:Add|Update) File|Move to): (.+?)\s*$", re.MULTILINE)
_REMOVED = re.compile(
    r"^\*\*\* (?:Delete File: (.+?)|Update File: (.+?)\s*\n\*\*\* Move to: .+?)\s*$", re.MULTILINE
)
_CALLS = frozenset(["unknown-agent", "unknown-child", "unknown-call", "missing-file"])
"""Codes of findings in files that name an agent which no longer exists."""


class Event(Struct, frozen=True):
    """The members of an event that Claude Code, Codex and Gemini CLI have in common."""

    hook_event_name: str
    cwd: str
    session_id: str = ""
    tool_name: str = ""
    tool_input: Any = None

    @property
    def arguments(self) -> Mapping[str, Any]:
        return self.tool_input if isinstance(self.tool_input, dict) else {}


class Changes(Struct):
    """The agent files that a tool call has written, and those that it has removed."""

    written: dict[Path, None] = field(default_factory=dict)
    removed: dict[Path, None] = field(default_factory=dict)


def main(arguments: Sequence[str]) -> int:
    """Answer the event on standard input. Return 0, whatever happens."""
    if {"-h", "--help"} & {*arguments}:
        _parser().parse_args(["--help"])
    if sys.stdin is None or sys.stdin.isatty():
        print_message(
            "axe-lsp hook: standard input must be the event of a coding agent. "
            "`axe-lsp help coding-agents` says how to install the hook"
        )
        return 0
    limit = threading.Timer(_seconds(os.environ), _end_silently)
    limit.daemon = True
    limit.start()
    text = _answer_or_nothing()
    limit.cancel()
    with suppress(OSError, ValueError):
        if text:
            sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        return 0
    _end_silently()
    return 0


def _answer_or_nothing() -> str:
    try:
        return answer(sys.stdin.buffer.read(_LONGEST_EVENT + 1), os.environ)
    except BaseException:  # noqa: BLE001 - the coding agent would show a traceback to its user
        return ""


def _end_silently() -> None:
    os._exit(0)


def _seconds(environment: Environment) -> float:
    with suppress(ValueError):
        return max(0.0, min(float(environment.get(SECONDS, "")), threading.TIMEOUT_MAX))
    return _USUAL_SECONDS


def _parser() -> Parser:
    return Parser(
        prog="axe-lsp hook",
        description="Read the event of a hook of Claude Code, Codex or Gemini CLI from standard input, and print what is "
        "wrong in the agent files that the tool call has changed. The exit code is always 0. "
        "`axe-lsp help coding-agents` says how to install the hook.",
    )


def answer(content: bytes, environment: Environment) -> str:
    """Return the JSON that answers an event, "" if there is nothing to say. Change the current folder to that of the event."""
    event = _read_event(content)
    if event is None:
        return ""
    os.chdir(event.cwd)
    text = _report(event, environment)
    if not text:
        return ""
    output = {"hookEventName": event.hook_event_name, "additionalContext": text}
    return msgspec.json.encode({"hookSpecificOutput": output}).decode()


def _read_event(content: bytes) -> Event | None:
    if len(content) > _LONGEST_EVENT:
        return None
    try:
        event = msgspec.json.decode(content, type=Event)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return event if Path(event.cwd).is_absolute() and Path(event.cwd).is_dir() else None


# -- the changed files


def _report(event: Event, environment: Environment) -> str:
    """Return the text for the model about the changes of one tool call."""
    folder = Path(os.path.normpath(event.cwd))
    if event.hook_event_name not in AFTER_TOOLS:
        Marks.of(event.session_id, folder, environment).write(_stamps(folder, environment))
        return ""
    if event.tool_name in SHELLS:
        changes = _changes_of_shell(event, folder, environment)
    else:
        changes = _changes_of_call(event, folder, environment)
    if not changes.written and not changes.removed:
        return ""
    from axe_lsp.cli.check import check

    return _text([*check([*changes.written]), *_callers(changes, folder)], folder)


def _changes_of_call(event: Event, folder: Path, environment: Environment) -> Changes:
    """Return the agent files that a call names as its target, and remember their state."""
    changes = Changes()
    for path, is_removed in _named_files(event, folder):
        is_there = os.path.isfile(path)  # noqa: PTH113 - False for a name that is too long, too
        if is_removed == is_there or not _is_ours(path, folder, environment):
            continue
        (changes.removed if is_removed else changes.written)[path] = None
    if changes.written or changes.removed:
        marks = Marks.of(event.session_id, folder, environment)
        known = marks.read()
        if known is None:
            marks.write(_stamps(folder, environment))
        else:
            own = {*changes.written, *changes.removed}
            now = _stamps(folder, environment)
            kept = {path: stamp for path, stamp in known.items() if path not in own}
            marks.write({**kept, **{path: now[path] for path in own if path in now}})
    return changes


def _named_files(event: Event, folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the files that a call has written, and those that it has removed, which are marked by True."""
    arguments = event.arguments
    patch = arguments.get("command")
    if event.tool_name == _PATCH and isinstance(patch, str):
        names = [(name, False) for name in _WRITTEN.findall(patch)]
        names += [(one or other, True) for one, other in _REMOVED.findall(patch)]
    else:
        keys = ("file_path", "path", "absolute_path")
        names = [(name, False) for key in keys if isinstance(name := arguments.get(key), str)]
    for name, is_removed in names:
        if name and "\0" not in name:
            yield Path(os.path.normpath(folder / name)), is_removed


def _changes_of_shell(event: Event, folder: Path, environment: Environment) -> Changes:
    """Return the agent files that have changed since the last event of the session; none at its first event."""
    marks = Marks.of(event.session_id, folder, environment)
    before, now = marks.read(), _stamps(folder, environment)
    if before != now:
        marks.write(now)
    if before is None:
        return Changes()
    written = (path for path, stamp in now.items() if before.get(path) != stamp)
    return Changes(
        dict.fromkeys(written), dict.fromkeys(each for each in before if each not in now)
    )


def _stamps(folder: Path, environment: Environment) -> Stamps:
    """Return time and size of every agent file of the workspace and of the user."""
    return disk.stamps([*_folders(folder, environment)])


def _folders(folder: Path, environment: Environment) -> Iterator[Path]:
    inside = list(agent_folders_below(workspace_above(folder, environment), tuple(LAYERED)))
    users = disk.user_folder(environment)
    yield from dict.fromkeys(
        [
            *inside,
            *disk.tests_beside(inside),
            *([users] if users is not None else []),
            *disk.user_layer_folders(environment),
        ]
    )


def _is_ours(path: Path, folder: Path, environment: Environment) -> bool:
    """Return whether a file is an agent, a test or a file of settings that is checked."""
    if path.suffix not in (".toml", ".md"):
        return False
    users = disk.user_folder(environment)
    places = Places(
        user_folder=uri_of(users) if users is not None else "", homes=disk.user_layers(environment)
    )
    if places.is_ours(uri_of(path)):
        return True
    layers = [each for each in _folders(folder, environment) if disk.is_layer(each)]
    return path in disk.declared_files(places, layers)


def _callers(changes: Changes, folder: Path) -> Iterator[Checked]:
    """Yield the files that name a removed agent, with their findings about that name only."""
    names = {path.name.removesuffix(path.suffix) for path in changes.removed}
    if not names:
        return
    from axe_lsp.cli.check import check

    written = {uri_of(path) for path in changes.written}
    for file in check([workspace_above(folder, os.environ)]):
        found = [each for each in file.findings if _is_about(each, file, names)]
        if found and file.file.uri not in written:
            yield msgspec.structs.replace(file, findings=tuple(found))


def _is_about(finding: Finding, file: Checked, names: set[str]) -> bool:
    """Return whether a finding is about a removed agent, by the words at its place."""
    words = re.split(r"[^\w-]+", finding.range.of(file.lines.text))
    return finding.code in _CALLS and not names.isdisjoint(words)


# -- the text


def _text(files: Sequence[Checked], folder: Path) -> str:
    """Return the errors and then the warnings of each file, as far as the limits of the answer allow."""
    lines: list[str] = []
    left = _MOST_FINDINGS
    for file in files:
        found = sorted(
            (each for each in file.findings if each.severity <= _WARNING),
            key=lambda each: (each.severity, each.range),
        )
        if not found:
            continue
        shown = [_line(file, each) for each in found[:left]]
        lines += [_headline(file, found, folder), *shown]
        left -= len(shown)
        if len(found) > len(shown):
            lines.append(f"{len(found) - len(shown)} more: `axe-lsp check` lists them.")
    return _within_limit(lines)


def _within_limit(lines: Sequence[str]) -> str:
    end = "\nMore: `axe-lsp check` lists everything."
    text = "\n".join(lines)
    if len(text) <= _LONGEST_ANSWER:
        return text
    return text[: _LONGEST_ANSWER - len(end)].rpartition("\n")[0] + end


def _headline(file: Checked, found: Sequence[Finding], folder: Path) -> str:
    errors = sum(each.severity == _ERROR for each in found)
    counts = [
        f"{count} {word}{'s' if count > 1 else ''}"
        for count, word in ((errors, "error"), (len(found) - errors, "warning"))
        if count
    ]
    path = visible(shown_path(file.path.removeprefix(f"{folder}{os.sep}")))
    return f"axe-lsp: {path} has {' and '.join(counts)}{_outcome(file, errors)}."


def _outcome(file: Checked, errors: int) -> str:
    """Return what the program does with a file that has errors."""
    place = file.file.place
    if not errors:
        return ""
    if place.dialect.program is not None:
        return f"; {file.file.schema.program} will not load it"
    return "; no run of it can start" if place.kind.is_agent else ""


_GUESS = re.compile(r"[;.,]? *[Dd]id you mean [^?]*\?$")


def _line(file: Checked, finding: Finding) -> str:
    """Return `line 4: unknown key "modl"; it has no effect. Replace `modl` with `model`. [unknown-key]`."""
    number = file.lines.position(finding.range.start, "utf-32")[0] + 1
    fix = _fix(file, finding)
    message = visible(_GUESS.sub("", finding.message) if fix else finding.message)
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:_LONGEST_MESSAGE]}…"
    end = "" if message.endswith((".", "!", "?", "…")) else "."
    return f"line {number}: {message}{end}{fix} [{finding.code}]"


def _fix(file: Checked, finding: Finding) -> str:
    """Return the fix that an editor would apply, as a sentence with a space before it; "" without one."""
    if finding.suggestion and len(finding.suggestion) <= _LONGEST_MESSAGE:
        written = visible(finding.range.of(file.lines.text).strip("\"'"))
        if written and len(written) <= _LONGEST_MESSAGE and "`" not in written:
            return f" Replace `{written}` with `{visible(finding.suggestion)}`."
    return ""
