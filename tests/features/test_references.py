"""Where an agent is named: everywhere, and in the file that is being looked at."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.references import highlights, references
from support.carets import annotate, source
from support.fixture import CURSOR, files_of, open_fixture

Marks = dict[str, list[tuple[TextRange, str]]]


def check_references(fixture: str, *, include_declaration: bool = False) -> None:
    """The carets of the fixture are the references of what is named at the cursor."""
    opened = open_fixture(source(fixture))
    marks: Marks = {}
    for each in references(
        opened.snapshot, opened.file, opened.offset, include_declaration=include_declaration
    ):
        marks.setdefault(each.uri, []).append((each.range, ""))
    _compare(fixture, marks)


def check_highlights(fixture: str) -> None:
    opened = open_fixture(source(fixture))
    found = highlights(opened.snapshot, opened.file, opened.offset)
    marks = [(each.range, "declaration" if each.is_declaration else "") for each in found]
    _compare(fixture, {opened.file.uri: marks})


def _compare(fixture: str, marks: Marks) -> None:
    expected = {uri: text.replace(CURSOR, "") for uri, text in files_of(fixture).items()}
    texts = {uri: text.replace(CURSOR, "") for uri, text in files_of(source(fixture)).items()}
    shown = {uri: annotate(text, marks.get(uri, ())) for uri, text in texts.items()}
    assert shown == expected


def test_a_name_in_a_list_is_found_in_all_files() -> None:
    check_references("""
        --- a.toml
        sub_agents = ["b", "li<|>nt"]
                           ^^^^^^
        --- b.toml
        sub_agents = [
          'lint', # not "lint"
          ^^^^^^
          "linter",
        ]
        description = "lint"
        --- lint.toml
        name = "lint"
    """)


@pytest.mark.parametrize(
    "place", ["<|>name = 'x'", "na<|>me = 'x'", "name = <|>'x'", "name = 'x'<|>"]
)
def test_the_file_itself_is_asked_from_anywhere_in_its_name(place: str) -> None:
    check_references(f"""
        --- a.toml
        sub_agents = ["b"]
                      ^^^
        --- b.toml
        {place}
        model = "b"
    """)


def test_the_definition_is_included_if_that_is_wanted() -> None:
    check_references(
        """
        --- a.toml
        sub_agents = ["<|>b"]
                      ^^^
        --- b.toml
        # B
        name = "b"
               ^^^
        """,
        include_declaration=True,
    )


def test_a_file_without_a_name_is_defined_at_its_beginning() -> None:
    check_references(
        """
        --- a.toml
        sub_agents = ["<|>b"]
                      ^^^
        --- b.toml
        model = "x"
        ^
        """,
        include_declaration=True,
    )


def test_types_of_the_task_tool_are_references_too() -> None:
    check_references("""
        --- a.toml
        sub_agents = ["b<|>"]
                      ^^^
        [task]
        types = ["plan", "b"]
                         ^^^
        --- b.toml
        name = "b"
    """)


def test_an_agent_that_is_in_the_shade_is_not_meant() -> None:
    check_references("""
        --- a.toml
        sub_agents = ["b"]
        --- b.toml
        name = "b"
        --- /project/sub/axe/agents: c.toml
        sub_agents = ["b"]
                      ^^^
        --- /project/sub/axe/agents: b.toml
        name = "b<|>"
    """)


def test_an_agent_of_the_user_is_named_by_the_workspace() -> None:
    check_references("""
        --- a.toml
        sub_agents = ["b"]
                      ^^^
        --- user: b.toml
        name = "<|>b"
    """)


def test_a_name_that_no_file_defines_is_found_wherever_it_is_missed() -> None:
    check_references("""
        --- a.toml
        sub_agents = ["gone<|>"]
                      ^^^^^^
        --- b.toml
        sub_agents = ["gone"]
                      ^^^^^^
    """)


def test_a_built_in_type_hides_an_agent_in_task_types_only() -> None:
    check_references("""
        --- a.toml
        sub_agents = ["plan"]
        [task]
        types = ["pl<|>an"]
                 ^^^^^^
        --- b.toml
        task.types = ["plan"]
                      ^^^^^^
        --- plan.toml
        name = "plan"
    """)


INLINE_TYPE = """
    --- a.toml
    sub_agents = ["audit"]
    [task]
    types = ["code", "audit"]
                     ^^^^^^^
    [task.type.audit]
               ^^^^^
    tools = []
    --- b.toml
    task.types = ["audit"]
    --- audit.toml
    name = "audit"
"""


@pytest.mark.parametrize(
    "place", [('["code", "audit"]', '["code", "a<|>udit"]'), ("type.audit]", "type.audit<|>]")]
)
def test_an_inline_type_is_known_in_its_own_file_only(place: tuple[str, str]) -> None:
    check_references(INLINE_TYPE.replace(*place), include_declaration=True)


def test_an_inline_type_may_be_written_with_dotted_and_quoted_keys() -> None:
    check_references(
        """
        [task]
        types = ["a b"]
                 ^^^^^
        type."a b".tools = []
             ^^^^^
        type.'a<|> b'.prompt = ""
             ^^^^^
        [task.type."c"]
        """,
        include_declaration=True,
    )


def test_an_inline_type_may_be_written_as_an_inline_table() -> None:
    check_references(
        """
        task = { types = ["x<|>"], type = { x = { prompt = "x" } } }
                          ^^^
                                         ^
        """,
        include_declaration=True,
    )


@pytest.mark.parametrize(
    "text",
    [
        'description = "b<|>"',
        "# b<|>",
        "<|>",
        'model = "b<|>/c"',
        "[task.type<|>]",
        'sub_agents = "<|>b"',
    ],
)
def test_other_texts_name_nobody(text: str) -> None:
    opened = open_fixture(f"--- a.toml\n{text}\n--- b.toml\n")
    found = references(opened.snapshot, opened.file, opened.offset, include_declaration=True)
    assert found == []
    assert highlights(opened.snapshot, opened.file, opened.offset) == []


def test_an_agent_in_no_folder_of_agents_is_nobodys_reference() -> None:
    opened = open_fixture('--- ../loose/a.toml\nname = "a<|>"\n--- b.toml\nsub_agents = ["a"]\n')
    (found,) = references(opened.snapshot, opened.file, opened.offset, include_declaration=True)
    assert found.uri == opened.file.uri


def test_the_same_agent_is_highlighted_in_the_file() -> None:
    check_highlights("""
        --- a.toml
        name = "a"
               ^^^ declaration
        sub_agents = ["b", "<|>a"]
                           ^^^
        task.types = ["a"]
                      ^^^
        --- b.toml
        sub_agents = ["a"]
    """)


def test_only_the_file_that_is_open_is_highlighted() -> None:
    check_highlights("""
        --- a.toml
        sub_agents = ["b<|>", 'b']
                      ^^^
                           ^^^
        --- b.toml
        name = "b"
    """)
