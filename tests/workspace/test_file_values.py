"""What is read of a file by its values is what is read by its tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.file_values import ShortenedText, valid_values
from benchmarks.agents import agent_text
from schemas.fixtures import VALUES, agent_files, set_to
from support.fixture import FOLDER, PLACES
from support.random_edits import EDITS, RandomEdit, after

PLACE = PLACES.locate(f"{FOLDER}/lint.toml")
HEAD = 'name = "lint"\nmodel = "anthropic/claude"\n'
FULL = f"""\
{HEAD}description = \'\'\'
Looks \\ at it\'\'\'
skill = "look"
workdir = "src" # below
files = ["*.py", 'docs/\u00e4.md',
  "**/*.txt" ]
sub_agents = ["fix", "tell"]
tools = []
memory.enabled = true
memory.path = "log.md"
[sub_agents_config]
max_depth = 4
[task]
types = ["plan", "fix"]
"""
TEXTS = (FULL.partition("[task]")[0], agent_text(1_000, "lint", ("fix", "tell")))


def read_both_ways(text: str) -> None:
    quick = read_agent_file(PLACE, text)
    whole = read_agent_file(PLACE, text, is_open=True)
    assert told(quick) == told(whole)
    assert (quick.sub_agents, quick.question, quick.start) == (
        whole.sub_agents,
        whole.question,
        whole.start,
    )


def told(file: AgentFile) -> dict[str, object]:
    """All that is known of a file, with every place in it."""
    outside = file.outside
    written = (file.name, file.model, outside.skill, outside.workdir, *outside.globs)
    references = [(each.name, each.key, each.range) for each in file.references]
    places = [(each.value, each.range) for each in written if each is not None]
    kept = {"memory": outside.memory, "references": references, "places": places}
    left_out = ("open", "shortened_text", "name", "model", "outside")
    return {key: value for key, value in asdict(file).items() if key not in left_out} | kept


@pytest.mark.parametrize("text", TEXTS)
def test_a_sound_file_is_read_the_same_both_ways(text: str) -> None:
    assert valid_values(text) is not None
    read_both_ways(text)
    read_both_ways(text.replace("\n", "\r\n"))


def test_every_key_is_read_the_same_both_ways() -> None:
    texts = (set_to(agent_keys.AGENT, spec, value) for spec in agent_keys.KEYS for value in VALUES)
    for text in (*texts, *agent_files().values()):
        read_both_ways(text)


@given(st.sampled_from([*TEXTS, FULL, *agent_files().values()]), EDITS)
def test_every_text_is_read_the_same_both_ways(text: str, edits: list[RandomEdit]) -> None:
    for edit in edits:
        text = after(text, edit)
        read_both_ways(text)


def test_places_are_right_in_the_text_that_was_read_and_in_no_other() -> None:
    for is_open in (False, True):
        file = read_agent_file(PLACE, TEXTS[0], is_open=is_open)
        assert file.is_placed_in(TEXTS[0])
        assert not file.is_placed_in(f"\n{TEXTS[0]}")
    assert not read_agent_file(PLACE, FULL).is_placed_in(FULL)  # Nobody can tell any more.


def test_only_short_texts_are_held_on_to_and_never_a_prompt() -> None:
    text = agent_text(20_000, "lint", ("fix",))
    reference = read_agent_file(PLACE, text).references[0]
    assert isinstance(reference.there, ShortenedText)
    assert len(reference.there.text) < 3_000
    assert reference.range.of(text) == '"fix"'
    long = text.replace('["fix"]', f'["fix"{", " * 5_000}]'.replace(", ", ', "fix"'))
    reference = read_agent_file(PLACE, long).references[0]
    assert reference.there == reference.range
    assert reference.range.of(long) == '"fix"'
