"""Facts from outside a file, in a few lines of Markdown, and sizes as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.rights import Server
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.schema.models import estimated_tokens
from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.features.markdown import as_code
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts, Found, KnownServer, Matches, ProviderKey, SeenTool
from axe_lsp.workspace.snapshot import Snapshot

_NAMED = 10
"""Files that are listed."""

_SHOWN_TOOLS = 30
"""Tools of an MCP server that are listed."""


def glob_markdown(pattern: str, facts: Facts) -> str | None:
    """Return the files that a glob matches."""
    matches, folder = facts.matches.get(pattern), facts.folder
    if matches is None or folder is None:
        return None
    if not matches.count and matches.is_complete:
        return f"**{as_code(pattern)}** matches no text file in {as_code(folder.shown)}"
    lines = [f"**{as_code(pattern)}** · {_sum(matches)}", f"In {as_code(folder.shown)}:"]
    files = [f"- {as_code(each.name)} · {shown_size(each.size)}" for each in matches.files[:_NAMED]]
    rest = matches.count - len(files)
    return "\n\n".join([*lines, "\n".join([*files, *([f"- … {rest:,} more"] if rest > 0 else [])])])


def files_facts(file: AgentFile, facts: Facts) -> Iterator[str]:
    """Yield a line for each glob of a file."""
    for glob in dict.fromkeys(each.value for each in file.outside.globs):
        matches = facts.matches.get(glob)
        if matches is not None:
            yield f"- {as_code(glob)}: {_sum(matches)}"


def skill_facts(facts: Facts) -> Iterator[str]:
    """Describe where the skill of a file is."""
    if facts.skill is not None:
        yield _place(facts.skill)


def workdir_facts(facts: Facts) -> Iterator[str]:
    """Describe the folder that globs start in."""
    if facts.folder is not None:
        yield _place(facts.folder)
        if not facts.is_certain:
            yield "In a run that is started elsewhere it is another folder."


def model_facts(facts: Facts) -> Iterator[str]:
    """Describe whether the provider's key or the recording exists."""
    if facts.key is not None:
        yield " ".join(_key(facts.key))
    if facts.recording is not None:
        if facts.recording.uri:
            yield "The recording is there."
        else:
            searched = ", ".join(map(as_code, facts.recording.searched))
            yield f"⚠ There is no such recording in {searched}."


def memory_facts(facts: Facts) -> Iterator[str]:
    """Describe where the memory of an agent is, and its size."""
    if facts.memory is not None:
        count = facts.memory.entries
        yield f"It is {as_code(facts.memory.shown)}, {'1 entry' if count == 1 else f'{count:,} entries'}."


def prompt_facts(file: AgentFile, facts: Facts) -> Iterator[str]:
    """Describe the size of the prompt with everything that is appended to it."""
    size = prompt_size(file, facts)
    if size is not None and facts.added is not None:
        own = counted(size - facts.added, "character")
        yield (
            f"The whole prompt: {counted(size, 'character')}, {shown_tokens(size)}. "
            f"Of these {own} stand here; skill, files and memory make the rest."
        )


def prompt_size(file: AgentFile, facts: Facts) -> int | None:
    """Return the characters of the whole prompt, if they are known."""
    if file.open is None or facts.added is None:
        return None
    own = file.open.decoded(("system_prompt",))
    text = own if isinstance(own, str) else ""
    preset = BUILT_IN_TYPES.get(file.open.decoded(("type",)) or "")
    return len(preset.begins(text) if preset is not None else text) + facts.added


def _sum(matches: Matches) -> str:
    return f"{shown_files(matches)}, {shown_size(matches.size)}, {shown_tokens(matches.size)}"


def _place(path: Found) -> str:
    return (
        f"Leads to {as_code(path.shown)}."
        if path.exists
        else f"⚠ There is no {as_code(path.shown)}."
    )


def _key(key: ProviderKey) -> Iterator[str]:
    if key.origin:
        yield f"Key: found in {as_code(key.origin)}."
    elif key.is_needed:
        yield f"⚠ Key: neither in {as_code(f'${key.variable}')} nor in `config.toml`."
    else:
        yield "No key needed."
    if key.address_origin:
        yield f"Address: from {as_code(key.address_origin)}."


def server_markdown(server: Server, known: KnownServer) -> str:
    """Return an MCP server: what it is, whether it may be started, and its tools, of which a stranger tells."""
    kind = "MCP server, started as a program" if server.command else "MCP server at an address"
    lines = [f"**{kind}**", as_code(server.place)]
    if server.command:
        lines.append(
            f"- program: {as_code(known.program)}"
            if known.program
            else f"- ⚠ program: {as_code(server.command)} is not on the PATH"
        )
        start = "allowed by `axe.tools.allow`" if known.is_allowed else "asked about in each run"
        lines.append(f"- start: {start}")
    trust = "trusted" if known.is_trusted else "not trusted: a run asks first"
    lines.append(f"- agent file: {trust}")
    if known.tools is None:
        lines.append("- tools: no run has seen them; the editor does not contact servers")
    else:
        lines.append(f"- tools: {len(known.tools)}, as a run saw them at {as_code(known.seen)}")
        lines += [f"  - {_tool_line(each)}" for each in known.tools[:_SHOWN_TOOLS]]
        rest = len(known.tools) - _SHOWN_TOOLS
        lines += [f"  - … {rest:,} more"] if rest > 0 else []
    if known.instructions:
        lines.append(f"- its instructions for the model: {as_code(known.instructions)}")
    head, place, *rows = lines
    return "\n\n".join((head, place, "\n".join(rows)))


def seen_tools(snapshot: Snapshot, file: AgentFile) -> dict[str, tuple[SeenTool, str]]:
    """Return the tools that runs have seen of the file's MCP servers, by name, each with the server's place."""
    known = zip(file.outside.servers, snapshot.facts_about(file).servers, strict=False)
    return {
        tool.name: (tool, written.server.place)
        for written, server in known
        for tool in server.tools or ()
    }


def seen_tool_markdown(snapshot: Snapshot, file: AgentFile, name: str) -> str | None:
    """Return a tool of an MCP server."""
    found = seen_tools(snapshot, file).get(name)
    if found is None:
        return None
    tool, place = found
    head = f"**{as_code(name)}** · tool of the MCP server {as_code(place)}"
    return f"{head}\n\nThe server says: {as_code(tool.description or '…')}"


def _tool_line(tool: SeenTool) -> str:
    return (
        f"{as_code(tool.name)} {as_code(tool.description)}"
        if tool.description
        else as_code(tool.name)
    )


_UNITS = ("KB", "MB", "GB")


def shown_size(size: int) -> str:
    """Return a size for people: `12 bytes`, `3.4 KB`."""
    if size < 1000:
        return counted(size, "byte")
    amount = float(size)
    for unit in _UNITS:
        amount /= 1000
        if amount < 999.95 or unit == _UNITS[-1]:
            break
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:,.0f} {unit}"


def shown_tokens(characters: int) -> str:
    """Return an estimate with two significant digits: `about 300 tokens`."""
    tokens = estimated_tokens(characters)
    rounding = 10 ** max(len(str(tokens)) - 2, 0)
    return f"about {counted(round(tokens / rounding) * rounding, 'token')}"


def shown_files(matches: Matches) -> str:
    """Return `3 files`, or `at least 3 files` if the search was stopped early."""
    files = counted(matches.count, "file")
    return files if matches.is_complete else f"at least {files}"
