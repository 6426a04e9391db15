"""`axe-lsp models`: the models that are known, and those that Ollama has."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

from axe_lsp.agentfile.schema.models import MODELS, LocalModel, Model
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import columns_of, compact, tell_person
from axe_lsp.cli.text_width import cells, cut, padded
from axe_lsp.daemon.ollama_models import installed_models
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.user_config import usable_config
from axe_lsp.runtime.json_data import Json

_HEADER = ("MODEL", "CONTEXT", "OUTPUT", "$ IN", "$ OUT", "ENDS")

_OLLAMA = "ollama"


def main(arguments: Sequence[str]) -> int:
    """Print the models; returns the exit code. Raises ConfigError for a provider that there is not."""
    options = _parser().parse_args(arguments)
    _require_provider(options.provider)
    known = [model for model in MODELS if options.provider in (None, model.provider)]
    local = installed_models(os.environ) if options.provider in (None, _OLLAMA) else ()
    if options.json:
        print(compact([*map(_as_json, known), *map(_local_as_json, local)]))
        return 0
    _print_table([*map(_row, known), *map(_local_row, local)])
    if not known and not local:
        tell_person(_nothing_known(options.provider))
    elif not options.provider:
        tell_person(
            "Prices are US dollars for a million tokens. Other models of a provider can be named, too."
        )
    return 0


def _require_provider(name: str | None) -> None:
    providers = {*PROVIDERS, *usable_config(os.environ).named_providers()}
    if name is None or name in providers:
        return
    near = nearest(name, providers)
    hint = f"Did you mean `{near}`?" if near else f"Known are {', '.join(sorted(providers))}."
    raise ConfigError(f"{quoted(name)} is not a known provider", hint=hint)


def _nothing_known(provider: str) -> str:
    if provider == _OLLAMA:
        return "Ollama is not running, or has no models. `ollama pull NAME` gets one."
    return f"No model of {provider} is in the table; the pages of the provider name its models."


def _row(model: Model) -> tuple[str, ...]:
    prices = (f"{model.input_price:g}", f"{model.output_price:g}")
    return (str(model), f"{model.context:,}", f"{model.max_output:,}", *prices, model.ends)


def _local_row(model: LocalModel) -> tuple[str, ...]:
    return (f"{_OLLAMA}/{model.name}", "", "", "", "", "")


def _as_json(model: Model) -> dict[str, Json]:
    return {
        "model": str(model),
        "provider": model.provider,
        "context": model.context,
        "maxOutput": model.max_output,
        "inputPrice": model.input_price,
        "outputPrice": model.output_price,
        **({"ends": model.ends} if model.ends else {}),
    }


def _local_as_json(model: LocalModel) -> dict[str, Json]:
    return {"model": f"{_OLLAMA}/{model.name}", "provider": _OLLAMA}


def _print_table(rows: list[tuple[str, ...]]) -> None:
    is_terminal = sys.stdout.isatty()
    if is_terminal and rows:
        rows.insert(0, _HEADER)
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for line in _lines(rows, widths):
        print(cut(line, columns_of(sys.stdout)) if is_terminal else line)


def _lines(rows: Sequence[tuple[str, ...]], widths: Sequence[int]) -> Iterator[str]:
    for name, *numbers in rows:
        aligned = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join([padded(name, widths[0]), *aligned]).rstrip()


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="axe-lsp models",
        description="List known models with context windows and prices, and those that a running Ollama has.",
    )
    parser.add_argument("provider", metavar="PROVIDER", nargs="?", help="those of one provider")
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    return parser
