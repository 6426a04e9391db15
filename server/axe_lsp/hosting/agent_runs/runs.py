"""What is known of one run of an agent, whichever program has made it."""

from __future__ import annotations

import re
from collections import Counter

from msgspec import Struct, field

LONGEST_NAME = 80
"""Characters of a name that a log contains."""


class ToolUse(Struct):
    """The calls of one tool in one run. `is_missing` if the agent did not have the tool."""

    calls: int = 0
    errors: int = 0
    is_missing: bool = False


class LoggedRun(Struct):
    """One conversation of an agent.

    `began` is in seconds since 1970. `status` is completed, failed, stopped or unfinished. `input_tokens` do not include
    cached ones. `parent` is the agent that called it, "" for a person or a main conversation. `cost` is None without a price. `definitions` are hashes of texts, one
    of which is the agent's prompt; empty if the log has no prompt. `key` tells it from others of its program, `source`
    is the path of the agent's file if the log has it, and `limit` what was used up, such as "turns" or "timeout".
    """

    program: str
    agent: str
    cwd: str
    began: float
    status: str = "unfinished"
    parent: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    duration_ms: int = 0
    turns: int = 0
    tools: dict[str, ToolUse] = field(default_factory=dict)
    definitions: frozenset[str] = frozenset()
    key: str = ""
    source: str = ""
    limit: str = ""

    def use(self, tool: str) -> ToolUse:
        """Return the use of a tool, to be counted up."""
        return self.tools.setdefault(shown_name(tool), ToolUse())


class ReadLog(Struct):
    """What one program's logs say. `unknown` counts calls of agents that do not exist, by folder and name.

    `offered` counts the sessions in which an agent could have been called, by folder and name. `skipped` counts files
    that were left out, by the reason. `started` are agents that a person has ever run. `version` is the highest one of the program that has written, "" if it
    is not known.
    """

    program: str
    runs: list[LoggedRun] = field(default_factory=list)
    unknown: Counter[tuple[str, str]] = field(default_factory=Counter)
    offered: Counter[tuple[str, str]] = field(default_factory=Counter)
    files: int = 0
    size: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    started: set[str] = field(default_factory=set)
    version: str = ""

    def see_version(self, version: str) -> None:
        """Take note of the version of the program that has written something; the highest one counts."""
        self.version = max(self.version, shown_name(version), key=_numbers)

    @property
    def is_complete(self) -> bool:
        """Whether no file was left out."""
        return not self.skipped


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each[:9]) for each in re.findall(r"\d+", version))


def shown_name(name: str) -> str:
    """Return a name from a log without control characters, and not longer than a name is."""
    return "".join(each for each in name[:LONGEST_NAME] if each.isprintable())
