"""Edges that are edited one after the other, against a plain map that is."""

from __future__ import annotations

import random

from axe_lsp.workspace.calls import Edges

AGENTS = [str(number) for number in range(150)]


def test_edges_say_what_was_said_last_however_many_are_edited() -> None:
    draw = random.Random(1)
    edges, expected = Edges(), dict[str, tuple[str, ...]]()
    for _ in range(500):
        changed = {
            agent: tuple(draw.sample(AGENTS, draw.randint(0, 3)))
            for agent in draw.sample(AGENTS, 2)
        }
        edges = edges.with_these(changed)
        expected.update(changed)
        some = frozenset(draw.sample(AGENTS, 20))
        assert [edges.of(each) for each in AGENTS] == [expected.get(each, ()) for each in AGENTS]
        assert edges.of_all(some) == {to for each in some for to in expected.get(each, ())}
        assert edges.ends(some) == {each for each in some if not expected.get(each)}
    assert len(edges.edited) < len(AGENTS)


def test_reversed_edges_lead_back_but_not_to_where_they_begin() -> None:
    edges = Edges({"a": ("b", "a"), "b": ("c",), "d": ("c", "b")}).reversed()
    assert edges == Edges({"b": ("a", "d"), "c": ("b", "d")})
