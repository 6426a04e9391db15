"""Asks the person at the terminal what agents want to change or to know; one question at a time."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from textwrap import wrap

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from axe_lsp.cli.streams import columns_of
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.safety.questions import ASK_USER, TRUST, Answer, Question, denial, reply

_PROMPT = "Allow {tool}? [y]es, [a]lways {for_run} in this run, [N]o, or what to do instead: "
_PROTECTED_PROMPT = "Allow {tool} this once? [y]es, [N]o, or what to do instead: "
_TRUST_PROMPT = "Allow this? [y]es and until that changes, [a]lways in this run only, [N]o: "
_OPEN_PROMPT = "Your answer (empty: none): "
_CHOICE_PROMPT = "The number of an answer, or your own (empty: none): "
_AGAIN = "Please answer y or n: "
_LONGEST_LINE = 4096
"""Bytes, which is what a terminal gives at once."""

_LONG = 20
"""Lines, after which what is asked is said again below them."""

_BOLD, _RED, _GREEN, _FAINT = "1", "31", "32", "2"


class TerminalQuestions:
    """It is an `Ask`. While a question is open nothing else may write or read: `alone` sees to that."""

    def __init__(
        self, terminal: int, alone: Callable[[], AbstractAsyncContextManager[None]], coloured: bool
    ) -> None:
        self._terminal = terminal
        self._alone = alone
        self._coloured = coloured
        self._one_at_a_time = anyio.Lock()

    async def __call__(self, question: Question) -> Answer:
        """Return the person's answer; an end of input is not a consent."""
        async with self._one_at_a_time:
            # The answer to the one before may have taken this one back, of which the lock knows nothing.
            await checkpoint_if_cancelled()
            async with self._alone():
                return await self._ask(question)

    async def _ask(self, question: Question) -> Answer:
        _forget_what_was_typed(self._terminal)
        _write("\n".join([*self._shown(question), _in_columns(_prompt(question))]))
        while True:
            line = await self._line()
            answer = _answer(question, line or "")
            if answer is not None:
                return answer
            _write(_AGAIN)

    async def _line(self) -> str | None:
        """Return the next input, None at the end. The cursor is at the start of a line afterwards."""
        ended = False
        try:
            line = await _typed_line(self._terminal)
            ended = line.endswith("\n")
        finally:
            if not ended:
                _write("\n")
        return line or None

    def _shown(self, question: Question) -> Iterator[str]:
        yield self._painted(f"{question.reason}:", _BOLD)
        is_diff = question.tool != ASK_USER and question.details.startswith("--- ")
        lines = question.details.split("\n")
        for line in lines:
            yield "  " + (self._painted(line, _colour_in_diff(line)) if is_diff else line)
        if len(lines) > _LONG:
            yield self._painted(f"{question.reason} ({len(lines):,} lines, above).", _BOLD)
        for number, choice in enumerate(question.choices or (), 1):
            yield f"  {self._painted(f'{number}.', _BOLD)} {choice}"

    def _painted(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if colour and self._coloured else text


def _prompt(question: Question) -> str:
    if question.tool == TRUST:
        return _TRUST_PROMPT
    if question.tool == ASK_USER:
        return _CHOICE_PROMPT if question.choices else _OPEN_PROMPT
    if question.is_protected:
        return _PROTECTED_PROMPT.format(tool=visible(question.tool))
    return _PROMPT.format(tool=visible(question.tool), for_run=question.for_run)


def _in_columns(prompt: str) -> str:
    """Break a prompt between words where the terminal would break it inside one. It ends with a blank."""
    return "\n".join(wrap(prompt, columns_of(sys.stderr) - 1, break_long_words=False)) + " "


def _colour_in_diff(line: str) -> str:
    if line.startswith(("---", "+++", "@@", "\\")):
        return _FAINT
    return {"-": _RED, "+": _GREEN}.get(line[:1], "")


def _answer(question: Question, line: str) -> Answer | None:
    """Return the answer that a line means, which is empty at the end of the input; None if that is not clear.

    Text that is no word of the prompt is a denial with that instruction, if the prompt offers one.
    """
    if question.tool == ASK_USER:
        return reply(_chosen(question.choices or (), line.strip()))
    word, _, rest = line.strip().partition(" ")
    match word.lower().rstrip(",:;."), rest.strip():
        case "y" | "yes", "":
            return Answer("allow")
        case "a" | "all" | "always", "" if not question.is_protected:
            return Answer("allowForRun")
        case (("n" | "no" | ""), note):  # Enter alone is not a consent.
            return denial(note)
        case (("a" | "all" | "always"), ""):
            return None
    return None if question.tool == TRUST else denial(line.strip())


def _chosen(choices: Sequence[str], typed: str) -> str:
    """Return the choice of the number that was typed, or what was typed."""
    is_number = typed.isascii() and typed.isdigit() and 1 <= int(typed) <= len(choices)
    return choices[int(typed) - 1] if is_number else typed


async def _typed_line(terminal: int) -> str:
    """Wait for a line in a thread, which also ends when nobody waits any more."""
    wakes, waker = os.pipe()
    try:
        read = partial(_read_unless_woken, terminal, wakes)
        return (await anyio.to_thread.run_sync(read, abandon_on_cancel=True)).decode(
            "utf-8", "replace"
        )
    finally:
        os.close(waker)


def _read_unless_woken(terminal: int, wakes: int) -> bytes:
    try:
        ready, _, _ = select.select([terminal, wakes], [], [])
        return os.read(terminal, _LONGEST_LINE) if terminal in ready else b""
    finally:
        os.close(wakes)


def _forget_what_was_typed(terminal: int) -> None:
    """Discard the input from before the question, which is not an answer to it."""
    if sys.platform != "win32":
        import termios

        with suppress(termios.error):
            termios.tcflush(terminal, termios.TCIFLUSH)


def _write(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
