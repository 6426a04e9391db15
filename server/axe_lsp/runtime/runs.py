"""The order of one run of one agent (001-C9, 002-30). Its result is in `run_result.py`.

Plain data without behaviour, so every other package can hold it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.runtime.events import Fork, RunIds
from axe_lsp.runtime.json_data import JsonStruct
from axe_lsp.runtime.messages import Image, Json

Resolve = Callable[[str, Caller], AgentDefinition]
"""The agent that a caller means by a name. Raises ConfigError."""

DEFAULT_TIMEOUT = 120.0
"""Seconds that are shown as the timeout of a root without one (001-5.1).

Such a run may take longer as long as it makes progress: see `limits/clock.py`.
"""


class RunRequest(JsonStruct, frozen=True):
    """Run this agent. Empty strings and None leave the decision to the agent file.

    `effort` is that of `[params]`, for the agent itself. `images` go with the task.
    `task` is the user message, or `input` for an agent with `[input]`; `timeout` is in seconds.
    `max_tokens` and `max_cost` (in US dollars) are budgets for the whole tree, 0 for those of the agent
    file. `more_folders` are absolute paths of folders in which the tools of the tree may work as well.
    """

    agent: str
    task: str | None = None
    input: Mapping[str, Json] | None = None
    model: str = ""
    skill: str = ""
    workdir: str = ""
    timeout: float | None = None
    max_tokens: int = 0
    max_cost: float = 0
    effort: str = ""
    images: tuple[Image, ...] = ()
    more_folders: tuple[str, ...] = ()


class InCopy(JsonStruct, frozen=True):
    """The folder `at` is a copy of the folder `of`. Both are absolute paths."""

    of: str
    at: str

    def has(self, folder: Path) -> bool:
        """Return whether a folder is in the copy."""
        return folder.is_relative_to(self.at)

    def folder(self, folder: Path) -> Path:
        """Return where to work instead of a folder."""
        if self.has(folder) or not folder.is_relative_to(self.of):
            return folder
        return Path(self.at, folder.relative_to(self.of))

    def original(self, folder: Path) -> Path:
        """Return what a folder is a copy of."""
        return Path(self.of, folder.relative_to(self.at)) if self.has(folder) else folder


class Sender(JsonStruct, frozen=True):
    """The file of an agent that may put what it has read into tasks of other agents, or into an address.

    `has` is a digest of what it can read (`trust.py`).
    """

    agent: str
    file: str
    has: str


class Order(JsonStruct, frozen=True):
    """One run to be made, for a RunRequest or for an agent that delegates.

    `caller` is what names the agent. `task` is what events show and `message`
    what the model gets; an empty message means axe's default one. `timeout` is a limit in seconds
    that the caller sets, `deadline` the moment (of the event loop's clock) at which the caller
    itself has to be ready. `max_depth` is the root's, which governs its whole tree; None at the root.
    `allowed_hosts` and `callers_model` are the caller's, for an agent that names none of its own. What a `read_only`
    caller starts is read-only, too. `definition` is the agent, where it has no file to be found in;
    `description` what a caller calls the task, for those who watch.

    `above` are the names of the agents that call it, the root first, `senders` their files. `continues` is the completed run whose conversation this one goes on with; `forked_from` the run whose first
    turns it has.

    `copied` is the copy in which the agent, or one of those above, works. `more_folders` are those besides
    the working directory in which its tools may work, none in a copy.

    `side` is the name of a side run, for which the caller does not wait, "" for any other run.

    `input` is the object for an agent with `[input]`. Without it, `reads_task` says that `task` may
    stand for one, and `context` is what the message has besides.
    """

    ids: RunIds
    caller: Caller
    task: str
    message: str
    parent_agent: str | None = None
    above: tuple[str, ...] = ()
    senders: tuple[Sender, ...] = ()
    images: tuple[Image, ...] = ()
    model: str = ""
    effort: str = ""
    skill: str = ""
    workdir: str = ""
    timeout: float | None = None
    max_tokens: int = 0
    max_cost: float = 0
    deadline: float = math.inf
    max_depth: int | None = None
    allowed_hosts: tuple[str, ...] = ()
    callers_model: str = ""
    read_only: bool = False
    definition: AgentDefinition | None = None
    description: str | None = None
    input: Mapping[str, Json] | None = None
    reads_task: bool = False
    context: str = ""
    continues: str | None = None
    forked_from: Fork | None = None
    copied: InCopy | None = None
    more_folders: tuple[str, ...] = ()
    side: str = ""


def model_of(order: Order, definition: AgentDefinition) -> str:
    """Return the model that answers, `provider/name`: the first that is named. "" if there is none."""
    return order.model or definition.model or order.callers_model


ID_LENGTH = 8
"""Characters of an id that people see; as many as tell runs apart."""


def new_run_id() -> str:
    """Return an id that no other run has, in any process."""
    return f"{_RANDOM.getrandbits(128):032x}"


_RANDOM = Random()  # noqa: S311 - asked for by the system once, and ids are no secrets
