"""What is shown behind globs and prompts: how many files, how many tokens."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.amounts import shown_files, shown_tokens
from axe_lsp.features.describe_facts import glob_markdown, prompt_facts, prompt_size
from axe_lsp.features.inlay_hint import InlayHint
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.snapshot import Snapshot


def outside_hints(snapshot: Snapshot, file: AgentFile, within: TextRange) -> list[InlayHint]:
    """The hints that stand in a part of an open file, as far as is known what is outside it."""
    facts = snapshot.facts_about(file)
    found = [*_of_globs(file, facts), *_of_prompt(file, facts)]
    return [hint for hint in found if within.touches(hint.offset)]


def _of_globs(file: AgentFile, facts: Facts) -> Iterator[InlayHint]:
    for glob in file.outside.globs:
        matches = facts.matches.get(glob.value)
        tooltip = glob_markdown(glob.value, facts)
        if matches is not None and tooltip is not None:
            label = f"{shown_files(matches)}, {shown_tokens(matches.size)}"
            yield InlayHint(glob.range.end, label if matches.count else "no files", tooltip)


def _of_prompt(file: AgentFile, facts: Facts) -> Iterator[InlayHint]:
    """Behind the agent's own prompt, where something else is added to it."""
    size = prompt_size(file, facts)
    value = file.open.value(("system_prompt",)) if file.open is not None else None
    if size and value is not None:
        added = " with all additions" if facts.added else ""
        label = f"{shown_tokens(size)}{added}"
        yield InlayHint(value.range.end, label, "\n\n".join(prompt_facts(file, facts)))
