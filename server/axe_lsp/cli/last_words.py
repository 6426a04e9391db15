"""What is said on standard error about a run that ended without the result that was wanted.

How the history puts it is imported when there is something to say, as hardly any run ends so.
"""

from __future__ import annotations

import sys

from axe_lsp.cli.streams import shown, tell_person


def tell_last_answer(content: str) -> None:
    """The answer that is no result, whole: somebody has paid for it."""
    print(f"Its last answer was:\n\n{shown(content, sys.stderr)}", file=sys.stderr)


def tell_cancelled(milliseconds: int) -> None:
    """Ctrl-C, or a signal of that kind, has ended the run."""
    from axe_lsp.hosting.history.drawing import duration  # noqa: PLC0415 - see above

    print(f"cancelled after {duration(milliseconds)}", file=sys.stderr)


def tell_where_to_look(run_id: str) -> None:
    """The run is remembered, and a person can see what happened in it."""
    from axe_lsp.cli.history_table import ID_LENGTH  # noqa: PLC0415 - see above

    tell_person(f"`axe-lsp history show {run_id[:ID_LENGTH]}` shows what happened.")
