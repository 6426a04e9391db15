"""`axe-lsp schema`: the JSON Schema of agent files, config.toml, tests of agents or check.toml, for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from axe_lsp.agentfile.schema.published_schema import PUBLISHED, json_schema
from axe_lsp.cli.arguments import Parser
from axe_lsp.daemon import project_severities

CHECK = "check"
"""The schema of the severities that a project sets."""

RESULT = "test-result"
"""The schema of what `axe-lsp test --format json` prints, beside those of files."""


RUN_RESULT = "run-result"
"""The schema of what `axe-lsp run --json=full` prints."""


def main(arguments: Sequence[str]) -> int:
    """Print it."""
    kind = _parser().parse_args(arguments).kind
    if kind == RESULT:
        from axe_lsp.testing.result import json_schema as schema_of_results

        schema = schema_of_results()
    elif kind == RUN_RESULT:
        from axe_lsp.cli.full_result import json_schema as schema_of_runs

        schema = schema_of_runs()
    else:
        schema = project_severities.json_schema() if kind == CHECK else json_schema(PUBLISHED[kind])
    print(json.dumps(schema, indent=2, ensure_ascii=False))
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp schema",
        description="Print the JSON Schema of agent files, of config.toml, of tests of agents or of axe/check.toml, for taplo, tombi "
        "and others; or that of the results which `axe-lsp test --format json` and `axe-lsp run --json=full` print.",
    )
    parser.add_argument(
        "kind",
        nargs="?",
        choices=[*PUBLISHED, CHECK, RESULT, RUN_RESULT],
        default="agent",
        help="which schema (default: agent)",
    )
    return parser
