"""What a run comes to: a result, or an error with what there was until then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from axe_client.connection import ServerError
from axe_client.events import Incomplete, Status
from axe_client.members import read

REQUEST_CANCELLED = -32800
REQUEST_FAILED = -32803


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The answer of an agent. The figures are its own, without those that it called.

    `output` is the value of `content` for an agent with `[output]`; `cost` is in US dollars, None if
    it is not known, and `tree` what was used with all that the agent called, if that is more.
    `incomplete` is why the answer is not whole, None if it is. `sources` are the pages and files that it cites, each
    with a `url`, a `title`, or both.
    """

    run_id: str
    agent: str
    status: Status
    model: str
    content: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    turns: int
    tool_calls: int
    duration_ms: int
    retry_attempts: int = 0
    output: Any = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    budget: Mapping[str, Any] | None = None
    refused: bool = False
    cost: float | None = None
    tree: Mapping[str, Any] | None = None
    incomplete: Incomplete | None = None
    sources: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that a run has changed.

    `before` and `after` are its texts before and after the undo, None where there is no file; both are
    None if it is larger than 512 KiB. `digest` is of its content now. If the file can't be put back,
    `reason` says why, and there is no digest.
    """

    path: str
    uri: str
    digest: str | None = None
    before: str | None = None
    after: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChanges:
    """What a run has changed. The effects of commands, if it `has_commands`, are not known."""

    files: Sequence[ChangedFile]
    has_commands: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftFile:
    """A file that was not put back, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """The paths of the files that were put back, and the files that were left."""

    undone: Sequence[str]
    left: Sequence[LeftFile]


class RunFailedError(ServerError):
    """The run has failed; the message says why.

    `kind` is "config", "agent", "api" or "budget", `exit_code` what `axe-lsp run` would end with.
    """

    @property
    def kind(self) -> str:
        """Who has to act."""
        return str(self.data["kind"])

    @property
    def reason(self) -> str:
        """A word for it, such as "missingKey", "rate_limit" or "timeout"; "" without one."""
        return str(self.data.get("reason", ""))

    @property
    def exit_code(self) -> int:
        """That of the command line."""
        return int(self.data["exitCode"])

    @property
    def partial(self) -> RunResult | None:
        """What there was until then, if the conversation had begun."""
        partial = self.data.get("partial")
        return read(RunResult, partial) if partial is not None else None


class RunCancelledError(ServerError):
    """The run was cancelled, by this client or another one."""


def run_error(error: ServerError) -> ServerError:
    """Return the error of a run in its own words."""
    if error.code == REQUEST_CANCELLED:
        return RunCancelledError(error.code, error.message, error.data)
    if error.code == REQUEST_FAILED and isinstance(error.data, dict) and "exitCode" in error.data:
        return RunFailedError(error.code, error.message, error.data)
    return error
