"""A number or word that the key does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.mcp_servers import STDIO
from axe_lsp.agentfile.schema.key_spec import KeySpec, Names
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Fix, change, find_value, replace, respell, set_key
from axe_lsp.features.rule import Dialects, Rule, Subject


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the nearest value that the key allows. For `max-depth` and `negative-timeout` too."""
    spec, found = case.lookup.schema.find(case.finding.path), find_value(case)
    value = found.decoded(case) if found is not None else None
    if spec is None:
        return
    if isinstance(value, int):
        yield from _number(case, spec, value)
    elif isinstance(value, str) and (words := spec.choices or spec.suggestions):
        yield from _choice(case, words, value)
    elif spec.path == ("artifacts", "dir"):
        yield from _enable_artifacts(case)
    elif isinstance(value, str) and spec.names is Names.ADDRESS and "://" not in value:
        yield respell(case, f"https://{value}")


def _number(case: Case, spec: KeySpec, value: int) -> Iterator[Fix]:
    lowest = value if spec.minimum is None else max(value, spec.minimum)
    allowed = lowest if spec.maximum is None else min(lowest, spec.maximum)
    if allowed != value:
        yield replace(case, str(allowed), certain=True)
        return
    # It is only too small beside another one.
    other = case.lookup.value(("retry", "initial_delay_ms"))
    if other is not None:
        yield replace(case, other.range.of(case.text))


def _choice(case: Case, words: tuple[str, ...], value: str) -> Iterator[Fix]:
    similar = nearest(value, words)
    if similar is not None:
        yield respell(case, similar, certain=similar.lower() == value.strip().lower())
    for choice in words:
        if choice not in (similar, value, STDIO):  # A server with an address is of another kind.
            yield respell(case, choice, preferred=False)


def _enable_artifacts(case: Case) -> Iterator[Fix]:
    path = ("artifacts", "enabled")
    if "enabled is false" not in case.finding.message:
        return
    splice = set_key(case.lookup, path, "true")
    if splice is not None:
        yield change(case, "Set `artifacts.enabled` to `true`", splice, preferred=True)


RULE = Rule(
    code="out-of-range",
    severity=Severity.ERROR,
    summary="A number or word is outside what the key allows.",
    documentation="""
The value has the right type, but the key does not allow it: a negative number, an unknown word, or
a value that contradicts another key.
""",
    is_for=Dialects.ALL,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
