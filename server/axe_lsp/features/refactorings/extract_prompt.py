"""An agent's own prompt made a skill, which other agents can use too."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import literal
from axe_lsp.features.edit import ActionKind, CodeAction, NewFile, TextChange
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_PROMPT, _SKILL = ("system_prompt",), ("skill",)


def actions(snapshot: Snapshot, file: AgentFile, where: TextRange) -> Iterator[CodeAction]:
    """Yield the prompt under the cursor moved to a SKILL.md of the agent's name.

    axe looks for it in the user's configuration folder, wherever the agent lies.
    """
    found = file.open.find(_PROMPT) if file.open is not None else None
    prompt = file.open.decoded(_PROMPT) if file.open is not None else None
    if found is None or file.open is None or not found.entry.range.touches(where.start):
        return
    configuration = snapshot.places.user_folder.rpartition("/")[0]
    if not configuration or not isinstance(prompt, str) or not prompt.strip():
        return
    path = f"skills/{file.place.stem}/SKILL.md"
    new = NewFile(f"{configuration}/{quote(path)}", prompt.rstrip("\r\n") + "\n")
    change = TextChange(file.uri, found.entry.range, f"skill = {literal(path)}")
    is_set = file.open.decoded(_SKILL) not in (None, "") or file.open.has(_SKILL)
    yield CodeAction(
        f"Move the prompt to {path} of the configuration folder",
        ActionKind.EXTRACT,
        (new, change),
        disabled="the agent has a `skill` already" if is_set else "",
    )
