"""The tools that a list of names, other systems' names and globs means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from axe_lsp.agentfile.schema.agent_keys import NAMED_TOOLS, TOOL_ALIASES, TOOLS


def tools_meant(
    listed: Sequence[str], allow: Sequence[str] = (), deny: Sequence[str] = ()
) -> tuple[str, ...]:
    """The tools that are listed or allowed, and not denied; each once, in the order of the names.

    Unknown names are left out.
    """
    denied = set(_expanded(deny, TOOLS))
    meant = dict.fromkeys(_expanded([*listed, *allow], _ADDED_BY_GLOBS))
    return tuple(tool for tool in meant if tool in TOOLS and tool not in denied)


def named_tools(listed: Sequence[str], deny: Sequence[str] = ()) -> tuple[str, ...]:
    """The same without globs: only the tools that are listed by a name."""
    return tools_meant([each for each in listed if not is_tool_glob(each)], deny=deny)


def is_tool_glob(name: str) -> bool:
    """Whether a name stands for any number of tools."""
    return any(character in name for character in "*?[")


_ADDED_BY_GLOBS = tuple(tool for tool in TOOLS if tool not in NAMED_TOOLS)


def _expanded(names: Iterable[str], by_globs: Collection[str]) -> Iterator[str]:
    for name in names:
        if is_tool_glob(name):
            yield from (tool for tool in by_globs if fnmatchcase(tool, name))
        else:
            yield TOOL_ALIASES.get(name, name)
