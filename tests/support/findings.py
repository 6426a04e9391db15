"""Fixtures for rules: a file, and below its lines what the rules say about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axe_lsp.features.diagnostics import Severities, diagnostics
from axe_lsp.features.finding import Finding
from support.carets import annotate, dedented, source
from support.facts import with_facts
from support.fixture import open_fixture

HEAD = 'name = "main"\nmodel = "openai/gpt"\n'


def check_findings(
    fixture: str,
    *,
    others: str = "",
    head: str = HEAD,
    severities: Severities | None = None,
    facts: Mapping[str, Any] | None = None,
) -> list[Finding]:
    """Return the fixture, below `head`, is `main.toml`; `others` are further files.

    With `facts`, somebody has looked beyond it and found these.
    """
    text = head + source(fixture)
    opened = open_fixture(f"--- main.toml\n{text}{dedented(others)}")
    if facts is not None:
        opened = with_facts(opened, **facts)
    found = diagnostics(opened.snapshot, opened.file, severities)
    marks = [
        (each.range, f"{each.severity.name.lower()} {each.code}: {each.message}") for each in found
    ]
    assert annotate(opened.text, marks) == head + dedented(fixture)
    return list(found)
