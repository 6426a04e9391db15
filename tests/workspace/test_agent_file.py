"""What is known of one agent file."""

from __future__ import annotations

import pytest

from support.fixture import open_text


@pytest.mark.req("004-2")
def test_what_a_type_fills_in_counts_as_the_files_own() -> None:
    file = open_text('type = "explore"')
    assert file.description == "Read-only for searching and analyzing"
    assert file.tools == ("run_command", "read_file")


def test_what_the_file_says_itself_comes_first_also_half_typed() -> None:
    file = open_text('type = "code"\ndescription = "Mine"\ntools = ["grep", ')
    assert (file.description, file.tools) == ("Mine", ("grep",))
    assert open_text('type = "code"\ntools = []\ndescription =').tools == ()
    assert open_text("type = 3\ntools = 4").tools == ()
