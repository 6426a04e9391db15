"""The stale recordings of a file of tests, as a fact from outside the file. It may block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.workspace_folders import project_of_tests
from axe_lsp.workspace.outside_values import Question


def stale_facts(
    question: Question, file: Path | None, environment: Environment, go_on: Callable[[], bool]
) -> Mapping[str, str]:
    """Return the stale recordings with the reasons, while `go_on()`; none if `file` is no file of tests.

    A recording that was read stays read, so the next look goes further.
    """
    project = project_of_tests(file.parent) if question.tested and file is not None else None
    if file is None or project is None:
        return {}
    # Imported late: hardly any file has recordings.
    from axe_lsp.testing.staleness import stale_recordings

    named = {file.parent / each: each for each in question.paths}
    found: dict[str, str] = {}
    for path, reason in stale_recordings(named, question.tested, project, environment):
        if reason:
            found[named[path]] = reason
        if not go_on():
            break
    return found
