"""How long facts about the outside stay true while a file is edited."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from axe_lsp.workspace.facts import Facts, Found, Matches, ProviderKey, Recording
from axe_lsp.workspace.outside_values import Question
from axe_lsp.workspace.workspace import Change, Workspace
from support.fixture import open_text

URI = "file:///project/axe/agents/main.toml"
ASKED = Question(model="openai/x", skill="s", workdir="w", globs=("*",))
FACTS = Facts(
    question=ASKED,
    folder=Found("file:///w", "/w", exists=True),
    skill=Found("file:///s", "/s", exists=True),
    matches={"*": Matches()},
    key=ProviderKey("openai", "OPENAI_API_KEY"),
    recording=Recording(()),
    added=7,
)


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        ({}, set()),
        ({"model": "openai/y"}, {"key", "recording"}),
        ({"skill": "t"}, {"skill", "added"}),
        ({"globs": ("*", "?")}, {"added"}),
        ({"workdir": "v"}, {"folder", "matches", "recording", "added"}),
    ],
)
def test_what_is_asked_otherwise_is_no_longer_known(
    change: dict[str, object], lost: set[str]
) -> None:
    left = FACTS.as_far_as_true(replace(ASKED, **change))  # type: ignore[arg-type]  # as in the table
    members = ("folder", "skill", "matches", "key", "recording", "added")
    assert {name for name in members if getattr(left, name) in (None, {})} == lost


def test_what_a_file_asks_is_the_same_wherever_it_is_written() -> None:
    one = open_text('skill = "s"\nfiles = ["a", "b", "a"]\nmemory.enabled = true\n')
    other = open_text('# moved\nfiles = [\n"a", "b"]\nskill = \'s\'\n[memory]\nenabled = true')
    assert one.question == other.question
    assert one.question.globs == ("a", "b")
    assert one.question != open_text('skill = "s"\nfiles = ["a", "b"]').question


def test_facts_are_news_about_their_file_and_end_with_its_buffer() -> None:
    workspace = Workspace()
    workspace.apply([Change(URI, 'skill = "s"', in_buffer=True)], complete=True)
    update = workspace.apply([], facts={URI: FACTS})
    assert update.affected == {URI}
    assert update.snapshot.facts == {URI: FACTS}

    typed = workspace.apply([Change(URI, 'skill = "t"', in_buffer=True)]).snapshot
    file = typed.file(URI)
    assert file is not None
    assert typed.facts_about(file).skill is None

    assert workspace.apply([Change(URI, None, in_buffer=True)]).snapshot.facts == {}
