"""The file that the `skill` of an agent names, its faults, and the agents that use it. May block.

A run appends a SKILL.md to the prompt as it is. It may begin with front matter, lines of YAML between
two lines `---`, which other programs read. Of these only a `name` on a line of its own is understood
here. A single `---` is a rule of Markdown; it begins front matter where a key follows at once, in
lower case as all keys of skills are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.reading import NotUtf8Error, decode_utf8
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, skill_path
from axe_lsp.runtime.files.regular_files import is_file, is_folder, read_file
from axe_lsp.workspace.agent_file import AgentFile

_FILE_NAME = "SKILL.md"

_FRONT = re.compile(r"---[ \t]*\r?\n")
_KEY = re.compile(r"(?:#.*\n)*[a-z][\w-]*:\s")
_END = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_NAME = re.compile(r"""^name:[ \t]*(["']?)([^\r\n#]*?)\1[ \t]*(?:#.*)?\r?$""", re.MULTILINE)


class SkillFile(NamedTuple):
    """The path of a skill, and the `fault` of the file there, or ""."""

    path: Path
    exists: bool
    fault: str


def look_at_skill(skill: str, environment: Environment) -> SkillFile | None:
    """Return the skill that a run would find; None if its place is not known."""
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
            f"it is a folder; name the {_FILE_NAME} in it"
            if is_file(path / _FILE_NAME)
            else "it is a folder"
        )
    try:
        text = decode_utf8(read_file(path))
    except FileNotFoundError:
        return ""  # The caller reports a missing file.
    except OSError as error:
        return error.strerror or str(error)
    except NotUtf8Error as error:
        return f"it is {error}, and what can't be read is replaced"
    return skill_fault(text, path.parent.name if path.name == _FILE_NAME else "")


def skill_fault(text: str, name: str) -> str:
    """Return the first thing that is wrong with a skill, or "". It is found by its `name`, if that isn't ""."""
    if not text.strip():
        return "it is empty, so it adds nothing to the prompt"
    front = _FRONT.match(text)
    if front is None:
        return ""
    end = _END.search(text, front.end())
    if end is None:
        is_begun = _KEY.match(text, front.end()) is not None
        return "its front matter is not closed: a second line `---` is missing" if is_begun else ""
    called = _NAME.search(text, front.end(), end.start())
    if name and called is not None and called.group(2) not in ("", name):
        return f"its front matter calls it {quoted(called.group(2))}, but it is found as {quoted(name)}"
    return ""


def users_of(
    skill: Path, files: Iterable[AgentFile], environment: Environment
) -> Iterator[AgentFile]:
    """Yield the agents whose `skill` leads to this file, by the names of their files."""

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
