"""A run in this process: the engine, its display, and its recording.

What only some runs need is imported where they turn out to, so that the others begin sooner.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
    nullcontext,
)
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp import tuning
from axe_lsp.agentfile.lookup_order import AgentPlaces
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import FULL
from axe_lsp.cli.command_executor import CommandExecutor
from axe_lsp.cli.interruption import SOON, run_until_interrupted
from axe_lsp.cli.run_history import RunHistory, recordings
from axe_lsp.cli.run_report import (
    CallDetails,
    as_json,
    failure_as_json,
    tell_cancelled,
    tell_where_to_look,
)
from axe_lsp.cli.streams import (
    Display,
    columns_of,
    is_coloured,
    message_lines,
    obeys_escapes,
    open_terminal,
    print_message,
    shown,
)
from axe_lsp.hosting.places.late_machines import LateMachines
from axe_lsp.hosting.telemetry import Telemetry
from axe_lsp.runtime.children.isolation import CallerLink
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.errors import BudgetError, RunCancelledError, RunError
from axe_lsp.runtime.events import Event, Fork, MessagesGiven, TextDelta, TurnEnd
from axe_lsp.runtime.files.user_config import usable_config
from axe_lsp.runtime.plain_text import harmless
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.processes import forbid_inspection_or_end
from axe_lsp.runtime.providers.provider import ProviderHook
from axe_lsp.runtime.run_log import Known, keep_allowed
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.run_steps import StepSink
from axe_lsp.runtime.runs import Order, Resolve, RunRequest, new_run_id
from axe_lsp.runtime.safety.allowances import ALL_SERVERS, is_copyable, rule_fault
from axe_lsp.runtime.safety.approval import Approval
from axe_lsp.runtime.safety.questions import Answer, Ask, Question, nobody, refusing
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices
from axe_lsp.runtime.sources import sources_text
from axe_lsp.runtime.tools.editor import code_only, no_language_server

if TYPE_CHECKING:
    from axe_lsp.cli.line_editor import ToolkitEditor
    from axe_lsp.cli.markdown import MarkdownStream
    from axe_lsp.cli.typed_lines import PlainTypedLines, Steering, TypedLines
    from axe_lsp.cli.verbose import VerboseLog
    from axe_lsp.hosting.protocol import Start

_ADVICE = "--yes lets all tools change files and run commands"


def _allow_in_words(rule: str) -> str:
    """Return how a rule is given, ready to be copied into a shell; "" for one that is not to be copied."""
    from shlex import quote

    if not is_copyable(rule):
        return ""
    return f"--allow {quote(rule)} allows it"


def _rules(options: argparse.Namespace, output: _Output) -> tuple[str, ...]:
    """Return the rules of the command line and of config.toml. Those that have no effect are reported."""
    stored = usable_config(os.environ).allow
    for rule in stored:
        if fault := rule_fault(rule):
            output.warn(f"{quoted(rule)} in [tools] of config.toml {fault}; it has no effect")
    return (*options.allow, *stored)


class LiveRun(Struct, frozen=True):
    """What a run is made of.

    `file` is that of the agent, if it was chosen so. A new run has this `run_id`, if that matters, and may take
    something over from a former one, as in an order. One that `resumes` goes on with the root run of this id.
    `keep_draft` takes the line that a person had not sent at the end; without it the line is shown.
    `on_found` is called once other processes can find the run, and the history has it.
    """

    request: RunRequest
    workspace: Path
    resolve: Resolve
    places: AgentPlaces
    options: argparse.Namespace
    file: Path | None = None
    run_id: str = ""
    resumes: bool = False
    continues: str = ""
    session: bool = False
    forked_from: Fork | None = None
    keep_draft: Callable[[str], object] | None = None
    on_found: Callable[[], object] | None = None

    def order(self) -> Start:
        """Return the order by which another process could make it."""
        from axe_lsp.hosting.protocol import Start, Workplace

        agent_file = str(self.file) if self.file is not None else ""
        workplace = Workplace(str(self.workspace), agent_file, self.places)
        return Start(
            self.run_id,
            self.request,
            workplace,
            continues=self.continues,
            session=self.session,
            forked_from=self.forked_from,
            on=self.options.on,
        )

    @property
    def is_recorded(self) -> bool:
        """Whether the answers come from a recording, or become one."""
        return bool(self.options.record or self.options.replay)


def run_live(live: LiveRun, calls: CallDetails) -> int:
    """Run an agent and print its answer; returns the exit code. Raises RunError. `calls` takes note of the tool calls."""
    live = replace(live, run_id=live.run_id or new_run_id())
    with recordings(live.options.replay, live.options.record) as hook:
        return run_until_interrupted(_run(live, hook, _Output(live.options, calls)))


async def _run(live: LiveRun, hook: ProviderHook | None, output: _Output) -> int:
    asyncio.get_running_loop().call_later(SOON, forbid_inspection_or_end)
    options, workspace, run_id = live.options, live.workspace, live.run_id
    began = time.monotonic()
    order = None if live.is_recorded else live.order
    memory = RunHistory(workspace, output.warn, is_wanted=not options.no_history, order=order)
    steps = memory.steps
    known = await memory.claim(run_id) if live.resumes else None
    if live.continues or live.forked_from is not None:
        known = await _taken_over(live.order(), memory, output)

    telemetry = Telemetry()
    trace = telemetry.sink(False, output.warn)

    def emit(event: Event) -> None:
        memory.event(event)
        output.event(event)
        typing.event(event)
        if trace is not None:
            trace(event)

    people = _TerminalUser(output)
    approval = people.approval(options.yes, _rules(options, output), steps)
    if known is not None and live.resumes:
        from axe_lsp.hosting.stored_steps import allow_again

        allow_again(approval, known, run_id)
    trust = TrustPolicy(os.environ, people.ask, trusts_all=options.trust)
    services = RunServices(
        resolve=live.resolve,
        workspace=workspace,
        trust=trust,
        emit=emit,
        streams=output.streams,
        warn=output.warn,
        note=output.note,
        approve=approval,
        ask=people.ask,
        steps=steps,
        # A recording answers in one process.
        elsewhere=None if live.is_recorded else partial(_run_in_process, live, approval, trust),
        machines=LateMachines(dict(os.environ), options.on),
        is_recording=bool(options.record),
        # The recorded run may have had tools that ask an editor.
        editor=code_only(no_language_server) if options.replay else None,
    )
    engine = Engine(services, provider_hook=hook)
    output.on_fault = lambda: engine.cancel(run_id)
    typing = _Typing(live, engine, output)
    output.typing = typing
    executor = CommandExecutor(engine, live.request, run_id, workspace, _on_found(live, memory))
    ready = executor.ready_after(typing.ready)
    with _told_whether_stored(memory, run_id, options.go_on):
        async with executor, memory, engine, aclosing(telemetry):
            try:
                with closing(output):
                    async with typing:
                        result = await engine.run(live.request, run_id, ready, known)
                        executor.result = result
            except RunError as error:
                output.gave_up(error)
                raise
            except asyncio.CancelledError:
                output.cancelled()
                tell_cancelled(round(1000 * (time.monotonic() - began)))
                raise
            except BaseException:
                output.failed()
                raise
            output.finished(result)
    return 0


def _on_found(live: LiveRun, memory: RunHistory) -> Callable[[], Awaitable[None]] | None:
    """Return what reports that a run can be found, after it has been stored; None if nobody waits for that."""
    report = live.on_found
    if report is None:
        return None

    async def found() -> None:
        await memory.committed(live.run_id)
        report()

    return found


@contextmanager
def _told_whether_stored(memory: RunHistory, run_id: str, go_on: str) -> Iterator[None]:
    """Name the commands that show a run, and go on with it, only if the closed history has the run."""
    try:
        yield
    except RunError as error:
        error.is_stored = memory.is_stored
        raise
    except asyncio.CancelledError:
        if memory.is_stored:
            tell_where_to_look(run_id, go_on)
        raise


async def _taken_over(start: Start, memory: RunHistory, output: _Output) -> Known:
    """Return what a new run takes over from a former one."""
    from axe_lsp.hosting.history.former_runs import taken_over

    known, taken, warning = await taken_over(start, os.environ)
    for step in taken:
        memory.keep(step)
    if warning:
        output.warn(warning)
    return known


class _TerminalUser:
    """The person in front of the terminal, if there is one. The terminal is opened for the first who asks."""

    def __init__(self, output: _Output) -> None:
        self._output = output

    @cached_property
    def questions(self) -> Ask | None:
        """Asks the person; None if nobody is there."""
        terminal = open_terminal()
        if terminal is None:
            return None
        from axe_lsp.cli.terminal_questions import TerminalQuestions

        return TerminalQuestions(terminal, self._output.alone, is_coloured(sys.stderr, os.environ))

    async def ask(self, question: Question) -> Answer:
        """Ask what nothing answers in advance: whether to trust a file, and questions of models."""
        return await (self.questions or nobody)(question)

    def approval(
        self, is_all_allowed: bool, rules: tuple[str, ...], steps: StepSink | None
    ) -> Approval:
        """Return the approval that asks the person about calls which no rule allows.

        Where nobody is, tools of MCP servers work as in axe, which never asks: the script names its agent.
        """
        if is_all_allowed:
            refuse = refusing(self._output.warn, _ADVICE, _allow_in_words)

            async def ask(question: Question) -> Answer:
                return await (refuse if question.is_protected else self.ask)(question)

            return Approval(ask, ("*", *rules))
        if self.questions is None:
            refuse = refusing(self._output.warn, _ADVICE, _allow_in_words)
            return Approval(refuse, (ALL_SERVERS, *rules))
        if steps is None:
            return Approval(self.questions, rules)
        return Approval(self.questions, rules, on_allowed=partial(keep_allowed, steps))


async def _run_in_process(
    live: LiveRun, approval: Approval, trust: TrustPolicy, order: Order, caller_link: CallerLink
) -> RunResult:
    """Execute a child run in a process of its own. Raises RunError. With its first arguments it is an `Elsewhere`."""
    from axe_lsp.hosting.protocol import Workplace
    from axe_lsp.hosting.supervisor.isolated_runs import IsolatedRuns

    processes = IsolatedRuns(
        Workplace(str(live.workspace), places=live.places),
        approval.decide,
        on=live.options.on,
        allow=approval.allowances,
        trust=trust,
    )
    return await processes(order, caller_link)


class _Typing:
    """What a person types while the run works, if somebody can: messages to it."""

    def __init__(self, live: LiveRun, engine: Engine, output: _Output) -> None:
        self._live = live
        self._engine = engine
        self._output = output
        self._steering: Steering | None = None
        self._lines: TypedLines | PlainTypedLines | None = None

    async def __aenter__(self) -> None:
        """Do nothing: typing begins with the first request."""

    async def __aexit__(self, *_: object) -> None:
        """Keep the line that was not sent."""
        if self._lines is None:
            return
        lines, self._lines = self._lines, None
        await lines.end()
        if not lines.draft:
            return
        if self._live.keep_draft is not None:
            self._live.keep_draft(lines.draft)
        else:
            self._output.say(f"not sent: {lines.draft}")

    def ready(self, prepared: Prepared) -> None:
        """Begin to read, since the first request is about to be sent."""
        self._output.ready(prepared)
        if not self._can_type():
            return
        # Imported late: only runs on a terminal need it.
        from axe_lsp.cli.typed_lines import PlainTypedLines, Steering, TypedLines

        self._steering = Steering(self._live.run_id, self._engine, self._output.reply)
        execute = self._steering.execute
        if self._output.is_plain:
            self._lines = PlainTypedLines(sys.stdin.fileno(), execute)
        else:
            self._lines = TypedLines(sys.stdin.fileno(), self._output, execute, self._open_editor)
        self._lines.begin()

    def event(self, event: Event) -> None:
        """Tell the typed lines of an event."""
        if self._steering is not None:
            self._steering.event(event)

    def suspended(self) -> AbstractAsyncContextManager[None]:
        """Return a context in which a question has the terminal for itself."""
        return self._lines.suspended() if self._lines is not None else nullcontext()

    def _can_type(self) -> bool:
        """Return whether a person is at the terminal. A replay gives its own messages."""
        streams = (sys.stdin, sys.stdout, sys.stderr)
        if self._live.options.replay or any(each is None or not each.isatty() for each in streams):
            return False
        from axe_lsp.cli.typed_lines import has_input, is_typed_at

        terminal = sys.stdin.fileno()
        # What waits already is for the shell, except in a chat.
        is_free = self._live.keep_draft is not None or not has_input(terminal)
        return is_typed_at(terminal) and is_free

    def _open_editor(self) -> ToolkitEditor:
        from axe_lsp.cli.line_editor import open_editor_beside

        return open_editor_beside(os.environ, self._output.display.status)


class _Output:
    """The output for the user: the answer on standard output, the rest on standard error."""

    def __init__(self, options: argparse.Namespace, calls: CallDetails) -> None:
        self._json = options.json
        self._stream = options.stream
        self._log: VerboseLog | None = None
        self._progress: Display | None = None
        environment = {**os.environ, "TERM": "dumb"} if options.plain else os.environ
        if options.verbose:
            from axe_lsp.cli.verbose import VerboseLog

            self._log = VerboseLog()
        elif sys.stderr.isatty():
            # For people who watch; whatever reads a pipe gets what axe writes.
            from axe_lsp.cli.display import open_display

            self._progress = open_display(sys.stderr, environment)
        self.display = self._log or self._progress or Display(sys.stderr)
        self._calls = calls
        calls.is_full = options.json == FULL
        self._written = ""
        self._markdown: MarkdownStream | None = None
        if is_coloured(sys.stdout, environment):  # Programs get the text as it is.
            from axe_lsp.cli.markdown import MarkdownStream

            width = partial(columns_of, sys.stdout)
            self._markdown = MarkdownStream(width, wraps=sys.stdout.isatty())
        self.is_plain = not obeys_escapes(sys.stderr, environment)
        self.typing: _Typing | None = None
        self._print_above: Callable[[str], None] | None = None
        self._unfinished_line = ""
        self._unshown = ""
        self._has_tools = False
        self._text = ExitStack()
        self._fault: OSError | None = None
        self.on_fault: Callable[[], object] = lambda: None

    def streams(self, prepared: Prepared) -> bool:
        """Return whether text is shown as it is written: not as JSON, nor an answer that may change.

        An agent with tools may say something in every turn. It is shown to those who ask for it.
        """
        if self._json or prepared.output is not None:
            return False
        is_one_answer = not prepared.request.tools
        return self._stream or (
            is_one_answer and (prepared.definition.stream or sys.stdout.isatty())
        )

    def ready(self, prepared: Prepared) -> None:
        """Take note that the first request is about to be sent."""
        tuning.run_begins()
        self._calls.wanted = prepared.definition.beyond_first_axe
        self._has_tools = bool(prepared.request.tools)
        if prepared.output is not None:
            self._markdown = None
        if self._log:
            self._log.ready(prepared)

    def event(self, event: Event) -> None:
        """Show an event."""
        if self._log and not isinstance(event, TextDelta):
            self._leave_line()
        self.display.event(event)
        self._calls.event(event)
        if isinstance(event, TextDelta) and event.run.depth == 0 and not self._fault:
            self._make_room()
            self._write(event.delta)
        elif isinstance(event, TurnEnd) and event.run.depth == 0:
            self._unshown = "" if self._written else event.text
            if event.tool_calls:
                self._end_turn()
        elif isinstance(event, MessagesGiven) and event.run.depth == 0:
            self._show_former_answer()
            self._end_turn()

    def _show_former_answer(self) -> None:
        """Show the text of the last turn, which is not the answer any more since a message has come."""
        if self._progress and self._unshown and not self._json:
            self.say(self._unshown)
        self._unshown = ""

    def warn(self, text: str) -> None:
        """Print a warning."""
        self.say(f"Warning: {text}")

    def say(self, text: str) -> None:
        """Print a message on lines of its own."""
        if not (self._progress and self._has_tools):  # Else it is told below the text of the turn.
            self._leave_line()
        self.display.say(message_lines(text))

    def reply(self, text: str) -> None:
        """Show at once what a typed line has done."""
        self._leave_line()
        if self._print_above is not None:
            self._print_above(f"{message_lines(text)}\n")
        elif self.display.is_paused:  # Text of a turn is being written.
            print_message(text)
        else:
            self.display.say(message_lines(text))

    def note(self, line: str) -> None:
        """Print a line in the verbose log only."""
        if self._log:
            self._leave_line()
            self._log.say(line)

    def finished(self, result: RunResult) -> None:
        """Take note that the answer is complete, or a budget is used up and it is partial."""
        if self._fault:
            raise self._fault
        if self._log:
            self._log.finished(result)
        if self._json:
            print(as_json(result, self._calls))
        elif not self._written:
            self._written = result.content
            sys.stdout.write(self._styled(result.content))
        self._end_line()
        self._show_sources(result)

    def _show_sources(self, result: RunResult) -> None:
        """Show the sources under the answer.

        A program that reads standard output gets the answer alone. Agents with the keys of axe's first version
        then write nothing to standard error, as axe does.
        """
        text = sources_text(result.sources)
        if not text or self._json:
            return
        if sys.stdout.isatty():
            print(f"\n{shown(text, sys.stdout)}")
        elif self._calls.wanted:
            print(shown(text, sys.stderr), file=sys.stderr)

    def gave_up(self, error: RunError) -> None:
        """Take note that the run has failed. As text, what a used-up budget was spent on counts as its answer."""
        if isinstance(error, BudgetError) and error.partial and not self._json:
            self.finished(error.partial)
        else:
            self.failed()

    def cancelled(self) -> None:
        """Take note that the run was stopped."""
        self.failed()
        if self._json:
            print(failure_as_json(RunCancelledError(), self._calls))

    @contextmanager
    def around_line(self, print_above: Callable[[str], None]) -> Iterator[None]:
        """Write whole lines of the answer above the line that is typed, and all else afterwards."""
        self._leave_line()
        self._print_above = print_above
        try:
            with self.display.paused():
                yield
        finally:
            self._print_above = None
            rest, self._unfinished_line = self._unfinished_line, ""
            self._put(rest)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Leave the terminal to a question."""
        async with self.typing.suspended() if self.typing is not None else nullcontext():
            with self.display.paused():
                yield

    def close(self) -> None:
        """Show no more progress; the answer comes next, or the reason why there is none."""
        self._end_line()
        self._text.close()
        self.display.close()

    def failed(self) -> None:
        """Take note that there will be no answer."""
        if self._fault:
            raise self._fault
        self._end_line()
        if self._log:
            self._log.failed()

    def _make_room(self) -> None:
        """Hide the progress before text. It comes back only where tools may follow."""
        if self._written:
            return
        if not self._has_tools:
            self.close()
        elif self._progress:
            self._text.enter_context(self._progress.paused())

    def _end_turn(self) -> None:
        """End the text of a turn after which tools come: a blank line before further text."""
        if self._written and not self._fault:
            self._end_styles()
            self._write("\n" if self._written.endswith("\n") else "\n\n")
            self._written = ""
            self._text.close()

    def _write(self, text: str) -> None:
        self._put(self._styled(text))
        self._written = text

    def _put(self, shown_text: str) -> None:
        """Write a part of the answer."""
        try:
            if self._print_above is None:
                sys.stdout.write(shown_text)
                sys.stdout.flush()
                return
            lines, line_end, rest = (self._unfinished_line + shown_text).rpartition("\n")
            self._unfinished_line = rest
            if line_end:
                self._print_above(lines + line_end)
        except OSError as error:  # Nobody can read on, so nobody needs the rest.
            self._fault = error
            self.on_fault()

    def _styled(self, text: str) -> str:
        """Return the text of a model as standard output gets it."""
        if self._markdown is not None:
            return self._markdown.feed(harmless(text))
        return shown(text, sys.stdout)

    def _end_styles(self) -> None:
        """Write the rest of the styled text, which is complete."""
        rest = self._markdown.end() if self._markdown is not None else ""
        if rest and not self._fault:
            self._put(rest)

    def _leave_line(self) -> None:
        """End a line of text before other output on the same terminal. The text may go on below."""
        is_inside = self._written and not self._written.endswith("\n")
        if is_inside and not self._fault and sys.stderr.isatty() and sys.stdout.isatty():
            self._end_line()

    def _end_line(self) -> None:
        """Leave a terminal at the start of a line; pipes get the answer as it is, as in axe."""
        self._end_styles()
        if self._written and not self._written.endswith("\n") and sys.stdout.isatty():
            self._put("\n")
            self._written = "\n"
