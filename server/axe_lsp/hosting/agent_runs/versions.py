"""Which runs were runs of the present version of an agent's file, and which of the one before."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from axe_lsp.hosting.agent_runs.index import FileVersion
from axe_lsp.hosting.agent_runs.runs import LoggedRun


class VersionRuns(Struct, frozen=True):
    """The runs of one version of a file; `since` is None for a version that only logs know."""

    since: float | None
    runs: list[LoggedRun]


def versions_of(runs: Sequence[LoggedRun], known: Sequence[FileVersion]) -> list[VersionRuns]:
    """Return the runs by version, the present one first; `known` are the versions of the file, newest first.

    A run belongs to the version of its digest, without a digest to the version that was current when it began. Runs
    before the oldest version have none.
    """
    groups = {number: VersionRuns(each.since, []) for number, each in enumerate(known)}
    unknown: dict[frozenset[str], VersionRuns] = {}
    has_digests = any(each.definition for each in known)
    for run in sorted(runs, key=lambda each: -each.began):
        is_hashed = bool(run.definitions) and has_digests
        number = next(
            (
                number
                for number, each in enumerate(known)
                if (each.definition in run.definitions if is_hashed else each.since <= run.began)
            ),
            None,
        )
        if number is not None:
            groups[number].runs.append(run)
        elif is_hashed:
            unknown.setdefault(run.definitions, VersionRuns(None, [])).runs.append(run)
    present = [groups[0]] if groups else []
    earlier = [each for each in [*list(groups.values())[1:], *unknown.values()] if each.runs]
    return [*present, *sorted(earlier, key=lambda each: -each.runs[0].began)]
