"""TOML strings hold any text exactly."""

from __future__ import annotations

import pytest
import tomli
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.convert.output_file import toml_string

ANY_TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\"'\\\n\r\t#"))
)


@given(ANY_TEXT)
@example("'''\n")
@example('"""\n')
@example("'''\n\"\"\"\n\\")
@example('\n"')
@example("\n'")
@example('a\n""')
@example('a\n""""""')
@example("a\r\nb\r\n")
@example("\n\n")
def test_any_text_is_read_back(text: str) -> None:
    assert tomli.loads(f"a = {toml_string(text)}") == {"a": text}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("one line", '"one line"'),
        ("two\nlines\n", '"""\ntwo\nlines\n"""'),
        ("a \\d\nb", "'''\na \\d\nb'''"),
        ('say """hi"""\n', "'''\nsay \"\"\"hi\"\"\"\n'''"),
        ("'''\n\\", '"""\n\'\'\'\n\\\\"""'),
    ],
)
def test_the_form_is_the_one_that_is_easiest_to_read(text: str, written: str) -> None:
    assert toml_string(text) == written
