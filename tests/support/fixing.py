"""Fixes by title, below the head of an agent file that is well."""

from __future__ import annotations

from support.actions import HEAD, Offered

LINT = '\n--- lint.toml\nname = "lint"\nmodel = "ollama/llama3"\n'
"""Another agent of the workspace, behind the text of the first."""


def check(before: str, title: str, expected: str, *, others: str = "", head: str = HEAD) -> None:
    """The fix of that title turns the one text, below `head`, into the other."""
    offered = Offered(f"--- main.toml\n{head}{before}{others}")
    end = "\n" if others else ""
    assert offered.taken(title) == f"{head}{expected}{end}"


def titles(text: str, *, others: str = "", head: str = HEAD) -> list[str]:
    """Return what mends; what merely silences has tests of its own."""
    found = Offered(f"--- main.toml\n{head}{text}{others}", "quickfix").titles
    return [each for each in found if not each.startswith("Silence")]


def preferred(text: str, *, others: str = "", head: str = HEAD) -> list[str]:
    offered = Offered(f"--- main.toml\n{head}{text}{others}")
    return [each.title for each in offered.actions if each.preferred]
