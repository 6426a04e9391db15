"""The order of a root run as the step with which it begins in the history, and what follows from it for the run."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from axe_lsp.hosting import protocol
from axe_lsp.runtime.files.agent_files import Lookup, agent_places
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.run_log import Known, encoded
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import Resolve
from axe_lsp.runtime.safety.approval import Approval


def order_step(start: protocol.Start, environment: Environment) -> Step:
    """Return the step with which a root run begins, without what its client has for it."""
    start = replace(start, servers=(), editor=())
    return Step(
        start.run_id, start.run_id, "order", data=encoded(start, known_secrets(environment))
    )


def allow_again(approval: Approval, known: Known, root: str) -> None:
    """Allow what was allowed "for this run" in a former process."""
    for _, _, call, kind in known.steps:
        if kind == "allow":
            approval.allow_for_run(root, *call.split(" ", 1))


def resolver(workplace: protocol.Workplace, environment: Environment) -> Resolve:
    """Find agents as the client sees them, open texts included."""
    places = workplace.places
    if places is None:
        places = agent_places([Path(workplace.workspace)], environment)
    open_buffers = {Path(path): text for path, text in workplace.open_buffers.items()}
    lookup = Lookup(places, workplace.others, open_buffers)
    return lookup.resolver(Path(workplace.agent_file) if workplace.agent_file else None)
