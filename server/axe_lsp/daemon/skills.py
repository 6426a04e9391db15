"""The agents that use a skill, found from its SKILL.md. May block for a few looks at the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, skill_path
from axe_lsp.workspace.agent_file import AgentFile


def users_of(
    skill: Path, files: Iterable[AgentFile], environment: Environment
) -> Iterator[AgentFile]:
    """The agents whose `skill` leads to this file, by the names of their files."""

    @cache  # Many agents share a skill.
    def leads_there(written: str) -> bool:
        try:
            return skill_path(written, environment) == skill
        except ConfigError:
            return False

    for file in sorted(files, key=lambda each: each.uri):
        written = file.outside.skill
        if written is not None and written.value and leads_there(written.value):
            yield file
