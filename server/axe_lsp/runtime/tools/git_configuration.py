"""The programs that a repository would make git start: by its configuration, its hooks and its submodules.

A rule for a command of git allows the command, and not the programs that a stranger has written into the repository's
`.git/config`. `git clone` never takes that file over, but an archive or another user's folder has one.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import anyio
from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.files.git_files import GitWaitsError, output_of_git
from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.safety.command_rules import GitCommand, git_command_of
from axe_lsp.runtime.tools.commands import clean_environment
from axe_lsp.runtime.tools.tool import Workplace

_HARMLESS_KEYS = (
    *(
        "advice.*",
        "apply.*",
        "blame.*",
        "branch.*",
        "color.*",
        "column.*",
        "commit.verbose",
        "commit.status",
    ),
    *(
        "core.abbrev",
        "core.autocrlf",
        "core.bare",
        "core.checkstat",
        "core.commentchar",
        "core.compression",
    ),
    *(
        "core.eol",
        "core.filemode",
        "core.hidedotfiles",
        "core.hookspath",
        "core.ignorecase",
        "core.logallrefupdates",
    ),
    *(
        "core.longpaths",
        "core.precomposeunicode",
        "core.protecthfs",
        "core.protectntfs",
        "core.quotepath",
    ),
    *(
        "core.repositoryformatversion",
        "core.safecrlf",
        "core.sharedrepository",
        "core.sparsecheckout",
    ),
    *(
        "core.sparsecheckoutcone",
        "core.symlinks",
        "core.trustctime",
        "core.untrackedcache",
        "core.whitespace",
    ),
    *(
        "diff.algorithm",
        "diff.colormoved",
        "diff.colormovedws",
        "diff.context",
        "diff.ignoresubmodules",
    ),
    *(
        "diff.indentheuristic",
        "diff.interhunkcontext",
        "diff.mnemonicprefix",
        "diff.noprefix",
        "diff.relative",
    ),
    *(
        "diff.renamelimit",
        "diff.renames",
        "diff.statgraphwidth",
        "diff.submodule",
        "diff.wserrorhighlight",
    ),
    *(
        "extensions.noop",
        "extensions.objectformat",
        "extensions.partialclone",
        "extensions.refstorage",
    ),
    *("extensions.relativeworktrees", "extensions.worktreeconfig"),
    *(
        "feature.*",
        "fetch.parallel",
        "fetch.prune",
        "fetch.prunetags",
        "format.pretty",
        "gc.auto",
        "gc.autodetach",
    ),
    *(
        "gc.pruneexpire",
        "gc.reflogexpire",
        "gc.reflogexpireunreachable",
        "grep.*",
        "gui.*",
        "index.*",
        "init.defaultbranch",
        # `lfs.extension.NAME.clean` and `lfs.customtransfer.NAME.path` are programs (git-lfs-config(5)).
        "lfs.*.access",
        "lfs.*.locksverify",
        "lfs.repositoryformatversion",
    ),
    *(
        "log.abbrevcommit",
        "log.date",
        "log.decorate",
        "log.follow",
        "log.mailmap",
        "maintenance.*",
        "merge.conflictstyle",
    ),
    *(
        "merge.ff",
        "merge.renames",
        "pack.*",
        "pull.ff",
        "pull.rebase",
        "push.autosetupremote",
        "push.default",
    ),
    *(
        "push.followtags",
        "rebase.autosquash",
        "rebase.autostash",
        "receive.*",
        "remote.*.fetch",
        "remote.*.gh-resolved",
    ),
    *(
        "remote.*.mirror",
        "remote.*.partialclonefilter",
        "remote.*.promisor",
        "remote.*.prune",
        "remote.*.push",
    ),
    *(
        "remote.*.pushurl",
        "remote.*.tagopt",
        "remote.*.url",
        "remote.pushdefault",
        "rerere.*",
        "stash.*",
        "status.*",
    ),
    *(
        "submodule.*.active",
        "submodule.*.branch",
        "submodule.*.ignore",
        "submodule.*.url",
        "submodule.active",
    ),
    *(
        "submodule.recurse",
        "svn-remote.*",
        "tag.sort",
        "user.email",
        "user.name",
        "user.signingkey",
        "versionsort.*",
    ),
)
"""Keys of a repository's configuration that start no program and lead git nowhere, in lower case (git-config(1))."""

_BOOLEANS = ("", "true", "false", "yes", "no", "on", "off", "1", "0")

_INDEX_HOOK = "post-index-change"
"""The only hook that commands run which only look: `git status` and `git diff` refresh the index."""

_SUBMODULE = b"160000"
_SECONDS = 10.0
_MOST_REPOSITORIES = 50


class _GitFailedError(Exception):
    """git has failed, or took too long."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


class _Git(Struct, frozen=True):
    """git in a folder. It starts nothing of the repository."""

    program: str
    folder: Path
    environment: Mapping[str, str]

    def __call__(self, *arguments: str) -> bytes:
        """Return the output. Raises GitWaitsError, and _GitFailedError with the exit code if git has ended."""
        try:
            process = subprocess.Popen(
                [self.program, "-c", "core.fsmonitor=false", *arguments],
                cwd=self.folder,
                env={**self.environment, "GIT_OPTIONAL_LOCKS": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            raise _GitFailedError(None) from error
        with process:
            output = output_of_git(process, self.folder, _SECONDS)
        if output is None or process.returncode:
            raise _GitFailedError(process.returncode if output is not None else None)
        return output[0]


async def configured_programs(command: str, workplace: Workplace) -> str:
    """Return what the repository of the folder would make a command of git start, as a remark, or ""."""
    environment = clean_environment(workplace)
    git = git_command_of(command)
    program = find_program("git", environment) if git is not None else None
    if git is None or program is None:
        return ""
    place = Path(workplace.folder, *git.folders)
    return await anyio.to_thread.run_sync(_remark, _Git(program, place, environment), git)


def _remark(git: _Git, command: GitCommand) -> str:
    left, seen = [git], set[Path]()
    try:
        while left:
            each = left.pop()
            if each.folder in seen:
                continue
            seen.add(each.folder)
            if len(seen) > _MOST_REPOSITORIES:
                return f"it has more than {_MOST_REPOSITORIES} submodules"
            if not _is_repository(each):
                continue
            if key := next(_suspicious_keys(each), ""):
                return f"the repository's configuration has {quoted(_shown(key))}, by which git may start a program"
            if not command.runs_hooks and _has_hook(each):
                return f"the repository has the hook {quoted(_INDEX_HOOK)}"
            left += _submodules(each)
    except _GitFailedError:
        return "the repository's configuration can't be read"
    except GitWaitsError as error:
        return str(error)
    return ""


def _is_repository(git: _Git) -> bool:
    try:
        git("rev-parse", "--git-dir")
    except _GitFailedError as error:
        # In a folder without a repository git reads no configuration that the folder brings.
        if error.code is not None:
            return False
        raise
    return True


def _suspicious_keys(git: _Git) -> Iterator[str]:
    """Yield the keys of the repository's own configuration, with the files that it includes, that are not harmless."""
    fields = git("config", "--list", "--null", "--show-scope", "--includes").split(b"\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = os.fsdecode(entry).partition("\n")
        if scope not in (b"local", b"worktree"):
            continue
        if key == "core.fsmonitor" and value.lower() in _BOOLEANS:
            continue
        if not any(fnmatchcase(key.lower(), each) for each in _HARMLESS_KEYS):
            yield key


def _shown(key: str) -> str:
    """Return a key without a subsection that is more than a name: an address in it may have a password."""
    section, _, name = key.partition(".")
    subsection, _, name = name.rpartition(".")
    between = (subsection if re.fullmatch(r"[\w-]+", subsection) else "…") if subsection else ""
    return ".".join(filter(None, (section, between, name)))


def _has_hook(git: _Git) -> bool:
    path = os.fsdecode(git("rev-parse", "--git-path", f"hooks/{_INDEX_HOOK}")).rstrip("\n")
    return (git.folder / path).exists()


def _submodules(git: _Git) -> Iterator[_Git]:
    """Yield git in each submodule that is there: git looks into them with their own configuration."""
    top = Path(os.fsdecode(git("rev-parse", "--show-toplevel")).rstrip("\n"))
    for line in git("-C", str(top), "ls-files", "--stage", "-z").split(b"\0"):
        if line.startswith(_SUBMODULE):
            place = top / os.fsdecode(line.partition(b"\t")[2])
            if os.path.lexists(place / ".git"):
                yield _Git(git.program, place, git.environment)
