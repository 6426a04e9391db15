"""The problems that the settings of a program have together with those of the layers below."""

from __future__ import annotations

from functools import reduce

from msgspec.structs import replace

from axe_lsp.agentfile.schema.nested import Node, merged
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.workspace.agent_file import SYNTAX, AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_NOTHING = Node(TextRange(0, 0), members={})


def with_merged_problems(snapshot: Snapshot, file: AgentFile) -> AgentFile:
    """Return the file with the problems of its values merged over those of lower layers, once all are known."""
    judge, settings = file.place.kind.judge_merged, file.settings
    if judge is None or settings is None or not snapshot.is_settled(file.place):
        return file
    below = snapshot.settings_below(file.place)
    lower = [each.settings for each in below if each.settings is not None]
    values = merged(settings, reduce(lambda known, upper: merged(upper, known), lower, _NOTHING))
    is_whole = not any(SYNTAX in each.problems_by_code for each in (file, *below))
    found = tuple(judge(file.schema, values, is_whole=is_whole))
    if not found:
        return file
    problems = tuple(sorted((*file.problems, *found), key=lambda problem: problem.range))
    return replace(file, problems=problems)
