"""Finds out what lies outside an agent file: paths, what globs match, whether a key is there.

The same as a run would find, but no file is read for its text that a glob matches, and a search ends
when it is told to. Everything here may block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import MemoryConfig, Source
from axe_lsp.agentfile.other_programs import PROGRAMS
from axe_lsp.agentfile.rights import Reach, Server
from axe_lsp.agentfile.schema.providers import (
    REPLAY_PROVIDER,
    ModelName,
    ModelNameError,
    parse_model_name,
)
from axe_lsp.agentfile.text.globs import BadPatternError, segments_of
from axe_lsp.daemon.stale_facts import stale_facts
from axe_lsp.daemon.uris import uri_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.context_files import ContextFile, matching_files, measure_context_file
from axe_lsp.runtime.files.folders import Environment, expand_path
from axe_lsp.runtime.files.regular_files import is_file, is_folder, is_there, read_file
from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.files.user_config import UserConfig, load_user_config, user_config
from axe_lsp.runtime.plain_text import decode, shown_path
from axe_lsp.runtime.safety.reach import is_users, reaches
from axe_lsp.workspace.facts import (
    Facts,
    Found,
    Instructions,
    KnownServer,
    MatchedFile,
    Matches,
    ProviderKey,
    Recording,
    Remembered,
    SeenTool,
    Unready,
)
from axe_lsp.workspace.outside_values import Question

_T = TypeVar("_T")

MAX_MATCHES = 10_000
"""Files of one glob that are counted. So many are no prompt any more."""

SHOWN_MATCHES = 50
"""The number of matches that are remembered by name."""


class PathContext(Struct, frozen=True):
    """From where the paths of an agent are looked at.

    Runs start in `workspace`, which `is_usual` unless nobody can say where the agent will be run.
    `open_config` is the text of config.toml while an editor has it open, `file` the agent's own if it is saved.
    `allowances` are the rules of the setting `tools.allow`.
    """

    agent: str
    workspace: Path
    environment: Environment
    is_usual: bool = True
    open_config: str | None = None
    file: Path | None = None
    allowances: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"PathContext({self.agent!r}, {str(self.workspace)!r})"  # All else may hold keys.


def find_out(
    question: Question,
    path_context: PathContext,
    go_on: Callable[[], bool] = lambda: True,
    searched: Searched | None = None,
    *,
    with_prompt: bool = True,
) -> Facts:
    """Return the facts that are asked for, as far as they can be told. Searches for files while `go_on()`.

    What is in `searched` is not searched again, and what was searched is put there. Only people ask
    for the memory and the length of the whole prompt; what is wrong can be told without.
    """
    seen = Searched() if searched is None else searched
    start = "start", question.workdir, path_context.workspace, path_context.is_usual
    folder, is_certain = seen.once(start, partial(folder_in_force, question.workdir, path_context))
    measured = {} if folder is None else _measured(question.globs, folder, go_on, seen)
    named = question.skill
    skill, fault = seen.once(("skill", named), partial(_skill, named, path_context.environment))
    model = _model(question.model)
    memory, entries = _memory(question.memory, path_context) if with_prompt else (None, "")
    return Facts(
        question=question,
        folder=seen.once(("folder", folder), partial(_folder, folder)) if folder else None,
        is_certain=is_certain,
        skill=skill,
        skill_fault=fault,
        matches={pattern: found.matches for pattern, found in measured.items()},
        key=seen.once(("key", str(model)), partial(_key, model, path_context)) if model else None,
        named_providers=seen.once(
            ("providers", path_context.open_config), partial(_named_providers, path_context)
        ),
        recording=_recording(model, folder, path_context),
        memory=memory,
        reaches=_reaches(question, path_context, seen),
        added=_added(question, path_context, measured, entries) if with_prompt else None,
        paths=_paths(question.paths, path_context),
        unready=tuple(_unready(question.servers, path_context.environment)),
        servers=tuple(_servers(question, path_context)) if with_prompt else (),
        contents=_contents(question.contents, path_context),
        installed=_installed(question.program, path_context) if with_prompt else "",
        instructions=_instructions(question, path_context, seen),
        skills=_skills(question.skills, path_context, seen),
        stale=stale_facts(question, path_context.file, path_context.environment, go_on),
    )


def _unready(servers: tuple[Server, ...], environment: Environment) -> Iterator[Unready]:
    """Yield the servers that a run could not connect, as far as the environment tells."""
    for index, server in enumerate(servers):
        is_there = not server.command or find_program(server.command, environment)
        unset = tuple(name for name in server.needed if not environment.get(name))
        if unset or not is_there:
            yield Unready(index, "" if is_there else server.command, unset)


def _servers(question: Question, path_context: PathContext) -> Iterator[KnownServer]:
    """Yield the known tools of each server. None is contacted or started."""
    environment, workspace = path_context.environment, path_context.workspace
    if not question.servers:
        return
    from axe_lsp.runtime.mcp.seen_tools import recall
    from axe_lsp.runtime.safety.allowances import START, CheckedCall, is_allowed

    is_trusted = _is_trusted(question, path_context)
    for server in question.servers:
        program = find_program(server.command, environment) if server.command else ""
        seen = recall(environment, workspace, server.place)
        rule = f"{START}({server.place})"
        yield KnownServer(
            program=shown_path(program or ""),
            is_allowed=bool(server.command)
            and is_allowed(path_context.allowances, CheckedCall(START, {}, rule)),
            is_trusted=is_trusted,
            tools=tuple(SeenTool(*each) for each in seen.tools) if seen else None,
            seen=seen.time if seen else "",
            instructions=seen.instructions if seen else "",
        )


def _is_trusted(question: Question, path_context: PathContext) -> bool:
    """Return whether the saved file may reach where it wants to, as far as that is remembered."""
    if path_context.file is None:
        return False
    from axe_lsp.runtime.safety.trust import TrustStore, trust_request_of_source

    try:
        source = Source(str(path_context.file), decode(read_file(path_context.file)))
        asked, workspace = question.asked, path_context.workspace
        request = trust_request_of_source(
            path_context.agent, source, asked, workspace, path_context.environment
        )
        return request is None or TrustStore(path_context.environment).holds(request)
    except (OSError, ConfigError):
        return False


def _paths(paths: tuple[str, ...], path_context: PathContext) -> dict[str, Found]:
    """Return the paths that start at the folder of the agent's own file."""
    if path_context.file is None:
        return {}
    folder = path_context.file.parent
    there = {each: folder / each for each in paths if each and "\0" not in each}
    return {each: _found(path, is_there(path)) for each, path in there.items()}


def _installed(name: str, path_context: PathContext) -> str:
    if not name:
        return ""
    from axe_lsp.daemon.installed_program import installed_version

    program = next(each for each in PROGRAMS if each.name == name)
    return installed_version(program, path_context.environment)


def _contents(
    contents: tuple[tuple[str, str], ...], path_context: PathContext
) -> dict[tuple[str, str], str]:
    """Return what is to be said about the contents of files, by kind and path."""
    if not contents or path_context.file is None:
        return {}
    from axe_lsp.daemon.codex_files import CONTENT_CHECKS

    folder = path_context.file.parent
    return {
        (kind, path): CONTENT_CHECKS[kind](folder, path, path_context.environment)
        for kind, path in contents
        if "\0" not in path
    }


def _instructions(
    question: Question, path_context: PathContext, searched: Searched
) -> tuple[Instructions, ...]:
    """Return the files with instructions for the folder that a file is about, and for those around it."""
    paths, inherits = question.instructions, question.inherits_instructions
    if not paths or path_context.file is None:
        return ()
    from axe_lsp.daemon.codex_files import instruction_files

    folder, environment = path_context.file.parent, path_context.environment
    find = partial(instruction_files, folder, paths, environment, inherits=inherits)
    return searched.once(("instructions", folder, paths, inherits), lambda: tuple(find()))


def folder_in_force(workdir: str, path_context: PathContext) -> tuple[Path | None, bool]:
    """Return the folder where globs start, and whether it is the same wherever the agent is run."""
    try:
        expanded = expand_path(workdir, path_context.environment)
    except ConfigError:  # There is no home folder.
        return None, False
    if "\0" in expanded:
        return None, False
    folder = path_context.workspace / (expanded or path_context.workspace)
    return folder, path_context.is_usual or Path(expanded).is_absolute()


def _folder(path: Path) -> Found:
    return _found(path, is_folder(path))


def _found(path: Path, exists: bool) -> Found:
    return Found(uri_of(path), shown_path(path), exists)


def _skill(skill: str, environment: Environment) -> tuple[Found | None, str]:
    """Return the file of a skill and its fault."""
    if not skill:
        return None, ""
    from axe_lsp.daemon.skill_file import look_at_skill

    file = look_at_skill(skill, environment)
    return (_found(file.path, file.exists), file.fault) if file is not None else (None, "")


def _skills(
    names: tuple[str, ...], path_context: PathContext, searched: Searched
) -> dict[str, Found]:
    """Return the skills of Claude Code by their names."""
    agent = path_context.file
    if not names or agent is None:
        return {}
    from axe_lsp.daemon.skill_file import look_at_claude_skill

    looked = {
        name: searched.once(
            ("claude skill", agent.parent, name),
            partial(look_at_claude_skill, name, agent, path_context.environment),
        )
        for name in names
    }
    return {
        name: _found(each.path, each.exists) for name, each in looked.items() if each is not None
    }


class _Measured(Struct, frozen=True):
    """The matches of a glob, and every text file of them with its size."""

    matches: Matches
    texts: Mapping[str, int]


class Searched:
    """The facts of other agents at the same moment and in the same environment, which mostly repeat."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Any] = {}

    def once(self, key: tuple[object, ...], find: Callable[[], _T]) -> _T:
        """Return the fact of a key, which is looked for once."""
        if key not in self._known:
            self._known[key] = find()
        known: _T = self._known[key]
        return known


def _measured(
    patterns: tuple[str, ...], folder: Path, go_on: Callable[[], bool], searched: Searched
) -> dict[str, _Measured]:
    measured = {}
    root = searched.once(("root", folder), partial(_without_links, folder)) if patterns else None
    for pattern in patterns:
        try:
            segments = segments_of(pattern)
        except BadPatternError:
            continue  # There is another diagnostic for that.
        find = partial(_matches, segments, folder, root, go_on)
        measured[pattern] = searched.once(("glob", folder, pattern), find)
    return measured


def _without_links(folder: Path) -> Path | None:
    try:
        return folder.resolve()
    except (OSError, RuntimeError, ValueError):  # Circles of links; a NUL in a name.
        return None


def _matches(
    segments: tuple[str, ...], folder: Path, root: Path | None, go_on: Callable[[], bool]
) -> _Measured:
    sizes: dict[str, int] = {}
    paths: dict[str, Path] = {}
    pictures: list[str] = []
    is_complete = root is not None
    try:
        found = matching_files(segments, folder, go_on) if root is not None else ()
        for number, (name, path) in enumerate(found):
            if number >= MAX_MATCHES or not go_on():
                is_complete = False
                break
            measured = measure_context_file(name, path, root or folder)
            if measured is not None:
                sizes[name], paths[name] = measured[0], path
                pictures += [name] if measured[1] else []
    except (OSError, RuntimeError, ValueError):  # Circles of links; a NUL in a name.
        is_complete = False
    first = sorted(sizes)[:SHOWN_MATCHES]
    files = tuple(
        MatchedFile(shown_path(each), uri_of(paths[each].absolute()), sizes[each]) for each in first
    )
    matches = Matches(
        files,
        len(sizes),
        sum(sizes.values()),
        is_complete and go_on(),
        shown_path(min(pictures, default="")),
    )
    texts = {name: size for name, size in sizes.items() if name not in pictures}
    return _Measured(matches, texts)


def _model(text: str) -> ModelName | None:
    try:
        return parse_model_name(text)
    except ModelNameError:
        return None


def _named_providers(path_context: PathContext) -> tuple[str, ...] | None:
    """Return the providers that config.toml adds to those that are built in."""
    try:
        return _config(path_context).named_providers()
    except ConfigError:
        return None


def _key(model: ModelName, path_context: PathContext) -> ProviderKey | None:
    provider = model.provider
    try:
        config = _config(path_context)
    except ConfigError:  # No run gets as far as asking for a key.
        return None
    row = config.provider(provider)
    if row is None:
        return None
    return ProviderKey(
        provider=provider,
        variable=row.key_variable,
        wire=row.wire_of(model.name),
        origin=config.key_origin(provider),
        address_origin=config.base_url_origin(provider),
        is_needed=row.needs_key,
    )


def _config(path_context: PathContext) -> UserConfig:
    """Return config.toml with its unsaved text, if it is open. Raises ConfigError."""
    environment, text = path_context.environment, path_context.open_config
    if text is None:
        return load_user_config(environment)
    # Half a character, which an editor may send, is for runs to complain of.
    return user_config(text.encode("utf-8", "replace"), Path("config.toml"), environment)


def _recording(
    model: ModelName | None, folder: Path | None, path_context: PathContext
) -> Recording | None:
    if model is None or model.provider != REPLAY_PROVIDER or folder is None or "\0" in model.name:
        return None
    from axe_lsp.runtime.recordings.named_replays import recording_places

    try:
        places = recording_places(
            model.name, folder, path_context.workspace, path_context.environment
        )
    except ConfigError:
        return None
    there = next(filter(is_file, places), None)
    searched = tuple(shown_path(place.parent) for place in places)
    return Recording(searched, uri_of(there) if there is not None else "")


def _memory(config: MemoryConfig, path_context: PathContext) -> tuple[Remembered | None, str]:
    """Return what is remembered, and the text of the entries that the prompt gets."""
    if not config.enabled:
        return None, ""
    from axe_lsp.runtime.memory import load_memory

    agent, workspace = path_context.agent, path_context.workspace
    memory = load_memory(agent, config, workspace, path_context.environment)
    remembered = Remembered(shown_path(memory.path), memory.count) if memory.path else None
    return remembered, memory.entries


def _reaches(
    question: Question, path_context: PathContext, searched: Searched
) -> tuple[Reach, ...]:
    asked = question.asked, path_context.workspace
    found = searched.once(("reaches", *asked), lambda: reaches(*asked, path_context.environment))
    file = path_context.file
    # Asked last: most agents reach for nothing, and each has a path of its own to follow.
    is_free = found and file is not None and is_users(file, path_context.environment)
    return () if is_free else found


def _added(
    question: Question, path_context: PathContext, measured: Mapping[str, _Measured], entries: str
) -> int | None:
    """Return the text that is appended to the agent's own prompt. A byte of a file counts as a character."""
    from axe_lsp.runtime.prompt import load_skill, system_prompt

    sizes = dict(size for found in measured.values() for size in found.texts.items())
    empty = [ContextFile(name, "", size) for name, size in sorted(sizes.items())]
    try:
        skill = load_skill(question.skill, path_context.environment)
    except ConfigError:  # The run would fail.
        return None
    return len(system_prompt("", skill, empty, entries)) + sum(sizes.values())
