"""Ways round and ways down in the graph of delegation, against what walking every way says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.workspace.agent_file import MAX_MAX_DEPTH, AgentFile, read_agent_file
from axe_lsp.workspace.calls import Calls, Edges
from axe_lsp.workspace.graph import LONGEST, MOST_CALLS, cycle_through, too_deep
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from support.fixture import FOLDER, PLACES

NAMES = "abcdefgh"


class Agent(Struct, frozen=True):
    """What an agent file says about delegation."""

    calls: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    max_depth: int = 3

    @property
    def text(self) -> str:
        return (
            f"sub_agents = {list(self.calls)}\n[sub_agents_config]\nmax_depth = {self.max_depth}\n"
            f"[task]\ntypes = {list(self.starts)}\n"
        )


Agents = Mapping[str, Agent]

AGENTS = st.builds(
    Agent,
    st.lists(st.sampled_from(NAMES), max_size=2).map(tuple),
    st.lists(st.sampled_from(NAMES), max_size=1).map(tuple),
    st.integers(1, 2),
)
GRAPHS = st.fixed_dictionaries(dict.fromkeys(NAMES, AGENTS))


def calling(graph: Mapping[str, Sequence[str]]) -> Agents:
    return {name: Agent(tuple(called)) for name, called in graph.items()}


def uri(name: str) -> str:
    return f"{FOLDER}/{name}.toml"


def snapshot_of(agents: Agents) -> Snapshot:
    changes = [Change(uri(name), agent.text) for name, agent in agents.items()]
    return Workspace(PLACES).apply(changes, complete=True).snapshot


def file_of(snapshot: Snapshot, name: str) -> AgentFile:
    file = snapshot.file(uri(name))
    assert file is not None
    return file


def found_round(snapshot: Snapshot, name: str) -> list[str]:
    return [each.place.stem for each in cycle_through(snapshot, file_of(snapshot, name))]


def found_down(snapshot: Snapshot, name: str) -> list[str]:
    return [each.place.stem for each in too_deep(snapshot, file_of(snapshot, name))]


def way_round(agents: Agents, start: str) -> list[str]:
    """Return the first of the shortest ways back, if all ways are walked in the order of the lists."""
    ways = [[start]]
    for _ in agents:
        ways = [[*way, each] for way in ways for each in dict.fromkeys(agents[way[-1]].calls)]
        for way in ways:
            if way[-1] == start:
                return way
        ways = first_to_each(ways)
    return []


def first_to_each(ways: Sequence[list[str]]) -> list[list[str]]:
    """Return those that are the first to get where they get."""
    firsts: dict[str, list[str]] = {}
    for way in ways:
        firsts.setdefault(way[-1], way)
    return list(firsts.values())


def way_down(agents: Agents, end: str) -> list[str]:
    """Return the first of the shortest ways up to a root, turned round; nothing if a root is near enough."""
    above = {
        each: sorted({a for a in agents if each in agents[a].calls} - {each}) for each in agents
    }
    naming = {
        each: {a for a in agents if each in agents[a].calls + agents[a].starts} for each in agents
    }
    ways, reached, found = [[end]], {end}, []
    for steps in range(len(agents)):
        for way in ways:
            top = way[-1]
            if not above[top] or len(naming[top] - {top}) > len(above[top]):
                if steps < min(agents[top].max_depth, MAX_MAX_DEPTH):
                    return []
                found = found or way
        further = [[*way, each] for way in ways for each in above[way[-1]] if each not in reached]
        ways = first_to_each(further)
        reached.update(way[-1] for way in ways)
    return found[::-1]


@given(GRAPHS)
def test_ways_are_the_first_of_the_shortest(agents: Agents) -> None:
    snapshot = snapshot_of(agents)
    for name in NAMES:
        assert found_round(snapshot, name) == way_round(agents, name)
        assert found_down(snapshot, name) == way_down(agents, name)


@given(GRAPHS, st.sampled_from(NAMES), st.lists(AGENTS, min_size=1, max_size=4))
def test_ways_are_right_while_somebody_types_in_a_list(
    agents: dict[str, Agent], typed: str, edits: list[Agent]
) -> None:
    workspace = Workspace(PLACES)
    workspace.apply([Change(uri(name), each.text) for name, each in agents.items()], complete=True)
    for edit in edits:
        agents = {**agents, typed: edit}
        snapshot = workspace.apply([Change(uri(typed), edit.text, in_buffer=True)]).snapshot
        for name in NAMES:
            assert found_round(snapshot, name) == way_round(agents, name)
            assert found_down(snapshot, name) == way_down(agents, name)


@given(GRAPHS, st.sampled_from(NAMES), AGENTS)
def test_whose_way_round_is_another_than_before_is_entangled(
    agents: dict[str, Agent], typed: str, edit: Agent
) -> None:
    workspace = Workspace(PLACES)
    workspace.apply([Change(uri(name), each.text) for name, each in agents.items()], complete=True)
    update = workspace.apply([Change(uri(typed), edit.text)])
    after = {**agents, typed: edit}
    found = {each.place.stem for each in update.indirectly.entangled(update.snapshot)}
    assert found >= {name for name in NAMES if way_round(agents, name) != way_round(after, name)}
    assert all(way_round(agents, name) or way_round(after, name) for name in found)


def ring(count: int) -> Agents:
    return calling({f"n{number}": [f"n{(number + 1) % count}"] for number in range(count)})


def test_a_way_that_nobody_would_read_is_not_looked_for() -> None:
    assert len(found_round(snapshot_of(ring(LONGEST)), "n0")) == LONGEST + 1
    assert found_round(snapshot_of(ring(LONGEST + 1)), "n0") == []


def test_behind_thousands_of_calls_no_root_is_looked_for() -> None:
    def below(width: int) -> Snapshot:
        upper, lower = ([f"{side}{number}" for number in range(width)] for side in ("up", "low"))
        crowd = {"top": upper, **dict.fromkeys(upper, lower), **{each: ["a"] for each in lower}}
        return snapshot_of(calling({**crowd, "a": ["b"], "b": ["c"], "c": []}))

    assert found_down(below(20), "b") == ["top", "up0", "low0", "a", "b"]
    assert not found_down(below(math.isqrt(MOST_CALLS) + 1), "b")


class Counted(dict[str, tuple[str, ...]]):
    """Who calls whom, with the number of agents about which somebody wanted to know."""

    count = 0

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override] # for counting
        self.count += 1
        return super().get(key, default)


def layers(depth: int, width: int) -> Agents:
    """Return agents of which each calls all of the next layer, and those at the bottom call those at the top."""
    names = [[f"n{layer}-{number}" for number in range(width)] for layer in range(depth)]
    return calling({name: after for layer, after in pairwise([*names, names[0]]) for name in layer})


def test_a_keystroke_looks_up_no_more_than_once_what_leads_to_a_file() -> None:
    agents = layers(LONGEST, 20)
    workspace = Workspace(PLACES)
    workspace.apply([Change(uri(name), each.text) for name, each in agents.items()], complete=True)
    snapshot = workspace.apply([Change(uri("n0-0"), agents["n0-0"].text, in_buffer=True)]).snapshot
    above = Counted(snapshot.calls.above.all)
    workspace.snapshot = replace(snapshot, calls=Calls(snapshot.calls.below, Edges(above)))
    assert len(found_round(workspace.snapshot, "n0-0")) == LONGEST + 1
    assert above.count <= len(agents)
    above.count = 0
    for number in range(20):
        typed = Agent((f"n1-{number}",))
        workspace.apply([Change(uri("n0-0"), typed.text, in_buffer=True)])
        assert found_round(workspace.snapshot, "n0-0")[1] == f"n1-{number}"
    assert above.count < len(agents) / 10


def test_other_open_files_do_not_make_a_file_forgotten() -> None:
    calls = snapshot_of(ring(30)).calls
    typed = calls.levels_above(uri("n0"), is_open=True)
    for number in range(1, 30):
        calls.levels_above(uri(f"n{number}"), is_open=False)
    assert calls.levels_above(uri("n0"), is_open=True) is typed
    closed = calls.levels_above(uri("n29"), is_open=False)
    assert calls.levels_above(uri("n29"), is_open=False) is closed
    assert calls.levels_above(uri("n1"), is_open=False).at(1) == {uri("n0")}
    assert sum(len(each) for each in calls.recent.values()) < 30


def test_a_file_that_is_not_in_the_workspace_is_not_too_deep_in_it() -> None:
    """As what a file will be once it has been repaired is not."""
    file = read_agent_file(PLACES.locate(f"{FOLDER}/a.toml"), Agent(calls=("b",)).text)
    assert too_deep(Snapshot(), file) == ()
    assert cycle_through(Snapshot(), file) == ()
