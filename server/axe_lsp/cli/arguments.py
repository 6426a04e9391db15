"""Command-line arguments as all subcommands read them."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

USAGE_ERROR = 1
"""Exit code for arguments that make no sense, as in axe (2 is for configuration)."""


class Parser(argparse.ArgumentParser):
    """A parser that knows no abbreviations and says in one line what is wrong."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type] # argparse's own

    def error(self, message: str) -> NoReturn:
        """Leave with the message."""
        print(f"{self.prog}: {message} (see `{self.prog} --help`)", file=sys.stderr)
        raise SystemExit(USAGE_ERROR)
