"""`axe-lsp completion`: the script by which a shell completes commands, options, agents and models.

docs/generate.py makes the scripts from the parsers of the commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from axe_lsp.cli.arguments import Parser

SHELLS = ("bash", "zsh", "fish")


def main(arguments: Sequence[str]) -> int:
    """Print the script."""
    shell = _parser().parse_args(arguments).shell
    print((files("axe_lsp") / "completions" / f"axe-lsp.{shell}").read_text("utf-8"), end="")
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp completion",
        description='Print the completion script of a shell. For bash, put `eval "$(axe-lsp completion bash)"` into '
        "~/.bashrc; for zsh, write it to a file _axe-lsp in a folder of $fpath; for fish, to "
        "~/.config/fish/completions/axe-lsp.fish.",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    return parser
