"""What the runs of an agent were like, counted from the history and from logs by another process."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class RunNumbers(Struct, frozen=True, omit_defaults=True):
    """A run of usual size, or one that nine of ten do not exceed; `cost` is None without a price."""

    ms: float
    turns: float
    input_tokens: float
    output_tokens: float
    cost: float | None = None


class ToolRuns(Struct, frozen=True, omit_defaults=True):
    """The runs that used a tool, its calls in them, and those that failed."""

    name: str
    runs: int
    calls: int = 0
    errors: int = 0


class VersionChange(Struct, frozen=True, omit_defaults=True):
    """A difference of the present version of a file from the one before.

    `since` is the time of the edit in seconds since 1970, None if it is not known. `before` and `after` are shares of
    failures or medians, None for another model.
    """

    since: float | None
    measure: str
    text: str
    runs: int
    runs_before: int
    before: float | None = None
    after: float | None = None


class RunFacts(Struct, frozen=True, omit_defaults=True):
    """The runs of the agent of one file in the last `days`.

    `programs` have the runs by program, most first. `last` is the beginning of the last run in seconds since 1970.
    `cost` is None without any price; some runs have none if it is `partly_priced`. `version_runs` are those of the
    present version, which is `version_days` old; `age_days` is the age of the file. `unused` are the tools that the file
    names and no run of the version used. `limits` has the runs that used up a limit, by its key. `other_runs` are those
    of other agents of the same program, `offered` the sessions in which the agent could have been called. An agent
    `is_started` if a person has ever run it. `is_counting` while the first index is made.
    """

    days: int
    runs: int = 0
    failed: int = 0
    stopped: int = 0
    unfinished: int = 0
    last: float = 0.0
    programs: tuple[tuple[str, int], ...] = ()
    cost: float | None = None
    partly_priced: bool = False
    at_list_prices: bool = False
    typical: RunNumbers | None = None
    nine_of_ten: RunNumbers | None = None
    callers: tuple[tuple[str, int], ...] = ()
    tools: tuple[ToolRuns, ...] = ()
    never_used: tuple[str, ...] = ()
    missing: tuple[tuple[str, int], ...] = ()
    change: VersionChange | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    version_runs: int = 0
    version_days: int = 0
    age_days: int = 0
    unused: tuple[str, ...] = ()
    other_runs: int = 0
    offered: int = 0
    is_started: bool = False
    is_counting: bool = False


class RunLogFacts(Struct, frozen=True):
    """What the run log says: of files, by URI, and the folders of logs that the user was not asked about, by program."""

    files: Mapping[str, RunFacts] = field(default_factory=dict)
    unasked: Mapping[str, str] = field(default_factory=dict)
