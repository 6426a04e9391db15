"""The agents of dialects with layers: who declares them, and which of several counts.

A layer is the folder of a program (`.codex`): its settings declare agents, and its folder of agents holds
others. Of several agents of one name in a layer the declared one counts, else the first file in the order of
paths; of several layers the inner one. Recorded with Codex 0.169.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from msgspec import Struct

from axe_lsp.workspace.agent_file import AgentFile, Declaration
from axe_lsp.workspace.places import Places, joined

NamedAgents = Mapping[tuple[str, str], tuple[str, ...]]
"""The URIs of the files by program and name."""


class Declared(Struct, frozen=True):
    """A file that settings declare as an agent."""

    settings: str
    declaration: Declaration


class Layers(Struct, frozen=True):
    """All agents of dialects with layers. `declared` has the declarations by the URIs of the files."""

    names: NamedAgents = {}
    declared: Mapping[str, tuple[Declared, ...]] = {}

    def name_of(self, file: AgentFile) -> str:
        """The name by which the program knows the agent; "" if it has none."""
        if not file.place.dialect.has_names:
            return file.place.stem
        own = file.name.value.strip() if file.name is not None else ""
        if own:
            return own
        declared = self.declared.get(file.uri, ())
        return declared[0].declaration.name.strip() if declared else ""

    def key_of(self, file: AgentFile) -> tuple[str, str] | None:
        """The key of the file in `names`; None for files that are no such agents, or without a name."""
        place = file.place
        if not place.layer or not place.kind.is_agent:
            return None
        name = self.name_of(file)
        return (place.kind.schema.program, name) if name else None

    def lacking(self, file: AgentFile) -> tuple[str, ...]:
        """The keys without which the program drops the file, and which it does not have."""
        return () if file.uri in self.declared else file.lacking

    def is_whole(self, file: AgentFile) -> bool:
        """Whether the program loads the file, whatever others there are."""
        has_faults = any(each.fatal and not each.is_warning for each in file.problems)
        return not has_faults and not self.lacking(file)

    def rank(self, file: AgentFile) -> tuple[bool, list[str]]:
        """The sort key of files of one name in one layer; the first whole one counts."""
        return file.uri not in self.declared, unquote(file.uri).split("/")


def file_of(settings: AgentFile, declaration: Declaration) -> str:
    """The URI of the file that a declaration names, or ""."""
    return joined(settings.place.folder, declaration.file) if declaration.file else ""


def declared_files(files: Iterable[AgentFile]) -> dict[str, tuple[Declared, ...]]:
    """The declarations in files of settings, by the URIs of the files that they name."""
    found: dict[str, tuple[Declared, ...]] = {}
    for settings in files:
        for each in settings.declarations:
            uri = file_of(settings, each)
            if uri:
                found[uri] = (*found.get(uri, ()), Declared(settings.uri, each))
    return found


def layers_of(files: Iterable[AgentFile]) -> Layers:
    """The layers, made anew."""
    there = [each for each in files if each.place.layer]
    layers = Layers({}, declared_files(each for each in there if not each.place.kind.is_agent))
    names: dict[tuple[str, str], tuple[str, ...]] = {}
    for file in there:
        key = layers.key_of(file)
        if key is not None:
            names[key] = (*names.get(key, ()), file.uri)
    return Layers(names, layers.declared)


def layers_after(
    layers: Layers,
    changes: Iterable[tuple[AgentFile | None, AgentFile | None]],
    files: Iterable[AgentFile],
) -> Layers:
    """The layers after files have changed, each given before and after. `files` are all there are then."""
    pairs = [(old, new) for old, new in changes if _is_in_layer(old) or _is_in_layer(new)]
    if not pairs:
        return layers
    if any(_declarations(old) != _declarations(new) for old, new in pairs):
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
    return Layers(names, layers.declared)


def affected_by(before: Layers, after: Layers) -> Iterator[str]:
    """The files about which there may be something new to say since the names or declarations have changed."""
    if after is before:
        return
    for key in {*before.names, *after.names}:
        old, new = before.names.get(key, ()), after.names.get(key, ())
        if old != new:
            yield from old
            yield from new
    for uri in {*before.declared, *after.declared}:
        if before.declared.get(uri) != after.declared.get(uri):
            yield uri


def with_declared(places: Places, layers: Layers, files: Mapping[str, AgentFile]) -> Places:
    """The places, with the declared files."""
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
