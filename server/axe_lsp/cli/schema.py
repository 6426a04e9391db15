"""`axe-lsp schema`: the JSON Schema of agent files, config.toml or tests of agents, for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from axe_lsp.agentfile.schema.published_schema import PUBLISHED, json_schema
from axe_lsp.cli.arguments import Parser


def main(arguments: Sequence[str]) -> int:
    """Print it."""
    kind = _parser().parse_args(arguments).kind
    print(json.dumps(json_schema(PUBLISHED[kind]), indent=2, ensure_ascii=False))
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp schema",
        description="Print the JSON Schema of agent files, of config.toml or of tests of agents, for taplo, tombi and others.",
    )
    parser.add_argument(
        "kind",
        nargs="?",
        choices=list(PUBLISHED),
        default="agent",
        help="which schema (default: agent)",
    )
    return parser
