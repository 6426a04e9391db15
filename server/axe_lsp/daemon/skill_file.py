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

from axe_lsp.agentfile.other_programs import CLAUDE
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.reading import NotUtf8Error, decode_utf8
from axe_lsp.daemon.uris import path_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, homes_of_dialects, skill_path
from axe_lsp.runtime.files.regular_files import is_file, is_folder, read_file
from axe_lsp.runtime.files.workspace_folders import project_root
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.file_values import Written

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


_CLAUDE = ".claude"


def look_at_claude_skill(name: str, agent: Path, environment: Environment) -> SkillFile | None:
    """Return the skill or the command that Claude Code means by a name in an agent file; None if that can't be told.

    Names with a colon are those of plugins. The user's own skill comes before those of the project.
    """
    if not name.strip() or {*name} & {*":/\\\0"} or name.startswith("."):
        return None
    root = project_root(agent.parent)
    folders = [each for each in agent.parents if root is None or each.is_relative_to(root)]
    homes = CLAUDE.homes_in(homes_of_dialects(environment))
    layers = [*map(Path, homes), *(each / _CLAUDE for each in folders if each.name != _CLAUDE)]
    places = [
        place
        for layer in layers
        for place in (layer / "skills" / name / _FILE_NAME, layer / "commands" / f"{name}.md")
    ]
    there = next(filter(is_file, places), None)
    own = next((each for each in agent.parents if each.name == _CLAUDE), layers[0])
    path = there or own / "skills" / name / _FILE_NAME
    return SkillFile(path, there is not None, "")


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
) -> Iterator[tuple[AgentFile, Written]]:
    """Yield the agents that name the skill in this file, with the place of the name, by the names of their files."""

    @cache  # Many agents share a skill.
    def leads_there(written: str) -> bool:
        try:
            return skill_path(written, environment) == skill
        except ConfigError:
            return False

    for file in sorted(files, key=lambda each: each.uri):
        written, path = file.outside.skill, path_of(file.uri)
        if written is not None and written.value and leads_there(written.value):
            yield file, written
        for each in file.outside.skills:
            found = path and look_at_claude_skill(each.value, path, environment)
            if found and found.exists and found.path == skill:
                yield file, each
