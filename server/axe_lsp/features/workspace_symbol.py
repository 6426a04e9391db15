"""The search for agents by parts of their names."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

from axe_lsp.agentfile.dialects import LAYERED, program_title
from axe_lsp.features.completion.fuzzy import Matcher, Score
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

MOST = 200
"""More than that nobody reads; who looks for another one types more of its name."""


def workspace_symbols(snapshot: Snapshot, query: str) -> list[AgentFile]:
    """Return the agents whose names fit a query, the best first. An empty query fits all."""
    names = heapq.nsmallest(MOST, _fitting(snapshot, query))
    return list(islice((each for _, name in names for each in _defining(snapshot, name)), MOST))


def _fitting(snapshot: Snapshot, query: str) -> Iterator[tuple[Score, str]]:
    matcher = Matcher(query)
    for name in {*snapshot.names, *(name for _, name in snapshot.layers.names)}:
        score = matcher.score(name)
        if score is not None:
            yield score, name


def _defining(snapshot: Snapshot, name: str) -> list[AgentFile]:
    titled = dict.fromkeys((program_title(program), name) for program in LAYERED)
    uris = [*snapshot.names.get(name, ())]
    uris += (uri for each in titled for uri in snapshot.layers.names.get(each, ()))
    files = [file for uri in uris if (file := snapshot.file(uri)) is not None]
    return sorted(files, key=lambda file: (file.place.scope, file.uri))
