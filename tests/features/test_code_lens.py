"""What stands above an agent file."""

from __future__ import annotations

from axe_lsp.features.code_lens import LensKind, code_lenses, reference_count
from support.carets import annotate, dedented, source
from support.fixture import open_fixture

ALL = [LensKind.RUN, LensKind.PREVIEW, LensKind.REFERENCES]


def kinds(fixture: str) -> list[LensKind]:
    opened = open_fixture(fixture)
    return [each.kind for each in code_lenses(opened.snapshot, opened.file)]


def test_they_stand_at_the_name() -> None:
    fixture = """
        # An agent.
        model = "a/b"
        name = "main"
               ^^^^^^ RUN
               ^^^^^^ PREVIEW
               ^^^^^^ REFERENCES
    """
    opened = open_fixture(source(fixture))
    marks = [(each.range, each.kind.name) for each in code_lenses(opened.snapshot, opened.file)]
    assert annotate(opened.text, marks) == dedented(fixture)


def test_a_file_without_a_name_is_run_from_its_first_line() -> None:
    opened = open_fixture('model = "a/b"\n')
    lenses = code_lenses(opened.snapshot, opened.file)
    assert [(each.kind, tuple(each.range)) for each in lenses] == [
        (LensKind.RUN, (0, 0)),
        (LensKind.PREVIEW, (0, 0)),
    ]


def test_an_agent_with_an_input_can_be_run_with_one() -> None:
    with_input = [LensKind.RUN, LensKind.RUN_WITH_INPUT, LensKind.PREVIEW, LensKind.REFERENCES]
    assert kinds('name = "main"\n[input]\nrequired = ["path"]\n') == with_input


def test_nobody_can_name_an_agent_in_no_folder_of_agents() -> None:
    assert kinds('--- main.toml\nname = "main"\n') == ALL
    assert kinds('--- ../loose/main.toml\nname = "main"\n') == ALL[:2]


def test_every_name_that_means_the_agent_is_counted() -> None:
    opened = open_fixture("""
        --- main.toml
        name = "main"
        sub_agents = ["main"]
        --- other.toml
        sub_agents = ["main", "main", "mains"]
        task.types = ["main"]
        --- /project/sub/axe/agents: main.toml
        --- /project/sub/axe/agents: users.toml
        sub_agents = ["main"]
    """)
    assert reference_count(opened.snapshot, opened.file) == 4
