"""Options are read as axe reads them."""

from __future__ import annotations

import pytest

from axe_lsp.cli.arguments import USAGE_ERROR, Parser


def parser() -> Parser:
    made = Parser(prog="p")
    made.add_argument("agent", nargs="?")
    made.add_argument("-p", "--prompt")
    made.add_argument("-v", "--verbose", action="store_true")
    made.add_argument("--json", action="store_true")
    return made


@pytest.mark.parametrize("value", ["-x", "--json", "-", "=", "a=b", "", "- two words"])
@pytest.mark.parametrize("option", ["-p", "--prompt"])
def test_an_option_takes_the_next_word_whatever_it_begins_with(option: str, value: str) -> None:
    for words in ([option, value, "solo"], ["solo", f"{option}={value}"]):
        options = parser().parse_args(words)
        assert (options.agent, options.prompt, options.json) == ("solo", value, False)


@pytest.mark.parametrize("option", ["-v", "--verbose"])
@pytest.mark.parametrize(
    ("value", "meant"), [("true", True), ("1", True), ("false", False), ("F", False)]
)
def test_a_switch_may_be_true_or_false(option: str, value: str, meant: bool) -> None:
    options = parser().parse_args([f"{option}={value}", "--json"])
    assert (options.verbose, options.json) == (meant, True)


def test_switch_with_another_value_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parser().parse_args(["--json=maybe"])
    assert end.value.code == USAGE_ERROR
    assert "argument --json: 'maybe' is neither true nor false" in capsys.readouterr().err


def test_after_two_dashes_nothing_is_an_option() -> None:
    options = parser().parse_args(["-p", "a", "--", "--json"])
    assert (options.agent, options.prompt, options.json) == ("--json", "a", False)


def test_option_without_its_value_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["solo", "-p"])
    assert "argument -p/--prompt: expected one argument" in capsys.readouterr().err
