"""Calls as findings about other files show them: the place where an agent lists another.

A file's calls can move without a call being another one. Who was shown them by `calls_along` finds them again
in `calls_of`, by their words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from axe_lsp.features.finding import Related
from axe_lsp.workspace.agent_file import SUB_AGENTS, AgentFile, Reference


def calls_along(way: Sequence[AgentFile]) -> tuple[Related, ...]:
    """The calls that lead from each of these agents to the next."""
    return tuple(
        _shown(caller, reference)
        for caller, called in pairwise(way)
        if (reference := reference_to(caller, called)) is not None
    )


def calls_of(caller: AgentFile) -> Iterator[Related]:
    """All the calls of one agent that findings may show."""
    known = set[str]()
    for reference in caller.references:
        if reference.key == SUB_AGENTS and reference.name not in known:
            known.add(reference.name)
            yield _shown(caller, reference)


def reference_to(caller: AgentFile, called: AgentFile) -> Reference | None:
    """Where `caller` lists `called`, for the first time."""
    for reference in caller.references:
        if reference.key == SUB_AGENTS and reference.name == called.place.stem:
            return reference
    return None


def _shown(caller: AgentFile, reference: Reference) -> Related:
    message = f"{caller.place.stem} may call {reference.name}"
    return Related(caller.uri, reference.where, message)
