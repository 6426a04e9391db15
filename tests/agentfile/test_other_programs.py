"""Agents of other programs are told by their keys where no folder says whose they are."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.other_programs import CODEX, Program, program_by_keys


@pytest.mark.parametrize(
    ("keys", "program"),
    [
        ({"name", "developer_instructions"}, CODEX),
        ({"name", "system_prompt"}, None),
        ({""}, None),  # TOML has empty keys, and some programs no key of their own.
    ],
)
def test_the_program_of_an_agent_by_its_keys(keys: set[str], program: Program | None) -> None:
    assert program_by_keys(keys) == program
