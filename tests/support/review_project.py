"""A project whose agent an editor's user mends and runs: a manager with two children in parallel.

The manager's file has three mistakes, and no others. One stands behind a character that counts as
one code point, two UTF-16 units and four bytes, so a wrong unit of columns would show.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from support.scripted_provider import Answer, Hold, Says, ScriptedProvider, calls_agent

MANAGER = '''\
name = "manager"
description = "Has a change reviewed and sums up"
model = "openai/manager"
system_prompt = """
You lead two reviewers.
Sum up what they find.
"""
timeout = -30
sub_agents = ["fast🚀", "ghost"]

[sub_agents_config]
max_depth = 6
'''

MENDED = MANAGER.replace("-30", "300").replace("ghost", "slow").replace("= 6", "= 5")


def write_project(folder: Path) -> Path:
    """Writes the three agents; the value is the manager's file."""
    agents = folder / "axe" / "agents"
    agents.mkdir(parents=True)
    for name, model in (("fast🚀", "fast"), ("slow", "slow")):
        text = f'name = "{name}"\nmodel = "openai/{model}"\n'
        (agents / f"{name}.toml").write_text(text, encoding="utf-8")
    manager = agents / "manager.toml"
    manager.write_text(MANAGER, encoding="utf-8")
    return manager


@dataclass(frozen=True)
class Review:
    """What the provider keeps back until the test has seen the rest."""

    slow: Hold
    """All that the slow child says."""
    end: Hold
    """The last word of the manager's answer, `Ready to merge.`"""


NO_BUGS = Says("No bugs found.")
CITING = Answer(Says("No bugs found.", extra={"citations": ["https://example.com/a"]}), whole=True)
"""An answer of the fast child with a source, for `script_review`."""


def script_review(provider: ScriptedProvider, fast: Says | Answer = NO_BUGS) -> Review:
    """Script the answers of one run, in which the fast child answers `fast`."""
    review = Review(Hold(), Hold(chunk=3))
    calls = [
        calls_agent("fast🚀", "Look for bugs", call_id="1"),
        calls_agent("slow", "Look at the style", call_id="2"),
    ]
    answer = Answer(Says("Ready to merge."), hold=review.end)
    provider.script("manager", Says(calls=calls), answer)
    provider.script("fast", fast)
    provider.script("slow", Answer(Says("The style is fine."), hold=review.slow))
    return review
