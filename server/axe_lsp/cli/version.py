"""`axe-lsp version`."""

from __future__ import annotations

from collections.abc import Sequence

from axe_lsp import __version__
from axe_lsp.cli.arguments import Parser


def main(arguments: Sequence[str]) -> int:
    """Print the version."""
    parser = Parser(prog="axe-lsp version", description="Print the version of axe-lsp.")
    parser.parse_args(arguments)
    print(f"axe-lsp version {__version__}")
    return 0
