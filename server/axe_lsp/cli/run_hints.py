"""Messages on standard error about a run that ended without the wanted result."""

from __future__ import annotations

import sys

from axe_lsp.agentfile.text.amounts import duration
from axe_lsp.cli.streams import shown, tell_person
from axe_lsp.runtime.errors import BudgetError, FinalError, RunError, UnfitAnswerError
from axe_lsp.runtime.runs import ID_LENGTH


def tell_last_text(error: RunError) -> None:
    """The last text of the agent when it failed, in full, since it was paid for.

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
    """Ctrl-C, or a signal of that kind, has ended the run."""
    print(f"cancelled after {duration(milliseconds)}", file=sys.stderr)


def tell_where_to_look(run_id: str, go_on: str, error: RunError | None = None) -> None:
    """The run is remembered: a person can see what happened in it, and go on with it by a command, if there is one."""
    tell_person(f"`axe-lsp history show {run_id[:ID_LENGTH]}` shows what happened.")
    if go_on and not isinstance(error, FinalError):
        tell_how_to_go_on(go_on, run_id)


def tell_how_to_go_on(command: str, run_id: str) -> None:
    """The command that goes on with a run."""
    tell_person(f"continue with: {command} {run_id[:ID_LENGTH]}")
