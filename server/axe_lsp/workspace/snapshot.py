"""The state of all agent files at one moment. Never changes; a change makes another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.dialects import program_title
from axe_lsp.agentfile.lookup_order import Caller, layers_for_axe
from axe_lsp.agentfile.other_programs import (
    OF_AXE,
    PROGRAMS,
    Program,
    program_named,
    without_program,
)
from axe_lsp.agentfile.text.nearest import Spelling
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.calls import Calls
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.layers import Layers, is_layer_below, outer_layers
from axe_lsp.workspace.outside_values import Question
from axe_lsp.workspace.places import Place, Places
from axe_lsp.workspace.run_facts import RunLogFacts

Files = Mapping[str, AgentFile]
"""The files by URI."""

Callers = Mapping[str, frozenset[str]]
"""The URIs of files by the names that they list."""


_NO_FACTS = Facts(Question())


class Snapshot(Struct, frozen=True):
    """`closed` is what lies on the disk, `buffers` what editors have open and so what counts.

    `names` maps a stem to the URIs of the files that define it; `spelling` finds names that are
    written alike, and `layers` has the agents of other dialects. Who lists a name is kept apart for the disk and the buffers, so that typing in a
    list costs nothing for all the files that are closed. Until the folders have been read once,
    `complete` is False, `calls` are empty, and nothing can be said about names that are missing. Nor
    can it in `unread`, folders that are only known because a file in them was opened.
    `facts` are by URI, for the files whose questions were answered. Of files that have a name in
    common `real_uris` tells where they lie once links are followed. `projects` has the root of the project of each
    layer and of each folder of axe's agents, "" without one; `repositories` those of axe's folders that lie in
    a repository of their own below a workspace folder. `run_log` is what the runs of agents were like.
    """

    places: Places = field(default_factory=Places)
    closed: Files = field(default_factory=dict)
    buffers: Files = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    closed_callers: Callers = field(default_factory=dict)
    buffer_callers: Callers = field(default_factory=dict)
    spelling: Spelling = field(default_factory=Spelling)
    layers: Layers = field(default_factory=Layers)
    facts: Mapping[str, Facts] = field(default_factory=dict)
    real_uris: Mapping[str, str] = field(default_factory=dict)
    projects: Mapping[str, str] = field(default_factory=dict)
    repositories: Mapping[str, str] = field(default_factory=dict)
    run_log: RunLogFacts = field(default_factory=RunLogFacts)
    calls: Calls = field(default_factory=Calls)
    complete: bool = False
    unread: frozenset[str] = frozenset()
    revision: int = 0

    def is_settled(self, seen_from: Place) -> bool:
        """Return whether all is known that names in a file at `seen_from` can mean."""
        return self.complete and seen_from.folder not in self.unread

    def file(self, uri: str) -> AgentFile | None:
        """Return the file at `uri`; an open buffer wins over the disk."""
        return self.buffers.get(uri) or self.closed.get(uri)

    def files(self) -> Iterator[AgentFile]:
        """Yield every file once."""
        yield from self.buffers.values()
        for uri, file in self.closed.items():
            if uri not in self.buffers:
                yield file

    def agent(self, name: str, caller: AgentFile) -> AgentFile | None:
        """Return the file that `name` means in the file `caller` (`agentfile/lookup_order.py`)."""
        if caller.place.kind.syntax is not None:
            return next(iter(self._of_program(name, caller)), None)
        uris = self.names.get(name, ())
        if len(uris) == 1 and not self.repositories:
            return self.file(uris[0])  # As nearly always; the graph asks thousands of times.
        candidates = self.agents(name, caller)
        return candidates[0] if candidates else None

    def agents(self, name: str, caller: AgentFile) -> list[AgentFile]:
        """Return the files that define `name` and can be named by `caller`, the one that counts first.

        All are of one program: of axe, else of the first one with such an agent that `caller` can name.
        """
        if caller.place.kind.syntax is not None:
            return self._of_program(name, caller)
        return self._of_axe(name, caller) or self._of_others(name, caller)

    def _of_axe(self, name: str, caller: AgentFile) -> list[AgentFile]:
        uris = self.names.get(name.removeprefix(OF_AXE), ())
        files = [file for uri in uris if (file := self.file(uri)) is not None]
        places = self.places
        seen_from = places.caller(caller.place, caller.workdir)
        if self.repositories:
            files = [
                file
                for file in files
                if places.is_reachable(file.place, seen_from, self._repository_of)
            ]
        return sorted(files, key=lambda file: places.precedence(file.place, seen_from))

    def _of_others(self, name: str, caller: AgentFile) -> list[AgentFile]:
        """Return the agents that a file of axe means where axe has none: those of the first program that has some."""
        chosen = program_named(name)
        plain = name if chosen is None else without_program(name)
        if plain not in self.layers.names_for_axe:
            return []
        seen_from = self.places.caller(caller.place, caller.workdir)
        for program in PROGRAMS if chosen is None else (chosen,):
            uris = self.layers.names.get((program_title(program), plain), ())
            if not uris:
                continue
            layers = self._layers_for(program, seen_from)
            files = [file for uri in uris if (file := self.file(uri)) is not None]
            files = [each for each in files if each.place.layer in layers]
            if files:
                return sorted(files, key=lambda each: self._precedence(each, layers))
        return []

    def _layers_for(self, program: Program, seen_from: Caller) -> Sequence[str]:
        """Return the folders of a program that count for a file of axe, the one that wins last."""
        return layers_for_axe(
            replace(seen_from, dialect=program.name),
            self.places.known,
            program.layer,
            self._repository_of,
            is_recursive=program.is_recursive,
        )

    def _precedence(self, file: AgentFile, layers: Sequence[str]) -> tuple[object, ...]:
        if file.place.kind.syntax is not None:
            return self.layers.precedence(file)
        return -layers.index(file.place.layer), *self.layers.rank(file)

    def twins(self, file: AgentFile) -> list[AgentFile]:
        """Return the agents of the same name for other programs in the same project, one of each program."""
        name, place = self.layers.name_of(file), file.place
        programs = (None, *PROGRAMS)
        if not name or not file.holds_agent or not self.layers.names:
            return []
        if place.dialect.program not in programs:  # There is no conversion of its agents.
            return []
        if name not in self.names and self.layers.titles <= {file.schema.program}:
            return []  # There is no other program.
        found = []
        for program in programs:
            if program is place.dialect.program:
                continue
            titled = (program_title(program), name)
            uris = (
                self.names.get(name, ()) if program is None else self.layers.names.get(titled, ())
            )
            files = [each for uri in uris if (each := self.file(uri)) is not None]
            alike = [each for each in files if each.place.project == place.project]
            if alike:
                is_markdown = alike[0].place.kind.syntax is not None
                key = self.layers.precedence if is_markdown else self.layers.rank
                found.append(min(alike, key=key))
        return found

    def _of_program(self, name: str, caller: AgentFile) -> list[AgentFile]:
        """Return the agents in Markdown of the caller's program by this name, the one that counts first."""
        uris = self.layers.names.get((caller.schema.program, name), ())
        files = [file for uri in uris if (file := self.file(uri)) is not None]
        layer, users = caller.place.layer, self.places.users
        reachable = [
            each
            for each in files
            if each.place.layer in (layer, *users) or self.is_below(each.place.layer, caller.place)
        ]
        return sorted(reachable, key=self.layers.precedence)

    def _repository_of(self, folder: str) -> str:
        return self.repositories.get(folder, "")

    def defines(self, name: str, caller: AgentFile) -> bool:
        """Return whether some file defines `name` that `caller` can name."""
        if caller.place.kind.syntax is not None:
            return bool(self._of_program(name, caller))
        if name in self.names and not self.repositories:
            return True
        return self.agent(name, caller) is not None

    def is_below(self, lower: str, upper: Place) -> bool:
        """Return whether the layer `lower` counts, after its own, for the file at `upper`."""
        users = self.places.users
        return is_layer_below(lower, upper.layer, users, self.projects.get(upper.layer))

    def settings_below(self, place: Place) -> list[AgentFile]:
        """Return the settings whose values those at a place are merged over, the user's first, then outer ones."""
        program, users = place.kind.schema.program, self.places.users
        outer = [each for each in outer_layers(place.layer) if each not in users]
        layers = (each for each in (*users, *outer) if self.is_below(each, place))
        uris = (self.layers.settings.get((program, layer)) for layer in layers)
        return [file for uri in uris if uri and (file := self.file(uri)) is not None]

    def is_one_file(self, one: AgentFile, other: AgentFile) -> bool:
        """Return whether two paths lead to the same file."""
        real = self.real_uris
        return real.get(one.uri, one.uri) == real.get(other.uri, other.uri)

    def facts_about(self, file: AgentFile) -> Facts:
        """Return the facts from outside `file`; empty until they were looked up."""
        facts = self.facts.get(file.uri)
        return facts.as_far_as_true(file.question) if facts is not None else _NO_FACTS

    def callers(self, name: str) -> Iterator[str]:
        """Yield the URIs of the files that list `name`."""
        yield from self.buffer_callers.get(name, ())
        for uri in self.closed_callers.get(name, ()):
            if uri not in self.buffers:
                yield uri
