"""Files of tests on the disk: found, read, and what they need the user's trust for. Everything here may block."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shlex
import shutil
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.check.agent_tests import RECORDINGS, Cases, agent_tests, read_cases
from axe_lsp.agentfile.check.cases import Case
from axe_lsp.agentfile.check.check import check
from axe_lsp.agentfile.lookup_order import TEST_FOLDERS
from axe_lsp.agentfile.rights import Reach
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import LineIndex, TextRange, quoted
from axe_lsp.agentfile.text.reading import NotUtf8Error, decode_utf8, values_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.regular_files import is_folder, read_file, real_path
from axe_lsp.runtime.files.workspace_folders import agent_folders_below
from axe_lsp.runtime.plain_text import os_fault, shown_path
from axe_lsp.runtime.safety.reach import is_users
from axe_lsp.runtime.safety.trust import TrustRequest

_NOT_COPIED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
"""Folders of a workspace that a copy leaves out."""

RECORD_AGAIN = ("--record", "--update")
"""The options that replace a recording."""

_MOST_COPIED = 256 * 1024 * 1024
"""Bytes of a workspace."""


class Suite(Struct, frozen=True):
    """A file of tests. `shown` is its path as people see it, `project` the folder that its agents are found from."""

    path: Path
    shown: str
    project: Path
    cases: Cases
    lines: LineIndex

    def line(self, where: TextRange) -> int:
        """Return the line of a place in the file, from 1."""
        return self.lines.position(where.start, "utf-32")[0] + 1

    def place(self, where: TextRange) -> str:
        """Return a place in the file, as people and editors read it."""
        return f"{self.shown}:{self.line(where)}"

    def recording(self, case: Case) -> Path:
        """Return the recording of a case, whether or not it is there."""
        return Path(
            os.path.normpath(self.path.parent / RECORDINGS / case.recording(self.path.stem))
        )

    def command(self, case: Case, *options: str) -> str:
        """Return the command that runs a case, as it is typed in a shell."""
        return shlex.join(["axe-lsp", "test", *options, f"{self.shown}::{case.name}"])

    @property
    def workspace(self) -> Path | None:
        """The folder that is copied for each case, or None for an empty one."""
        return self.path.parent / self.cases.workspace if self.cases.workspace else None


def tests_below(root: Path) -> Iterator[Path]:
    """Yield the files of tests in the folders of tests below a folder."""
    homes = dict.fromkeys(folder.parent for folder in agent_folders_below(root))
    folders = [*(root / each for each in TEST_FOLDERS), *(home / "tests" for home in homes)]
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            yield from sorted(path for path in folder.glob("*.toml") if path.is_file())


def unused_recordings(suites: Sequence[Suite]) -> Iterator[Path]:
    """Yield the recordings that no case uses any more, beside files of tests, all of which have to be given."""
    used = {suite.recording(case) for suite in suites for case in suite.cases.cases}
    places = {suite.path.parent / RECORDINGS: real_path(suite.project) for suite in suites}
    for folder, project in places.items():
        if project in real_path(folder).parents:  # It may be a link to all that the disk has.
            yield from sorted({*folder.rglob("*.toml")} - used)


def load_suite(path: Path, shown: str, project: Path, only: Collection[str] = ()) -> Suite:
    """Read a file of tests. Raises ConfigError, which names each problem with its place.

    If there are many cases and `only` some are wanted, the others may be passed over, with their problems.
    """
    try:
        text = decode_utf8(read_file(path))
    except FileNotFoundError as error:
        raise ConfigError(f"file of tests not found: {shown}") from error
    except OSError as error:
        raise ConfigError(f"failed to read {shown}: {os_fault(error)}") from error
    except NotUtf8Error as error:
        raise ConfigError(f"failed to read {shown}: {error}") from error
    text = _excerpt(text, only) if only else text
    parse = Parse(text)
    lookup, lines = Lookup(parse, TESTS), LineIndex(text)
    syntax = [(each.range, each.message) for each in parse.problems]
    checked = check(parse, lookup, agent_tests)
    found = [(each.range, each.message) for each in checked if not each.is_warning]
    suite = Suite(path, shown, project, read_cases(lookup), lines)
    problems = [f"{suite.place(where)}: {message}" for where, message in sorted(syntax or found)]
    if not problems:
        problems = [*_missing_folder(suite), *_recordings_outside(suite)]
    if problems:
        raise ConfigError("\n".join(problems))
    return suite


_CASE = re.compile(r"^\[\[case\]\]", re.MULTILINE)


def _excerpt(text: str, only: Collection[str]) -> str:
    """Return the text with blank lines in place of the other cases; the whole text where that is not certainly the same.

    Reading a thousand cases takes longer than running one. What `allow` needs trust for depends on all of them.
    """
    values = values_of(text) or {}
    cases, starts = values.get("case"), [each.start() for each in _CASE.finditer(text)]
    if not isinstance(cases, list) or len(cases) != len(starts) or "allow" in values:
        return text
    parts = [text[: starts[0]]]
    kept = []
    for case, start, end in zip(cases, starts, [*starts[1:], len(text)], strict=True):
        is_wanted = isinstance(case, dict) and case.get("name") in only
        kept += [case] if is_wanted else []
        part = text[start:end]
        parts.append(part if is_wanted else "\n" * part.count("\n"))
    found = "".join(parts)
    # A multi-line string may look like the beginning of a case.
    return found if kept and values_of(found) == {**values, "case": kept} else text


def _missing_folder(suite: Suite) -> Iterator[str]:
    """Yield the reason if the workspace can't be copied."""
    folder = suite.workspace
    if folder is None:
        return
    where, project = suite.shown, real_path(suite.project)
    real = real_path(folder)
    if not is_folder(folder):
        yield f"{where}: workspace {quoted(suite.cases.workspace)} is not a folder: {shown_path(folder)}"
    elif real != project and project not in real.parents:
        yield f"{where}: workspace {quoted(suite.cases.workspace)} is outside the project {shown_path(project)}"


def _recordings_outside(suite: Suite) -> Iterator[str]:
    project = real_path(suite.project)
    for case in suite.cases.cases:
        path = suite.recording(case)
        if project not in real_path(path).parents:
            yield f"{suite.place(case.range)}: the recording is outside the project: {shown_path(path)}"


def copy_workspace(suite: Suite, target: Path) -> None:
    """Copy the workspace of a file of tests to a new folder. Raises ConfigError.

    A link that leads out of the workspace is an error: a run would read what its agents must not see. So are pipes,
    sockets and devices, and files that together are larger than `_MOST_COPIED`: several cases run at the same time,
    each with a copy.
    """
    source = suite.workspace
    target.mkdir()
    if source is None:
        return
    root, left = real_path(source), _MOST_COPIED
    largest = _Largest()
    try:
        for path in _entries_below(root):
            copy = target / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            real = real_path(path)
            if real != path and root not in real.parents:
                raise ConfigError(f"{shown_path(path)} is a link that leads out of the workspace")
            try:
                status = path.stat()
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ELOOP):
                    continue  # It is a link to nothing, or to itself.
                raise
            if stat.S_ISDIR(status.st_mode):
                continue
            if not stat.S_ISREG(status.st_mode):
                reason = "is a pipe, a socket or a device, which no case can have; delete it"
                raise ConfigError(f"{suite.shown}: {shown_path(path)} {reason}")
            largest.add(path, status.st_size)
            left -= status.st_size
            if left < 0:
                raise _too_large(suite, f"workspace {quoted(suite.cases.workspace)} is", largest)
            shutil.copyfile(path, copy)
            copy.chmod(status.st_mode & 0o777)
    except OSError as error:
        raise ConfigError(f"failed to copy the workspace: {os_fault(error)}") from error


class _Largest(Struct):
    """The largest of some files, with its size in bytes."""

    path: Path = Path()
    size: int = -1

    def add(self, path: Path, size: int) -> None:
        """Take one more file into account."""
        if size > self.size:
            self.path, self.size = path, size


def _too_large(suite: Suite, what: str, largest: _Largest) -> ConfigError:
    most = _MOST_COPIED // 2**20
    example = f"{shown_path(largest.path)} alone has {largest.size / 2**20:,.0f} MB"
    step = (
        "name a folder with what the cases need"
        if what.startswith("workspace")
        else "record fewer cases in one file"
    )
    return ConfigError(f"{suite.shown}: {what} larger than {most} MB ({example}); {step}")


def files_below(root: Path) -> Iterator[Path]:
    """Return the files below a folder, without those that a copy of a workspace leaves out."""
    return (path for path in _entries_below(root) if path.is_file())


def _entries_below(root: Path) -> Iterator[Path]:
    """Yield all that a copy of a workspace has below a folder, except folders."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if each not in _NOT_COPIED)
        yield from (Path(folder, name) for name in sorted(names))


def trust_request_of_tests(suite: Suite, environment: Environment) -> TrustRequest | None:
    """Return what `allow` of a file of tests needs the user's trust for; None without it, and for the user's own files.

    The digest is that of all that decides which calls are made, and what they work on: the file, its recordings
    and its workspace. Raises ConfigError if that is too large.
    """
    if not suite.cases.allow or is_users(suite.path, environment):
        return None
    digest = hashlib.sha256(suite.lines.text.encode("utf-8", "surrogatepass"))
    folder = suite.workspace
    copied = list(files_below(real_path(folder))) if folder is not None else []
    recordings = [suite.recording(case) for case in suite.cases.cases]
    parts = (
        ("its recordings are", recordings),
        (f"workspace {quoted(suite.cases.workspace)} is", copied),
    )
    for what, paths in parts:
        left, largest = _MOST_COPIED, _Largest()
        for path in paths:
            try:
                content = read_file(path, _MOST_COPIED)
            except OSError as error:
                if error.errno == errno.EFBIG:
                    raise _too_large(suite, what, _Largest(path, path.stat().st_size)) from error
                content = b""
            largest.add(path, len(content))
            left -= len(content)
            if left < 0:
                raise _too_large(suite, what, largest)
            digest.update(json.dumps([str(path), hashlib.sha256(content).hexdigest()]).encode())
    return TrustRequest(
        agent=suite.cases.agent,
        file=shown_path(suite.path),
        workspace=shown_path(real_path(suite.project)),
        reaches=tuple(Reach("allow", rule) for rule in suite.cases.allow),
        digest=digest.hexdigest(),
    )


def chosen_cases(suite: Suite, names: Sequence[str]) -> list[Case]:
    """Return the cases of these names, all without names. Raises ConfigError for a name that is none."""
    known = {case.name: case for case in suite.cases.cases}
    for name in names:
        if name not in known:
            meant = nearest(name, known)
            hint = f" Did you mean {quoted(meant)}?" if meant else ""
            raise ConfigError(f"{suite.shown} has no case {quoted(name)}.{hint}")
    return [case for case in suite.cases.cases if not names or case.name in names]
