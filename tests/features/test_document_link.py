"""Where paths lead."""

from __future__ import annotations

from axe_lsp.features.document_link import document_links, path_targets, skill_at
from axe_lsp.workspace.facts import Recording
from support.carets import annotate, dedented, source
from support.facts import found, matched, with_facts
from support.fixture import open_fixture

FACTS = {
    "skill": found("/config/s.md"),
    "folder": found("/project"),
    "matches": {"*.md": matched(("a.md", 1), ("b.md", 2)), "c.txt": matched(("c.txt", 3))},
    "recording": Recording((), "file:///r.toml"),
}


def check_links(fixture: str, **facts: object) -> None:
    opened = with_facts(open_fixture(source(fixture)), **(facts or FACTS))
    links = document_links(opened.snapshot, opened.file)
    assert annotate(opened.text, [(each.origin, each.uri) for each in links]) == dedented(fixture)


def targets(text: str) -> list[str]:
    opened = with_facts(open_fixture(text), **FACTS)
    return [each.uri for each in path_targets(opened.snapshot, opened.file, opened.offset)]


def test_strings_that_lead_to_one_place_are_links() -> None:
    check_links("""
        model = "replay/r"
                ^^^^^^^^^^ file:///r.toml
        skill = "s.md"
                ^^^^^^ file:///config/s.md
        workdir = "."
                  ^^^ file:///project
        files = ["*.md", "c.txt", "none"]
                         ^^^^^^^ file:///project/c.txt
    """)


def test_what_does_not_exist_is_no_link() -> None:
    gone = found("/gone", exists=False)
    check_links('skill = "s"\nworkdir = "w"\n', skill=gone, folder=gone)
    check_links('workdir = ""\nmodel = "replay/r"\n', folder=found("/"), recording=Recording(()))


def test_a_glob_leads_to_all_that_it_matches() -> None:
    assert targets('files = ["*.<|>md", "c.txt"]') == [
        "file:///project/a.md",
        "file:///project/b.md",
    ]
    assert targets('files = ["*.md", "c<|>.txt"]') == ["file:///project/c.txt"]


def test_a_folder_is_nothing_to_go_to() -> None:
    assert targets('workdir = "<|>."') == []
    assert targets('skill = "<|>s.md"') == ["file:///config/s.md"]


def test_the_skill_under_the_cursor() -> None:
    def skill(text: str) -> str | None:
        opened = with_facts(open_fixture(text), **FACTS)
        return skill_at(opened.snapshot, opened.file, opened.offset)

    assert skill('skill = "s<|>.md"') == "file:///config/s.md"
    assert skill('sk<|>ill = "s.md"') is None
    assert skill('workdir = "<|>"') is None
