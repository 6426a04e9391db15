"""What was meant is among the names near by, however many names there are."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.nearest import Spelling

MANY = [f"{team}-agent-{number:04}" for team in ("code", "test", "docs") for number in range(1000)]


@pytest.mark.parametrize(
    "written",
    ["kode-agent-0500", "code-agnet-0500", "code_agent_0500", "code-agent-500", "code-agent-050"],
)
def test_a_name_with_a_mistake_anywhere_is_found_among_thousands(written: str) -> None:
    assert "code-agent-0500" in Spelling(MANY).near(written)


def test_only_a_few_of_thousands_are_near() -> None:
    assert len(Spelling(MANY).near("code-agent-500")) <= 16


def test_all_of_a_few_names_are_near() -> None:
    assert Spelling(["lint", "review", "test"]).near("anything") == ("lint", "review", "test")


def test_no_name_is_near_where_there_is_none() -> None:
    assert Spelling().near("lint") == ()
