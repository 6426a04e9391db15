"""`axe-lsp hands`: the tools of agents whose runs are made on another machine. ssh or a worker of Dask starts it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from axe_lsp.cli.arguments import Parser


def main(arguments: Sequence[str]) -> int:
    """Serve until the input ends."""
    Parser(
        prog="axe-lsp hands",
        description="Make copies and execute tools for agents whose runs are made on another machine. axe-lsp starts "
        "it there with ssh, or a worker of Dask starts it.",
    ).parse_args(arguments)
    if sys.stdin is not None and sys.stdin.isatty():
        print(
            "axe-lsp hands is started by axe-lsp on another machine, with ssh.",
            file=sys.stderr,
        )
        return 1
    # Imported late, like what else only this needs.
    from axe_lsp.hosting.places.hands import main as serve

    return serve(dict(os.environ))
