"""Follows the runs of all processes while they go on.

The history is asked again and again: nothing else knows of the runs of other processes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from axe_lsp.cli.history_table import ID_LENGTH
from axe_lsp.cli.streams import tell_person
from axe_lsp.hosting.event_text import describe
from axe_lsp.hosting.history.local import opened_history
from axe_lsp.hosting.history.queries import (
    events_below,
    find_run,
    progress_of_roots,
    tree_events,
)
from axe_lsp.hosting.history.tree_text import local_time
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.plain_text import visible

INTERVAL = 0.1
"""Seconds between two questions."""


def follow(run: str | None, as_json: bool) -> None:
    """Print what happens in a run until it ends; without one what happens at all, until Ctrl-C."""
    tell = _tell_json if as_json else _tell
    for event in _of_all() if run is None else _of_one(run):
        tell(event)


def _of_one(run: str) -> Iterator[Notification]:
    seen, is_over = 0, False
    while not is_over:
        with opened_history() as connection:
            run_id, root = find_run(connection, run)
            news = list(events_below(connection, run_id, root, seen))
        for event in news:
            yield event
            seen = event.params["seq"]
            is_over = is_over or _is_end_of(event, run_id)
        time.sleep(0 if is_over else INTERVAL)


def _of_all() -> Iterator[Notification]:
    with opened_history() as connection:
        known = progress_of_roots(connection)
    tell_person(
        f"{len(known.seen)} under way; those that begin are shown as well. Ctrl-C ends this."
    )
    while True:
        with opened_history() as connection:
            known = progress_of_roots(connection, known)
            news = [list(tree_events(connection, *each)) for each in known.seen.items()]
        for event in (event for events in news for event in events):
            yield event
            root = event.params["rootRunId"]
            known.seen[root] = event.params["seq"]
            if _is_end_of(event, root):
                del known.seen[root]
        time.sleep(INTERVAL)


def _is_end_of(event: Notification, run_id: str) -> bool:
    params = event.params
    return (event.method, params["runId"], params.get("kind")) == ("axe/agent", run_id, "end")


def _tell(event: Notification) -> None:
    line = describe(event)
    if line is not None:
        params = event.params
        begin = f"{local_time(params['time'])}  {params['rootRunId'][:ID_LENGTH]}  "
        print(begin + visible(line), flush=True)


def _tell_json(event: Notification) -> None:
    print(json.dumps(event.members, ensure_ascii=False, separators=(",", ":")), flush=True)
