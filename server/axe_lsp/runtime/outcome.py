"""The outcome of a run, in the words of results and events. Pure."""

from __future__ import annotations

import re

from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.errors import (
    BudgetError,
    ProviderError,
    RunCancelledError,
    RunError,
    RunTimeoutError,
)
from axe_lsp.runtime.events import AgentEnd, RunIds, Status
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.run_result import RunResult


def result_of(
    run: RunIds, status: Status, duration_ms: int, talk: Conversation | None, ledger: Ledger
) -> RunResult:
    """Return the result of a run, as far as it got: `talk` is None if it did not even begin to talk."""
    has_answer = talk is not None and talk.turns > 0
    last = talk.last if talk is not None else Response()
    used = ledger.own
    return RunResult(
        run_id=run.run_id,
        agent=run.agent,
        status=status,
        model=last.model,
        content=last.content,
        stop_reason=last.stop_reason,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens or None,
        cache_write_tokens=used.cache_write_tokens or None,
        turns=talk.turns if talk is not None else 0,
        tool_calls=talk.tool_calls if talk is not None else 0,
        duration_ms=duration_ms,
        budget=ledger.budget,
        refused=last.incomplete in ("refusal", "content_filter") or is_refusal(last.content),
        cost=used.cost if has_answer else None,
        tree=ledger.tree if ledger.tree != used else None,
        incomplete=last.incomplete,
        sources=last.sources,
    )


def end_event(
    run: RunIds, result: RunResult, error: str | None, reason: str | None = None
) -> AgentEnd:
    """Return the event that says so."""
    return AgentEnd(
        run=run,
        status=result.status,
        duration_ms=result.duration_ms,
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        cache_read_tokens=result.cache_read_tokens,
        cache_write_tokens=result.cache_write_tokens,
        turns=result.turns,
        tool_calls=result.tool_calls,
        content_length=len(result.content),
        error=error,
        reason=reason,
        cost=result.cost,
        tree=result.tree,
        incomplete=result.incomplete,
    )


def status_of(error: RunError) -> Status:
    """Return how a run has ended that ended so."""
    if isinstance(error, RunCancelledError):
        return "cancelled"
    if isinstance(error, BudgetError):
        return "killed"
    timed_out = isinstance(error, RunTimeoutError) or (
        isinstance(error, ProviderError) and error.category == "timeout"
    )
    return "timeout" if timed_out else "failed"


_REFUSAL = (
    r"(?i)\bI (?:cannot|can't)\b"
    r"|\bI(?:'m| am) (?:unable to|not able to)\b"
    r"|\bI must decline\b"
    r"|\bI (?:don't|do not) have the ability\b"
    r"|\bas an AI\b[^.!?\n]*\b(?:cannot|can't|unable|not able|don't|do not|won't|will not)\b"
)
"""Compiled when the first answer is there: no request waits for it."""


def is_refusal(text: str) -> bool:
    """Return whether the model says that it can't or won't do what it was told (axe's `refused`). A guess by phrases."""
    return re.search(_REFUSAL, text.replace("’", "'")) is not None
