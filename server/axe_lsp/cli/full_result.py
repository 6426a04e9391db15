"""The output of `--json=full`: all keys, for every agent. docs/schemas/run-result.json is made of these classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any

import msgspec
from msgspec import Struct

from axe_lsp.runtime.events import Status
from axe_lsp.runtime.json_data import Json, to_json
from axe_lsp.runtime.run_result import RunResult


class FullUsage(Struct, frozen=True, forbid_unknown_fields=True):
    """The use of the run with all agents that it called. `cost` is in US dollars, null if any price is unknown."""

    input_tokens: int
    output_tokens: int
    cost: float | None


class FullCall(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call of the run. `turn` counts from 0, `output` has at most 1,024 bytes. The last three are missing if it has not ended."""

    name: str
    input: dict[str, str]
    turn: int
    output: str = ""
    is_error: bool = False
    duration_ms: int = 0


class FullBudget(Struct, frozen=True, forbid_unknown_fields=True):
    """How much of a `max_tokens` was used."""

    max_tokens: int
    used_tokens: int
    exceeded: bool


class FullError(Struct, frozen=True, forbid_unknown_fields=True):
    """Why the run has no answer."""

    kind: str
    message: str
    status: str
    reason: str = ""


class FullResult(Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a run. Tokens, cost, turns and calls are its own; `tree` has all agents.

    `run_id` is "" if nothing had begun. `content` is the answer, or the last text of a run that has failed. `output` is its value
    for an agent with `[output]`. `budget` is null without a limit of tokens. `error` is null for a success.
    """

    agent: str
    run_id: str
    status: Status
    model: str
    content: str
    output: Any
    stop_reason: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost: float | None
    tree: FullUsage
    turns: int
    tool_calls: int
    tool_call_details: list[FullCall]
    duration_ms: int
    retry_attempts: int
    refused: bool
    incomplete: str | None
    sources: list[dict[str, Any]]
    budget: FullBudget | None
    error: FullError | None


def full_json(
    result: RunResult, calls: Sequence[Mapping[str, Json]], error: Mapping[str, object] | None
) -> dict[str, Json]:
    """Return the result with all keys; `error` is that of a run without an answer."""
    values = {
        **{name: getattr(result, name, None) for name in FullResult.__struct_fields__},
        "cache_read_tokens": result.cache_read_tokens or 0,
        "cache_write_tokens": result.cache_write_tokens or 0,
        "tree": tree_json(result),
        "tool_call_details": list(calls),
        "sources": [*map(to_json, result.sources)],
        "error": error,
    }
    if result.budget is not None:
        values["budget"] = {
            name: getattr(result.budget, name) for name in FullBudget.__struct_fields__
        }
    return values


def tree_json(result: RunResult) -> dict[str, Json]:
    """Return the use of the whole tree, which is the run's own if it has called no agent."""
    used = result.tree or result
    return {
        "cost": used.cost,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
    }


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the output."""
    schema = msgspec.json.schema(FullResult)
    for each in schema["$defs"].values():
        each["description"] = cleandoc(each.get("description", ""))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "the output of axe-lsp run --json=full",
        **schema,
    }
