"""What is shown behind globs and prompts."""

from __future__ import annotations

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.features.inlay_hint import outside_hints
from axe_lsp.workspace.facts import Matches
from support.facts import found, matched, with_facts
from support.fixture import open_fixture


def shown(text: str, within: TextRange | None = None, **facts: object) -> str:
    opened = with_facts(open_fixture(text), **facts)
    hints = outside_hints(opened.snapshot, opened.file, within or TextRange(0, len(text)))
    places = [TextRange(each.offset, each.offset) for each in hints]
    labels = [f"‹{each.label}›" for each in hints]
    return spliced(text, [Splice(*each) for each in zip(places, labels, strict=True)])


def test_how_many_files_a_glob_matches() -> None:
    matches = {
        "a": matched(("a", 480)),
        "b": Matches(),
        "c": matched(("c", 40), is_complete=False),
    }
    assert shown('files = ["a", "b", "c", "d"]', folder=found("/project"), matches=matches) == (
        'files = ["a"‹1 file, about 120 tokens›, "b"‹no files›, '
        '"c"‹at least 1 file, about 10 tokens›, "d"]'
    )


def test_how_long_the_whole_prompt_is() -> None:
    prompt = 'system_prompt = """\n' + "x" * 400 + '\n"""'
    assert shown(prompt, added=0) == f"{prompt}‹about 100 tokens›"
    assert shown(prompt, added=4000) == f"{prompt}‹about 1,100 tokens with all additions›"
    assert shown(prompt) == prompt


def test_hints_stand_in_the_part_that_is_seen() -> None:
    text = 'files = ["a"]\nsystem_prompt = "x"'
    facts = {"folder": found("/"), "matches": {"a": matched(("a", 4))}, "added": 8}
    assert shown(text, TextRange(0, 13), **facts).count("‹") == 1
    assert shown(text, **facts).count("‹") == 2
