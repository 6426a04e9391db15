"""The name by which an agent is found, which is its file's. The error texts are axe's own."""

from __future__ import annotations

from axe_lsp.agentfile.text.ranges import quoted

SUFFIX = ".toml"
"""The suffix of an agent's file."""


def objection(name: str) -> str | None:
    """Why no agent can have this name: it is blank, or would leave the folder of agents."""
    if not name.strip():
        return "agent name must not be empty"
    if "/" in name or "\\" in name or ".." in name or "\0" in name:
        return f"agent name {quoted(name)} must not contain path separators or traversal sequences"
    return None
