"""What is shown where nothing is written."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.features.inlay_hint import InlayHint, inlay_hints
from support.fixture import open_text


def hints(text: str) -> list[InlayHint]:
    return inlay_hints(open_text(text), TextRange(0, len(text)))


def shown(text: str) -> str:
    """Return the text with the hints in it."""
    at = [Splice(TextRange(each.offset, each.offset), f"‹{each.label}›") for each in hints(text)]
    return spliced(text, at)


def test_a_table_shows_what_is_in_force_for_the_keys_that_it_leaves_out() -> None:
    assert shown("[sub_agents_config]  # how\ntimeout = 30\n") == (
        "[sub_agents_config]‹max_depth = 3›‹parallel = true›  # how\ntimeout = 30\n"
    )
    assert shown("[memory]\nlast_n = 10\n") == "[memory]‹enabled = false›\nlast_n = 10\n"
    assert shown('[retry]\nbackoff = "fixed"\nmax_retries = 3\n').startswith(
        "[retry]‹initial_delay_ms = 500›‹max_delay_ms = 30000›\n"
    )


def test_keys_that_are_there_are_not_shown_however_they_are_written() -> None:
    assert shown("[sub_agents_config]\nmax_depth = 2\nparallel =") == (
        "[sub_agents_config]\nmax_depth = 2\nparallel ="
    )
    assert shown("sub_agents_config.parallel = true\n[sub_agents_config]\n") == (
        "sub_agents_config.parallel = true\n[sub_agents_config]‹max_depth = 3›\n"
    )


def test_extensions_are_shown_to_those_who_use_them() -> None:
    assert shown("[context]\n") == "[context]‹compaction = false›\n"
    assert shown("[budget]\nmax_tokens = 1\n") == "[budget]\nmax_tokens = 1\n"


def test_an_inline_table() -> None:
    assert shown("memory = { last_n = 3 }\n") == "memory = { last_n = 3 }‹enabled = false›\n"


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("timeout = 0", ""),
        ("timeout = 30", ""),
        ("sub_agents_config.max_depth = 0", "‹means 3›"),
        ("sub_agents_config.timeout = 0", ""),
        ("retry.initial_delay_ms = 0", "‹means 500›"),
        ('timeout = "0"', ""),
        ("stream = false", ""),
        ("max_depth = 0", ""),
    ],
)
def test_what_a_zero_stands_for(line: str, meaning: str) -> None:
    assert shown(line) == line + meaning


@pytest.mark.parametrize(
    "text", ["[sub_agents_config", "[[mcp_servers]]\n", "[unknown]\n", "[input]\n", "[", "name = 1"]
)
def test_where_there_is_nothing_to_say(text: str) -> None:
    assert shown(text) == text


@pytest.mark.req("004-2")
def test_a_type_shows_what_it_fills_in() -> None:
    assert shown('type = "plan"\ntools = []\n') == (
        'type = "plan"‹description = "Planning and analysis"›\ntools = []\n'
    )
    assert shown('type = "code"\ndescription = "d"') == (
        'type = "code"‹tools = ["*"]›\ndescription = "d"'
    )
    assert shown('type = "none"\n') == 'type = "none"\n'


def test_only_hints_of_the_part_that_is_seen() -> None:
    text = "timeout = 0\n[memory]\n\n[isolation]\n"
    found = inlay_hints(open_text(text), TextRange(12, 20))
    assert [hint.label for hint in found] == ["enabled = false"]


def test_a_hint_explains_its_key() -> None:
    (hint,) = hints("[context]")
    assert hint.tooltip.startswith("**`context.compaction`** · boolean")


def test_accepting_a_hint_writes_down_what_it_says() -> None:
    text = "[memory]  # ours\nlast_n = 3\n"
    (hint,) = hints(text)
    accepted = spliced(text, [Splice(TextRange(hint.place, hint.place), hint.text)])
    assert accepted == "[memory]  # ours\nenabled = false\nlast_n = 3\n"
    assert hints(accepted) == []
