"""What was found, as tables: for a terminal, for docs/benchmarks.md, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.timing import Sample


@dataclass(frozen=True)
class Row:
    """One thing that was measured, of each contender. None is one that could not do it."""

    what: str
    samples: Mapping[str, Sample | None]


@dataclass(frozen=True)
class Ratio:
    """One contender's median over another's, and what it should be at most: in all rows, or by row."""

    of: str
    to: str
    wanted: float | Mapping[str, float] | None = None

    @property
    def title(self) -> str:
        return f"{self.of} / {self.to}"

    def wanted_in(self, row: Row) -> float | None:
        """Return what it should be at most in this row."""
        return self.wanted.get(row.what) if isinstance(self.wanted, Mapping) else self.wanted


@dataclass(frozen=True)
class Table:
    """Measurements that are read side by side. `note` says what exactly was done.

    `unit` is empty where each row names its own.
    """

    title: str
    note: str
    unit: str
    contenders: Sequence[str]
    ratios: Sequence[Ratio]
    rows: list[Row] = field(default_factory=list)


def as_markdown(table: Table) -> str:
    """Return a table of medians (smallest to 90th percentile) and ratios, each beside what is wanted."""
    unit = f", {table.unit}" if table.unit else ""
    titles = ["", *(f"{name}{unit}" for name in table.contenders)]
    for ratio in table.ratios:
        titles += [ratio.title] if ratio.wanted is None else [ratio.title, "target"]
    lines = [_cells(titles), _cells(["---", *["--:"] * (len(titles) - 1)])]
    lines += [_cells([row.what, *_row(table, row)]) for row in table.rows]
    return f"## {table.title}\n\n{table.note}\n\n" + "\n".join(lines) + "\n"


def as_json(table: Table) -> dict[str, Any]:
    """Return the same with all values."""
    return {
        "title": table.title,
        "unit": table.unit,
        "rows": [
            {
                "what": row.what,
                "values": {
                    name: [round(value, 4) for value in sample.values] if sample else None
                    for name, sample in row.samples.items()
                },
                "ratios": {
                    ratio.title: {"is": _quotient(row, ratio), "wanted": ratio.wanted_in(row)}
                    for ratio in table.ratios
                    if _quotient(row, ratio) is not None
                },
            }
            for row in table.rows
        ],
    }


def _row(table: Table, row: Row) -> Iterator[str]:
    for name in table.contenders:
        yield _sample(row.samples[name]) if name in row.samples else "–"
    for ratio in table.ratios:
        quotient, wanted = _quotient(row, ratio), ratio.wanted_in(row)
        text = "–" if quotient is None else f"{quotient:.2f}"
        # What reads like the limit counts as within it.
        too_much = quotient is not None and wanted is not None and round(quotient, 2) > wanted
        yield f"**{text}**" if too_much else text
        if ratio.wanted is not None:
            yield "–" if wanted is None else f"{wanted:g}"


def _sample(sample: Sample | None) -> str:
    if sample is None:
        return "never"
    if len(sample.values) == 1:
        return _number(sample.median)
    numbers = (sample.median, sample.least, sample.p90)
    return "{} ({}–{})".format(*map(_number, numbers))


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _quotient(row: Row, ratio: Ratio) -> float | None:
    """None if there is none: the processor time of a short moment may be 0."""
    of, to = row.samples.get(ratio.of), row.samples.get(ratio.to)
    return of.median / to.median if of is not None and to is not None and to.median else None


def _cells(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
