"""A number or word that the key does not allow."""

from __future__ import annotations

from axe_lsp.features.rule import Rule, Severity, Subject, problems_with

RULE = Rule(
    code="out-of-range",
    severity=Severity.ERROR,
    summary="A number or word is outside what the key allows.",
    documentation="""
The value has the right type, but the key allows only some values of it: a number that may not be
negative, one of a few words, or a value that goes together with another key's.
""",
    check=problems_with("out-of-range", Severity.ERROR),
    about=Subject.PROBLEMS,
)
