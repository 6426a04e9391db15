"""The tolerant tree: half a file gives half the answers, and one mistake one message."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
import tomli
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.text import toml
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.toml import MAX_NESTING, parse_tree
from axe_lsp.agentfile.text.tree import ValueKind, walk
from axe_lsp.agentfile.text.values import decode
from support.carets import annotate, dedented, source

CORPUS = json.loads((Path(__file__).parent / "toml_test_corpus.json").read_text("utf-8"))["files"]


def check_syntax(fixture: str) -> Parse:
    parse = Parse(source(fixture))
    marks = [(problem.range, problem.message) for problem in parse.problems]
    assert annotate(parse.text, marks) == dedented(fixture)
    return parse


def keys(text: str) -> dict[str, object]:
    """Return every key with its value, or None where there is no finished one."""
    document, _ = parse_tree(text)
    found = {}
    for item in walk(document):
        value = item.entry.value
        found[".".join(item.path)] = decode(text, value) if value is not None else None
    return found


# -- half-typed lines: at most one message, where the mistake is, and what follows keeps its keys

LATER = """
[sub_agents_config]
max_depth = 4
[params]
temperature = 1
"""
HALF_TYPED = {
    "a string in an array": 'sub_agents = ["a", "',
    "an array": 'sub_agents = ["a", ',
    "a header": "[sub_agents_",
    "an array of tables": "[[",
    "a value": "max_depth = ",
    "a bare word": "max_de",
    "a dotted key": "sub_agents_config.",
    "a string": 'skill = "skills/rev',
    "a literal string": "skill = 'skills/rev",
    "a multi-line string": 'system_prompt = """\nYou are a reviewer.\nUse x = y, be brief.',
    "an inline table": "memory = { enabled = ",
    "an inline table after a comma": "memory = { enabled = true,",
    "two equals signs": 'skill = = "x"',
    "a word without quotes": "skill = review",
    "a stray bracket": 'files = ["a"]]',
    "values without a comma": 'files = ["a" "b"]',
    "a lone quote": '"',
    "a lone comma": "files = [,",
    "garbage": "?!",
}


@pytest.mark.parametrize("line", HALF_TYPED.values(), ids=HALF_TYPED.keys())
@pytest.mark.parametrize("before", ["", 'name = "x"\n'], ids=["first", "second"])
def test_a_half_typed_line_is_one_problem_and_later_tables_keep_their_keys(
    line: str, before: str
) -> None:
    text = before + line + LATER
    parse = Parse(text)
    (problem,) = parse.problems
    first = parse.lines.line_at(len(before))
    last = parse.lines.line_at(len(before) + len(line))
    assert first <= parse.lines.line_at(problem.range.start) <= last
    found = keys(text)
    assert found["sub_agents_config.max_depth"] == 4
    assert found["params.temperature"] == 1
    if before:
        assert found["name"] == "x"


@pytest.mark.parametrize("line", HALF_TYPED.values(), ids=HALF_TYPED.keys())
def test_the_same_line_at_the_end_of_the_file_is_one_problem(line: str) -> None:
    assert len(Parse("[params]\n" + line).problems) == 1


def test_an_unclosed_array_ends_before_the_next_key() -> None:
    check_syntax("""
        sub_agents = ["a"
                        ^ the array is not closed: expected `]`
        files = ["x"]
    """)


def test_an_unclosed_inline_table_ends_before_the_next_key() -> None:
    parse = check_syntax("""
        memory = { enabled = true
                                ^ the inline table is not closed: expected `}`
        timeout = 5
    """)
    assert keys(parse.text)["timeout"] == 5


def test_text_of_several_lines_in_a_string_of_one_is_one_problem() -> None:
    parse = check_syntax("""
        system_prompt = "You are a reviewer.
                        ^^^^^^^^^^^^^^^^^^^^ the string is not closed in its line: \
expected `"` (text of several lines must be between `\"\"\"`)
        Be brief: say what is wrong.

        # Rules
        - Don't guess. Use [lint], x = y.
        That is all."
        description = "x"
    """)
    assert keys(parse.text)["description"] == "x"


def test_text_of_several_lines_without_an_end_ends_before_the_next_statement() -> None:
    for line in ("timeout = ", "[params]", "[sub_agents_", "files = [", "memory.enabled = true"):
        text = f"system_prompt = 'You are a reviewer.\nBe brief.\n\n{line}\n"
        document, (problem, *_) = parse_tree(text)
        assert "several lines" in problem.message
        assert document.tables[0].entries[0].range.of(text).endswith("brief.")


def test_half_typed_string_ends_at_its_line() -> None:
    for line in ("# two words", "timeout = 5 # two words", "half", "[", "x = "):
        text = f'skill = "skills/rev\n{line}\n'
        assert parse_tree(text)[0].tables[0].entries[0].range.of(text) == 'skill = "skills/rev'


def test_an_unclosed_prompt_ends_before_the_line_break_of_its_last_line() -> None:
    text = 'a = """\r\nprose\r\nname = "x"\r\n'
    (prompt, _) = walk(parse_tree(text)[0])
    assert prompt.entry.range.of(text) == 'a = """\r\nprose'


def test_an_unclosed_prompt_ends_before_the_next_statement() -> None:
    parse = check_syntax('''
        system_prompt = """
                        ^^^ the string is not closed: expected `"""`
        You are a reviewer. Say x = 5 if you must.
        model = "openai/gpt"
    ''')
    assert keys(parse.text)["model"] == "openai/gpt"


def test_an_unclosed_prompt_does_not_swallow_the_next_multi_line_string() -> None:
    parse = check_syntax('''
        system_prompt = """
                        ^^^ the string is not closed: expected `"""`
        Be brief.
        [params]
        description = """
        text
        """
        max_tokens = 5
    ''')
    assert keys(parse.text)["params.max_tokens"] == 5


def test_an_unclosed_prompt_does_not_end_where_the_next_string_begins() -> None:
    parse = check_syntax('''
        system_prompt = """
                        ^^^ the string is not closed: expected `"""`
        Be brief.
        description = """text"""
    ''')
    assert keys(parse.text)["description"] == "text"


def test_lines_of_nested_arrays_are_no_headers() -> None:
    for line in ("[true]", "[inf]", "[1.5]", '["a"]', "[[true]]"):
        assert parse_tree(f"x = [\n{line}\n]\n")[1] == ()


def test_a_string_may_end_in_what_looks_like_an_opening() -> None:
    text = 'a = """\nb = """\nc = 1\n'
    assert Parse(text).problems == ()
    assert keys(text) == {"a": "b = ", "c": 1}


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a=", "}"), ("[{a=", "}]")])
def test_values_that_are_nested_very_deep_are_reported_not_followed(
    opening: str, closing: str
) -> None:
    deep = opening * (MAX_NESTING + 50)
    assert len(Parse(f"a = {deep}\nb = 1").problems) == 1
    assert len(Parse("a = " + opening * 5000 + closing * 5000).problems) == 1


def test_blanks_in_a_half_typed_header_take_linear_time() -> None:
    # Quadratic would be minutes.
    assert list(keys("files = [\n[a." + " " * 200_000)) == ["files"]


# -- what only tomli can tell, at the right place


def test_repeated_keys_and_tables_are_reported_where_they_are_repeated() -> None:
    check_syntax("""
        name = "a"
        name = "b"
        ^^^^ the key `name` is already set above
    """)
    check_syntax("""
        [params]
        temperature = 1
        [params]
         ^^^^^^ the table `params` is already defined above
    """)


def test_clashing_definitions_are_reported_at_the_later_one() -> None:
    check_syntax("""
        name = "a"
        name.first = "b"
        ^^^^^^^^^^ `name` already has a value above, so it can't be a table
    """)


def test_keys_that_are_repeated_in_an_inline_table_are_reported_there() -> None:
    check_syntax("""
        memory = { enabled = true, enabled = false }
                                   ^^^^^^^ the key `enabled` is already set above
    """)
    check_syntax("""
        servers = [{ name = "a" }, { x.y = 1, x.y.z = 2 }]
                                              ^^^^^ `x.y` already has a value above, so it can't be a table
    """)


def test_control_character_in_a_comment_is_one_problem() -> None:
    text = "a = [ # \x00\n]\n"
    (problem,) = Parse(text).problems
    assert problem.range.of(text) == "\x00"


def test_numbers_of_thousands_of_digits_are_reported_where_they_are() -> None:
    digits = "1" * 5000
    for text in (f"name = 'x'\r\n[params]\r\nmax_tokens = {digits}\r\n", f"a = [1, {digits}]"):
        (problem,) = Parse(text).problems
        assert problem.range.of(text) == digits
        assert problem.message == f"`{digits[:40]}` is not a valid integer"


def test_impossible_values_are_reported_as_a_whole() -> None:
    check_syntax("""
        a = 01
            ^^ `01` is not a valid integer
    """)
    check_syntax("""
        day = 2026-13-01
              ^^^^^^^^^^ `2026-13-01` is not a valid date or time
    """)


def test_wrong_escapes_are_reported_at_the_escape() -> None:
    check_syntax(r"""
        skill = "c:\skills"
                   ^^ `\s` is not an escape (write `\\` for a backslash)
    """)


def test_positions_hold_after_crlf_a_byte_order_mark_and_astral_characters() -> None:
    text = "\ufeff" + "\r\n" * 30 + 'name = "😀"\r\nx = "é\u2028"\r\nx = 2\r\n'
    (problem,) = Parse(text).problems
    assert problem.range.of(text) == "x"
    assert problem.range.start == text.rindex("x")


# -- agreement with tomli


def corpus_texts() -> list[tuple[str, str]]:
    texts = []
    for name, encoded in CORPUS.items():
        try:
            texts.append((name, base64.b64decode(encoded).decode("utf-8")))
        except UnicodeDecodeError:
            continue  # Not text; what reads files deals with it.
    return texts


def is_valid(text: str) -> bool:
    try:
        tomli.loads(text.removeprefix("\ufeff"))
    except tomli.TOMLDecodeError:
        return False
    return True


def test_corpus_is_judged_as_by_tomli() -> None:
    texts = corpus_texts()
    assert len(texts) > 700
    for name, text in texts:
        assert (Parse(text).problems == ()) == is_valid(text), name


def test_the_tree_finds_no_fault_in_any_valid_file_of_the_corpus() -> None:
    for name, text in corpus_texts():
        if is_valid(text):
            assert parse_tree(text)[1] == (), name


def check_agrees_with_tomli(text: str) -> None:
    """Every node of a valid file means what tomli reads at that place."""
    document, _ = parse_tree(text)
    for item in walk(document):
        value = item.entry.value
        assert value is not None
        token = value.range.of(text)
        expected = tomli.loads(f"value = {token}")["value"]
        if value.kind is ValueKind.INLINE_TABLE:
            continue
        assert repr(decode(text, value)) == repr(expected)
        kinds = {str: "string", int: "integer", float: "float", bool: "boolean", list: "array"}
        assert value.kind.value == kinds.get(type(expected), "date or time")


def test_nodes_of_the_corpus_mean_what_tomli_reads() -> None:
    for _, text in corpus_texts():
        if is_valid(text):
            check_agrees_with_tomli(text)


def paths(values: object, prefix: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if isinstance(values, dict) and values:
        return set().union(*(paths(value, (*prefix, key)) for key, value in values.items()))
    if isinstance(values, list) and any(isinstance(value, dict) for value in values):
        return set().union(*(paths(value, prefix) for value in values))
    return {prefix} if prefix else set()


def test_every_key_that_tomli_finds_is_in_the_tree() -> None:
    for name, text in corpus_texts():
        if is_valid(text):
            document, _ = parse_tree(text)
            written = {item.path for item in walk(document)} | {t.path for t in document.tables}
            missing = paths(tomli.loads(text.removeprefix("\ufeff"))) - written
            assert not missing, name


PUNCTUATION = ['"""', "'''", '"', "'", "[", "]", "[[", "]]", "{", "}", "=", ",", ".", "#", "\\"]
WORDS = ["a", "key", "true", "1", "2026-01-01", "é", "😀", "\u2028", "\x00", "\ufeff", " "]
LINES = ["\n", "\r\n", "name = ", 'model = "a/b"\n', "[params]\n", 'x = """\n', "max_depth = 3\n"]
PIECES = st.sampled_from([*PUNCTUATION, *WORDS, *LINES])


@given(st.lists(PIECES, max_size=30).map("".join))
@example('a = """\nb = """')
def test_no_text_makes_it_raise_and_ranges_stay_inside_the_text(text: str) -> None:
    parse = Parse(text)
    assert (parse.problems == ()) == is_valid(text)
    ranges = [problem.range for problem in parse.problems]
    ranges += [item.entry.range for item in walk(parse.document)]
    ranges += [table.range for table in parse.document.tables]
    for start, end in ranges:
        assert 0 <= start <= end <= len(text)


MEMBERS = st.sampled_from(
    [
        "a = 1",
        "b-1='x'",
        ' c\t= "\\\\"',
        "d = true ",
        "e = 1.5",
        "f = 007",
        "g = [1]",
        "h = {i = 1}",
        "",
        "#",
        "j.k = 1",
        '"l" = 1',
        "m = 1979-05-27",
        "n = +1",
        "o =",
        "p = 1_0",
        "q = truely",
        "r",
        "s = 1 2",
    ]
)


@given(st.lists(st.tuples(MEMBERS, st.sampled_from([",", ", ", "\n", ""])), max_size=8))
def test_fast_path_reads_inline_tables_as_the_general_one(
    members: list[tuple[str, str]],
) -> None:
    text = f"t = {{{''.join(f'{member}{end}' for member, end in members)}}}\nx = 1\n"
    short = parse_tree(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toml, "_PLAIN_MEMBER", re.compile(r"(?!)"))
        assert parse_tree(text) == short


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(['"""', "'''"]))
@example("a backslash \\q", '"""')
@example("a backslash \\q", "'''")
@example("a control character \x7f", '"""')
@example('quotes at the end""', '"""')
def test_any_prompt_is_judged_as_by_tomli(prompt: str, quotes: str) -> None:
    text = f'name = "x"\nsystem_prompt = {quotes}\n{prompt}{quotes}\n[params]\ntemperature = 0.2\n'
    parse = Parse(text)
    assert (parse.problems == ()) == is_valid(text)
    assert parse.values == (tomli.loads(text) if is_valid(text) else None)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_tables_cover_the_text_without_gap_or_overlap(text: str) -> None:
    document, _ = parse_tree(text)
    assert "".join(table.range.of(text) for table in document.tables) == text
