"""Who may call whom: what the lists of all agents come to, kept so that ways between agents are found quickly.

Agents are URIs here. What names mean, and who names whom, is the snapshot's to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

Targets = Mapping[str, tuple[str, ...]]
"""Agents to others, each once. Those that lead to nobody are left out."""

_KEPT = 8
"""Of how many agents it is remembered who leads to them: that may be thousands."""


def levels(steps: Targets, starts: Iterable[str]) -> Iterator[set[str]]:
    """Some agents, those to which they lead in one step, those in two …; each where it is nearest."""
    level = set(starts)
    seen = set(level)
    while level:
        yield level
        level = set[str]().union(*[steps.get(each, ()) for each in level]) - seen
        seen |= level


class Levels:
    """The `levels` above an agent, found when they are asked for. What it calls itself makes no difference to them."""

    def __init__(self, above: Targets, agent: str) -> None:
        self._found: list[set[str]] = []
        self._rest = levels(above, [agent])

    def at(self, steps: int) -> set[str]:
        """Those that are so many steps away; nobody if there are none, nor any farther away."""
        while len(self._found) <= steps:
            self._found.append(next(self._rest, set()))
        return self._found[steps]


Recent = Mapping[bool, dict[str, Levels]]
"""What was asked for last: about files that are open, and about others."""


def _nobody() -> Recent:
    return {True: {}, False: {}}


class Calls(Struct, frozen=True):
    """`below` are the agents that one may call, in the order of its list; `above` the others that may call it.

    Those in `started` have agents above them, but are named by some that are not, as for `Task`.
    """

    below: Targets = field(default_factory=dict)
    above: Targets = field(default_factory=dict)
    started: frozenset[str] = frozenset()
    recent: Recent = field(default_factory=_nobody)

    def roots_in(self, agents: set[str]) -> set[str]:
        """Those of them at which calls begin."""
        return agents.difference(self.above) | (agents & self.started)

    def levels_above(self, agent: str, *, is_open: bool) -> Levels:
        """Who leads to an agent. A file in which somebody types isn't forgotten over all the others."""
        recent = self.recent[is_open]
        if agent not in recent:
            if len(recent) == _KEPT:
                del recent[next(iter(recent))]
            recent[agent] = Levels(self.above, agent)
        return recent[agent]

    def with_lists(self, lists: Targets) -> Calls:
        """The same, where these agents call others than before, or nobody."""
        changed = {agent: to for agent, to in lists.items() if to != self.below.get(agent, ())}
        if not changed:
            return self
        below = {agent: to for agent, to in {**self.below, **changed}.items() if to}
        known = self.recent[True]
        still_true = {agent: known[agent] for agent in known if {agent} == changed.keys()}
        return Calls(below, self._above(changed), self.started, {**_nobody(), True: still_true})

    def with_started(self, agents: Mapping[str, bool]) -> Calls:
        """The same, where these agents are `started` or not."""
        now = {agent for agent, is_started in agents.items() if is_started}
        if now == self.started & agents.keys():
            return self
        return replace(self, started=(self.started - agents.keys()) | now)

    def _above(self, changed: Targets) -> Targets:
        """Who is called by whom, after these changes."""
        lost: dict[str, set[str]] = defaultdict(set)
        won: dict[str, list[str]] = defaultdict(list)
        for agent, targets in changed.items():
            before, after = {*self.below.get(agent, ()), agent}, {*targets, agent}
            for target in before - after:
                lost[target].add(agent)
            for target in after - before:
                won[target].append(agent)
        above = dict(self.above)
        for target in {*lost, *won}:
            kept = (each for each in above.pop(target, ()) if each not in lost[target])
            if callers := (*kept, *won[target]):
                above[target] = callers
        return above
