"""From a name to its file."""

from __future__ import annotations

from axe_lsp.features.definition import definition
from support.fixture import open_fixture


def goes_to(fixture: str) -> tuple[str, str] | None:
    """Return the name under the cursor and the URI that it leads to."""
    opened = open_fixture(fixture)
    target = definition(opened.snapshot, opened.file, opened.offset)
    return (target.origin.of(opened.text), target.uri) if target is not None else None


def test_a_sub_agent_leads_to_its_file() -> None:
    assert goes_to("""
        --- parent.toml
        sub_agents = ["a", "li<|>nt"]
        --- lint.toml
        name = "lint"
    """) == ('"lint"', "file:///project/axe/agents/lint.toml")


def test_it_leads_to_the_name_in_the_file() -> None:
    opened = open_fixture('--- a.toml\nsub_agents = ["<|>b"]\n--- b.toml\n# B\nname = "b"\n')
    target = definition(opened.snapshot, opened.file, opened.offset)
    assert target is not None
    assert target.range.of('# B\nname = "b"\n') == '"b"'


def test_the_workspace_comes_before_the_user() -> None:
    assert goes_to("""
        --- parent.toml
        sub_agents = ["lint<|>"]
        --- user: lint.toml
        --- lint.toml
    """) == ('"lint"', "file:///project/axe/agents/lint.toml")


def test_the_user_folder_serves_what_the_workspace_lacks() -> None:
    assert goes_to("""
        --- parent.toml
        [task]
        types = ["<|>lint"]
        --- user: lint.toml
    """) == ('"lint"', "file:///home/user/.config/axe/agents/lint.toml")


def test_it_works_in_a_broken_file() -> None:
    assert goes_to("""
        --- parent.toml
        sub_agents = ["li<|>nt"
        skill = "x
        --- lint.toml
    """) == ('"lint"', "file:///project/axe/agents/lint.toml")


def test_an_unknown_name_leads_nowhere() -> None:
    assert goes_to('sub_agents = ["no<|>pe"]') is None


def test_other_strings_lead_nowhere() -> None:
    assert goes_to('--- a.toml\ndescription = "b<|>"\n--- b.toml\n') is None
