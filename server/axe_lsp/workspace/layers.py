"""The agents of dialects with layers: who declares them, and which of several counts.

A layer is the folder of a program (`.codex`): its settings declare agents, and its folder of agents holds
others. Of several agents of one name in a layer the declared one counts, else the first file in the order of
paths; of several layers the inner one. The layers of a session are the user's own and those from the root of the
project, which is its repository, down to the working folder. Recorded with Codex 0.171.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.dialects import is_other_program, program_title
from axe_lsp.agentfile.other_programs import CLAUDE, COPILOT
from axe_lsp.agentfile.text.nearest import Spelling
from axe_lsp.workspace.agent_file import AgentFile, Declaration
from axe_lsp.workspace.places import Places, Scope, joined

NamedAgents = Mapping[tuple[str, str], tuple[str, ...]]
"""The URIs of the files by program and name."""


class Declared(Struct, frozen=True):
    """A file that settings declare as an agent."""

    settings: str
    declaration: Declaration


_COPILOT, _CLAUDE = (program_title(each) for each in (COPILOT, CLAUDE))
_IN_COPILOT, _IN_CLAUDE = (f"/{each.layer}/" for each in (COPILOT, CLAUDE))


class Layers(Struct, frozen=True, dict=True):
    """All agents of dialects with layers. `declared` has the declarations by the URIs of the files.

    `settings` are the URIs of settings by program and layer.
    """

    names: NamedAgents = {}
    declared: Mapping[str, tuple[Declared, ...]] = {}
    settings: Mapping[tuple[str, str], str] = {}

    @cached_property
    def names_for_axe(self) -> frozenset[str]:
        """The names of the agents of other programs, which files of axe may name."""
        return frozenset(name for title, name in self.names if is_other_program(title))

    @cached_property
    def titles(self) -> frozenset[str]:
        """The titles of the programs that have agents with names."""
        return frozenset(title for title, _ in self.names)

    @cached_property
    def projects_with_copilot(self) -> frozenset[str]:
        """The folders of projects with agents of Copilot."""
        uris = (uri for key, found in self.names.items() if key[0] == _COPILOT for uri in found)
        return frozenset(uri.partition(_IN_COPILOT)[0] for uri in uris if _IN_COPILOT in uri)

    @cached_property
    def spelling_for_axe(self) -> Spelling:
        """Finds names of these agents that are written alike."""
        return Spelling(self.names_for_axe)

    @cached_property
    def first_agents(self) -> Mapping[tuple[str, str], str]:
        """The URIs of the first agents with names, by program and the folder of the file."""
        first: dict[tuple[str, str], str] = {}
        for (program, _), uris in self.names.items():
            for uri in uris:
                key = program, uri.rpartition("/")[0]
                first[key] = min(uri, first.get(key, uri))
        return first

    def is_about_layer(self, file: AgentFile) -> bool:
        """Return whether the file is the one with the findings about the folder of its layer.

        These are the settings of the layer, else its first agent that has a name.
        """
        place = file.place
        program, layer = place.kind.schema.program, place.layer
        if not layer or not place.kind.is_agent:
            return bool(layer)
        if (program, layer) in self.settings:
            return False
        first = (
            uri
            for (title, folder), uri in self.first_agents.items()
            if title == program and f"{folder}/".startswith(f"{layer}/")
        )
        return file.uri == min(first, default=file.uri)

    def name_of(self, file: AgentFile) -> str:
        """Return the name by which the program knows the agent; "" if it has none."""
        if file.place.kind.syntax is not None:
            return file.called
        if not file.place.dialect.has_names:
            return file.place.stem
        own = file.name.value.strip() if file.name is not None else ""
        if own:
            return own
        declared = self.declared.get(file.uri, ())
        return declared[0].declaration.name.strip() if declared else ""

    def key_of(self, file: AgentFile) -> tuple[str, str] | None:
        """Return the key of the file in `names`; None for files that are no such agents, or without a name."""
        place = file.place
        if not place.layer or not place.kind.is_agent or file.is_prose:
            return None
        name = self.name_of(file)
        return (place.kind.schema.program, name) if name else None

    def lacking(self, file: AgentFile) -> tuple[str, ...]:
        """Return the keys without which the program drops the file, and which it does not have."""
        return () if file.uri in self.declared else file.lacking

    def is_whole(self, file: AgentFile) -> bool:
        """Return whether the program loads the file, whatever others there are."""
        has_faults = any(each.fatal and not each.is_warning for each in file.problems)
        return not has_faults and not self.lacking(file)

    def precedence(self, file: AgentFile) -> tuple[object, ...]:
        """Return the sort key of files of one name in Markdown; the first one counts."""
        place = file.place
        program = place.dialect.program
        assert program is not None
        is_users = place.scope is Scope.USER
        depth = place.layer.count("/")
        parts = unquote(file.uri).split("/")
        order = [tuple(-ord(each) for each in part) or (1,) for part in parts]
        return (
            not self.is_whole(file),
            -place.strength,
            is_users is not program.user_wins,
            depth if program.outer_wins else -depth,
            order if program.last_wins else parts,
        )

    def rank(self, file: AgentFile) -> tuple[bool, list[str]]:
        """Return the sort key of files of one name in one layer; the first whole one counts."""
        return file.uri not in self.declared, unquote(file.uri).split("/")


def file_of(settings: AgentFile, declaration: Declaration) -> str:
    """Return the URI of the file that a declaration names, or ""."""
    return joined(settings.place.folder, declaration.file) if declaration.file else ""


def declared_files(files: Iterable[AgentFile]) -> dict[str, tuple[Declared, ...]]:
    """Return the declarations in files of settings, by the URIs of the files that they name."""
    found: dict[str, tuple[Declared, ...]] = {}
    for settings in files:
        for each in settings.declarations:
            uri = file_of(settings, each)
            if uri:
                found[uri] = (*found.get(uri, ()), Declared(settings.uri, each))
    return found


def layers_of(files: Iterable[AgentFile]) -> Layers:
    """Return the layers, made anew."""
    there = [each for each in files if each.place.layer]
    settings = [each for each in there if not each.place.kind.is_agent]
    layers = Layers(
        {},
        declared_files(settings),
        {(each.schema.program, each.place.layer): each.uri for each in settings},
    )
    names: dict[tuple[str, str], tuple[str, ...]] = {}
    for file in there:
        key = layers.key_of(file)
        if key is not None:
            names[key] = (*names.get(key, ()), file.uri)
    return replace(layers, names=names)


def layers_after(
    layers: Layers,
    changes: Iterable[tuple[AgentFile | None, AgentFile | None]],
    files: Iterable[AgentFile],
) -> Layers:
    """Return the layers after files have changed, each given before and after. `files` are all there are then."""
    pairs = [(old, new) for old, new in changes if _is_in_layer(old) or _is_in_layer(new)]
    if not pairs:
        return layers
    if any(settings_changed(old, new) for old, new in pairs):
        return layers_of(files)
    moved = [(old, new) for old, new in pairs if _key(layers, old) != _key(layers, new)]
    if not moved:
        return layers
    names = dict(layers.names)
    for old, new in moved:
        for key in (_key(layers, old),):
            if key is not None and old is not None:
                rest = tuple(uri for uri in names.pop(key, ()) if uri != old.uri)
                names.update({key: rest} if rest else {})
        key = _key(layers, new)
        if key is not None and new is not None:
            names[key] = (*names.get(key, ()), new.uri)
    return replace(layers, names=names)


def settings_changed(old: AgentFile | None, new: AgentFile | None) -> bool:
    """Return whether settings have appeared or gone, or declare other agents than before."""
    if _declarations(old) != _declarations(new):
        return True
    there = new or old
    return (old is None) != (new is None) and there is not None and _are_settings(there)


def _are_settings(file: AgentFile) -> bool:
    return bool(file.place.layer) and not file.place.kind.is_agent


def settings_over(layers: Layers, file: AgentFile) -> Iterator[str]:
    """Yield the URIs of the settings that may be merged over those in a file."""
    if not _are_settings(file):
        return
    outer = file.place.layer.rpartition("/")[0]
    for (program, layer), uri in layers.settings.items():
        is_users = file.place.scope is Scope.USER
        if program == file.schema.program and (is_users or layer.startswith(f"{outer}/")):
            yield uri


def outer_layers(layer: str) -> list[str]:
    """Return the layers of the same name in the folders around that of a layer, outer ones first, whether they exist or not."""
    folder, _, name = layer.rpartition("/")
    parts = folder.split("/")
    return [f"{'/'.join(parts[:end])}/{name}" for end in range(1, len(parts))]


def is_layer_below(lower: str, upper: str, users: Iterable[str], root: str | None) -> bool:
    """Return whether a session in the folder of layer `upper` has the values of layer `lower`, too.

    `users` are the user's own layers. `root` is the project of `upper`: "" if it has none, and None if that is
    not known, in which case all outer layers count.
    """
    if lower == upper or upper in users:
        return False
    if lower in users:
        return True
    folder, inner = lower.rpartition("/")[0], upper.rpartition("/")[0]
    if root is not None and not (root and f"{folder}/".startswith(f"{root}/")):
        return False
    return inner.startswith(f"{folder}/")


def changed_names(before: Layers, after: Layers) -> list[tuple[str, str]]:
    """Return the keys in `names` that mean other files than before."""
    if after.names is before.names:
        return []
    keys = {*before.names, *after.names}
    return [key for key in keys if before.names.get(key) != after.names.get(key)]


def affected_by(before: Layers, after: Layers, changed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the files about which there may be something new to say since the `changed` names or declarations have changed."""
    if after is before:
        return
    for key in changed:
        yield from before.names.get(key, ())
        yield from after.names.get(key, ())
    projects = before.projects_with_copilot ^ after.projects_with_copilot
    for key, uris in after.names.items() if projects else ():
        if key[0] == _CLAUDE:
            yield from (uri for uri in uris if uri.partition(_IN_CLAUDE)[0] in projects)
    for uri in {*before.declared, *after.declared}:
        if before.declared.get(uri) != after.declared.get(uri):
            yield uri
    if after.names is not before.names:
        one, other = before.first_agents, after.first_agents
        for folder in {*one, *other}:
            if one.get(folder) != other.get(folder):
                yield from (each[folder] for each in (one, other) if folder in each)


def with_declared(places: Places, layers: Layers, files: Mapping[str, AgentFile]) -> Places:
    """Return the places, with the declared files."""
    declared = {
        uri: settings.place.layer
        for uri, found in layers.declared.items()
        if (settings := files.get(found[0].settings)) is not None
    }
    if declared == places.declared:
        return places
    return Places(places.user_folder, places.extra_folders, places.roots, places.homes, declared)


def _is_in_layer(file: AgentFile | None) -> bool:
    return file is not None and bool(file.place.layer)


def _declarations(file: AgentFile | None) -> tuple[Declaration, ...]:
    return file.declarations if file is not None else ()


def _key(layers: Layers, file: AgentFile | None) -> tuple[str, str] | None:
    return layers.key_of(file) if file is not None else None
