"""The keys of a file and the tables that they imply."""

from __future__ import annotations

from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.parse import Parse
from support.growth import calls_of


def written(text: str) -> frozenset[tuple[str, ...]]:
    return Lookup(Parse(text)).paths


def test_a_key_and_a_header_imply_the_tables_around_them() -> None:
    paths = {("a",), ("a", "b"), ("a", "b", "c"), ("d",), ("d", "e"), ("d", "e", "f")}
    assert written("a.b.c = 1\n[d.e]\nf = 1\n") == paths
    assert written("[d.e]\nf = 1\n[a]\nb = {c = 1}\n") == paths


def test_the_tables_of_a_long_key_take_room_for_its_length_only() -> None:
    few, many = (
        sum(map(len, written(".".join(["a"] * parts) + " = 1\n"))) for parts in (2000, 4000)
    )
    assert many < 2.5 * few


def test_no_part_of_a_path_longer_than_all_keys_is_looked_at() -> None:
    assert AGENT.find(("params",)) is not None
    longer = ("params",) * 10_000
    assert AGENT.find(longer) is None
    assert calls_of(lambda: AGENT.find(longer)) < len(AGENT.keys)
