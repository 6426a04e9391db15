"""What somebody who may look at the disk would have found."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from axe_lsp.workspace.facts import Facts, Found, MatchedFile, Matches
from support.fixture import Fixture


def with_facts(opened: Fixture, **answers: Any) -> Fixture:
    """Return the fixture after somebody has looked beyond its open file and found `answers`."""
    facts = Facts(opened.file.question, **answers)
    return replace(opened, snapshot=replace(opened.snapshot, facts={opened.file.uri: facts}))


def found(path: str, *, exists: bool = True) -> Found:
    return Found(f"file://{path}", path, exists)


def matched(*files: tuple[str, int], is_complete: bool = True) -> Matches:
    """Files of /project, with their sizes."""
    named = tuple(MatchedFile(name, f"file:///project/{name}", size) for name, size in files)
    return Matches(named, len(named), sum(size for _, size in files), is_complete)
