"""The process that reads agent files for this one, seen from here. What it does is `reader`'s matter."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from axe_lsp.daemon.changes import Read
from axe_lsp.daemon.reader import Question, receive, send, value_of
from axe_lsp.hosting.supervisor.host_process import apart
from axe_lsp.runtime.programs import main_of
from axe_lsp.runtime.safety.process_hardening import bare_environment
from axe_lsp.workspace.workspace import Change

_log = logging.getLogger(__name__)


class Helper:
    """Nothing is lost when the process ends early: it is asked in vain then, and gives no answer."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions = questions
        self._answers = answers
        self._has_ended = False

    def ask(self, read: Read, paths: Sequence[Path]) -> None:
        """Have files read. It has to be heard out before it is asked again, or both sides wait for each other."""
        question: Question = read, [str(path) for path in paths]
        with suppress(OSError):  # It shows when there is no answer.
            send(self._questions, question)

    def answer(self) -> bytes | None:
        """A list of changes, as `changes_in` reads it, once there is one; None if the process has ended."""
        answer = receive(self._answers)
        if answer is None and not self._has_ended:
            self._has_ended = True
            _log.warning(
                "the process that reads agent files has ended early; its files are read here"
            )
        return answer

    def changes_in(self, answer: bytes) -> list[Change]:
        """What it has read. Takes a while, in which it may be at work on the next question."""
        changes: list[Change] = value_of(answer)
        return changes


@contextmanager
def helper() -> Iterator[Helper | None]:
    """Start the process, and end it at the end. None if there can't be another one."""
    command, pipe = main_of("axe_lsp.daemon.reader"), subprocess.PIPE
    try:
        process = subprocess.Popen(  # noqa: S603 - our own
            command, stdin=pipe, stdout=pipe, env=bare_environment(), **apart()
        )
    except OSError as error:
        _log.warning("there can't be a process that reads agent files: %s", error.strerror)
        yield None
        return
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Helper(process.stdin, process.stdout)
        finally:
            process.kill()  # Nobody waits for what it is still doing.
            with suppress(OSError):  # There may be a question that it has not read.
                process.stdin.close()
