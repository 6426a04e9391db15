"""`axe-lsp schema`: the JSON Schema of agent files, config.toml or tests of agents, for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from axe_lsp.agentfile.schema.published_schema import PUBLISHED, json_schema
from axe_lsp.cli.arguments import Parser

RESULT = "test-result"
"""The schema of what `axe-lsp test --format json` prints, beside those of files."""


def main(arguments: Sequence[str]) -> int:
    """Print it."""
    kind = _parser().parse_args(arguments).kind
    schema = _of_results() if kind == RESULT else json_schema(PUBLISHED[kind])
    print(json.dumps(schema, indent=2, ensure_ascii=False))
    return 0


def _of_results() -> dict[str, Any]:
    from axe_lsp.testing.result import json_schema as of_results

    return of_results()


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp schema",
        description="Print the JSON Schema of agent files, of config.toml or of tests of agents, for taplo, tombi and others; "
        "or that of the results which `axe-lsp test --format json` prints.",
    )
    parser.add_argument(
        "kind",
        nargs="?",
        choices=[*PUBLISHED, RESULT],
        default="agent",
        help="which schema (default: agent)",
    )
    return parser
