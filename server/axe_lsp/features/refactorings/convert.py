"""An agent as a file of another program, beside the one that is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from urllib.parse import quote, unquote

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, root_of
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.edit import ActionKind, CodeAction, NewFile
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot

_PLACES = (("name",), ("display_name",), ("description",))
"""The keys at which it is offered: those that say who the agent is, in each TOML format."""

_MOST_NAMED = 4
"""Lost keys that a title names."""


def actions(snapshot: Snapshot, file: AgentFile, where: TextRange) -> Iterator[CodeAction]:
    """Yield the agent in each other format, offered on its name and its description.

    The new file goes to the folder of its format in the project. The title names what would be lost.
    """
    is_agent = file.place.kind.is_agent and file.place.scope is not Scope.USER
    if file.open is None or not is_agent or not _is_offered(file.open, where):
        return
    # Late, as hardly anybody needs it.
    from axe_lsp.agentfile.convert.conversion import FORMATS, convert_file, format_of
    from axe_lsp.agentfile.convert.intermediate import ConversionError
    from axe_lsp.agentfile.convert.output_file import read_toml

    parse, stem = file.open.parse, file.place.stem
    source = format_of(unquote(file.uri), parse.text)
    project = _project(snapshot, file, source.folder)
    # Each once for a text: the cursor may move to and fro on these lines.
    once = file.open.made_once
    for target in FORMATS.values() if project else ():
        if target is source:
            continue
        try:
            written = once("as written", (), partial(read_toml, parse))
            made = partial(convert_file, written, stem, source, target)
            new = once(f"as {target.title}", (), made)
        except ConversionError:
            return
        uri = f"{project}/{target.folder}/{quote(new.file_name)}"
        title = f"Convert to an agent of {target.title}{_losses(new.lost)}"
        yield CodeAction(title, ActionKind.REWRITE, (NewFile(uri, new.text),))


def _is_offered(lookup: Lookup, where: TextRange) -> bool:
    found = (lookup.find(path) for path in _PLACES)
    return any(each is not None and each.entry.range.touches(where.start) for each in found)


def _project(snapshot: Snapshot, file: AgentFile, folder: str) -> str:
    """Return the folder that has the folder of agents in it, else the workspace folder of the file, else ""."""
    for each in (folder, *AGENT_FOLDERS):
        if file.place.folder.endswith(f"/{each}"):
            return file.place.folder.removesuffix(f"/{each}")
    return root_of(file.place.folder, snapshot.places.roots)


def _losses(lost: Sequence[str]) -> str:
    """Return the lost keys, for a title."""
    if not lost:
        return ""
    rest = len(lost) - _MOST_NAMED
    return f" (without {', '.join(lost[:_MOST_NAMED])}{f' and {rest} more' if rest > 0 else ''})"
