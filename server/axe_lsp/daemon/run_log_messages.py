"""What the language server and the process of the run log say to each other, as lines of JSON."""

from __future__ import annotations

from msgspec import Struct, field

from axe_lsp.runtime.json_data import Json
from axe_lsp.workspace.run_facts import RunFacts


class RunLogOrder(Struct, frozen=True):
    """What is to be read: the workspace folders, the programs, the days. `asks` if the user may be asked about others."""

    roots: tuple[str, ...]
    sources: tuple[str, ...]
    days: int
    asks: bool = False


class RunLogReport(Struct, frozen=True):
    """What the runs were like: facts by the path of a file, and the statistics of each agent.

    `unasked` are the folders of logs of programs about which the user was not asked. The last one of an order `is_last`.
    """

    facts: dict[str, RunFacts] = field(default_factory=dict)
    agents: list[Json] = field(default_factory=list)
    unasked: dict[str, str] = field(default_factory=dict)
    is_last: bool = False
