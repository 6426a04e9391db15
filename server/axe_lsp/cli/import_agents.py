"""`axe-lsp import`: agents of other programs as agent files of axe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from axe_lsp.agentfile.convert.axe import AXE
from axe_lsp.agentfile.schema.providers import ModelNameError, parse_model_name
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.file_conversion import add_options, convert_all, files_at, options_of
from axe_lsp.runtime.files.folders import working_folder


def main(arguments: Sequence[str]) -> int:
    """Import the files."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        if chosen.model:
            parse_model_name(chosen.model)
        here = working_folder()
        paths = dict.fromkeys(
            file for path in chosen.paths for file in files_at(here / path, chosen.source)
        )
    except ModelNameError as error:
        parser.error(str(error))
    return convert_all(parser.prog, paths, options_of(chosen, AXE))


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp import",
        description="Convert agents of Codex, Claude Code, GitHub Copilot, Gemini CLI, opencode and Mistral Vibe to "
        "agent files of axe, in axe/agents of the workspace. The exit code is 1 if a file can't be converted, "
        "else 0.",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        default=[Path()],
        metavar="PATH",
        help="agent files, or folders with agents or projects (default: the current folder)",
    )
    parser.add_argument(
        "--model",
        metavar="PROVIDER/NAME",
        help="the model for agents whose files name no model that axe knows",
    )
    add_options(parser)
    return parser
