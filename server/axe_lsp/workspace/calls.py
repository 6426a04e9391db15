"""The delegation graph: which agents may call which, in both directions, for quick searches of paths.

Agents are URIs here. What names mean, and who names whom, is the snapshot's to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

Targets = Mapping[str, tuple[str, ...]]
"""Agents to others, each once."""

_MOST_EDITED = 100
"""Changes that are kept apart. To copy a map of ten thousand agents takes longer than all else that a keystroke costs."""

_CROWDS = 100
"""The number of sets of agents whose called agents are remembered: twice the steps of the longest path."""

_KEPT = 8
"""The number of agents whose callers are remembered; each may have thousands of them."""


class Edges(Struct, frozen=True):
    """To whom agents lead. Of those that are `edited`, what `all` says is out of date."""

    all: Targets = field(default_factory=dict)
    edited: Targets = field(default_factory=dict)
    crowds: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)

    def of(self, agent: str) -> tuple[str, ...]:
        """Return the agents that an agent calls."""
        return self.edited[agent] if agent in self.edited else self.all.get(agent, ())

    def of_all(self, agents: frozenset[str]) -> frozenset[str]:
        """Return the agents that any of some agents calls. Cached: many searches meet the same set."""
        found = self.crowds.pop(agents, None)
        if found is None:
            found = self._of_all(agents)
            if len(self.crowds) == _CROWDS:
                del self.crowds[next(iter(self.crowds))]
        self.crowds[agents] = found  # At the end: those that are not asked for go first.
        return found

    def ends(self, agents: frozenset[str]) -> frozenset[str]:
        """Return the agents, among some, that call no others."""
        edited = agents & self.edited.keys()
        return (
            (agents - edited)
            .difference(self.all)
            .union(each for each in edited if not self.edited[each])
        )

    def with_these(self, changed: Targets) -> Edges:
        """Return the same, where these agents lead to others, or to nobody."""
        edited = {**self.edited, **changed}
        if len(edited) <= _MOST_EDITED:
            return Edges(self.all, edited)
        return Edges({agent: to for agent, to in {**self.all, **edited}.items() if to})

    def _of_all(self, agents: Iterable[str]) -> frozenset[str]:
        every, edited = self.all, self.edited
        found = [edited[each] if each in edited else every.get(each, ()) for each in agents]
        return frozenset[str]().union(*found)

    def reversed(self) -> Edges:
        """Return the callers of each agent, without itself."""
        found: dict[str, list[str]] = defaultdict(list)
        for agent, targets in self.all.items():
            for target in targets:
                if target != agent:
                    found[target].append(agent)
        return Edges({agent: tuple(each) for agent, each in found.items()})


def levels(edges: Edges, starts: Iterable[str]) -> Iterator[frozenset[str]]:
    """Yield some agents, those to which they lead in one step, those in two …; each where it is nearest."""
    level = frozenset(starts)
    seen = set(level)
    while level:
        yield level
        level = edges.of_all(level) - seen
        seen |= level


class Levels:
    """The `levels` above an agent, found when they are asked for. What it calls itself makes no difference to them."""

    def __init__(self, above: Edges, agent: str) -> None:
        self._found: list[frozenset[str]] = []
        self._rest = levels(above, [agent])

    def at(self, steps: int) -> frozenset[str]:
        """Return the agents that are so many steps away; empty if there are none, nor any farther away."""
        while len(self._found) <= steps:
            self._found.append(next(self._rest, frozenset()))
        return self._found[steps]


Recent = Mapping[bool, dict[str, Levels]]
"""The last questions: about open files, and about others."""


def _nobody() -> Recent:
    return {True: {}, False: {}}


class Calls(Struct, frozen=True):
    """`below` are the agents that one may call, in the order of its list; `above` the others that may call it.

    Those in `started` have agents above them, but are named by some that are not, as for `Task`.
    """

    below: Edges = Edges()
    above: Edges = Edges()
    started: frozenset[str] = frozenset()
    recent: Recent = field(default_factory=_nobody)

    def roots_in(self, agents: frozenset[str]) -> frozenset[str]:
        """Return the agents, among some, at which calls begin."""
        return self.above.ends(agents) | (agents & self.started)

    def levels_above(self, agent: str, *, is_open: bool) -> Levels:
        """Return the callers that lead to an agent. Those of an open file are remembered apart from all others."""
        recent = self.recent[is_open]
        if agent not in recent:
            if len(recent) == _KEPT:
                del recent[next(iter(recent))]
            recent[agent] = Levels(self.above, agent)
        return recent[agent]

    def with_lists(self, lists: Targets) -> Calls:
        """Return the same, where these agents call others, or nobody."""
        changed = {agent: to for agent, to in lists.items() if to != self.below.of(agent)}
        if not changed:
            return self
        known = self.recent[True]
        still_true = {agent: known[agent] for agent in known if {agent} == changed.keys()}
        return Calls(
            self.below.with_these(changed),
            self.above.with_these(self._called(changed)),
            self.started,
            {**_nobody(), True: still_true},
        )

    def with_started(self, agents: Mapping[str, bool]) -> Calls:
        """Return the same, where these agents are `started` or not."""
        now = {agent for agent, is_started in agents.items() if is_started}
        if now == self.started & agents.keys():
            return self
        return replace(self, started=(self.started - agents.keys()) | now)

    def _called(self, changed: Targets) -> Targets:
        """Return the callers of the agents that are called by others after these changes."""
        lost: dict[str, set[str]] = defaultdict(set)
        won: dict[str, list[str]] = defaultdict(list)
        for agent, targets in changed.items():
            before, after = {*self.below.of(agent), agent}, {*targets, agent}
            for target in before - after:
                lost[target].add(agent)
            for target in after - before:
                won[target].append(agent)
        return {
            target: (
                *(each for each in self.above.of(target) if each not in lost[target]),
                *won[target],
            )
            for target in {*lost, *won}
        }
