"""`axe-lsp bench`: how fast axe-lsp is, beside its peers.

The benchmarks are part of the repository and not of what is installed: they install the peers, and a
time that stands beside nothing says more about the machine than about axe-lsp.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import axe_lsp

_CHECKOUT = Path(axe_lsp.__file__).parents[2]
NOT_HERE = 1
"""Exit code where there is nothing to be measured with."""


def main(arguments: Sequence[str], checkout: Path = _CHECKOUT) -> int:
    """Measure, and print the tables."""
    tests = checkout / "tests"
    if not (tests / "benchmarks").is_dir():
        print(
            "axe-lsp bench: the benchmarks are not part of the installed package; clone the repository "
            "of axe-lsp, install it with `pip install -e .`, and run `axe-lsp bench` from there",
            file=sys.stderr,
        )
        return 0 if {"-h", "--help"}.intersection(arguments) else NOT_HERE
    environment = {**os.environ, "PYTHONPATH": str(tests)}
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, env=environment, check=False).returncode
