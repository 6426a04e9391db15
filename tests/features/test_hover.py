"""What is explained, and where."""

from __future__ import annotations

import pytest

from axe_lsp.features.hover import hover
from support.fixture import open_fixture
from support.secrets import ANTHROPIC_KEY


def hovered(fixture: str, *, complete: bool = True) -> tuple[str, str] | None:
    """Return the text that the explanation belongs to, and the explanation."""
    opened = open_fixture(fixture, complete=complete)
    found = hover(opened.snapshot, opened.file, opened.offset)
    return (found.range.of(opened.text), found.markdown) if found is not None else None


def markdown(fixture: str) -> str:
    found = hovered(fixture)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "text",
    [
        "[sub_agents_config]\nmax_<|>depth = 3",
        "sub_agents_config.max_<|>depth = 3",
        "sub_agents_config = { max_<|>depth = 3 }",
    ],
)
def test_a_key_however_it_is_written(text: str) -> None:
    found = hovered(text)
    assert found is not None
    assert found[0] == "max_depth"
    assert found[1].startswith("**`sub_agents_config.max_depth`** · integer")
    assert "Default: `3`. From 0 to 5." in found[1]


@pytest.mark.parametrize(
    "text",
    [
        "[input]\nrequired = ['path']\n[input.properties.pa<|>th]\ntype = 'string'\ndescription = 'A file.'",
        "[input]\nrequired = ['path']\n[input.properties]\n"
        "pa<|>th = { type = 'string', description = 'A file.' }",
        "[input]\nrequired = ['path']\nproperties = { pa<|>th = { type = 'string', description = 'A file.' } }",
    ],
)
def test_a_member_of_a_schema_however_it_is_written(text: str) -> None:
    assert markdown(text) == "**`input.properties.path`** · string, required\n\nA file."


def test_a_word_that_stands_for_a_table_is_explained_as_the_key_that_it_sets() -> None:
    found = hovered('params.response_format = "te<|>xt"')
    assert found is not None
    assert found[0] == '"text"'
    assert found[1].startswith("**`params.response_format.type`** · string")
    assert 'In force: `"text"` · this file' in found[1]


def test_members_of_members_and_those_without_a_word_about_them() -> None:
    inner = "[output.properties.a.items.properties.b<|>]\n"
    assert markdown(inner) == "**`output.properties.a.items.properties.b`** · optional"
    assert hovered("[input.properties.pa<|>th.unknown]\n") is not None
    assert hovered("[input.properties.path.un<|>known]\n") is None
    assert "members of an object" in markdown("[input.proper<|>ties.path]\n")


def test_a_number_explains_its_key() -> None:
    assert markdown("[sub_agents_config]\nmax_depth = <|>3").startswith(
        "**`sub_agents_config.max_depth`**"
    )


def test_a_header() -> None:
    assert markdown("[sub_ag<|>ents_config]").startswith("**`sub_agents_config`** · table")


def test_extensions_say_that_axe_ignores_them() -> None:
    assert "axe loads the file and ignores this key" in markdown('[isolation]\nmo<|>de = "inline"')


@pytest.mark.req("002-31")
def test_a_typed_agent_shows_what_it_is_called_with() -> None:
    card = markdown("""
        --- parent.toml
        sub_agents = ["re<|>ad"]
        --- read.toml
        output = { properties = { found = { type = ["boolean", "null"] } } }
        [input]
        required = ["path"]
        properties.path = { type = "string", description = "A file." }
        [input.properties.depth]
        minimum = 1
    """)
    assert "- input:\n  - `path` string: A file.\n  - `depth`, optional\n" in card
    assert "- output:\n  - `found` boolean or null, optional\n" in card


def test_of_many_members_some_are_named() -> None:
    many = ", ".join(f"p{number} = true" for number in range(20))
    card = markdown(f"""
        --- parent.toml
        sub_agents = ["re<|>ad"]
        --- read.toml
        input.properties = {{ {many} }}
    """)
    assert card.count("optional") == 8
    assert "  - and 12 more" in card


def test_an_agent_shows_its_card() -> None:
    found = hovered("""
        --- parent.toml
        sub_agents = ["li<|>nt"]
        --- user: lint.toml
        model = "openai/gpt-5"
        description = "Checks style"
        sub_agents = ["fix"]
    """)
    assert found is not None
    assert found[0] == '"lint"'
    assert found[1] == (
        "**lint** · agent of the user\n\nChecks style\n\n"
        "- model: `openai/gpt-5`\n- may call: `fix`\n- called by: `parent`\n- ⚠ has errors: calling it will fail"
    )


def test_the_name_of_an_agent_shows_who_calls_it() -> None:
    callers = "".join(f'--- a{number}.toml\nsub_agents = ["main"]\n' for number in range(10))
    found = markdown(f'--- main.toml\nname = "ma<|>in"\n{callers}')
    assert found.startswith("**main** · agent of this workspace\n")
    assert "- called by: `a0`, `a1`, `a2`, `a3`, `a4`, `a5`, `a6`, `a7` and 2 more" in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[memory]\nlast<|>_n = 7", "In force: `7` · this file"),
        ("time<|>out = 0", "In force: `0` · this file"),
        (
            "[retry]\nmax_de<|>lay_ms = 0",
            "In force: `30000` · default, for which 0 stands",
        ),
        ('descrip<|>tion = "a  `b`\\n"', "In force: `\"a 'b'\\n\"` · this file"),
        ("[sub_agents_config]\nmax_<|>depth = ", None),
        ("[sub_agents_config]\nmax_<|>depth = 1x", None),
        ("[params]\ntemp<|>erature = 0", "In force: `0` · this file"),
    ],
)
def test_a_key_says_what_is_in_force(text: str, expected: str | None) -> None:
    found = [line for line in markdown(text).splitlines() if line.startswith("In force")]
    assert found == ([expected] if expected else [])


@pytest.mark.req("004-2", "004-3")
def test_a_built_in_type_shows_its_card() -> None:
    for text in ('type = "expl<|>ore"', '[task]\ntypes = ["expl<|>ore"]'):
        assert markdown(text) == (
            "**explore** · built-in type\n\nRead-only for searching and analyzing\n\n"
            "- tools: `run_command`, `read_file`\n- can't change the workspace\n\n"
            "> Search and analyze. Never modify. Return concise summary."
        )


def test_a_type_of_the_file_wins_over_a_built_in_one() -> None:
    text = '[task]\ntypes = ["expl<|>ore"]\n[task.type.explore]\nprompt = "x"'
    card = "**explore** · type of this file, `[task.type.explore]`"
    assert markdown(text) == card
    assert markdown(text + '\ndescription = "Looks"') == f"{card}\n\nLooks"


def test_a_table_says_what_is_in_force_in_it() -> None:
    assert markdown("[sub_agents<|>_config]\ntimeout = 30\nmax_concurrent = 2").endswith(
        "In force:\n\n- `max_depth = 3` · default\n- `timeout = 30` · this file\n"
        "- `parallel = true` · default\n- `max_concurrent = 2` · this file"
    )


def test_a_key_of_somebody_is_not_shown_in_a_hover() -> None:
    found = markdown(f'descrip<|>tion = "{ANTHROPIC_KEY}"')
    assert ANTHROPIC_KEY[20:30] not in found


def test_a_missing_agent_shows_where_it_was_looked_for() -> None:
    assert markdown('sub_agents = ["li<|>nt"]') == (
        "No agent file defines `lint`. Looked in:\n\n"
        "- `file:///home/user/.config/axe/agents`\n- `file:///project/axe/agents`"
    )


def test_agents_are_not_looked_for_beside_a_file_that_lies_in_no_agents_folder() -> None:
    opened = open_fixture('--- ../main.toml\nsub_agents = ["li<|>nt"]')
    found = hover(opened.snapshot, opened.file, opened.offset)
    assert found is not None
    assert found.markdown.endswith("Looked in:\n\n- `file:///home/user/.config/axe/agents`")


def test_nothing_is_said_about_missing_agents_before_the_folders_are_read() -> None:
    assert hovered('sub_agents = ["li<|>nt"]', complete=False) is None


def test_tools_and_their_aliases() -> None:
    assert markdown('tools = ["ba<|>sh"]').startswith("**`run_command`** · tool")


@pytest.mark.parametrize(
    "text",
    [
        "# na<|>me",
        'system_prompt = "na<|>me"',
        "foo<|> = 1",
        "\n<|>\n",
        'name = <|>"x',
        "timeout <|>= 30",
        "timeout =<|> 30",
    ],
)
def test_where_there_is_nothing_to_say(text: str) -> None:
    assert hovered(text) is None


def test_a_known_model_shows_its_figures_and_when_they_were_read() -> None:
    text = markdown('model = "openai/gpt-<|>5"')
    assert "context window: 400,000 tokens" in text
    assert "$1.25 in, $10 out" in text
    assert "switches it off on 2026-12-11" in text
    assert "As read on" in text


def test_an_unknown_model_shows_the_key() -> None:
    assert markdown('model = "openai/gpt-<|>999"').startswith("**`model`** · string")


def test_keywords_of_a_schema_are_explained() -> None:
    assert "members that must be there" in markdown("[input]\nrequi<|>red = []")
    named = markdown("[input.properties]\nrequi<|>red = {}")
    assert "members that must be there" not in named, "a name is no keyword"
