"""`axe-lsp help TOPIC`: a page in the pager of the person, or printed."""

from __future__ import annotations

import pytest

from support.command_line import COMMAND, Home
from support.terminal import Terminal

pytestmark = pytest.mark.process


def on_terminal(home: Home, *arguments: str, **variables: str) -> Terminal:
    """Return a terminal of 40 rows with a help page, also as standard input."""
    line = " ".join([*COMMAND, "help", *arguments])
    shell = ["/bin/sh", "-c", f"exec {line} </dev/tty"]
    return Terminal(shell, {**home.environment, **variables}, home.work)


def test_long_page_goes_to_pager(home: Home) -> None:
    pager = home.work / "my pager"
    pager.write_text("#!/bin/sh\necho paged; head -c 12; exit 3\n")
    pager.chmod(0o755)

    with on_terminal(home, "delegation", PAGER=f"'{pager}'") as terminal:
        code, rows = terminal.end()

    assert (code, rows[0]) == (0, "paged")
    assert len(rows) == 2, "a pager that ends early ends the command"


def test_short_page_and_pipe_have_no_pager(home: Home) -> None:
    with on_terminal(home, PAGER="false", TERM="dumb") as terminal:
        assert any(row.startswith("delegation ") for row in terminal.end()[1])
    home.environment["PAGER"] = "false"
    assert home.call("help", "delegation")[1].startswith("# ")


@pytest.mark.parametrize(
    "variables", [{"PAGER": "/no/such/program"}, {"PAGER": ""}, {"TERM": "dumb"}]
)
def test_page_is_printed_without_pager(home: Home, variables: dict[str, str]) -> None:
    with on_terminal(home, "delegation", **variables) as terminal:
        code, rows = terminal.end()

    assert code == 0
    assert len(rows) > 30


def test_ctrl_c_is_left_to_pager(home: Home) -> None:
    pager = home.work / "pager"
    pager.write_text("#!/bin/sh\ntrap 'echo caught; exit' INT\necho ready\nread line < /dev/tty\n")
    pager.chmod(0o755)

    with on_terminal(home, "delegation", PAGER=str(pager)) as terminal:
        terminal.shows(lambda rows: rows == ["ready"])
        terminal.type(b"\x03")
        code, rows = terminal.end()

    assert code == 0
    assert rows[-1].endswith("caught")
