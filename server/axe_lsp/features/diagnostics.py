"""All findings of one file, by all rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from axe_lsp.agentfile.check.ignores import Silenced
from axe_lsp.agentfile.dialects import DIALECTS
from axe_lsp.agentfile.text.secrets import without_secrets
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Rule, Subject, problems_of
from axe_lsp.features.rules import RULES, plain_secret, unused_ignore
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.merged_settings import with_merged_problems
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot

Severities = Mapping[str, Severity | None]
"""Diagnostic codes to another severity than the rule's own, or to None for "off"."""

MOST_FINDINGS = 2_000
"""Per file. People read no more, and editors slow down."""

_LONGEST_MESSAGE = 2_000
"""Characters of a message, which may name a key or a value of any length."""

_FAILURES = frozenset(rule.code for rule in RULES if rule.is_failure)
_CODES = frozenset(rule.code for rule in RULES)
_PROTECTING = frozenset(rule.code for rule in RULES if rule.is_protecting)


_RULES_OF = {dialect: [rule for rule in RULES if rule.is_for.has(dialect)] for dialect in DIALECTS}
_USUAL_RULES = {
    dialect: [rule for rule in rules if rule.is_on] for dialect, rules in _RULES_OF.items()
}


def diagnostics(
    snapshot: Snapshot, file: AgentFile, severities: Severities | None = None
) -> tuple[Finding, ...]:
    """Return the findings about `file`, in the order of the text; at most `MOST_FINDINGS`, the worst of them.

    If there are more, one of them says so.
    """
    file = with_merged_problems(snapshot, file)
    dialect = file.place.dialect
    rules = _USUAL_RULES[dialect]
    if severities:
        rules = [rule for rule in _RULES_OF[dialect] if _is_on(rule, severities)]
    there = _subjects(snapshot, file)
    found = [
        finding
        for rule in rules
        if rule.about in there
        for finding in rule.found_in(snapshot, file)
    ]
    if file.ignores:
        found = list(_without_ignored(snapshot, file, rules, found))
    if any(problems_of(file, plain_secret.RULE.code)):
        found = [replace(each, message=without_secrets(each.message)) for each in found]
    if any(len(each.message) > _LONGEST_MESSAGE for each in found):
        found = [_shortened(each) for each in found]
    if severities:
        found = [each.with_severity(severities.get(each.code) or each.severity) for each in found]
    if len(found) > MOST_FINDINGS:
        found = _the_worst(found)
    return tuple(sorted(found, key=lambda finding: finding.range))


def for_models(findings: Sequence[Finding], severities: Severities) -> tuple[Finding, ...]:
    """Return the findings for a model that writes agent files: errors for what fails or has no effect, no information.

    Clients of models drop warnings, and models change files because of hints. Codes in `severities` stay as they are.
    """
    return tuple(
        each.with_severity(Severity.ERROR)
        if each.code in _FAILURES and each.code not in severities
        else each
        for each in findings
        if each.severity <= Severity.WARNING
    )


def not_silenced(file: AgentFile) -> frozenset[str]:
    """Return the codes that no comment in a file silences: in a workspace those that protect the user from its files."""
    return frozenset() if file.place.scope is Scope.USER else _PROTECTING


def _shortened(finding: Finding) -> Finding:
    if len(finding.message) <= _LONGEST_MESSAGE:
        return finding
    return replace(finding, message=f"{finding.message[:_LONGEST_MESSAGE]}…")


def _the_worst(found: Sequence[Finding]) -> list[Finding]:
    by_severity = sorted(found, key=lambda finding: (finding.severity, finding.range))
    kept, left_out = by_severity[: MOST_FINDINGS - 1], by_severity[MOST_FINDINGS - 1 :]
    message = f"{len(left_out):,} more problems in this file are not shown, this one among them"
    last = max(left_out, key=lambda finding: finding.range)
    return [*kept, replace(last, severity=left_out[0].severity, message=message)]


def _subjects(snapshot: Snapshot, file: AgentFile) -> list[Subject]:
    """Return the inputs of the rules: of most closed files only the file itself."""
    there = [Subject.FILE]
    if file.problems:
        there.append(Subject.PROBLEMS)
    if file.references:
        there.append(Subject.REFERENCES)
    if file.uri in snapshot.facts:
        there.append(Subject.FACTS)
    if file.open is not None and file.uri in snapshot.run_log.files:
        there.append(Subject.RUNS)
    return there


def _is_on(rule: Rule, severities: Severities) -> bool:
    return severities[rule.code] is not None if rule.code in severities else rule.is_on


def _without_ignored(
    snapshot: Snapshot, file: AgentFile, rules: Sequence[Rule], found: Sequence[Finding]
) -> Iterator[Finding]:
    """Yield the findings that no comment suppresses, and the problems of the comments."""
    comments, silenced = Silenced(file.ignores), []
    kept = not_silenced(file)
    for finding in found:
        if finding.code not in kept and comments.holds(finding.code, finding.range.start):
            silenced.append(finding)
        else:
            yield finding
    if unused_ignore.RULE in rules:
        judged = {each.code for each in rules if each.is_settled(snapshot, file)}
        judged.discard(unused_ignore.RULE.code)
        for unused in unused_ignore.unused_ignores(file.ignores, silenced, judged, _CODES, kept):
            if not comments.holds(unused.code, unused.range.start):
                yield unused
