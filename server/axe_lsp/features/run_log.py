"""The runs of an agent in words: the title of a lens, and the text of a hover."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.markdown import as_text
from axe_lsp.workspace.run_facts import RunFacts, RunNumbers, VersionChange

_FEW, _MANY = 5, 20
"""Runs from which there are costs and medians, and from which there are percentages."""

_TITLES = {"axe": "axe", "codex": "Codex", "claude": "Claude Code", "opencode": "opencode"}

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MOST_NAMES = 12
"""Names of tools or callers in a line."""

MOST_PERCENT = 100

_TOOL = re.compile(r"[\w.:-]+(?:\*[\w.:*-]*)?")


def lens_title(facts: RunFacts, now: float) -> str:
    """Return the title of the lens above an agent; `now` is in seconds since 1970."""
    if not facts.runs:
        return "no runs"
    count = f"{_count(facts.runs, 'run')}{' so far' if facts.is_counting else ''}"
    last = f"last {_on_day(facts.last, now)}"
    if facts.runs < _FEW:
        failed = f"{facts.failed} failed" if facts.runs > 1 else "failed"
        return f"{count}{f', {failed}' if facts.failed else ''} · {last}"
    change = facts.change
    parts = [
        count,
        _failed(facts),
        money(facts.cost, is_part=facts.partly_priced) if facts.cost is not None else "",
        last,
        _change_title(change, now) if change is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def _change_title(change: VersionChange, now: float) -> str:
    if change.before is not None:
        return f"{change.text} since {_edit(change, now)}"
    return (
        f"{change.text} {_on_day(change.since, now)}" if change.since is not None else change.text
    )


def _failed(facts: RunFacts) -> str:
    if not facts.failed:
        return ""
    finished = facts.runs - facts.stopped - facts.unfinished
    share = f" ({MOST_PERCENT * facts.failed / finished:.0f} %)" if facts.runs >= _MANY else ""
    return f"{facts.failed} failed{share}"


def money(cost: float, *, is_part: bool) -> str:
    """Return a cost in US dollars, which has no price for some runs if it `is_part`."""
    text = "< $0.01" if cost < 0.01 else f"${cost:.2f}"
    return f"over {text}" if is_part else text


def run_markdown(facts: RunFacts, now: float) -> str:
    """Return what the runs of an agent were like, in Markdown; lines without content are left out."""
    return "  \n".join(_lines(facts, now))


def _lines(facts: RunFacts, now: float) -> Iterator[str]:
    days = _count(facts.days, "day")
    if not facts.runs:
        yield f"**No runs in {days}.**"
        return
    programs = ", ".join(f"{_TITLES.get(name, name)} {count:,}" for name, count in facts.programs)
    bad = ", ".join(
        f"{count:,} {word}"
        for count, word in ((facts.failed, "failed"), (facts.stopped, "stopped"))
        if count
    )
    last = f"Last: {_day(facts.last, now)} {_local(facts.last):%H:%M}."
    head = f"**{_count(facts.runs, 'run')} in {days}** ({programs})"
    yield f"{head}: {bad}. {last}" if bad else f"{head}. {last}"
    if facts.typical is not None:
        usual = _numbers(facts.typical, at_list_prices=facts.at_list_prices)
        most = _numbers(facts.nine_of_ten) if facts.nine_of_ten is not None else ""
        yield f"Typical: {usual}{f'; nine of ten: {most}' if most else ''}."
    yield from _used(facts)
    if facts.change is not None:
        yield _change(facts.change, now)


def _used(facts: RunFacts) -> Iterator[str]:
    parts = []
    if facts.callers:
        callers = [
            f"{as_text(name or 'the main conversation')} {runs}" for name, runs in facts.callers
        ]
        parts.append(f"Called by: {_listed(callers)}.")
    tools = [f"{as_text(each.name)} {each.runs}" for each in facts.tools[:_MOST_NAMES]]
    if tools:
        tools[0] += " run" if facts.tools[0].runs == 1 else " runs"
    tools += [f"**{as_text(name)} never**" for name in facts.never_used[:_MOST_NAMES]]
    if tools:
        parts.append(f"Tools: {', '.join(tools)}.")
    if parts:
        yield " ".join(parts)
    if facts.missing:
        missing = [f"{as_text(name)} ({_count(runs, 'run')})" for name, runs in facts.missing]
        yield f"Asked for, but not available: {_listed(missing)}."


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_MOST_NAMES])


def _numbers(numbers: RunNumbers, *, at_list_prices: bool = False) -> str:
    parts = [
        f"{numbers.ms / 1000:,.0f} s",
        _count(round(numbers.turns), "turn"),
        f"{numbers.input_tokens:,.0f} + {numbers.output_tokens:,.0f} tokens",
    ]
    if numbers.cost is not None:
        parts.append(f"${numbers.cost:.3f}{' at list prices' if at_list_prices else ''}")
    return ", ".join(parts)


_UNITS: Mapping[str, Callable[[float], str]] = {
    "failures": lambda share: f"{MOST_PERCENT * share:.0f} % failed",
    "seconds": lambda seconds: f"median {seconds:,.0f} s",
    "outputTokens": lambda tokens: f"median {tokens:,.0f} tokens",
    "cost": lambda dollars: f"median ${dollars:.4f}",
}


def _change(change: VersionChange, now: float) -> str:
    edit = _edit(change, now)
    unit = _UNITS.get(change.measure)
    if unit is None or change.before is None or change.after is None:
        title = _change_title(change, now)
        return f"{title[:1].upper()}{title[1:]}."
    return (
        f"Since {edit} ({change.runs} runs): {change.text}, {unit(change.after)}, "
        f"before {unit(change.before).removeprefix('median ')} ({change.runs_before} runs)."
    )


def tool_text(facts: RunFacts, name: str) -> str:
    """Return how often the runs of an agent have used a tool; "" without runs."""
    if not facts.runs:
        return ""
    use = next((each for each in facts.tools if each.name == name), None)
    if use is None:
        return f"not used in {_count(facts.runs, 'run')}"
    failed = f", {use.errors:,} failed" if use.errors else ""
    return (
        f"used in {use.runs:,} of {_count(facts.runs, 'run')}, {_count(use.calls, 'call')}{failed}"
    )


def limit_text(facts: RunFacts, path: Sequence[str]) -> str:
    """Return how near runs come to a limit, by the path of its key; "" if that is not known."""
    of = LIMITS.get(tuple(path))
    if not facts.runs or tuple(path) not in LIMITS:
        return ""
    reached = f"reached in {facts.limits.get('.'.join(path), 0)} of {_count(facts.runs, 'run')}"
    if facts.typical is None or of is None:
        return reached
    most = f", nine of ten at most {of(facts.nine_of_ten)}" if facts.nine_of_ten is not None else ""
    return f"typical {of(facts.typical)}{most}; {reached}"


LIMITS: Mapping[KeyPath, Callable[[RunNumbers], str] | None] = {
    ("timeout",): lambda each: f"{each.ms / 1000:,.0f} s",
    ("maxTurns",): lambda each: f"{each.turns:,.0f}",
    ("budget", "max_turns"): lambda each: f"{each.turns:,.0f}",
    ("budget", "max_wall_time"): lambda each: f"{each.ms / 1000:,.0f} s",
    ("budget", "max_tokens"): lambda each: f"{each.input_tokens + each.output_tokens:,.0f}",
    ("budget", "max_cost"): lambda each: f"${each.cost or 0:.3f}",
    ("budget", "max_tool_calls"): None,
}
"""The keys of limits, with the number of a run that counts."""


def tool_places(lookup: Lookup) -> list[tuple[str, TextRange]]:
    """Return the tools that a file names, and where their names stand, in a list or a string."""
    value = lookup.value(("tools",))
    if value is None:
        return []
    start, end = value.range.start, value.range.end
    return [
        (match[0], TextRange(match.start(), match.end()))
        for match in _TOOL.finditer(lookup.parse.text, start, end)
    ]


def _edit(change: VersionChange, now: float) -> str:
    if change.since is None:
        return "the edit"
    day = _day(change.since, now)
    return f"the edit of {day}"


def _day(time: float, now: float) -> str:
    """Return the name of a day, of one more than six days ago its date. Local time."""
    day, today = _local(time).date(), _local(now).date()
    ago = (today - day).days
    if ago <= 0:
        return "today"
    if ago == 1:
        return "yesterday"
    return _DAYS[day.weekday()] if ago < len(_DAYS) else day.isoformat()


def _local(time: float) -> datetime:
    return datetime.fromtimestamp(time, timezone.utc).astimezone()


def _on_day(time: float, now: float) -> str:
    day = _day(time, now)
    return day if day in ("today", "yesterday") else f"on {day}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
