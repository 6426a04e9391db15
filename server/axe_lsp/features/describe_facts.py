"""Facts from outside a file, in a few lines of Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.features.amounts import counted, shown_files, shown_size, shown_tokens
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts, Found, Matches, ProviderKey

_NAMED = 10
"""Files that are listed."""


def glob_markdown(pattern: str, facts: Facts) -> str | None:
    """The files that a glob matches."""
    matches, folder = facts.matches.get(pattern), facts.folder
    if matches is None or folder is None:
        return None
    if not matches.count and matches.is_complete:
        return f"**`{pattern}`** matches no text file in `{folder.shown}`"
    lines = [f"**`{pattern}`** · {_sum(matches)}", f"In `{folder.shown}`:"]
    files = [f"- `{each.name}` · {shown_size(each.size)}" for each in matches.files[:_NAMED]]
    rest = matches.count - len(files)
    return "\n\n".join([*lines, "\n".join([*files, *([f"- … {rest:,} more"] if rest > 0 else [])])])


def files_facts(file: AgentFile, facts: Facts) -> Iterator[str]:
    """A line for each glob of a file."""
    for glob in dict.fromkeys(each.value for each in file.outside.globs):
        matches = facts.matches.get(glob)
        if matches is not None:
            yield f"- `{glob}`: {_sum(matches)}"


def skill_facts(facts: Facts) -> Iterator[str]:
    """Where the skill of a file lies."""
    if facts.skill is not None:
        yield _place(facts.skill)


def workdir_facts(facts: Facts) -> Iterator[str]:
    """Where globs start."""
    if facts.folder is not None:
        yield _place(facts.folder)
        if not facts.is_certain:
            yield "In a run that is started elsewhere it is another folder."


def model_facts(facts: Facts) -> Iterator[str]:
    """Whether the provider's key, or the recording, is there."""
    if facts.key is not None:
        yield " ".join(_key(facts.key))
    if facts.recording is not None:
        if facts.recording.uri:
            yield "The recording is there."
        else:
            searched = ", ".join(f"`{folder}`" for folder in facts.recording.searched)
            yield f"⚠ There is no such recording in {searched}."


def memory_facts(facts: Facts) -> Iterator[str]:
    """Where the log of an agent lies that has one."""
    if facts.memory is not None:
        count = facts.memory.entries
        yield f"It is `{facts.memory.shown}`, {'1 entry' if count == 1 else f'{count:,} entries'}."


def prompt_facts(file: AgentFile, facts: Facts) -> Iterator[str]:
    """How long the prompt is with everything that is appended to it."""
    size = prompt_size(file, facts)
    if size is not None and facts.added is not None:
        own = counted(size - facts.added, "character")
        yield (
            f"The whole prompt: {counted(size, 'character')}, {shown_tokens(size)}. "
            f"Of these {own} stand here; skill, files and memory make the rest."
        )


def prompt_size(file: AgentFile, facts: Facts) -> int | None:
    """The characters of the whole prompt, if they are known."""
    if file.open is None or facts.added is None:
        return None
    own = file.open.decoded(("system_prompt",))
    text = own if isinstance(own, str) else ""
    preset = BUILT_IN_TYPES.get(file.open.decoded(("type",)) or "")
    return len(preset.begins(text) if preset is not None else text) + facts.added


def _sum(matches: Matches) -> str:
    return f"{shown_files(matches)}, {shown_size(matches.size)}, {shown_tokens(matches.size)}"


def _place(path: Found) -> str:
    return f"Leads to `{path.shown}`." if path.exists else f"⚠ There is no `{path.shown}`."


def _key(key: ProviderKey) -> Iterator[str]:
    if key.origin:
        yield f"Key: found in `{key.origin}`."
    elif key.is_needed:
        yield f"⚠ Key: neither in `${key.variable}` nor in `config.toml`."
    else:
        yield "No key needed."
    if key.address_origin:
        yield f"Address: from `{key.address_origin}`."
