"""Command-line arguments as all subcommands read them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NoReturn

from axe_lsp.runtime.plain_text import shown_path, visible

USAGE_ERROR = 1
"""Exit code for arguments that make no sense, as in axe (2 is for configuration)."""

_JSON_FULL = "--json-full"
"""What argparse, in which a switch has no value, knows `--json=full` as."""

_LARGEST = 2**63 - 1
_MOST_PORTS = 65535


def _whole_number(text: str, unit: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {unit} from 0")
    digits = text.lstrip("0")
    if len(digits) > len(str(_LARGEST)) or int(digits or "0") > _LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is too large: integers have 64 bits")
    return int(digits or "0")


# Types of arguments, as the functions below.
seconds = partial(_whole_number, unit="seconds")
tokens = partial(_whole_number, unit="tokens")
days = partial(_whole_number, unit="days")
runs = partial(_whole_number, unit="runs")


def dollars(text: str) -> float:
    """Return an amount of US dollars; as the type of an argument."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an amount of dollars from 0, such as 0.50"
        )
    return float(text)


def turn(text: str) -> int:
    """Return the number of a turn; as the type of an argument."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _LARGEST):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the number of a turn, which are 1, 2, ..."
        )
    return int(text)


def port(text: str) -> int:
    """Return a port of this machine, 0 for any that is free. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and int(text) <= _MOST_PORTS):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a port, a number from 0 to {_MOST_PORTS}"
        )
    return int(text)


def agents_folder(given: str | None) -> Path | None:
    """Return the folder that is searched first. One that isn't there is passed over, as in axe, but not in silence."""
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        place = shown_path(folder)
        print(
            f"Warning: there is no folder {place} (--agents-dir); it is ignored",
            file=sys.stderr,
        )
    return folder


def add_agent(parser: Parser) -> None:
    """Add the agent of a run, where it is looked for, and its model."""
    add = parser.add_argument
    add("agent", help="agent name (file name without `.toml`), or path of an agent file")
    add("--model", metavar="PROVIDER/NAME", default="", help="replaces the agent's model")
    add("--agents-dir", metavar="DIR", help="search this folder for agents first")


def allow_rule(text: str) -> str:
    """Return a rule of `--allow`. Raises ArgumentTypeError for one that has no effect; warns of one that allows much."""
    # Imported late, as only some runs have rules.
    from axe_lsp.runtime.safety.allowances import rule_fault, rule_warning

    if not text.strip():
        raise argparse.ArgumentTypeError("a rule is missing, such as 'run_command(pytest *)'")
    if fault := rule_fault(text):
        raise argparse.ArgumentTypeError(f"{visible(text)!r} {fault}")
    if warning := rule_warning(text):
        from axe_lsp.cli.streams import print_message

        print_message(f"Warning: {visible(text)!r} {warning}")
    return text


def add_allow(parser: Parser) -> None:
    """Add the rules for tool calls that need no approval."""
    parser.add_argument(
        "--allow",
        metavar="RULE",
        action="append",
        default=[],
        type=allow_rule,
        help="allow tool calls without asking, such as 'run_command(pytest *)' or 'write_file(docs/**)'; "
        "may be repeated (`[tools] allow` in config.toml is for all runs)",
    )


FULL = "full"
"""The value of `--json=full`."""


def add_json(parser: Parser, help_: str) -> None:
    """Add `--json`, and `--json=full` for the result with all keys."""
    parser.add_argument(
        "--json", action="store_true", help=f"{help_}; `--json=full`: with all keys"
    )
    parser.add_argument(
        _JSON_FULL, dest="json", action="store_const", const=FULL, help=argparse.SUPPRESS
    )


def add_permissions(parser: Parser, *, go_on: str) -> None:
    """Add what a run may do unasked, and what it tells.

    `go_on` is the command that goes on with a run that has stopped, "" if that needs none.
    """
    parser.set_defaults(
        no_history=False, record=None, replay=None, json=False, on="", go_on=go_on, plain=False
    )
    add = parser.add_argument
    add(
        "--yes",
        action="store_true",
        help="let tools run commands and change files, except in protected places, without asking",
    )
    add_allow(parser)
    add(
        "--trust",
        action="store_true",
        help="allow the agents of this workspace to reach outside it in this run, as `axe-lsp trust` shows",
    )
    add("-v", "--verbose", action="store_true", help="print the progress on standard error")


class Parser(argparse.ArgumentParser):
    """A parser that knows no abbreviations and says in one line what is wrong.

    It reads options as axe does: one that takes a value takes the next word, even if that begins with
    `-`, and a switch may be `=true` or `=false`.
    """

    usage_error = USAGE_ERROR
    """The exit code for arguments that make no sense."""

    def __init__(self, **settings: object) -> None:
        # For each option argparse makes a formatter, which would look how wide the terminal is.
        formatter = partial(argparse.HelpFormatter, width=80)
        super().__init__(allow_abbrev=False, formatter_class=formatter, **settings)  # type: ignore[arg-type] # argparse's own

    def format_help(self) -> str:
        """Return the help, as wide as the terminal."""
        self.formatter_class = argparse.HelpFormatter
        # Imported late, as hardly any command line asks for help.
        from axe_lsp.cli.examples import further_help

        return super().format_help() + further_help(self.prog.partition(" ")[2].partition(" ")[0])

    def parse_known_args(  # type: ignore[override] # argparse's own has overloads for namespaces
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return the options, and what is left; `args` are those of the program if there are none."""
        words = self._plain(iter(sys.argv[1:] if args is None else args))
        return super().parse_known_args(list(words), namespace)

    def error(self, message: str) -> NoReturn:
        """Leave with the message, and the name that was probably meant."""
        near = self._suggestion(message)
        hint = f"; did you mean `{near}`?" if near else ""
        # Imported late, as few command lines have a fault.
        from axe_lsp.cli.streams import print_message

        print_message(f"{self.prog}: {message}{hint} (see `{self.prog} --help`)")
        raise SystemExit(self.usage_error)

    def _suggestion(self, message: str) -> str | None:
        """Return the option or choice that is similar to the word that a message complains about."""
        option = re.search(r"unrecognized arguments: .*?(--?[\w-]+)", message)
        choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
        if option is None and choice is None:
            return None
        # Imported late, as few command lines have a fault.
        from axe_lsp.agentfile.text.nearest import nearest

        if option is not None:
            return nearest(option[1], self._all_options())
        assert choice is not None
        return nearest(choice[1], re.findall(r"[\w-]+", choice[2]))

    def _all_options(self) -> Iterator[str]:
        """Yield the options of this parser and of its commands."""
        yield from self._option_string_actions
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    yield from parser._option_string_actions

    def _plain(self, words: Iterator[str]) -> Iterator[str]:
        """Yield the words in the spelling that argparse understands."""
        for word in words:
            name, has_value, value = word.partition("=")
            option = self._option_string_actions.get(name)
            if word == f"--json={FULL}" and _JSON_FULL in self._option_string_actions:
                yield _JSON_FULL
            elif word == "--":
                yield word
                yield from words
            elif option is None:
                yield word
            elif option.nargs == 0:
                yield from self._switch(name, value if has_value else "true")
            elif option.nargs == "?" and not has_value:
                yield from self._optional(name, next(words, None), words)
            else:
                given = value if has_value else next(words, None)
                yield name if given is None else f"{name}={given}"

    def _optional(self, name: str, next_word: str | None, words: Iterator[str]) -> Iterator[str]:
        """Yield an option whose value may be left out, as before another option."""
        if next_word is None:
            yield name
        elif next_word.startswith("-"):
            yield name
            yield from self._plain(chain([next_word], words))
        else:
            yield f"{name}={next_word}"

    def _switch(self, name: str, value: str) -> Iterator[str]:
        if value in ("true", "True", "TRUE", "t", "T", "1"):
            yield name
        elif value not in ("false", "False", "FALSE", "f", "F", "0"):
            self.error(f"argument {name}: {value!r} is neither true nor false")
