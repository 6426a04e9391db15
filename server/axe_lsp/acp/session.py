"""A session: a folder, an agent, and a conversation whose messages are root runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from axe_lsp.acp.client_connection import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    RequestError,
)
from axe_lsp.acp.client_editor import ClientEditor, EditorOfMessage
from axe_lsp.acp.content_blocks import Prompt
from axe_lsp.acp.offers import AS_IN_FILE, Offers
from axe_lsp.acp.permissions import InputNeededError, Permissions, require_input
from axe_lsp.acp.update_queue import UpdateQueue
from axe_lsp.acp.updates import STOP_REASONS, STOP_REASONS_OF_LIMITS, FilesBefore, Updates, replayed
from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.hosting.history import stored_sessions
from axe_lsp.hosting.history.database import HistoryError, history_file, written_history
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.former_runs import continuation_of
from axe_lsp.hosting.history.queries import tree_events
from axe_lsp.hosting.history.steps import files_before, images_of_task
from axe_lsp.hosting.history.stored_sessions import StoredSession
from axe_lsp.hosting.protocol import Start, Workplace
from axe_lsp.hosting.supervisor.orders import Run
from axe_lsp.hosting.supervisor.supervisor import Runs
from axe_lsp.runtime.agent_search import agent_search_in
from axe_lsp.runtime.errors import ConfigError, RunCancelledError, RunError
from axe_lsp.runtime.files.user_config import known_secrets, usable_config
from axe_lsp.runtime.inbox import MessageRefusedError, NewMessage
from axe_lsp.runtime.messages import Image
from axe_lsp.runtime.resuming.file_history import SavedFile
from axe_lsp.runtime.run_log import decoded
from axe_lsp.runtime.runs import RunRequest, new_run_id
from axe_lsp.runtime.safety.questions import Answer, Question
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.settings import Settings

_LONGEST_TITLE = 80


MakeUpdates = Callable[[UpdateQueue, str, str], Updates]
"""Makes the updates of a message: `(queue, session, folder)`."""


class Session:
    """A session of the client. `stored` is what the history keeps of it."""

    def __init__(
        self,
        stored: StoredSession,
        offers: Offers,
        runs: Runs,
        queue: UpdateQueue,
        permissions: Permissions,
        *,
        editor: ClientEditor,
        make_updates: MakeUpdates = Updates,
        allow: tuple[str, ...] = (),
    ) -> None:
        self.stored = stored
        self.offers = offers
        self._runs = runs
        self._queue = queue
        self._permissions = permissions
        self._editor = editor
        self._make_updates = make_updates
        self._allow = allow
        self.servers: tuple[McpServer, ...] = ()
        self.more_folders: tuple[str, ...] = ()
        self._cost = 0.0
        self._turn: _Turn | None = None

    @property
    def id(self) -> str:
        """The id that the client knows."""
        return self.stored.session_id

    @property
    def folder(self) -> Path:
        """The folder in which the client is."""
        return Path(self.stored.folder)

    @property
    def is_busy(self) -> bool:
        """Whether a message is being answered."""
        return self._turn is not None

    # Choices.

    @property
    def choices(self) -> dict[str, Any]:
        """The options with their values, and the agents as modes."""
        return {"configOptions": self.options, "modes": self.offers.modes(self.stored.agent)}

    @property
    def options(self) -> list[dict[str, Any]]:
        """The options with their values."""
        stored = self.stored
        return self.offers.options(stored.agent, stored.model, stored.effort)

    def choose(self, option: str, value: Any) -> None:
        """Set an option, from the next message on. Raises RequestError."""
        offered = next((each for each in self.options if each["id"] == option), None)
        if offered is None:
            raise RequestError(INVALID_PARAMS, f"invalid params: configId {option!r} is not known")
        if value not in [each["value"] for each in offered["options"]]:
            raise RequestError(
                INVALID_PARAMS, f"invalid params: value {value!r} is not offered for {option}"
            )
        chosen = "" if value == AS_IN_FILE and option != "agent" else value
        self.stored = replace(self.stored, **{option: chosen})

    def tell_choices(self) -> None:
        """Tell the client of the options and their values."""
        options = {"sessionUpdate": "config_option_update", "configOptions": self.options}
        self._queue.send(self.id, options)

    def tell_mode(self) -> None:
        """Tell the client which agent is the chosen one."""
        mode = {"sessionUpdate": "current_mode_update", "currentModeId": self.stored.agent}
        self._queue.send(self.id, mode)

    def offer(self, offers: Offers) -> None:
        """Replace the offers. A chosen agent that no longer exists stays chosen; the next message reports it."""
        if offers != self.offers:
            self.offers = offers
            self.tell_choices()

    # Messages.

    async def prompt(self, prompt: Prompt) -> str:
        """Send a message; returns the StopReason. Raises RequestError.

        A message during an answer goes to the run that gives it, and both have the same end. One with pictures waits
        until the answer is complete.
        """
        while (former := self._turn) is not None:
            if not prompt.images and await self._steer(former, prompt.task):
                return await former.outcome()
            await former.over.wait()
        self._turn = turn = _Turn()
        try:
            turn.stop_reason = await self._answer(prompt, turn)
        except RequestError as error:
            turn.error = error
            raise
        else:
            return turn.stop_reason
        finally:
            self._turn = None
            turn.begun.set()
            turn.over.set()

    async def _steer(self, turn: _Turn, text: str) -> bool:
        """Give the run that answers a message another one. Returns False if it takes none any more."""
        await turn.begun.wait()
        if turn.run is None:
            return False
        try:
            await self._runs.request_messages(turn.run.id, NewMessage(text))
        except MessageRefusedError as refused:
            if refused.reason in ("ended", "unknown"):
                return False
            raise RequestError(INVALID_PARAMS, str(refused)) from refused
        return True

    async def _answer(self, prompt: Prompt, turn: _Turn) -> str:
        self._permissions.is_cancelled = False
        updates: Updates | None = None
        try:
            await self._runs.archive.until_written()  # The last one may have ended a moment ago.
            start = await self._ordered(prompt, turn)
            workspace = start.workplace.workspace
            updates = self._make_updates(self._queue, self.id, workspace)
            updates.cost = self._cost
            self._entitle(prompt.task)
            await self.keep(start.run_id)
            if turn.is_cancelled:
                return "cancelled"
            run = self._begin(start, updates, turn)
            return await _stop_reason(run, turn)
        except RunError as error:
            if turn.is_cancelled or self._permissions.is_cancelled:
                return "cancelled"
            raise request_error(error) from error
        except asyncio.CancelledError:
            if turn.is_cancelled:  # While a form was open.
                return "cancelled"
            raise
        finally:
            if updates is not None:
                updates.close()
                self._cost = updates.cost

    def cancel(self) -> None:
        """Stop what is going on."""
        if self._turn is not None:
            self._turn.cancel(self._runs)

    def _begin(self, start: Start, updates: Updates, turn: _Turn) -> Run:
        async def ask(question: Question) -> Answer:
            return await self._permissions.ask(question, updates)

        def warn(text: str) -> None:
            self._queue.warn(self.id, text)

        folders = (self.folder, *map(Path, self.more_folders))
        editor = EditorOfMessage(self._editor, folders, updates, warn)
        run = self._runs.start(start, ask=ask, editor=editor, client=self, go_on=True)
        self._runs.subscribe(updates.hear, run.id)
        turn.run = run
        turn.begun.set()
        return run

    async def _ordered(self, prompt: Prompt, turn: _Turn) -> Start:
        """Return the order of the run, with an input that is asked for if the agent needs one. Raises as `_order`."""
        try:
            return await asyncio.to_thread(self._order, prompt)
        except InputNeededError as needed:
            if turn.is_cancelled:
                raise RunCancelledError from None
            turn.form = asyncio.ensure_future(self._permissions.fill_in(needed, self.id))
            given = await turn.form
            if given is None:
                text = f"agent {quoted(self.stored.agent)} takes an object as its input: {needed}"
                raise RequestError(INVALID_PARAMS, text) from needed
        try:
            return await asyncio.to_thread(self._order, prompt, given)
        except InputNeededError as wrong:
            raise RequestError(INVALID_PARAMS, str(wrong)) from wrong

    def _order(self, prompt: Prompt, given: Mapping[str, Any] | None = None) -> Start:
        """Return the order of the run that answers a message; its input may be `given`.

        Blocks. Raises RunError, RequestError, or InputNeededError.
        """
        stored = self.stored
        here = agent_search_in(self.folder)
        try:
            definition = here.agents.resolve(stored.agent)
        except ConfigError as error:
            hint = f". {error.hint}" if error.hint else ""
            raise RequestError(
                INVALID_PARAMS, f"agent {quoted(stored.agent)}: {error}{hint}"
            ) from error
        workspace = here.workspace_of(here.agents.find(stored.agent))
        request = RunRequest(
            stored.agent,
            prompt.task,
            model=stored.model,
            effort=stored.effort,
            images=prompt.images,
            more_folders=self.more_folders,
        )
        workplace = Workplace(str(workspace), places=here.places)
        if last := self._last():  # A message of a conversation is no input.
            start = continuation_of(last, request, workplace, session=True)
        else:
            require_input(definition, prompt.task, given)
            if given is not None:
                request = replace(request, task=None, input=given)
            start = Start(new_run_id(), request, workplace)
        days = Settings().history_keep_days
        return replace(
            start,
            stream=True,
            keep_days=days,
            allow=(*self._allow, *usable_config(os.environ).allow),
            servers=self.servers,
            editor=self._editor.abilities,
        )

    def _entitle(self, task: str) -> None:
        """Take the first line of the first message as the title."""
        lines = [line.strip() for line in task.splitlines() if line.strip()]
        if self.stored.title or not lines:
            return
        title = redact(lines[0], known_secrets(os.environ))
        if len(title) > _LONGEST_TITLE:
            title = f"{title[: _LONGEST_TITLE - 1]}…"
        self.stored = replace(self.stored, title=title)
        self._queue.send(self.id, {"sessionUpdate": "session_info_update", "title": title})

    def _last(self) -> str:
        """Return the run whose conversation goes on; "" for the first message. Blocks. Raises RunError."""
        try:
            with opened_history() as connection:
                return stored_sessions.last_kept(connection, self.id)
        except HistoryError:
            if self.stored.title:
                raise
            return ""

    async def keep(self, root: str = "") -> None:
        """Write down what the session is now, and that a `root` run is its next message."""
        try:
            await asyncio.to_thread(_keep, self.stored, root)
        except HistoryError as error:
            self._queue.warn(self.id, f"this session can't be opened again: {error}")

    def replay(self, told: list[FormerMessage]) -> None:
        """Tell the client of all former messages."""
        for message in told:
            updates = self._make_updates(self._queue, self.id, message.folder)
            updates.cost = self._cost
            updates.files_before = message.files_before
            replayed(updates, message.task, message.images, message.events)
            self._cost = updates.cost


class _Turn:
    """A message that is being answered."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.form: asyncio.Future[Mapping[str, Any] | None] | None = None
        self.is_cancelled = False
        self.begun = asyncio.Event()
        self.over = asyncio.Event()
        self.stop_reason = "cancelled"
        self.error: RequestError | None = None

    async def outcome(self) -> str:
        """Wait for the end, and return the StopReason. Raises RequestError."""
        await self.over.wait()
        if self.error is not None:
            raise self.error
        return self.stop_reason

    def cancel(self, runs: Runs) -> None:
        self.is_cancelled = True
        if self.form is not None:
            self.form.cancel()
        if self.run is not None:
            runs.cancel(self.run.id)


async def _stop_reason(run: Run, turn: _Turn) -> str:
    """Return why a message needs no more work. Raises RunError."""
    try:
        result = await run.result()
    except RunCancelledError:
        return "cancelled"
    except RunError as error:
        if error.reason in STOP_REASONS_OF_LIMITS:
            return STOP_REASONS_OF_LIMITS[error.reason]
        raise
    return (
        "cancelled" if turn.is_cancelled else STOP_REASONS.get(result.incomplete or "", "end_turn")
    )


def request_error(error: RunError) -> RequestError:
    """Return the error with which a request is answered whose run has failed."""
    data: dict[str, Any] = {"kind": error.kind, "exitCode": int(error.exit_code)}
    if error.run_id:
        data["runId"] = error.run_id
    if error.reason:
        data["reason"] = error.reason
    code = AUTH_REQUIRED if error.reason in ("missingKey", "auth") else INTERNAL_ERROR
    return RequestError(code, f"{error}. {error.hint}" if error.hint else str(error), data)


def _keep(stored: StoredSession, root: str) -> None:
    with written_history(history_file(os.environ)) as connection:
        stored_sessions.keep(connection, stored, root)


class FormerMessage(NamedTuple):
    """A message as the history has it; `files_before` are the texts of the files that its calls have changed."""

    folder: str
    task: str
    images: tuple[Image, ...]
    events: list[Any]
    files_before: FilesBefore


def former_messages(session_id: str) -> list[FormerMessage]:
    """Return the messages of a session in the history. Blocks."""
    told = []
    with opened_history() as connection:
        for root in stored_sessions.roots(connection, session_id):
            (folder,) = connection.execute(
                "SELECT workspace FROM runs WHERE run_id = ?", (root,)
            ).fetchone()
            events = list(tree_events(connection, root))
            begin = next((event for event in events if event.method == "axe/agent"), None)
            task = begin.params.get("task", "") if begin is not None else ""
            before = {
                call: decoded(saved, SavedFile).text
                for call, saved in files_before(connection, root)
            }
            images = images_of_task(connection, root)
            told.append(FormerMessage(folder, task, images, events, before))
    return told
