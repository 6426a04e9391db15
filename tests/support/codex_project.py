"""Projects of somebody who uses Codex or Claude Code and knows nothing of axe, with a mistake in each agent."""

from __future__ import annotations

from pathlib import Path

REVIEWER = """\
name = "reviewer"
description = "Reviews a change."
developer_instructions = "Look for bugs."
model = "gpt-5"
model_reasoning_efort = "high"
"""

LEAD = """\
name = "lead"
description = "Leads the review."
developer_instructions = "Call the reviewer."
modle = "gpt-5"
"""


CLAUDE_AGENT = """\
---
name: reviewer
description: Reviews a change.
tools: Read, Greb
---
You review.
"""


def write_claude_project(folder: Path) -> Path:
    """Make a project with an agent of Claude Code that names a tool wrong; return the agent's file."""
    agents = folder / ".claude" / "agents"
    agents.mkdir(parents=True)
    reviewer = agents / "reviewer.md"
    reviewer.write_text(CLAUDE_AGENT, encoding="utf-8")
    return reviewer


def write_codex_project(folder: Path) -> Path:
    """Makes the project; returns the file of the reviewer. The lead is in a folder below."""
    agents = folder / ".codex" / "agents"
    (agents / "team").mkdir(parents=True)
    (agents / "team" / "lead.toml").write_text(LEAD, encoding="utf-8")
    reviewer = agents / "reviewer.toml"
    reviewer.write_text(REVIEWER, encoding="utf-8")
    return reviewer
