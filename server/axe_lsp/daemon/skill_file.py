"""What lies where the `skill` of an agent leads, and why a run could make nothing of it. May block."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from axe_lsp.agentfile.check.skill_text import skill_fault
from axe_lsp.agentfile.text.utf8 import NotUtf8Error, decode_utf8
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.context_files import is_file, is_folder
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.prompt import skill_path

_NAME = "SKILL.md"


class SkillFile(NamedTuple):
    """Where a skill leads; the `fault` of what is there, or ""."""

    path: Path
    exists: bool
    fault: str


def look_at_skill(skill: str, environment: Environment) -> SkillFile | None:
    """What a run would find; None if nobody can say where the skill lies."""
    if not skill or "\0" in skill:
        return None
    try:
        path = skill_path(skill, environment)
    except ConfigError:
        return None
    return SkillFile(path, is_file(path), _fault(path))


def _fault(path: Path) -> str:
    if is_folder(path):
        return (
            f"it is a folder; name the {_NAME} in it" if is_file(path / _NAME) else "it is a folder"
        )
    try:
        text = decode_utf8(read_file(path))
    except FileNotFoundError:
        return ""  # Which is told by who asks whether it exists.
    except OSError as error:
        return error.strerror or str(error)
    except NotUtf8Error as error:
        return f"it is {error}, and what can't be read is replaced"
    return skill_fault(text, path.parent.name if path.name == _NAME else "")
