"""What a file says about things that lie outside it: paths, globs, a model that needs a key."""

from __future__ import annotations

from msgspec import Struct

from axe_lsp.agentfile.definition import MemoryConfig
from axe_lsp.agentfile.lookup import Lookup
from axe_lsp.workspace.written import Written, written, written_items

_NO_MEMORY = MemoryConfig()


class Outside(Struct, frozen=True):
    """The values of one file that name something outside it, and where they stand."""

    skill: Written | None = None
    workdir: Written | None = None
    globs: tuple[Written, ...] = ()
    memory: MemoryConfig = _NO_MEMORY


class Question(Struct, frozen=True):
    """The same without the places: what somebody who can look at the disk is asked about a file.

    A keystroke elsewhere in the file leaves the question as it is.
    """

    model: str = ""
    skill: str = ""
    workdir: str = ""
    globs: tuple[str, ...] = ()
    memory: MemoryConfig = _NO_MEMORY


NOTHING = Outside()


def read_outside(lookup: Lookup) -> Outside:
    """What the file names. Most files name nothing, and share one value."""
    outside = Outside(
        skill=written(lookup, ("skill",)),
        workdir=written(lookup, ("workdir",)),
        globs=tuple(written_items(lookup, ("files",))),
        memory=_memory(lookup) if lookup.has(("memory",)) else _NO_MEMORY,
    )
    return outside if outside != NOTHING else NOTHING


def question(outside: Outside, model: Written | None) -> Question:
    """What has to be found out about a file."""
    return Question(
        model=_value(model),
        skill=_value(outside.skill),
        workdir=_value(outside.workdir),
        globs=tuple(dict.fromkeys(each.value for each in outside.globs)),
        memory=outside.memory,
    )


def _memory(lookup: Lookup) -> MemoryConfig:
    path = lookup.decoded(("memory", "path"))
    last_n = lookup.decoded(("memory", "last_n"))
    scope = lookup.decoded(("memory", "scope"))
    return MemoryConfig(
        enabled=lookup.decoded(("memory", "enabled")) is True,
        path=path if isinstance(path, str) else "",
        last_n=last_n if isinstance(last_n, int) and last_n > 0 else 0,
        scope=scope if isinstance(scope, str) else _NO_MEMORY.scope,
    )


def _value(text: Written | None) -> str:
    return text.value if text is not None else ""
