"""The graph of all agents, as data and as text for programs that draw."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from axe_lsp.features.delegation_graph import (
    DelegationGraph,
    Node,
    around,
    delegation_graph,
    dot,
    mermaid,
)
from axe_lsp.workspace.workspace import Change, Workspace
from support.fixture import FOLDER, PLACES, open_fixture
from support.growth import calls_of


def graph_of(fixture: str) -> DelegationGraph:
    return delegation_graph(open_fixture(fixture).snapshot)


def names(graph: DelegationGraph) -> dict[str, str]:
    return {node.id: node.name for node in graph.nodes}


def nodes(graph: DelegationGraph) -> dict[str, Node]:
    return {node.name: node for node in graph.nodes}


def edges(graph: DelegationGraph) -> list[str]:
    known = names(graph)
    return [f"{known[each.source]} {each.via.value} {known[each.target]}" for each in graph.edges]


def ways(graph: DelegationGraph) -> list[str]:
    """Return the ways to agents that are too deep."""
    known = names(graph)
    assert all(each.agent == each.path[-1] for each in graph.unreachable)
    return [" → ".join(known[agent] for agent in each.path) for each in graph.unreachable]


def test_nodes_are_agents_and_those_that_are_missed() -> None:
    graph = graph_of("""
        --- b.toml
        sub_agents = ["a", "gone", "a"]
        task.types = ["plan", "mine", "a", "lost"]
        task.type.mine.tools = []
        --- a.toml
        --- ../loose/c.toml
        sub_agents = ["a"]
    """)
    assert [(node.name, node.file is not None) for node in graph.nodes] == [
        ("a", True),
        ("b", True),
        ("gone", False),
        ("lost", False),
    ]
    assert edges(graph) == [
        "b sub_agents a",
        "b sub_agents gone",
        "b task.types a",
        "b task.types lost",
    ]


def test_names_lead_to_the_file_that_counts_where_they_stand() -> None:
    graph = graph_of("""
        --- a.toml
        sub_agents = ["b"]
        --- b.toml
        --- /project/sub/axe/agents: b.toml
        --- /project/sub/axe/agents: c.toml
        sub_agents = ["b"]
    """)
    assert [edge.target.partition("/agents")[0][-4:] for edge in graph.edges] == ["/axe", "/axe"]
    assert len({edge.target for edge in graph.edges}) == 2


def test_depth_counts_from_the_nearest_root_and_each_root_has_its_limit() -> None:
    graph = graph_of("""
        --- a.toml
        sub_agents = ["b"]
        sub_agents_config.max_depth = 2
        --- b.toml
        sub_agents = ["c"]
        --- c.toml
        sub_agents = ["d"]
        --- d.toml
        sub_agents = ["z"]
        --- e.toml
        sub_agents = ["f"]
        sub_agents_config.max_depth = 1
        --- f.toml
        sub_agents = ["c"]
        --- z.toml
    """)
    found = nodes(graph)
    assert [name for name, node in found.items() if node.is_root] == ["a", "e"]
    assert {name: node.depth for name, node in found.items()} == {
        "a": 0,
        "b": 1,
        "c": 2,
        "d": 3,
        "e": 0,
        "f": 1,
        "z": 4,
    }
    assert [name for name, node in found.items() if not node.is_reachable] == ["d", "z"]
    assert ways(graph) == ["a → b → c → d"]


def test_a_nearer_root_may_let_calls_go_less_deep_than_a_far_one() -> None:
    graph = graph_of("""
        --- a.toml
        sub_agents = ["b"]
        sub_agents_config.max_depth = 1
        --- b.toml
        sub_agents = ["c"]
        --- c.toml
        --- r.toml
        sub_agents = ["s"]
        --- s.toml
        sub_agents = ["t"]
        --- t.toml
        sub_agents = ["c"]
    """)
    assert nodes(graph)["c"].depth == 2
    assert ways(graph) == []
    assert all(node.is_reachable for node in graph.nodes)


def test_what_task_may_start_is_a_root() -> None:
    graph = graph_of("""
        --- a.toml
        sub_agents = ["b"]
        --- b.toml
        --- c.toml
        task.types = ["b"]
    """)
    assert [node.is_root for node in graph.nodes] == [True, True, True]
    assert [node.depth for node in graph.nodes] == [0, 0, 0]


def test_agents_that_only_call_each_other_are_reachable_without_a_root() -> None:
    graph = graph_of("""
        --- a.toml
        sub_agents = ["b"]
        --- b.toml
        sub_agents = ["a"]
        --- c.toml
        sub_agents = ["c"]
    """)
    assert [(node.is_root, node.is_reachable, node.depth) for node in graph.nodes] == [
        (False, True, None),
        (False, True, None),
        (True, True, 0),
    ]


def _graph_of_layers(count: int) -> tuple[DelegationGraph, int]:
    """Return the graph of so many roots above a chain of as many agents, and the calls that it takes."""
    workspace = Workspace(PLACES)
    below = [f"below-{number}" for number in range(count)]
    layers = {
        **{f"root-{number}": below[number : number + 3] for number in range(count)},
        **{name: below[number + 1 : number + 4] for number, name in enumerate(below)},
    }
    texts = {name: f"sub_agents = {json.dumps(calls)}\n" for name, calls in layers.items()}
    workspace.apply([Change(f"{FOLDER}/{name}.toml", text) for name, text in texts.items()])
    calls = calls_of(lambda: delegation_graph(workspace.snapshot))
    return delegation_graph(workspace.snapshot), calls


def test_cost_of_a_graph_grows_with_its_calls_and_not_with_its_roots_times_agents() -> None:
    _, few = _graph_of_layers(250)
    graph, many = _graph_of_layers(1_000)
    assert many < 5 * few
    assert nodes(graph)["below-999"].depth == 1


def test_cycles_name_their_agents_and_a_way_round() -> None:
    graph = graph_of("""
        --- a.toml
        sub_agents = ["b"]
        --- b.toml
        sub_agents = ["d", "c"]
        --- c.toml
        sub_agents = ["b"]
        --- d.toml
        sub_agents = ["c"]
        --- e.toml
        sub_agents = ["e"]
        --- f.toml
        task.types = ["f"]
    """)
    known = names(graph)
    found = [
        ([known[each] for each in cycle.agents], [known[each] for each in cycle.path])
        for cycle in graph.cycles
    ]
    assert found == [(["b", "c", "d"], ["b", "c", "b"]), (["e"], ["e", "e"])]


FAMILY = """
    --- a.toml
    sub_agents = ["b", "x"]
    --- b.toml
    sub_agents = ["c"]
    --- c.toml
    --- x.toml
    sub_agents = ["c", "y"]
    --- y.toml
    sub_agents = ["y", "gone"]
    --- z.toml
    sub_agents = ["c", "x"]
"""


def test_the_part_around_an_agent_has_those_above_and_below() -> None:
    graph = around(graph_of(FAMILY), f"{FOLDER}/b.toml")
    assert list(nodes(graph)) == ["a", "b", "c"]
    assert edges(graph) == ["a sub_agents b", "b sub_agents c"]
    assert graph.cycles == ()


def test_a_cycle_is_in_the_part_that_all_its_agents_are_in() -> None:
    graph = around(graph_of(FAMILY), f"{FOLDER}/y.toml")
    assert list(nodes(graph)) == ["a", "x", "y", "z", "gone"]
    assert len(graph.cycles) == 1


def test_a_way_is_in_the_part_that_all_its_agents_are_in() -> None:
    fixture = """
        --- a.toml
        sub_agents = ["b", "c"]
        sub_agents_config.max_depth = 1
        --- b.toml
        sub_agents = ["d"]
        --- c.toml
        sub_agents = ["d"]
        --- d.toml
    """
    graph = graph_of(fixture)
    assert ways(around(graph, f"{FOLDER}/d.toml")) == ["a → b → d"]
    assert ways(around(graph, f"{FOLDER}/c.toml")) == []


STRANGE = """
    --- a.toml
    sub_agents = ["it's \\"<b>\\" [&amp;] #35; `c` \\\\n {d} | e; end", ""]
    task.types = ["subgraph"]
    sub_agents_config.max_depth = 1
    --- user: subgraph.toml
    sub_agents = ["😀 ünï_cöde-1"]
    --- user: %F0%9F%98%80%20%C3%BCn%C3%AF_c%C3%B6de-1.toml
    sub_agents = ["x"]
    --- x.toml
    sub_agents = ["y"]
    --- y.toml
    sub_agents = ["z"]
    --- z.toml
"""


def test_mermaid_text() -> None:
    assert mermaid(graph_of(STRANGE)) == (
        "flowchart TD\n"
        '  n0["a"]\n'
        '  n1["subgraph #40;user#41;"]\n'
        '  n2["x"]\n'
        '  n3["y"]\n'
        '  n4["z"]:::unreachable\n'
        '  n5["#128512; ünï#95;cöde-1 #40;user#41;"]\n'
        '  n6[" "]:::missing\n'
        '  n7["it#39;s #34;#60;b#62;#34; #91;#38;amp#59;#93; #35;35#59; #96;c#96; #92;n #123;d#125; '
        '#124; e#59; end"]:::missing\n'
        "  n0 --> n7\n"
        "  n0 --> n6\n"
        "  n0 -. Task .-> n1\n"
        "  n1 --> n5\n"
        "  n2 --> n3\n"
        "  n3 --> n4\n"
        "  n5 --> n2\n"
        "  classDef missing stroke-dasharray: 4 4\n"
        "  classDef unreachable opacity: 0.5\n"
    )


def test_dot_text() -> None:
    text = dot(graph_of(STRANGE))
    assert text.startswith('digraph agents {\n  node [shape=box];\n  n0 [label="a"];\n')
    assert '  n4 [label="z", color="gray", fontcolor="gray"];\n' in text
    assert (
        '  n7 [label="it\'s \\"<b>\\" [&amp;amp;] #35; `c` \\\\n {d} | e; end", style=dashed];\n'
    ) in text
    assert '  n0 -> n1 [label="Task", style=dashed];\n' in text
    assert text.endswith("  n5 -> n2;\n}\n")


def test_graphviz_reads_names_as_they_are() -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("needs Graphviz")
    graph = graph_of(STRANGE)
    drawn = subprocess.run(
        [program, "-Tsvg"], input=dot(graph), capture_output=True, text=True, check=True
    )
    assert drawn.stderr == ""
    for name in ("it&#39;s &quot;&lt;b&gt;&quot; [&amp;amp;] #35; `c` \\n {d} | e; end", "a"):
        assert f">{name}</text>" in drawn.stdout
    assert len(re.findall(r'class="node"', drawn.stdout)) == len(graph.nodes)


def test_control_characters_do_not_break_lines() -> None:
    graph = graph_of('sub_agents = ["a\\nb\\tc"]\n')
    assert '["a b c"]' in mermaid(graph)
    assert 'label="a b c"' in dot(graph)
