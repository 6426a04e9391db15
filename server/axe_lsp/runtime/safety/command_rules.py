"""Whether the text of a rule such as `run_command(git diff *)` allows a command, by the facts of `command_table.py`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.safety.command_table import (
    ALIASES,
    DENIED_TO_RUNNERS,
    EXECUTES_OPERANDS,
    GIT,
    GIT_OPTIONS,
    LAUNCHERS,
    LETS_ALONE,
    PROGRAMS,
    RUN_OPERANDS,
    RUNNER_ALIASES,
    RUNNERS,
    TAKES_BARE_OPTIONS,
    WRAPPERS,
    Options,
    Row,
    Runner,
    options_of,
)
from axe_lsp.runtime.safety.protected_places import protected_in_words

_PLAIN_TEXT = r"[\w @%+=:,./'\"-]*"
"""Nothing in which a shell would see a second command, a redirection or something to be expanded."""

_ASSIGNMENT = r"[A-Za-z_]\w*=.*"
_NUMBER = r"-?\d+(?:\.\d+)?[smhd]?"
_OPERAND = r"(?:https?://)?[\w%,./'\" -][\w@%+,./'\" -]*"
"""An operand that no common program takes for an option, an assignment, a file of options or another machine."""


class CommandRule(Struct, frozen=True):
    """The text in the parentheses of a rule: the whole command, or its first words and, after them, `*`."""

    text: str
    words: tuple[str, ...]
    is_open: bool

    @property
    def program(self) -> str:
        """The program that the rule names, as the tables name it; "" if wrappers such as `env` leave it open."""
        return _program(self.words).name

    @property
    def fault(self) -> str:
        """Why the rule has no effect, and what to write instead, or ""."""
        offence = _offence_of_rule(_program(self.words)) if self.is_open else ""
        return f"can't end with `*`, because {offence}; write the whole command" if offence else ""

    @property
    def warning(self) -> str:
        """That the rule allows all commands, and why, or ""."""
        program = _program(self.words)
        last = re.sub(r"(?<=[a-z])\d[\d.]*$", "", program.name) or program.wrapper
        if last not in RUN_OPERANDS or any(not word.startswith("-") for word in program.words):
            return ""
        return f"allows all commands: {last} runs the program that its operands name"

    def refusal(self, command: str, folder: Path | None = None) -> str | None:
        """Return "" if the rule allows a command in `folder`, else why it does not; None if it is about other commands."""
        if (
            command == self.text and not self.is_open
        ):  # The shell would expand the `*` of an open one.
            return ""
        words = split_words(command)
        if not (words and self.words) or words[: len(self.words)] != self.words:
            return None
        if not is_plain_command(command):
            return "it is more than one plain command"
        rest = words[len(self.words) :]
        if not self.is_open:
            options = [word for word in rest if word.startswith("-") or "=" in word]
            if options:
                return f"{quoted(options[0])} is more than a plain argument"
            if not rest:
                return ""
        return _offence(self.words, rest, folder)


def is_plain_command(command: str) -> bool:
    """Return whether a shell sees one command in a text: no pipe, list, redirection or expansion."""
    return re.fullmatch(_PLAIN_TEXT, command) is not None


def parse_command_rule(text: str) -> CommandRule | None:
    """Return the rule with this text in its parentheses; None if a quotation mark is not closed."""
    text = text.strip()
    is_open = text.endswith(" *")
    words = split_words(text[:-2] if is_open else text)
    return None if words is None else CommandRule(text, words, is_open)


def split_words(text: str) -> tuple[str, ...] | None:
    """Split a command as the shell does; None if a quotation mark is not closed."""
    import shlex

    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None


class _Program(Struct, frozen=True):
    """A program in a command, by its name in the tables, and the words after it.

    `wrapper` is the last program before it that runs it. `is_certain` is whether the words before it were understood.
    """

    name: str
    words: tuple[str, ...]
    wrapper: str = ""
    is_certain: bool = True


def _program(words: Sequence[str]) -> _Program:
    """Return the program of a command, after assignments and programs such as `env` and `uv run`."""
    at, wrapper, is_certain = 0, "", True
    while at < len(words):
        word = words[at]
        if re.fullmatch(_ASSIGNMENT, word) or (wrapper and re.fullmatch(_NUMBER, word)):
            at += 1
            continue
        if wrapper and word.startswith("-"):
            is_certain = (
                is_certain and re.fullmatch(_NUMBER, "".join(words[at + 1 : at + 2])) is not None
            )
            at += 1
            continue
        name = re.split(r"[/\\]", word)[-1].removesuffix(".exe")
        after = LAUNCHERS.get(name)
        is_launcher = after == "" or (after is not None and words[at + 1 : at + 2] == (after,))
        if name not in WRAPPERS and not is_launcher:
            name = RUNNER_ALIASES.get(name, name)
            return _Program(ALIASES.get(name, name), tuple(words[at + 1 :]), wrapper, is_certain)
        at += 2 if is_launcher and after else 1
        wrapper = name
    return _Program("", (), wrapper, is_certain)


def _offence_of_rule(program: _Program) -> str:
    """Return why a rule with `*` for a program would allow too much, or ""."""
    option = EXECUTES_OPERANDS.get(program.name)
    if option is not None and option not in program.words:
        remedy = f" without {option}" if option else ""
        return f"{program.name} runs or writes what its operands say{remedy}"
    if not program.is_certain:
        return ""
    if program.name in RUNNERS:
        return _offence_of_runner(program.name, RUNNERS[program.name], program.words, (), None)
    found = _row(program.name, program.words, is_rule=True)
    if isinstance(found, str):
        return found
    row, words = found
    return (
        _offence_of_options(words, row, needed=False, name=program.name) if row is not None else ""
    )


def _offence(rule: tuple[str, ...], rest: tuple[str, ...], folder: Path | None) -> str:
    """Return why the words after the words of a rule are not allowed, or ""."""
    program = _program((*rule, *rest))
    if program.name == _program(rule).name and program.is_certain and _is_known(program.name):
        return _offence_of_known(program, rule, rest, folder)
    # Programs that this module does not know may run one that it knows, as `sudo -u bob git` and `env -i git` do.
    inner = (_program((*rule[at:], *rest)) for at in range(1, len(rule)))
    offences = (
        _offence_of_known(each, rule, rest, folder) for each in inner if _is_known(each.name)
    )
    return _offence_of_other(rule, rest, folder) or next(filter(None, offences), "")


def _is_known(name: str) -> bool:
    return name == "git" or name in PROGRAMS or name in RUNNERS or name in EXECUTES_OPERANDS


def _offence_of_known(
    program: _Program, rule: tuple[str, ...], rest: tuple[str, ...], folder: Path | None
) -> str:
    """Return why the words after a program in the tables are not allowed, or ""."""
    if program.name in RUNNERS:
        return _offence_of_runner(program.name, RUNNERS[program.name], program.words, rest, folder)
    option = EXECUTES_OPERANDS.get(program.name)
    if option is not None and option not in rule:
        return f"{program.name} runs or writes what its operands say"
    return _offence_in_table(program, rule, rest, folder)


# Programs in the table.


def _offence_in_table(
    program: _Program, rule: tuple[str, ...], rest: tuple[str, ...], folder: Path | None
) -> str:
    found = _row(program.name, program.words)
    if isinstance(found, str):
        return found
    row, words = found
    if row is None:
        return _offence_of_other(rule, rest, folder)
    if row.runs_hooks and len(rest) > len(words):
        return f"git {program.words[-len(words) - 1]} runs hooks, and the rule does not name it"
    if row.writes and (place := protected_in_words(rest, folder)):
        return f"{quoted(place)} names a protected place"
    return _offence_of_options(words, row, name=program.name)


_Found = tuple[Row | None, tuple[str, ...]] | str
"""The row of a program or subcommand, and the words that it is about; or why a subcommand has none."""


def _row(name: str, words: tuple[str, ...], *, is_rule: bool = False) -> _Found:
    """Return the row of a program. The words of a rule may end before the subcommand."""
    if name == "git":
        return _row_of_git(words, is_rule=is_rule)
    if name == TAKES_BARE_OPTIONS and words and not words[0].startswith("-"):
        # The options take their values from the next words: `tfI a.tar x` is `-t -f a.tar -I x`.
        options = options_of(PROGRAMS[name].options).valued
        letters = sorted((f"-{letter}" for letter in words[0]), key=options.__contains__)
        words = (*letters, *words[1:])
    return PROGRAMS.get(name), words


def _row_of_git(words: tuple[str, ...], *, is_rule: bool) -> _Found:
    options, at = options_of(GIT_OPTIONS), 0
    if words == ("--version",):
        return Row("--version"), words
    while at < len(words) and words[at].startswith("-"):
        if words[at] not in options.flags and words[at] not in options.valued:
            return f"{quoted(words[at])} is not an option of git that rules allow"
        at += 2 if words[at] in options.valued else 1
    subcommand = "".join(words[at : at + 1])
    for length in (2, 1):
        row = GIT.get(" ".join(words[at : at + length]))
        if row is not None:
            return row, words[at + length :]
    is_half = any(each.startswith(f"{subcommand} ") for each in GIT) and len(words) == at + 1
    if is_rule and (not subcommand or is_half):
        return None, ()
    return f"{quoted(f'git {subcommand}')} is not a subcommand that rules with `*` allow"


def _offence_of_options(words: Sequence[str], row: Row, *, name: str, needed: bool = True) -> str:
    """Return why the words after a program or subcommand are not allowed by its row, or ""."""
    seen: set[str] = set()
    operands: list[str] = []
    values: list[str] = []
    for kind, word, text in _parsed(words, options_of(row.options)):
        if kind == "unknown":
            return f"{quoted(text)} is not an option of {name} that rules allow"
        if kind == "option":
            seen.add(word)
            values.append(text)
        else:
            operands.append(text)
    if 0 <= row.operands < len(operands):
        return f"{quoted(operands[row.operands])} is one operand of {name} too many"
    if row.first and operands and not re.fullmatch(row.first, operands[0]):
        return f"{quoted(operands[0])} is not an operand of {name} that rules allow"
    if row.value and (
        bad := [each for each in operands + values if not re.fullmatch(row.value, each)]
    ):
        return f"{quoted(bad[0])} is not an operand of {name} that rules allow"
    if needed and row.needs and seen.isdisjoint(row.needs):
        return f"{name} needs {' or '.join(row.needs)} to be allowed by a rule"
    return ""


def _parsed(words: Sequence[str], options: Options) -> Iterator[tuple[str, str, str]]:
    """Yield each `option` with its name and value, each `operand` and each word that is `unknown`.

    What a program might read in another way is unknown: a value in a word of its own, or a word after `--`, that
    begins with a dash.
    """
    at, is_over = 0, False
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--" and not is_over:
            is_over = True
        elif word == "-" or not word.startswith("-"):
            yield "operand", "", word
        elif is_over:
            yield "unknown", "", word
        else:
            found = _long_option(word, options) or _short_options(word, options)
            if found is None:
                yield "unknown", "", word
                continue
            names, value = found
            if value is None:
                value = "".join(words[at : at + 1])
                at += 1
                if value.startswith("-") and not re.fullmatch(_NUMBER, value):
                    yield "unknown", "", value
            for name in names:
                yield "option", name, value


def _long_option(word: str, options: Options) -> tuple[tuple[str, ...], str | None] | None:
    """Return the name of an option and its value, which is None if it is the next word; None for no whole name."""
    name, separator, value = word.partition("=")
    if separator and name.startswith("--"):
        return ((name,), value) if name in options.valued or name in options.optional else None
    if word in options.flags or word in options.optional:
        return (word,), ""
    return ((word,), None) if word in options.valued else None


def _short_options(word: str, options: Options) -> tuple[tuple[str, ...], str | None] | None:
    """Return the same for short options in one word, the last of which may have a value."""
    if word.startswith("--"):
        return None
    if "-#" in options.flags and word[1:].isdecimal():
        return (word,), ""
    names: list[str] = []
    for number, letter in enumerate(word[1:], 2):
        name = f"-{letter}"
        names.append(name)
        if name in options.flags:
            continue
        if name in options.optional or (name in options.valued and word[number:]):
            return tuple(names), word[number:]
        return (tuple(names), None) if name in options.valued else None
    return tuple(names), ""


# Project runners.


def _offence_of_runner(
    name: str, runner: Runner, words: Sequence[str], rest: Sequence[str], folder: Path | None
) -> str:
    """Return why the words after a project runner are not allowed, or "". The `rest` is not in the rule."""
    subcommands = runner.subcommands.split()
    if subcommands and words and words[0] not in subcommands:
        return f"{quoted(words[0])} is not a subcommand of {name} that rules with `*` allow"
    denied_words = runner.denied_words.split()
    for word in words:
        if word.startswith("-") and _is_denied(word, runner):
            return f"{quoted(word)} is an option of {name} that names a program, a configuration or a place to write to"
        if word.startswith("@") or any(
            each in word if not each.isalnum() else each == word for each in denied_words
        ):
            return f"{quoted(word)} is not an operand of {name} that rules allow"
        if _leads_out(word, folder):
            return f"{quoted(word)} leads out of the working directory"
    if place := protected_in_words(rest, folder):
        return f"{quoted(place)} names a protected place"
    return ""


def _is_denied(word: str, runner: Runner) -> bool:
    """Return whether a word is an option, or several, that no rule with `*` allows with a runner."""
    denied = f"{runner.denied} {DENIED_TO_RUNNERS}".split()
    name = word.partition("=")[0]
    if word.startswith("--"):
        if name in LETS_ALONE:
            return name in runner.denied.split()
        return _is_abbreviation(name, denied) or _is_whole(name[1:], denied)
    # Maven takes `-define` and `-defi` for `--define` (DefaultParser of Apache Commons CLI); `-pl` is a short option.
    if runner.style == "prefix" and len(name) > 3 and _is_abbreviation(name, denied):
        return True
    letters = "".join(each[1] for each in denied if len(each) == 2)
    if _is_whole(name, denied) or runner.style == "whole":
        return _is_whole(name, denied)
    before = "[A-Za-z0-9]*" if runner.style == "cluster" else ""
    return re.match(rf"-{before}[{re.escape(letters)}]", word) is not None


def _is_abbreviation(name: str, denied: Sequence[str]) -> bool:
    """Return whether a word is the beginning of a denied long option, however a program tolerates it.

    yargs and cac take `--output-file` for `--outputFile` and `--outputFile.json`, npm `_` for `-`, tsc any case.
    """
    long = (_plain(each) for each in denied if each.startswith("--"))
    beginnings = tuple(filter(None, {_plain(name), _plain(name.partition(".")[0])}))
    return any(each.startswith(beginnings) for each in long)


def _plain(option: str) -> str:
    return re.sub("[-_]", "", option).lower()


def _is_whole(name: str, denied: Sequence[str]) -> bool:
    # Go's test binary takes `-test.run` for `-run`.
    return name in denied or name.partition(".")[0] in denied


def _leads_out(word: str, folder: Path | None) -> bool:
    """Return whether a word, or a value in it, is a path that leads out of the working directory, also by a link."""
    pieces = [*re.split("[=:,]", word), re.sub(r"^-+\w", "", word)]
    resolve = os.path.realpath if folder is not None else os.path.normpath
    root = resolve(folder if folder is not None else "/-")
    for piece in pieces:
        if piece.startswith("~"):
            return True
        place = resolve(Path(root, piece))
        if piece and place != root and not place.startswith(root.rstrip(os.sep) + os.sep):
            return True
    return False


# All other programs.


def _offence_of_other(rule: Iterable[str], rest: Sequence[str], folder: Path | None) -> str:
    """Return why the words after the words of a rule are no plain arguments, or ""."""
    named = {word for word in rule if word.startswith("-")}
    for word in rest:
        if word not in named and not _is_operand(word):
            kind = "an option" if word.startswith("-") else "an argument"
            return f"{quoted(word)} is {kind} that the rule does not name"
    if place := protected_in_words(rest, folder):
        return f"{quoted(place)} names a protected place"
    return ""


def _is_operand(word: str) -> bool:
    return not word.startswith("-") and re.fullmatch(_OPERAND, word) is not None


class GitCommand(Struct, frozen=True):
    """A command of git: the `folders` of its options `-C`, and whether its subcommand may run all hooks."""

    folders: tuple[str, ...]
    runs_hooks: bool


def git_command_of(command: str) -> GitCommand | None:
    """Return what git is told in a command, also by another program such as `sudo`; None for a command without git."""
    words = split_words(command) or ()
    programs = (_program(words[start:]) for start in range(len(words)))
    program = next((each for each in programs if each.name == "git"), None)
    if program is None:
        return None
    words, at = program.words, 0
    folders: tuple[str, ...] = ()
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C":
            folders += words[at + 1 : at + 2]
            at += 1
        at += 1
    found = _row("git", words)
    row = None if isinstance(found, str) else found[0]
    # A subcommand without a row is allowed by its whole command only, which the user has written with its effects.
    return GitCommand(folders, row is None or row.runs_hooks)
