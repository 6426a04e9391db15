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
    """One contender's median over another's, and what it should be at most."""

    of: str
    to: str
    wanted: float | None = None

    @property
    def title(self) -> str:
        wanted = f" (wanted: at most {self.wanted:g})" if self.wanted is not None else ""
        return f"{self.of} / {self.to}{wanted}"


@dataclass(frozen=True)
class Table:
    """Measurements that are read side by side. `note` says what exactly was done."""

    title: str
    note: str
    unit: str
    contenders: Sequence[str]
    ratios: Sequence[Ratio]
    rows: list[Row] = field(default_factory=list)


def as_markdown(table: Table) -> str:
    """A table of medians (smallest to 90th percentile) and ratios."""
    titles = ["", *(f"{name}, {table.unit}" for name in table.contenders)]
    titles += [ratio.title for ratio in table.ratios]
    lines = [_cells(titles), _cells(["---", *["--:"] * (len(titles) - 1)])]
    lines += [_cells([row.what, *_row(table, row)]) for row in table.rows]
    return f"## {table.title}\n\n{table.note}\n\n" + "\n".join(lines) + "\n"


def as_json(table: Table) -> dict[str, Any]:
    """The same with all values."""
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
                    ratio.title: _quotient(row, ratio)
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
        quotient = _quotient(row, ratio)
        too_much = quotient is not None and ratio.wanted is not None and quotient > ratio.wanted
        text = "–" if quotient is None else f"{quotient:.2f}"
        yield f"**{text}**" if too_much else text


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
    of, to = row.samples.get(ratio.of), row.samples.get(ratio.to)
    return of.median / to.median if of is not None and to is not None else None


def _cells(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
