"""The conversation of `axe-lsp chat`: a run for each message, which goes on with the run of the one before."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.other_programs import stem_of
from axe_lsp.cli.arguments import agents_folder
from axe_lsp.cli.live_run import LiveRun, run_live
from axe_lsp.cli.mentions import attach
from axe_lsp.cli.run import in_workspace
from axe_lsp.cli.run_report import CallDetails, report_failure
from axe_lsp.cli.streams import complain, print_message
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.run_claims import require_kept
from axe_lsp.runtime.agent_search import AgentSearch, agent_search, named_file
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.messages import Image
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.prepare import Prepared, model_of_root, prepare_request, root_order
from axe_lsp.runtime.prompt import folder_of
from axe_lsp.runtime.providers.http_provider import service_of
from axe_lsp.runtime.runs import RunRequest, new_run_id
from axe_lsp.runtime.usage import NOTHING, Usage


class Conversation:
    """The agent, its model, and the runs so far. The agent's file is read again for each message.

    An answer that was stopped or has failed is part of the conversation. `former` is the id of the run that the next
    message goes on with, "" at the beginning. A `note` is put before the next message. `attached` are the paths of files
    that messages have mentioned.
    """

    def __init__(self, options: argparse.Namespace, former: str) -> None:
        self._options = options
        self.agent: str = options.agent
        self.model: str = options.model
        self.former = former
        self.used = NOTHING
        self.note = ""
        self.attached: dict[str, None] = {}
        self._draft = ""
        self._names: list[str] | None = None
        self._attachable: Path | None = None

    def require(self) -> str:
        """Return the model of the next answer. Raises RunError for all that would keep a message from it."""
        here = agent_search(agents_folder(self._options.agents_dir))
        file, request, workspace = self._request("", here)
        if file is None:
            here.agents.find(self.agent)
        model = model_of_root(request, here.lookup.resolver(file), workspace, os.environ)
        service_of(model, load_user_config(os.environ))
        return str(model)

    def change(self, *, agent: str = "", model: str = "") -> str:
        """Go on with another agent or model; return the model in force. Raises RunError, and then nothing has changed."""
        before = self.agent, self.model
        self.agent, self.model = agent or self.agent, model
        try:
            model = self.require()
        except RunError:
            self.agent, self.model = before
            raise
        self._attachable = None
        return model

    def begin_anew(self) -> None:
        """Forget the messages so far; what they cost stays counted."""
        self.former = ""
        self.note = ""
        self.attached.clear()

    def prepared(self) -> Prepared:
        """Return the agent as its first request would be sent, with its tools and files. Raises RunError."""
        here = agent_search(agents_folder(self._options.agents_dir))
        file, request, workspace = self._request("", here)
        return prepare_request(request, here.lookup.resolver(file), workspace, os.environ)

    @property
    def folder(self) -> Path:
        """The folder in which the agent works, without links. Raises RunError."""
        if self._attachable is None:
            here = agent_search(agents_folder(self._options.agents_dir))
            file, request, workspace = self._request("", here)
            order = root_order(request, workspace, os.environ)
            definition = here.lookup.resolver(file)(request.agent, order.caller)
            self._attachable = folder_of(order, definition, workspace, os.environ).resolve()
        return self._attachable

    @property
    def agent_names(self) -> Sequence[str]:
        """The agents that could be run from here before the last message."""
        if self._names is None:
            folders = agent_search(agents_folder(self._options.agents_dir)).agents
            listed = [
                name for name, _, agent in folders.list() if isinstance(agent, AgentDefinition)
            ]
            self._names = sorted(listed)
        return self._names

    def send(self, message: str) -> int:
        """Send a message with the files that it mentions and print the answer; return the exit code."""
        try:
            mentioned = attach(message, self.folder)
        except RunError as error:
            complain(error)
            return int(error.exit_code)
        for note in mentioned.notes:
            print_message(note)
        for file in mentioned.files:
            print_message(f"attached {visible(file.path)} ({file.size:,} bytes)")
            self.attached[file.path] = None
        text = f"{self.note}\n\n{mentioned.message}" if self.note else mentioned.message
        self.note = ""
        return self.answer(text, mentioned.images)

    def answer(self, message: str, images: Sequence[Image] = ()) -> int:
        """Send a message and print the answer; return the exit code."""
        self._names = self._attachable = None
        calls, run_id = CallDetails(), new_run_id()
        code = self._run(message, tuple(images), calls, run_id)
        self._count(calls)
        if code == 0 or _is_kept(run_id):
            self.former = run_id
        else:
            complain(ConfigError("this message is not part of the conversation"))
        return code

    def _run(self, message: str, images: tuple[Image, ...], calls: CallDetails, run_id: str) -> int:
        options = self._options
        try:
            here = agent_search(agents_folder(options.agents_dir))
            file, request, workspace = self._request(message, here)
            request = replace(request, images=images)
            resolve = here.lookup.resolver(file)
            live = LiveRun(request, workspace, resolve, here.places, options, file, run_id)
            if sys.stdin is not None and sys.stdin.isatty():
                live = replace(live, keep_draft=self._keep_draft)
            if self.former:
                live = replace(live, continues=self.former, session=True)
            return run_live(live, calls)
        except RunError as error:
            return report_failure(error, options, calls)

    def _request(self, message: str, here: AgentSearch) -> tuple[Path | None, RunRequest, Path]:
        """Return the agent's file if the user has named one, the order of the run, and the workspace."""
        file = named_file(self.agent, here.folder)
        agent = stem_of(file.name) if file is not None else self.agent
        request, workspace = in_workspace(RunRequest(agent, message), here, file)
        return file, replace(request, model=self.model), workspace

    def _keep_draft(self, draft: str) -> None:
        self._draft = draft

    def take_draft(self) -> str:
        """Return the line that was being typed when the last answer ended."""
        draft, self._draft = self._draft, ""
        return draft

    def _count(self, calls: CallDetails) -> None:
        """Add what an answer has used, with the agents that it called."""
        result = calls.until_now("completed")
        used = result.tree or Usage(result.input_tokens, result.output_tokens, cost=result.cost)
        if used.tokens:  # A message that was never sent has used nothing.
            self.used += used


def _is_kept(run_id: str) -> bool:
    """Return whether a conversation can go on from a run that was not completed."""
    try:
        with opened_history() as connection:
            require_kept(connection, run_id)
    except RunError:
        return False
    return True
