"""The output of `axe-lsp test`: for people, for programs, for CI."""

from __future__ import annotations

import difflib
import json
import os
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from axe_lsp.cli.check_formats import github_line
from axe_lsp.cli.streams import compact, is_coloured
from axe_lsp.runtime.plain_text import os_fault, visible
from axe_lsp.runtime.runs import ID_LENGTH
from axe_lsp.testing.observed import Observed, ObservedCall
from axe_lsp.testing.result import as_json
from axe_lsp.testing.run_case import Outcome, Rate, Recorded, Verdict
from axe_lsp.testing.suite import RECORD_AGAIN

_SIGNS: Mapping[Verdict, str] = {
    "passed": "ok",
    "failed": "FAILED",
    "stale": "STALE",
    "missing": "MISSING",
    "provider": "PROVIDER",
    "unfinished": "NOT RUN",
}
_COLOURS: Mapping[Verdict, int] = {"passed": 32, "missing": 33, "unfinished": 33, "stale": 35}
_RECORDED: Mapping[Recorded, str] = {
    "new": "recorded",
    "replaced": "recorded again",
    "kept": "the recording is kept",
    "unchanged": "its recording is unchanged",
}
_RED = 31
_MOST_DIFF_LINES = 40
_MOST_ROWS = 200
"""The number of rows of a summary, which GitHub limits to a megabyte."""
_LONGEST = 160
"""Characters of a line of a run's tree."""


class Report:
    """Takes the outcomes one after the other."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def add(self, outcome: Outcome) -> None:
        """Take note that a case is done."""

    def finish(self, seconds: float, left: int) -> None:
        """Take note of the end; `left` cases were not run because of Ctrl-C."""


class TextReport(Report):
    """Lines for people: each case, and of those that did not pass why and in which run."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._coloured = is_coloured(out, os.environ)
        self._file = ""
        self._counts: Counter[Verdict] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Print a line for the case, and below it what deviates."""
        self._counts[outcome.verdict] += 1
        if outcome.suite.shown != self._file:
            self._file = outcome.suite.shown
            self._text(self._file)
        sign = self._painted(_SIGNS[outcome.verdict], outcome.verdict)
        recorded = f" ({_RECORDED[outcome.recorded]})" if outcome.recorded else ""
        self._line(f"  {sign} {visible(outcome.case.name)}{recorded}")
        if outcome.rate is not None:
            self._text(f"      {_rate(outcome.rate, outcome.case.rate)}")
        if outcome.verdict != "passed":
            for line in _told(outcome):
                self._text(f"      {line}")
        self._out.flush()

    def finish(self, seconds: float, left: int) -> None:
        """Print the numbers of each verdict."""
        if text := _counted(self._counts, left):
            self._line(f"{text} in {seconds:.1f} s")

    def _text(self, text: str) -> None:
        """Print a line with words of files and models, which nobody obeys."""
        self._line(visible(text))

    def _line(self, text: str) -> None:
        self._out.write(f"{text}\n")

    def _painted(self, text: str, verdict: Verdict) -> str:
        colour = _COLOURS.get(verdict, _RED)
        return f"\x1b[{colour}m{text}\x1b[0m" if self._coloured else text


def _counted(counts: Mapping[Verdict, int], left: int) -> str:
    words = {"unfinished": "not run", "provider": "with a provider's failure"}
    told = [f"{counts[each]} {words.get(each, each)}" for each in _SIGNS if counts.get(each)]
    return ", ".join([*told, *([f"{left} interrupted"] if left else [])])


def _rate(rate: Rate, wanted: float) -> str:
    low, high = rate.interval
    figures = [
        *([rate.model] if rate.model else []),
        f"{rate.passed} of {rate.runs} passed ({rate.share:.0%}, 95 % interval {low:.0%} to {high:.0%}; needed {wanted:.0%})",
        f"{rate.tokens:g} tokens and {rate.turns:g} turns (median)",
        "cost not known" if rate.cost is None else f"${rate.cost:.4f}",
    ]
    return ", ".join(figures)


def _told(outcome: Outcome) -> Iterator[str]:
    for failure in outcome.failures:
        yield f"{outcome.suite.place(failure.range)}: {_safe(failure.message)}"
    for warning in outcome.warnings:
        yield f"warning: {_safe(warning)}"
    recorded, sent = outcome.diff
    if recorded != sent:
        lines = diff_lines(recorded, sent)
        yield from lines[:_MOST_DIFF_LINES]
        if len(lines) > _MOST_DIFF_LINES:
            yield f"… {len(lines) - _MOST_DIFF_LINES} more lines"
    if outcome.verdict == "stale":
        yield f"`{outcome.suite.command(outcome.case, *RECORD_AGAIN)}` records it again"
    first = outcome.failures[0] if outcome.failures else None
    if outcome.run is not None:
        marked = first.call if first is not None else None
        deviating = first.run if first is not None and marked is None else None
        yield f"run {outcome.run.run_id[:ID_LENGTH]}"
        yield from _tree(outcome.run, marked, deviating)


def diff_lines(recorded: str, sent: str) -> list[str]:
    """Return the lines that differ, and those around them, as a terminal can show them."""
    before, after = recorded.splitlines(), sent.splitlines()
    lines = difflib.unified_diff(before, after, "recorded", "sent", lineterm="", n=1)
    return [visible(each) for each in lines]


def _tree(
    run: Observed, marked: ObservedCall | None, deviating: Observed | None, depth: int = 0
) -> Iterator[str]:
    """Yield the run with its calls and children; the call that deviates first, or the run, has a `>`."""
    indent = "  " * depth
    sign = ">" if run is deviating else " "
    turns = f"{run.turns} turn{'' if run.turns == 1 else 's'}"
    yield f"{sign} {indent}{run.agent}: {run.status or 'not ended'}, {turns}"
    by_id = {child.run_id: child for child in run.children}
    for call in run.calls:
        sign = ">" if call is marked else " "
        arguments = json.dumps(call.arguments, ensure_ascii=False, default=str)
        failed = ", which failed" if call.is_error else ""
        yield _safe(f"{sign} {indent}  {call.name} {arguments}{failed}")
        if call.child in by_id:
            yield from _tree(by_id[call.child], marked, deviating, depth + 2)


def _safe(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= 4 * _LONGEST else f"{shown[: 4 * _LONGEST]}…"


# -- for programs


class JsonReport(Report):
    """A JSON object a line for each case."""

    def add(self, outcome: Outcome) -> None:
        """Write the line of an outcome."""
        self._out.write(f"{compact(as_json(outcome))}\n")
        self._out.flush()


class GithubReport(TextReport):
    """Workflow commands at the lines of the expectations, and the same text as for people.

    The summary of the job has the numbers, and what did not pass.
    """

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._rows: list[str] = []

    def add(self, outcome: Outcome) -> None:
        """Print the case, and an annotation for each failure."""
        super().add(outcome)
        for each in outcome.failures:
            line = outcome.suite.line(each.range)
            title = f"{outcome.case.name}: {outcome.verdict}"
            properties = {"file": outcome.suite.shown, "line": line, "title": title}
            self._line(github_line("error", properties, each.message))
        if outcome.verdict != "passed":
            self._rows.append(_row(outcome))

    def _text(self, text: str) -> None:
        # GitHub obeys what follows the blanks of a line, such as one of a recording that is shown.
        super()._text(re.sub(r"^\s*::", lambda found: found[0].replace("::", ": :"), text))

    def _line(self, text: str) -> None:
        # And the older form of commands, `##[group]`, anywhere in a line.
        super()._line(text.replace("##[", "## ["))

    def finish(self, seconds: float, left: int) -> None:
        """Print the numbers, which the summary gets too."""
        super().finish(seconds, left)
        file = os.environ.get("GITHUB_STEP_SUMMARY")
        text = _counted(self._counts, left)
        if not file or not text:
            return
        lines = [f"### Tests of agents: {text}", ""]
        if self._rows:
            lines += ["| | case | |", "|---|---|---|", *self._rows[:_MOST_ROWS], ""]
        if len(self._rows) > _MOST_ROWS:
            lines += [f"… {len(self._rows) - _MOST_ROWS} more", ""]
        try:
            with Path(file).open("a", encoding="utf-8") as summary:
                summary.write("\n".join(lines))
        except OSError as error:
            self._line(github_line("warning", {}, f"no summary: {os_fault(error)}"))


def _row(outcome: Outcome) -> str:
    """Return a row of a Markdown table, in which a text is nothing but text."""
    place = f"{outcome.suite.place(outcome.case.range)} {outcome.case.name}"
    first = outcome.failures[0].message if outcome.failures else ""
    cells = (_SIGNS[outcome.verdict], place, first)
    return f"| {' | '.join(_MARKUP.sub(lambda found: f'&#{ord(found[0])};', _safe(each)) for each in cells)} |"


_MARKUP = re.compile(r"[^\w\s.,;:/\-\"'()=+%$?]")


class JunitReport(Report):
    """JUnit's XML: a suite for each file. It is written at the end, since it counts its cases first.

    It is valid by the schemas of Jenkins' plugin xUnit and of Apache Ant's reports, which readers check it with.
    """

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._began = datetime.now(timezone.utc)
        self._outcomes: dict[str, list[Outcome]] = {}

    def add(self, outcome: Outcome) -> None:
        """Keep it."""
        self._outcomes.setdefault(outcome.suite.shown, []).append(outcome)

    def finish(self, seconds: float, left: int) -> None:
        """Print the whole document."""
        found = enumerate(self._outcomes.items())
        suites = "".join(_suite(number, self._began, *each) for number, each in found)
        self._out.write(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suites}</testsuites>\n'
        )


def _suite(number: int, began: datetime, name: str, outcomes: list[Outcome]) -> str:
    counts = Counter(_junit(each.verdict) for each in outcomes)
    attributes = _attributes(
        name=name,
        tests=len(outcomes),
        failures=counts["failure"],
        errors=counts["error"],
        skipped=counts["skipped"],
        time=f"{sum(each.elapsed for each in outcomes):.3f}",
        timestamp=f"{began:%Y-%m-%dT%H:%M:%S}",
        hostname=platform.node() or "localhost",
        package=name.rpartition("/")[0],
        id=number,
    )
    cases = "".join(map(_testcase, outcomes))
    return f"<testsuite {attributes}>\n<properties/>\n{cases}<system-out/>\n<system-err/>\n</testsuite>\n"


def _junit(verdict: Verdict) -> str:
    """Return the element for a verdict, "" for a case that passed."""
    return {"passed": "", "failed": "failure", "unfinished": "skipped"}.get(verdict, "error")


def _testcase(outcome: Outcome) -> str:
    attributes = _attributes(
        name=outcome.case.name, classname=outcome.suite.shown, time=f"{outcome.elapsed:.3f}"
    )
    element = _junit(outcome.verdict)
    if not element:
        return f"<testcase {attributes}/>\n"
    message = outcome.failures[0].message if outcome.failures else outcome.verdict
    details = escape(_xml_text("\n".join(_told(outcome))))
    told = _attributes(message=message, type=outcome.verdict)
    return f"<testcase {attributes}><{element} {told}>{details}</{element}></testcase>\n"


def _attributes(**values: object) -> str:
    return " ".join(f"{name}={quoteattr(_xml_text(str(value)))}" for name, value in values.items())


def _xml_text(text: str) -> str:
    """Replace control characters, which XML does not allow."""
    return "\n".join(visible(line) for line in text.split("\n"))


FORMATS: Mapping[str, Callable[[TextIO], Report]] = {
    "text": TextReport,
    "json": JsonReport,
    "github": GithubReport,
    "junit": JunitReport,
}
