"""The end of a run at the command line: the output of `--json`, and what is said of a failure.

`--json` prints the answer and its figures, with axe's keys in axe's order. axe's first version had
seven keys. For an agent that it could have run, the output has only these keys. Later keys are
present for agents that use later features, and if they have a value. `--json=full` prints all keys for any agent
(`full_result.py`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from axe_lsp.agentfile.text.amounts import duration
from axe_lsp.cli.full_result import full_json, tree_json
from axe_lsp.cli.streams import compact, complain, shown, tell_person
from axe_lsp.runtime.errors import BudgetError, FinalError, RunError, UnfitAnswerError
from axe_lsp.runtime.events import (
    AgentEnd,
    Event,
    RunIds,
    Status,
    TextDelta,
    ToolBegin,
    ToolEnd,
    TurnEnd,
)
from axe_lsp.runtime.json_data import to_json
from axe_lsp.runtime.messages import argument_text
from axe_lsp.runtime.outcome import status_of
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import ID_LENGTH

LONGEST_OUTPUT = 1024
"""Bytes of a tool's result that are shown, as in axe."""


_NO_FAILURE: Mapping[str, object] = MappingProxyType({})


class CallDetails:
    """The data of a root run from its events: tool calls in order, last text, end.

    `is_streamed` is whether its text was shown while it arrived. `wanted` says whether the agent is one for which axe's later versions show them, `is_full` whether all keys are shown.
    """

    def __init__(self) -> None:
        self.wanted = False
        self.is_full = False
        self.is_streamed = False
        self.calls: list[dict[str, Any]] = []
        self._open: dict[str, list[dict[str, Any]]] = {}
        self._text = ""
        self._end: AgentEnd | None = None

    def until_now(self, status: Status) -> RunResult:
        """Return the data of a run without a result, from its events."""
        end = self._end or AgentEnd(run=RunIds("", "", ""), status=status, duration_ms=0)
        return RunResult(
            run_id=end.run.run_id,
            agent=end.run.agent,
            status=end.status,
            model="",
            content=self._text,
            stop_reason="",
            input_tokens=end.input_tokens,
            output_tokens=end.output_tokens,
            turns=end.turns,
            tool_calls=end.tool_calls,
            duration_ms=end.duration_ms,
            cost=end.cost,
            tree=end.tree,
        )

    def event(self, event: Event) -> None:
        """Take note of an event."""
        if event.run.depth:
            return
        if isinstance(event, TextDelta):
            self.is_streamed = True
        elif isinstance(event, TurnEnd):
            self._text = event.text
        elif isinstance(event, AgentEnd):
            self._end = event
        elif isinstance(event, ToolBegin):
            detail = _begun(event)
            self.calls.append(detail)
            self._open.setdefault(event.call_id, []).append(detail)
        elif isinstance(event, ToolEnd):
            self._open[event.call_id].pop(0).update(_ended(event))


def failure_as_json(error: RunError, details: CallDetails) -> str:
    """Return the output for a run that has failed, or could not begin, as one line."""
    status = status_of(error)
    result = error.partial or details.until_now(status)
    failure = {"kind": error.kind, "message": str(error)}
    if error.reason:
        failure["reason"] = error.reason
    identity = {"run_id": result.run_id} if result.run_id else {}
    return as_json(result, details, {"error": {**failure, "status": status}, **identity})


def as_json(
    result: RunResult, details: CallDetails, failure: Mapping[str, object] = _NO_FAILURE
) -> str:
    """Return the result as one line; `failure` are the keys that say why the content is no result."""
    if details.is_full:
        error = failure.get("error")
        return compact(full_json(result, details.calls, error if isinstance(error, dict) else None))
    envelope = {
        "content": result.content,
        "duration_ms": result.duration_ms,
        "input_tokens": result.input_tokens,
        "model": result.model,
        "output_tokens": result.output_tokens,
        "stop_reason": result.stop_reason,
        "tool_calls": result.tool_calls,
        **({} if result.output is None else {"output": result.output}),
        **failure,
        **({"refused": True} if result.refused else {}),
        **({"incomplete": result.incomplete} if result.incomplete else {}),
        **_cache(result),
        **_budget(result),
        **_cost(result, details.wanted),
        **(_later(result, details) if details.wanted else {}),
    }
    return compact(dict(sorted(envelope.items())))


def _begun(event: ToolBegin) -> dict[str, Any]:
    arguments = {name: argument_text(value) for name, value in event.arguments.items()}
    return {"name": event.name, "input": arguments, "turn": event.turn - 1}


def _ended(event: ToolEnd) -> dict[str, Any]:
    return {
        "output": _cut(event.content),
        "is_error": event.is_error,
        "duration_ms": event.duration_ms,
    }


def _cut(text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= LONGEST_OUTPUT:
        return text
    return data[:LONGEST_OUTPUT].decode("utf-8", "ignore") + "... (truncated)"


def _cache(result: RunResult) -> Mapping[str, object]:
    """Return the use of the provider's cache, if the provider reports it."""
    read, written = result.cache_read_tokens or 0, result.cache_write_tokens or 0
    if not (read or written):
        return {}
    return {
        "cache_read_tokens": read,
        "cache_status": "HIT" if read else "MISS",
        "cache_write_tokens": written,
    }


def _budget(result: RunResult) -> Mapping[str, object]:
    """Return the rest of the budget, if there is one."""
    if not result.budget:
        return {}
    return {
        "budget_exceeded": result.budget.exceeded,
        "budget_max_tokens": result.budget.max_tokens,
        "budget_used_tokens": result.budget.used_tokens,
    }


def _cost(result: RunResult, wanted: bool) -> Mapping[str, object]:
    """Return the cost of the run, and the use of its whole tree."""
    if wanted:
        return {"cost": result.cost, "tree": tree_json(result)}
    own = {} if result.cost is None else {"cost": result.cost}
    tree = result.tree
    if tree is None or not own:
        return own
    used = {"input_tokens": tree.input_tokens, "output_tokens": tree.output_tokens}
    return {**own, "tree": used if tree.cost is None else {"cost": tree.cost, **used}}


def _later(result: RunResult, details: CallDetails) -> Mapping[str, object]:
    return {
        "run_id": result.run_id,
        "status": result.status,
        "refused": result.refused,
        "retry_attempts": result.retry_attempts,
        **({"sources": [*map(to_json, result.sources)]} if result.sources else {}),
        "tool_call_details": [dict(sorted(call.items())) for call in details.calls],
    }


# -- on standard error


def report_failure(error: RunError, options: argparse.Namespace, calls: CallDetails) -> int:
    """Tell why a run has failed; returns the exit code."""
    complain(error)
    if options.json:
        print(failure_as_json(error, calls))
    elif not calls.is_streamed:
        _tell_last_text(error)
    if error.partial is not None and error.is_stored:  # It had begun to talk.
        tell_where_to_look(error.run_id, options.go_on, error)
    return int(error.exit_code)


def _tell_last_text(error: RunError) -> None:
    """Print the last text of the agent when it failed, in full, since it was paid for.

    That of a used-up budget is on standard output already.
    """
    content = error.partial.content if error.partial else ""
    if not content or isinstance(error, BudgetError):
        return
    is_answer = isinstance(error, UnfitAnswerError)
    what = (
        "Its last answer was:" if is_answer else "Its last text, which is not a final answer, was:"
    )
    print(f"{what}\n\n{shown(content, sys.stderr)}", file=sys.stderr)


def tell_cancelled(milliseconds: int) -> None:
    """Print that Ctrl-C, or another signal, has ended the run."""
    print(f"cancelled after {duration(milliseconds)}", file=sys.stderr)


def tell_where_to_look(run_id: str, go_on: str, error: RunError | None = None) -> None:
    """Print how a person can see what happened in the run, and by which command, if any, it goes on."""
    tell_person(f"`axe-lsp history show {run_id[:ID_LENGTH]}` shows what happened.")
    if go_on and not isinstance(error, FinalError):
        tell_how_to_go_on(go_on, run_id)


def tell_how_to_go_on(command: str, run_id: str) -> None:
    """Print the command that goes on with a run."""
    tell_person(f"continue with: {command} {run_id[:ID_LENGTH]}")
