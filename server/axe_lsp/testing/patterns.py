"""Regular expressions of tests, matched in a process of their own: one may take for ever, and can't be interrupted.

Python's engine holds up all threads of its process meanwhile. The process starts with the first pattern and
answers all others; one that takes too long ends it, and the next pattern starts another.
"""

from __future__ import annotations

import atexit
import json
import re
import subprocess
import sys
import time
from functools import lru_cache
from threading import Lock, Timer

from axe_lsp.runtime.processes import bare_environment, module_command

if sys.platform != "win32":
    import resource

_PROCESSOR_SECONDS = 1
"""The limit of one match. The system enforces it, in whole seconds, so no process remains if ours is killed."""

_PATIENCE = 10.0
"""Seconds until a match is ended on any system, however little of the processor it got."""


class EndlessError(Exception):
    """A pattern that takes too long on a text."""


@lru_cache(maxsize=64)
def is_found(pattern: str, text: str) -> bool:
    """Return whether a valid pattern matches somewhere in a text. Blocks. Raises EndlessError and OSError."""
    return _MATCHER.ask(pattern, text)


class _Matcher:
    """The process, or None if there is none yet."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = Lock()

    def ask(self, pattern: str, text: str) -> bool:
        with self._one_at_a_time:
            process = self._process = self._process or _started()
            assert process.stdin is not None
            assert process.stdout is not None
            timer = Timer(_PATIENCE, process.kill)
            timer.daemon = True
            timer.start()
            try:
                process.stdin.write(json.dumps([pattern, text]).encode() + b"\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except BrokenPipeError:
                answer = b""
            finally:
                timer.cancel()
            if not answer:
                self.close()
                raise EndlessError
            return bool(json.loads(answer))

    def close(self) -> None:
        """End the process; the next question starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_MATCHER = _Matcher()
atexit.register(_MATCHER.close)


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        module_command(__name__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=bare_environment(),
    )


def main() -> None:
    """Answer the questions on standard input of such a process, a line each."""
    for line in sys.stdin.buffer:
        _limit_processor_time()
        pattern, text = json.loads(line)
        sys.stdout.write(json.dumps(re.search(pattern, text) is not None) + "\n")
        sys.stdout.flush()


def _limit_processor_time() -> None:
    """Let the system end this process if the next answer takes too long."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        limit = int(time.process_time()) + 1 + _PROCESSOR_SECONDS
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
