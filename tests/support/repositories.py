"""Real git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_AUTHOR = {
    f"GIT_{role}_{what}": "user@example.com"
    for role in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


class Repository:
    """A repository of a user, with one commit of `files`."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes]) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first", "--allow-empty")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files."""
        write(self.folder, files)

    def git(self, *arguments: str) -> str:
        """Return the output of git, as the user calls it."""
        return git(self.folder, *arguments)

    @property
    def refs(self) -> list[str]:
        """The commits that axe-lsp keeps."""
        return self.git("for-each-ref", "--format=%(refname)", "refs/axe").split()

    @property
    def state(self) -> tuple[str, ...]:
        """What no agent in a copy may change: index, HEAD, branches, stash, worktrees, configuration."""
        asked = (
            ("ls-files", "--stage"),
            ("rev-parse", "HEAD"),
            ("symbolic-ref", "HEAD"),
            ("branch", "-a", "-v"),
            ("stash", "list"),
            ("worktree", "list", "--porcelain"),
            ("config", "--local", "--list"),
        )
        return tuple(self.git(*each) for each in asked)


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def git(folder: Path, *arguments: str) -> str:
    """Return the output of git in a folder, without the configuration of whoever runs the tests."""
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, **_AUTHOR}
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip("\n")
