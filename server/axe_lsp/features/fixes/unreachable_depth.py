"""More depth from the agent at the top, or the list without the agent that is too deep."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import splices
from axe_lsp.agentfile.lookup import Lookup
from axe_lsp.agentfile.parse import Parse
from axe_lsp.agentfile.splices import Splice
from axe_lsp.features.edit import TextChange
from axe_lsp.features.fix import Case, Fix, remove_item
from axe_lsp.workspace.agent_file import MAX_MAX_DEPTH
from axe_lsp.workspace.graph import too_deep

_MAX_DEPTH = ("sub_agents_config", "max_depth")


def fixes(case: Case) -> Iterator[Fix]:
    yield from _raise_limit(case)
    yield from remove_item(case, f"Remove {case.token} from the list")


def _raise_limit(case: Case) -> Iterator[Fix]:
    """The change of another file: the agents on the way down are as many as the calls to get here."""
    way = too_deep(case.snapshot, case.file)
    if not way or len(way) > MAX_MAX_DEPTH:
        return
    root, depth = way[0], len(way)
    lookup = Lookup(Parse(case.context.text_of(root.uri)))
    value = lookup.value(_MAX_DEPTH)
    splice = (
        Splice(value.range, str(depth))
        if value is not None
        else splices.with_line(lookup.parse, _MAX_DEPTH[:-1], f"max_depth = {depth}")
    )
    if splice is not None:
        title = f"Raise `max_depth` of {root.place.stem} to {depth}"
        yield Fix(title, (TextChange(root.uri, *splice),), preferred=True)
