"""The targets of the paths in a file: skills, matched files, working directories, recordings."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.describe_facts import shown_size
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


class PathTarget(Struct, frozen=True):
    """A string in the file, quotes included, and what it leads to. A folder has no text to go to."""

    origin: TextRange
    uri: str
    shown: str
    is_folder: bool = False


def document_links(snapshot: Snapshot, file: AgentFile) -> list[PathTarget]:
    """Return the strings that lead to one place each, in the order of the text."""
    by_origin: dict[TextRange, list[PathTarget]] = {}
    for target in _targets(snapshot, file):
        by_origin.setdefault(target.origin, []).append(target)
    return sorted(
        (targets[0] for targets in by_origin.values() if len(targets) == 1),
        key=lambda target: target.origin,
    )


def path_targets(snapshot: Snapshot, file: AgentFile, offset: int) -> list[PathTarget]:
    """Return the files that the string at `offset` leads to."""
    return [
        target
        for target in _targets(snapshot, file)
        if target.origin.touches(offset) and not target.is_folder
    ]


def skill_at(snapshot: Snapshot, file: AgentFile, offset: int) -> str | None:
    """Return the URI of the skill that is named at `offset`, whether or not it exists."""
    facts = snapshot.facts_about(file)
    for each in file.outside.skills:
        if each.range.touches(offset):
            found = facts.skills.get(each.value)
            return found.uri if found is not None else None
    written, skill = file.outside.skill, facts.skill
    if written is None or skill is None or not written.range.touches(offset):
        return None
    return skill.uri


def _targets(snapshot: Snapshot, file: AgentFile) -> Iterator[PathTarget]:
    facts, outside = snapshot.facts_about(file), file.outside
    if outside.skill is not None and facts.skill is not None and facts.skill.exists:
        yield PathTarget(outside.skill.range, facts.skill.uri, facts.skill.shown)
    workdir, folder = outside.workdir, facts.folder
    if workdir is not None and workdir.value and folder is not None and folder.exists:
        yield PathTarget(workdir.range, folder.uri, folder.shown, is_folder=True)
    for glob in outside.globs:
        matches = facts.matches.get(glob.value)
        for each in matches.files if matches is not None else ():
            yield PathTarget(glob.range, each.uri, f"{each.name} · {shown_size(each.size)}")
    for name in outside.skills:
        found = facts.skills.get(name.value)
        if found is not None and found.exists:
            yield PathTarget(name.range, found.uri, found.shown)
    for path in outside.paths:
        found = facts.paths.get(path.value)
        if found is not None and found.exists:
            yield PathTarget(path.range, found.uri, found.shown)
    if file.model is not None and facts.recording is not None and facts.recording.uri:
        yield PathTarget(file.model.range, facts.recording.uri, "the recording")
