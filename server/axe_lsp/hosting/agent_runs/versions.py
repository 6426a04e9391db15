"""Which runs were runs of the present version of an agent's file, and which of the one before."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from axe_lsp.hosting.agent_runs.runs import LoggedRun


class FileVersion(Struct, frozen=True):
    """The present version of a file: since when, and the hash of its prompt, "" if logs have none."""

    since: float
    definition: str = ""


class Versions(Struct):
    """The runs by version, the present one first. `order` has the identity of each version, newest first."""

    current: list[LoggedRun]
    earlier: list[list[LoggedRun]]

    @property
    def before(self) -> Sequence[LoggedRun]:
        """The runs of the version before the present one."""
        return self.earlier[0] if self.earlier else ()


def versions_of(runs: Sequence[LoggedRun], file: FileVersion) -> Versions:
    """Return the runs by version. A run without a hash belongs to the present one if it began after the file changed."""
    current: list[LoggedRun] = []
    earlier: dict[frozenset[str], list[LoggedRun]] = {}
    for run in sorted(runs, key=lambda each: -each.began):
        is_hashed = bool(run.definitions) and bool(file.definition)
        if file.definition in run.definitions if is_hashed else run.began >= file.since:
            current.append(run)
        else:
            earlier.setdefault(run.definitions if is_hashed else frozenset(), []).append(run)
    return Versions(current, list(earlier.values()))
