"""The formats, a row each."""

from __future__ import annotations

from collections.abc import Mapping

from axe_lsp.agentfile import dialects
from axe_lsp.agentfile.convert.axe import AXE
from axe_lsp.agentfile.convert.claude import CLAUDE
from axe_lsp.agentfile.convert.codex import CODEX
from axe_lsp.agentfile.convert.copilot import COPILOT
from axe_lsp.agentfile.convert.formats import Format
from axe_lsp.agentfile.convert.gemini import GEMINI
from axe_lsp.agentfile.convert.vibe import VIBE

FORMATS: Mapping[str, Format] = {
    each.name: each for each in (AXE, CODEX, CLAUDE, COPILOT, GEMINI, VIBE)
}
"""The formats by the names that `--to` and `--from` take."""

DEFAULT_MARKDOWN = CLAUDE
"""The format of a Markdown file that lies in no folder of agents."""


def format_of(path: str, text: str = "") -> Format:
    """The format of a file by its path, with `/` between the parts.

    TOML outside the folders of agents is read as Codex's if it has Codex's own key.
    """
    folder, _, name = f"/{path}".rpartition("/")
    for each in (COPILOT, *FORMATS.values()):
        if f"/{each.folder}/" in f"{folder}/" and name.endswith(each.suffix[-3:]):
            return each
    if name.endswith(COPILOT.suffix):
        return COPILOT
    if name.endswith(".md"):
        return DEFAULT_MARKDOWN
    return CODEX if dialects.dialect_of_loose(text) is dialects.CODEX else AXE


def stem_of(path: str) -> str:
    """The name of a file without the suffix of its format."""
    name = path.rpartition("/")[2]
    for each in sorted(FORMATS.values(), key=lambda each: -len(each.suffix)):
        if name.endswith(each.suffix):
            return name.removesuffix(each.suffix)
    return name
