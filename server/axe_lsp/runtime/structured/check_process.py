"""Checks a value in a process that ends in any case: a regular expression of a schema may take for ever.

Python's engine holds up all threads of its process meanwhile and can't be interrupted. One that runs in
linear time would lack what authors of schemas use, such as lookahead. Only schemas with patterns are checked
this way; it takes about a tenth of a second.
"""

from __future__ import annotations

import json
import subprocess
import sys

from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.programs import main_of
from axe_lsp.runtime.safety.process_hardening import bare_environment
from axe_lsp.runtime.structured.schemas import Schema, check_here

_PROCESSOR_SECONDS = 1
"""What a check may use. The system sees to it, so no process remains, whoever else is killed."""

_PATIENCE = 10.0
"""Seconds until a check is ended on any system, however little of the processor it got."""


def check_in_process(schema: Schema, name: str, value: Json) -> str:
    """As a check of `schemas`; blocks while the process is at work."""
    try:
        question = json.dumps([schema, name, value]).encode()
        done = subprocess.run(  # noqa: S603 - our own
            main_of(__name__),
            input=question,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            env=bare_environment(),
            check=False,
        )
    except RecursionError:
        return f"{name} is nested too deeply"
    except OSError as error:
        return f"{name} can't be checked: {error.strerror}"
    except subprocess.TimeoutExpired:
        return _too_long(name)
    if done.returncode < 0:
        return _too_long(name)
    if done.returncode > 0:
        return f"{name} can't be checked: the process that does it ended with {done.returncode}"
    return str(json.loads(done.stdout))


def main() -> None:
    """Answer the one question on standard input."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        limits = (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, limits)
    schema, name, value = json.load(sys.stdin)
    try:
        complaint = check_here(schema, name)(value)
    except RecursionError:
        complaint = f"{name} is nested too deeply"
    json.dump(complaint, sys.stdout)


def _too_long(name: str) -> str:
    return f"{name} can't be checked: a pattern of its schema takes too long on it"
