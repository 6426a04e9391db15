"""Errors of runs, as scripts and clients see them: a text, a kind and an exit code (001 §8)."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.usage import BudgetLimit

ErrorKind = Literal["config", "agent", "api", "budget"]


class ExitCode(IntEnum):
    """The exit code of the process that ran an agent."""

    OK = 0
    AGENT = 1
    CONFIG = 2
    API = 3
    BUDGET = 4


class RunError(Exception):
    """A run that can't begin or go on. The message is for a person and complete in itself.

    `step` says what was being done, for a calling agent that can't see it (001-7.3.6, 7.3.7), `hint`
    what a person could do next, beyond the words that scripts know from axe. `reason` is a word for programs, "" without one.
    `run_id` and `partial` are filled in when the error leaves the run: what happened until then. `is_stored` is whether
    the history has that, too.
    """

    kind: ErrorKind = "agent"
    exit_code: ExitCode = ExitCode.AGENT

    def __init__(self, message: str, step: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.step = step
        self.hint = hint
        self.reason = ""
        self.run_id = ""
        self.is_stored = False
        self.partial: RunResult | None = None

    def described(self, agent: str) -> str:
        """Return the failure of `agent`, for its caller."""
        return f"{self.step} {quoted(agent)}: {self}" if self.step else str(self)


class AgentError(RunError):
    """The agent itself is at fault: its model string, or a conversation without end."""


class FinalError(AgentError):
    """The run would end in the same way if it was resumed."""


class NoTextError(AgentError):
    """The last answer is not whole and has no text."""


class UnfitAnswerError(FinalError):
    """The last answer is not what the agent's `[output]` says, and could not be mended."""

    def __init__(self, complaint: str) -> None:
        super().__init__(f"the answer does not fit [output]: {complaint}")


class ConfigError(RunError):
    """A file that the run needs is missing or wrong."""

    kind = "config"
    exit_code = ExitCode.CONFIG


class AgentFileError(ConfigError):
    """An agent file is no TOML, or a value in it is wrong. `hint` names the place, and `path` the file.

    `has_words_of_axe` says that scripts may know the message.
    """

    def __init__(self, message: str, hint: str, path: str, *, has_words_of_axe: bool) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.has_words_of_axe = has_words_of_axe


class BudgetError(RunError):
    """The run has used up what its own file allows; reads `budget exceeded: used 15 of 10 tokens`."""

    kind = "budget"
    exit_code = ExitCode.BUDGET

    def __init__(self, used: str, limit: BudgetLimit) -> None:
        super().__init__(f"budget exceeded: {used}")
        self.limit = self.reason = limit


class MissingKeyError(RunError):
    """No API key for the provider. The message names the variable.

    `provider` is empty if its key is not stored in config.toml.
    """

    kind = "api"
    exit_code = ExitCode.API

    def __init__(self, message: str, provider: str = "") -> None:
        super().__init__(message)
        self.provider = provider
        self.reason = "missingKey"


class McpServerError(RunError):
    """An MCP server that can't be reached, or does not say what it offers."""

    kind = "api"
    exit_code = ExitCode.API


class RunCancelledError(RunError):
    """The run was stopped."""

    def __init__(self) -> None:
        super().__init__("cancelled")


ProviderErrorCategory = Literal[
    "rate_limit",
    "overloaded",
    "server",
    "timeout",
    "auth",
    "quota",
    "bad_request",
    "context_overflow",
]

PASSING: frozenset[ProviderErrorCategory] = frozenset(
    {"rate_limit", "overloaded", "server", "timeout"}
)
"""The kinds of failures that the same request may not meet again."""

_AT_FAULT: frozenset[ProviderErrorCategory] = frozenset({"bad_request", "context_overflow"})
"""The kinds for which the agent is to blame, and not the provider or the account."""


class ProviderError(RunError):
    """A request that a provider refused or didn't answer; reads `category: message`.

    `retry_after` is for how many seconds the provider wants to be left alone, if it said so.
    `may_pass`: the same request may succeed if it is sent again; without it, the category decides.
    `was_shared`: other requests to the provider were in flight at the same time. `is_unanswered`: the connection
    failed before the first byte of an answer.
    `codes` are the provider's words for programs: code, type, and the field that is at fault.
    `is_garbled_call`: the model has written a tool call that the provider can't read.
    """

    kind = "api"

    def __init__(
        self,
        category: ProviderErrorCategory,
        message: str,
        status: int = 0,
        retry_after: float | None = None,
        may_pass: bool | None = None,
        *,
        codes: tuple[str, ...] = (),
        is_garbled_call: bool = False,
    ) -> None:
        super().__init__(f"{category}: {message}")
        self.category = category
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.was_shared = False
        self.is_unanswered = False
        self.may_pass = category in PASSING if may_pass is None else may_pass
        self.codes = codes
        self.is_garbled_call = is_garbled_call
        self.reason = category
        self.exit_code = ExitCode.AGENT if category in _AT_FAULT else ExitCode.API

    def reworded(self, message: str) -> ProviderError:
        """Return the same failure in other words."""
        told = (self.status, self.retry_after, self.may_pass)
        error = ProviderError(
            self.category, message, *told, codes=self.codes, is_garbled_call=self.is_garbled_call
        )
        error.was_shared, error.hint = self.was_shared, self.hint
        error.is_unanswered = self.is_unanswered
        return error


class NoAnswerError(ProviderError):
    """A request that was not answered, or not to the end. The message leaves out who was asked."""


class RunTimeoutError(RunError):
    """The run's time is over; reads `timeout after 120s` (001-12.3) or `no progress for 120s …`."""

    kind = "api"
    exit_code = ExitCode.API

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.reason = "timeout"


def timeout_message(seconds: float) -> str:
    """Return the text of a RunTimeoutError. Whole seconds are shown as an integer."""
    return f"timeout after {int(seconds) if seconds == int(seconds) else seconds}s"


def no_progress_message(seconds: float) -> str:
    """Return the text of a RunTimeoutError for a run without a limit that makes no progress."""
    return (
        f"no progress for {seconds:g}s: neither the provider nor a tool has sent anything "
        "(a timeout in the agent file or --timeout allows for more)"
    )
