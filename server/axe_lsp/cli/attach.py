"""`axe-lsp attach`: follows a run of any process of the user, from its beginning to its answer."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import ExitStack, contextmanager, suppress

from msgspec.structs import replace

from axe_lsp.cli.active_runs import FoundRun, find, reached, refuse_below_agent
from axe_lsp.cli.arguments import Parser, add_json
from axe_lsp.cli.display import open_display
from axe_lsp.cli.run_report import CallDetails, as_json, report_failure
from axe_lsp.cli.streams import Display, shown, tell_person
from axe_lsp.hosting import protocol
from axe_lsp.hosting.executors.connection import Connection
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.queries import events_below
from axe_lsp.hosting.notifications import Notification, event_of
from axe_lsp.hosting.supervisor.orders import HostedRunError, error_of
from axe_lsp.runtime.errors import ExitCode, RunCancelledError, RunError
from axe_lsp.runtime.events import AgentBegin, AgentEnd, AgentResume, TurnEnd
from axe_lsp.runtime.run_result import RunResult

_INTERVAL = 0.1
"""Seconds between two looks at the history."""

_LAST_ANSWER = 3.0
"""Seconds for which an executor may be silent after the end of its run is in the history."""

End = protocol.Finished | protocol.Failed


def main(arguments: Sequence[str]) -> int:
    """Follow a run; returns the exit code, which is that of the run."""
    options = _parser().parse_args(arguments)
    refuse_below_agent("attach")
    run = find(options.run)
    follower = _Follower(run, options)
    try:
        with _executor(run) as executor:
            result = asyncio.run(follower.result(executor))
    except KeyboardInterrupt:
        tell_person(f"The run goes on. `axe-lsp stop {run.name}` ends it.")
        raise
    except RunError as error:
        error.is_stored = run.is_stored
        return report_failure(error, options, follower.calls)
    if options.json:
        print(as_json(result, follower.calls))
    else:
        _print_answer(result)
    return 0


@contextmanager
def _executor(run: FoundRun) -> Iterator[Connection | None]:
    """Provide the executor of a root run, of which the end has been requested; None if it can't be reached."""
    with ExitStack() as stack:
        executor = None
        if run.status == "running" and run.run_id == run.root:
            with suppress(RunError):
                executor = stack.enter_context(reached(run))
                executor.await_end(run.root)
        if run.status == "running":
            tell_person(f"Following run {run.name}. Ctrl-C leaves it, and it goes on.")
        yield executor


def _print_answer(result: RunResult) -> None:
    """Print the answer as `axe-lsp run` does: as it is, but on a terminal with a line end."""
    text = shown(result.content, sys.stdout)
    is_open_line = sys.stdout.isatty() and not text.endswith("\n")
    print(text, end="\n" if is_open_line else "")


class _Follower:
    """The events of a run and of those below it, from the history, and its end, from its executor."""

    def __init__(self, run: FoundRun, options: argparse.Namespace) -> None:
        self._run = run
        self._options = options
        self._model = self._stop_reason = ""
        self._end: AgentEnd | None = None
        self._seen = 0
        self.calls = CallDetails()

    async def result(self, executor: Connection | None) -> RunResult:
        """Wait for the end and return the result. Raises RunError."""
        display = Display(sys.stderr)
        if sys.stderr.isatty():
            display = open_display(sys.stderr, os.environ)
        end = asyncio.wrap_future(_end_of(executor))
        try:
            if self._run.is_stored:
                await self._follow(display)
                await asyncio.wait({end}, timeout=_LAST_ANSWER)
            else:
                await end
        finally:
            display.close()
        answer = end.result() if end.done() else None
        if isinstance(answer, protocol.Finished):
            return answer.result
        if answer is not None:
            raise self._failure(error_of(answer))
        return self._stored_result()

    async def _follow(self, display: Display) -> None:
        while self._end is None:
            for notification in await asyncio.to_thread(self._news):
                self._seen = notification.params["seq"]
                self._take(notification, display)
            await asyncio.sleep(0 if self._end else _INTERVAL)

    def _news(self) -> list[Notification]:
        with opened_history() as connection:
            return list(events_below(connection, self._run.run_id, self._run.root, self._seen))

    def _take(self, notification: Notification, display: Display) -> None:
        event = event_of(notification)
        display.event(event)
        if event.run.run_id != self._run.run_id:
            return
        self.calls.event(replace(event, run=replace(event.run, depth=0)))
        if isinstance(event, AgentBegin | AgentResume):
            self._model, self._end = event.model, None
        elif isinstance(event, TurnEnd):
            self._stop_reason = event.stop_reason
        elif isinstance(event, AgentEnd):
            self._end = event

    def _stored_result(self) -> RunResult:
        """Return the result as the history has it. Raises RunError."""
        end = self._end
        if end is None:
            raise RunError("the process that executed this run has died, and the run is not stored")
        result = replace(
            self.calls.until_now(end.status), model=self._model, stop_reason=self._stop_reason
        )
        if end.status == "completed":
            return result
        error: RunError = RunCancelledError()
        if end.status != "cancelled":
            code = ExitCode(end.exit_code or ExitCode.AGENT)
            error = HostedRunError(end.error or end.status, exit_code=code)
        error.run_id, error.partial = self._run.run_id, result
        raise self._failure(error)

    def _failure(self, error: RunError) -> RunError:
        """Print the answer of a run whose budget is used up, as `axe-lsp run` does; return the error."""
        if error.exit_code == ExitCode.BUDGET and error.partial and not self._options.json:
            _print_answer(error.partial)
            self.calls.is_streamed = True  # It is not printed again.
        return error


def _end_of(executor: Connection | None) -> Future[End | None]:
    """Wait for the end in a thread that holds up nobody; None if the executor can't tell."""
    future: Future[End | None] = Future()

    def wait() -> None:
        answer = None
        with suppress(OSError, ValueError):  # ValueError: the connection was closed here.
            if executor is not None:
                answer = executor.end(None)
        with suppress(InvalidStateError):
            future.set_result(answer)

    threading.Thread(target=wait, daemon=True).start()
    return future


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp attach",
        description="Follow a run that is going on in any process, from its beginning, and print its answer. "
        "Output and exit code are those of the run. Ctrl-C leaves the run, which goes on.",
    )
    parser.add_argument("run", metavar="RUN", help="the beginning of the id of a run")
    add_json(parser, "print the answer and its cost as JSON")
    parser.set_defaults(go_on="axe-lsp resume")
    return parser
