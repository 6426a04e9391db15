"""`axe-lsp version`."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from axe_lsp import __version__
from axe_lsp.cli.arguments import Parser


def main(arguments: Sequence[str]) -> int:
    """Print the version."""
    parser = Parser(prog="axe-lsp version", description="Print the version of axe-lsp.")
    parser.parse_args(arguments)
    print(f"axe-lsp version {_version()}")
    return 0


def _version() -> str:
    """Return the version, with the commit in a checkout or a build of one, such as `0.1.0+g1234567`."""
    commit = commit_of(Path(__file__).parents[3] / ".git")
    if commit:
        return f"{__version__}+g{commit[:7]}"
    with suppress(importlib.metadata.PackageNotFoundError):
        installed = importlib.metadata.version("axe-lsp")
        if installed.partition("+")[0] == __version__:
            return installed
    return __version__


def commit_of(git: Path) -> str:
    """Return the commit that a checkout is at, read without git, or ""."""
    try:
        if git.is_file():  # A worktree has its folder elsewhere.
            git = git.parent / git.read_text("utf-8").strip().removeprefix("gitdir: ")
        head = (git / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        common = git / "commondir"
        folder = git / common.read_text("utf-8").strip() if common.exists() else git
        if (folder / name).exists():
            return (folder / name).read_text("utf-8").strip()
        packed = (folder / "packed-refs").read_text("utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(" ")[0] for line in packed if line.endswith(f" {name}")), "")
