"""Even space, and nothing else."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import spliced
from axe_lsp.features.formatting import formatting
from support.carets import dedented
from support.fixture import open_text


def formatted(text: str, indentation: str = "  ", width: int = 2) -> str:
    return spliced(text, formatting(open_text(text), indentation, width))


def check(text: str, expected: str) -> None:
    result = formatted(dedented(text))
    assert result == dedented(expected)
    assert formatted(result) == result


# -- statements


def test_space_around_the_equals_sign_and_none_around_the_rest() -> None:
    check(
        """
          name="parent"
        timeout   =30\x20\x20
        a . "b c" .d= 1
        [ sub_agents_config ]
            max_depth= 3
        """,
        """
        name = "parent"
        timeout = 30
        a."b c".d = 1

        [sub_agents_config]
        max_depth = 3
        """,
    )


def test_blank_lines_are_collapsed_and_none_are_left_at_the_ends() -> None:
    text = "\n \n\n# a\n\n\n\nname = 1\n\t\n\nmodel = 2\n\n[t]\n\n\nx = 1\n\n\n"
    assert formatted(text) == "# a\n\nname = 1\n\nmodel = 2\n\n[t]\n\nx = 1\n"


def test_a_table_has_a_blank_line_above_it_and_its_comments() -> None:
    check(
        """
        name = "x"
        # Sampling.
        # Low is dull.
        [params]
        temperature = 1
        [memory]
        enabled = true  # yes
        # nothing else

        # Tasks.
        [task]
        [task.type.test]
        [[mcp_servers]]
        """,
        """
        name = "x"

        # Sampling.
        # Low is dull.
        [params]
        temperature = 1

        [memory]
        enabled = true  # yes
        # nothing else

        # Tasks.
        [task]
        [task.type.test]
        [[mcp_servers]]
        """,
    )


def test_a_file_ends_with_one_line_end() -> None:
    assert formatted("a = 1") == "a = 1\n"
    assert formatted("a = 1\n\n \n") == "a = 1\n"
    assert formatted("# c") == "# c\n"
    assert formatted(" \n\n") == ""
    assert formatted("") == ""


# -- comments


def test_comments_of_neighbouring_lines_are_aligned() -> None:
    check(
        """
        name = "x"# who
        model = "ollama/m"      # by whom
        timeout = 30
        stream = true # now

        skill = "s"   # what
        # on its own
        workdir = "w"# where
        """,
        """
        name = "x"          # who
        model = "ollama/m"  # by whom
        timeout = 30
        stream = true  # now

        skill = "s"  # what
        # on its own
        workdir = "w"  # where
        """,
    )


def test_the_end_of_a_prompt_is_a_line_of_its_own() -> None:
    check(
        '''
        model = "ollama/m" # above
        system_prompt = """
        Be brief.""" # behind
        timeout = 30 # below
        ''',
        '''
        model = "ollama/m"  # above
        system_prompt = """
        Be brief."""  # behind
        timeout = 30  # below
        ''',
    )


def test_a_line_that_is_too_long_pushes_no_comments_away() -> None:
    long = f'description = "{"x" * 80}"'
    assert formatted(f"a = 1 # one\n{long} # two\nb = 2 # three\n") == (
        f"a = 1  # one\n{long}  # two\nb = 2  # three\n"
    )


def test_comments_keep_their_words_and_lose_blanks_at_the_end() -> None:
    assert formatted("  #no space  \n#:schema x.json \na = 1 #b\t\n") == (
        "#no space\n#:schema x.json\na = 1  #b\n"
    )


# -- arrays and inline tables


def test_one_space_after_commas() -> None:
    check(
        """
        a = [ 1,2 ,3 ]
        b = [ ]
        c = {a=1,b = [ 2 ]}
        d = { }
        e = [[1,2],[ ]]
        """,
        """
        a = [1, 2, 3]
        b = []
        c = { a = 1, b = [2] }
        d = {}
        e = [[1, 2], []]
        """,
    )


def test_an_array_that_fits_is_put_on_one_line_unless_a_comma_ends_it() -> None:
    check(
        """
        files = [
            "a",
            "b" ]
        tools = [
          "a", "b",
        ]
        """,
        """
        files = ["a", "b"]
        tools = [
          "a",
          "b",
        ]
        """,
    )


def test_a_long_array_has_a_line_for_each_element() -> None:
    names = [f'"agent-number-{number}"' for number in range(4)]
    line = f"sub_agents = [{', '.join(names)}]"
    assert len(line) == 85
    lines = "".join(f"  {name},\n" for name in names)
    assert formatted(line) == f"sub_agents = [\n{lines}]\n"
    fitting = line.replace("sub_agents", "files")
    assert len(fitting) == 80
    assert formatted(fitting) == f"{fitting}\n"


def test_long_arrays_in_arrays_break_from_the_outside() -> None:
    inner = ", ".join(f'"{"x" * 10}{number}"' for number in range(5))
    assert formatted(f"a = [[{inner}], [1]]") == f"a = [\n  [{inner}],\n  [1],\n]\n"


def test_comments_in_an_array_stay_beside_their_elements() -> None:
    check(
        """
        tools = [ # all of them
          # to look
          "read_file" # one
          , "grep",    # two

          # to act
          "bash" # three
          # or not
        ] # end
        """,
        """
        tools = [  # all of them
          # to look
          "read_file",  # one
          "grep",       # two

          # to act
          "bash",  # three
          # or not
        ]  # end
        """,
    )


def test_two_comments_behind_one_element() -> None:
    check(
        """
        tools = ["a" # one
                 , # two
                 # three
                 "b"]
        """,
        """
        tools = [
          "a",  # one
          # two
          # three
          "b",
        ]
        """,
    )


def test_an_array_of_nothing_but_a_comment() -> None:
    check("a = [ # none\n\n\n]", "a = [  # none\n]\n")
    check("a = [\n# none\n]", "a = [\n  # none\n]\n")


def test_an_inline_table_keeps_its_lines() -> None:
    """They are TOML 1.1, which not everybody reads yet: none are added."""
    long = f'm = {{ a = 1, b = "{"y" * 80}" }}\n'
    assert formatted(long) == long
    check(
        """
        memory = { enabled = true, # on
          path = "x" }
        one = { a = 1, }
        """,
        """
        memory = {
          enabled = true,  # on
          path = "x",
        }
        one = { a = 1 }
        """,
    )


def test_indentation_is_the_editors() -> None:
    assert formatted("a = [[1,],]", "\t", 4) == "a = [\n\t[\n\t\t1,\n\t],\n]\n"
    assert formatted("a = [1,]", "    ", 4) == "a = [\n    1,\n]\n"


# -- what is left alone


def test_strings_of_several_lines_and_the_order_stay() -> None:
    text = dedented('''
        system_prompt = """
           You   review.\x20\x20

        Be \\
            brief . """
        zeta = 0xdead_beef
        alpha = \'\'\'
         a=1 \'\'\'
    ''')
    assert formatted(text) == text


def test_arrays_that_hold_several_lines_break() -> None:
    check(
        """
        a = ['''
          x
        ''',1]
        """,
        """
        a = [
          '''
          x
        ''',
          1,
        ]
        """,
    )


def test_line_ends_are_kept() -> None:
    text = "a=1\r\n\r\n\r\nb = [1,]\r\n[t]"
    assert formatted(text) == "a = 1\r\n\r\nb = [\r\n  1,\r\n]\r\n\r\n[t]\r\n"


def test_a_byte_order_mark_is_kept() -> None:
    assert formatted("\ufeff\n\na=1\n") == "\ufeffa = 1\n"


@pytest.mark.parametrize(
    "text",
    ['name="x\nmodel  =  1\n', "a   = 1\na   = 2\n", "a   = [1\n", "[t\nb   = 1\n", "x   =\n"],
)
def test_a_file_with_syntax_errors_is_left_alone(text: str) -> None:
    assert formatted(text) == text


def test_values_that_are_nested_deep() -> None:
    result = formatted(f"a={'[' * 90}{']' * 90}")
    assert result.startswith("a = [\n  [\n    [\n")
    assert formatted(result) == result


def test_a_file_that_only_tomli_understands_is_left_alone() -> None:
    nested = "[\n" * 150 + "]\n" * 150
    assert formatted(f"a  =  {nested}") == f"a  =  {nested}"


# -- how it is changed


def changes(text: str, within: TextRange | None = None) -> list[tuple[str, str]]:
    """Return what is replaced by what."""
    found = formatting(open_text(text), "  ", 2, within)
    return [(where.of(text), new) for where, new in found]


def test_only_what_is_wrong_is_changed() -> None:
    assert changes('a = 1\nb=2\n\n\n\n\nc = [1,2]  \nd = "x"\n') == [
        ("=", " = "),
        ("\n\n\n", ""),
        ("", " "),
        ("  ", ""),
    ]
    assert changes('name = "x"\n') == []


def test_carriage_returns_are_not_torn_from_their_line_feeds() -> None:
    assert changes("a = 1 \r\n\r\n\r\nb = 2\r\n") == [(" \r\n", "")]
    assert changes("a = 1 \r\nb = 2\r\n") == [(" ", "")]


TEXT = "a=1\nb = [ 1,\n2,3, ]\n\n\n\nc=3   # three\n[t]\nd=4\n"


def formatted_part(start: str, end: str) -> str:
    within = TextRange(TEXT.index(start), TEXT.index(end) + len(end))
    return spliced(TEXT, formatting(open_text(TEXT), "  ", 2, within))


def test_a_part_is_formatted_by_whole_statements() -> None:
    assert formatted_part("2", "2") == (
        "a=1\nb = [\n  1,\n  2,\n  3,\n]\n\n\n\nc=3   # three\n[t]\nd=4\n"
    )
    assert formatted_part("3   ", "t") == "a=1\nb = [ 1,\n2,3, ]\n\n\n\nc = 3  # three\n[t]\nd=4\n"


def test_the_end_of_a_selection_of_lines_does_not_count() -> None:
    assert formatted_part("a=1\n", "a=1\n") == TEXT.replace("a=1", "a = 1")
    assert formatted_part("[t]\n", "[t]\n") == TEXT.replace("[t]", "\n[t]")


def test_blank_lines_in_a_part() -> None:
    assert formatted_part("\n\n\nc", "c") == TEXT.replace("\n\n\n\nc=3   #", "\n\nc = 3  #")
