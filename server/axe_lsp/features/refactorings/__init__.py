"""Refactorings of valid files: one module each, offered for the element at the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.edit import CodeAction
from axe_lsp.features.refactorings import array_layout, convert, extract_prompt, extract_type
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

Refactoring = Callable[[Snapshot, AgentFile, TextRange], Iterator[CodeAction]]

REFACTORINGS: tuple[Refactoring, ...] = (
    extract_type.actions,
    extract_prompt.actions,
    array_layout.actions,
    convert.actions,
)
