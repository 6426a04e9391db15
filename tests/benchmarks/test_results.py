"""Tables of what was measured."""

from __future__ import annotations

from benchmarks.results import Ratio, Row, Table, as_markdown
from benchmarks.timing import Sample


def test_a_table_has_no_ratio_to_what_took_no_time() -> None:
    samples = {"ours": Sample((3.0,)), "theirs": Sample((0.0,))}
    rows = [Row("nothing", samples), Row("something", {**samples, "theirs": Sample((2.0,))})]
    table = Table("Title", "Note", "ms", ["ours", "theirs"], [Ratio("ours", "theirs")], rows)
    assert as_markdown(table).splitlines()[-2:] == [
        "| nothing | 3 | 0 | – |",
        "| something | 3 | 2 | 1.50 |",
    ]
