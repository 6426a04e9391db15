"""The output of `axe-lsp check`: for people, for programs, for GitHub."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp import __version__
from axe_lsp.agentfile.text.ranges import LineIndex, TextRange
from axe_lsp.cli.streams import is_coloured
from axe_lsp.cli.text_width import shown_cells
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rules import RULES, missing_api_key
from axe_lsp.runtime.plain_text import visible
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_MAX_LINE = 120
"""Characters of a source line that are shown around a finding."""


class Checked(Struct, frozen=True):
    """One file and its diagnostics. `path` is the path to display; fixes need `file` and `snapshot`."""

    path: str
    lines: LineIndex
    findings: tuple[Finding, ...]
    file: AgentFile
    snapshot: Snapshot


def _told_once(files: Sequence[Checked]) -> list[Checked]:
    """Return the files without what is about this machine and so the same in all of them, but for the first.

    Without a key in CI each of a thousand agents would tell of it.
    """
    messages = (each.message for file in files for each in file.findings if _is_about_here(each))
    left = Counter(messages)
    return [replace(file, findings=tuple(_first_ones(file.findings, left))) for file in files]


def _first_ones(findings: Sequence[Finding], left: Counter[str]) -> Iterator[Finding]:
    """Yield the findings, and at the first of those about this machine how many more there are, which are taken out of `left`."""
    for each in findings:
        if not _is_about_here(each):
            yield each
        elif count := left.pop(each.message, 0):
            more = f" (and {_plural(count - 1, 'more file')})" if count > 1 else ""
            yield replace(each, message=each.message + more)


def _is_about_here(finding: Finding) -> bool:
    return finding.code == missing_api_key.RULE.code


# -- for people


def print_human(files: Sequence[Checked], out: TextIO) -> None:
    """Print each finding with its source line and carets, then a summary."""
    paint = _painter(out)
    files = _told_once(files)
    for file in files:
        for finding in file.findings:
            out.write("\n".join(_human(file, finding, paint)) + "\n\n")
    if files:
        out.write(_summary(files) + "\n")


Paint = Callable[[str, Severity], str]


def _human(file: Checked, finding: Finding, paint: Paint) -> Iterator[str]:
    line, column = file.lines.position(finding.range.start, "utf-32")
    kind = paint(f"{finding.severity.name.lower()}[{finding.code}]", finding.severity)
    yield f"{visible(file.path)}:{line + 1}:{column + 1}: {kind}: {visible(finding.message)}"
    source, before, marked = _excerpt(file.lines, line, finding.range)
    if not source:
        return
    margin = " " * len(str(line + 1))
    yield f"{margin} |"
    yield f"{line + 1} | {source}"
    yield f"{margin} | {before}{paint('^' * marked, finding.severity)}"


def _excerpt(lines: LineIndex, line: int, where: TextRange) -> tuple[str, str, int]:
    """Return the source line, the blanks below it up to the finding, and how many carets follow.

    Of a very long line only the part around the finding is shown. Wide characters take two cells,
    and signs stand for characters that a terminal would obey.
    """
    bounds = lines.line_range(line)
    source = lines.text_of(bounds)
    start = where.start - bounds.start
    end = max(start + 1, min(where.end, bounds.end) - bounds.start)
    if len(source) > _MAX_LINE:
        first = max(0, min(start - _MAX_LINE // 3, len(source) - _MAX_LINE))
        source = source[first : first + _MAX_LINE]
        start, end = start - first, min(end - first, _MAX_LINE)
    source = visible(source)  # Cut before: a line may have a megabyte, and a thousand findings.
    pieces = source[:start].split("\t")
    blanks = "\t".join(" " * shown_cells(each) for each in pieces)
    return source, blanks, max(1, shown_cells(source[start:end]))


def _summary(files: Sequence[Checked]) -> str:
    counts = Counter(finding.severity for file in files for finding in file.findings)
    checked = _plural(len(files), "file")
    if not counts:
        return f"No problems in {checked}."
    kinds = ", ".join(_plural(counts[each], each.name.lower()) for each in Severity if counts[each])
    affected = sum(bool(file.findings) for file in files)
    return f"{kinds} in {affected} of {checked}."


_COLOURS = {Severity.ERROR: 31, Severity.WARNING: 33, Severity.INFORMATION: 36, Severity.HINT: 2}


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == "information" else f"{number} {noun}s"


def _painter(out: TextIO) -> Paint:
    """Return a function that colours text, or leaves it as it is where colours are off."""
    if not is_coloured(out, os.environ):
        return lambda text, _: text
    return lambda text, severity: f"\x1b[1;{_COLOURS[severity]}m{text}\x1b[0m"


# -- for programs


def print_json(files: Sequence[Checked], out: TextIO) -> None:
    """Print a list of findings, one on a line. Lines and columns count from 1, columns in characters."""
    # With an indent, json encodes in Python: half of the time of a check with thousands of findings.
    rows = [
        json.dumps(_plain(file, finding), ensure_ascii=False)
        for file in files
        for finding in file.findings
    ]
    out.write("[{}]\n".format("\n{}\n".format(",\n".join(rows)) if rows else ""))


def _plain(file: Checked, finding: Finding) -> dict[str, Any]:
    return {
        "file": file.path,
        **_region(file.lines, finding.range, ("line", "column", "endLine", "endColumn")),
        "severity": finding.severity.name.lower(),
        "code": finding.code,
        "message": finding.message,
    }


def _region(lines: LineIndex, where: TextRange, names: tuple[str, ...]) -> dict[str, int]:
    start, end = lines.position(where.start, "utf-32"), lines.position(where.end, "utf-32")
    return dict(zip(names, (each + 1 for each in (*start, *end)), strict=True))


def print_sarif(files: Sequence[Checked], out: TextIO) -> None:
    """Print SARIF 2.1.0, which code hosts and editors read."""
    results = [_result(file, finding) for file in _told_once(files) for finding in file.findings]
    rules = [
        {
            "id": rule.code,
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": rule.summary},
            "help": {"text": rule.documentation.strip(), "markdown": rule.documentation.strip()},
        }
        for rule in RULES
    ]
    driver = {"name": "axe-lsp", "version": __version__, "rules": rules}
    runs = [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}]
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    json.dump({"version": "2.1.0", "$schema": schema, "runs": runs}, out, indent=2)
    out.write("\n")


def _result(file: Checked, finding: Finding) -> dict[str, Any]:
    names = ("startLine", "startColumn", "endLine", "endColumn")
    location = {
        "artifactLocation": {"uri": _uri(Path(file.path))},
        "region": _region(file.lines, finding.range, names),
    }
    return {
        "ruleId": finding.code,
        "level": {1: "error", 2: "warning"}.get(finding.severity, "note"),
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
    }


def _uri(path: Path) -> str:
    """Return the URI of a file: relative to the root of the project, as SARIF wants it, unless the file lies elsewhere."""
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def print_github(files: Sequence[Checked], out: TextIO) -> None:
    """Print workflow commands, which GitHub shows at the lines of a pull request."""
    names = ("line", "col", "endLine", "endColumn")
    for file in _told_once(files):
        for finding in file.findings:
            level = {1: "error", 2: "warning"}.get(finding.severity, "notice")
            where = _region(file.lines, finding.range, names)
            properties = {"file": file.path, **where, "title": f"axe-lsp {finding.code}"}
            out.write(f"{github_line(level, properties, finding.message)}\n")


def github_line(level: str, properties: Mapping[str, object], message: str) -> str:
    """Return a workflow command that annotates a place in a file."""
    listed = ",".join(f"{name}={_escaped(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{_escaped(message, ':,')}"


def _escaped(value: object, allowed: str = "") -> str:
    # What shows the log of a workflow obeys escape sequences.
    text = "\n".join(map(visible, str(value).split("\n")))
    for character in "%\r\n:,":
        if character not in allowed:
            text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMATS: dict[str, Callable[[Sequence[Checked], TextIO], None]] = {
    "human": print_human,
    "json": print_json,
    "github": print_github,
    "sarif": print_sarif,
}
