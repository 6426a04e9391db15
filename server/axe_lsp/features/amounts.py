"""Sizes and numbers of tokens and files as text for people."""

from __future__ import annotations

from axe_lsp.agentfile.schema.models import estimated_tokens
from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.workspace.facts import Matches

_UNITS = ("KB", "MB", "GB")


def shown_size(size: int) -> str:
    """`12 bytes`, `3.4 KB`."""
    if size < 1000:
        return counted(size, "byte")
    amount = float(size)
    for unit in _UNITS:
        amount /= 1000
        if amount < 999.95 or unit == _UNITS[-1]:
            break
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:,.0f} {unit}"


def shown_tokens(characters: int) -> str:
    """`about 300 tokens`; two digits are all that an estimate is good for."""
    tokens = estimated_tokens(characters)
    rounding = 10 ** max(len(str(tokens)) - 2, 0)
    return f"about {counted(round(tokens / rounding) * rounding, 'token')}"


def shown_files(matches: Matches) -> str:
    """`3 files`, or `at least 3 files` where the search was given up."""
    files = counted(matches.count, "file")
    return files if matches.is_complete else f"at least {files}"
