"""Why a run failed, as scripts and clients see it: a text, a kind and an exit code (001 §8)."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

ErrorKind = Literal["config", "agent", "api", "budget"]


class ExitCode(IntEnum):
    """What the process that ran an agent returns."""

    OK = 0
    AGENT = 1
    CONFIG = 2
    API = 3
    BUDGET = 4


class RunError(Exception):
    """A run that can't begin or go on. The message is for a person and complete in itself."""

    kind: ErrorKind = "agent"
    exit_code: ExitCode = ExitCode.AGENT


class AgentError(RunError):
    """The agent itself is at fault: its model string, or a conversation without end."""


class ConfigError(RunError):
    """A file that the run needs is missing or wrong."""

    kind = "config"
    exit_code = ExitCode.CONFIG


class MissingKeyError(RunError):
    """No API key for the provider."""

    kind = "api"
    exit_code = ExitCode.API


ProviderErrorCategory = Literal[
    "auth", "rate_limit", "timeout", "overloaded", "bad_request", "server"
]


class ProviderError(RunError):
    """A request that a provider refused or didn't answer; reads `category: message`."""

    kind = "api"

    def __init__(self, category: ProviderErrorCategory, message: str, status: int = 0) -> None:
        super().__init__(f"{category}: {message}")
        self.category = category
        self.message = message
        self.status = status
        self.exit_code = ExitCode.AGENT if category == "bad_request" else ExitCode.API
