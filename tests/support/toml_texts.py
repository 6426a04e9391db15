"""TOML documents for property tests: valid, and written as untidily as TOML allows."""

from __future__ import annotations

from hypothesis import strategies as st

SPACE = st.sampled_from(["", "", " ", "   ", "\t"])
COMMENT = st.sampled_from(["", "", "", "# c", "#x  ", "# é😀, ] } = [t]", "#:schema s.json\t"])
LINE_END = st.builds(lambda space, comment: f"{space}{comment}\n", SPACE, COMMENT)
GAP = st.one_of(SPACE, st.lists(st.builds("{}{}".format, SPACE, LINE_END), max_size=3).map("".join))
"""Between the parts of an array: anything but text."""

KEY = st.sampled_from(["name", "b-c", "1979", '"a b"', "'#'", '"=]"', '""'])
SCALAR = st.sampled_from(
    [
        '"a"',
        "'b, # c'",
        '"\\"}] = 😀"',
        '"""\n  m,  \n # n\n\t"""',
        '"""x\\\n   y """',
        "'''\nl  \n'''",
        '"a-string-that-is-long-enough-to-fill-a-good-part-of-a-line"',
        "17",
        "0xdead_beef",
        "-1_000.50e3",
        "nan",
        "-inf",
        "true",
        "1979-05-27 07:32:00.5Z",
        "07:32",
    ]
)


def _array(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    part = st.tuples(GAP, items, GAP).map("".join)
    return st.builds(
        lambda parts, comma, gap: f"[{','.join(parts)}{',' if parts and comma else ''}{gap}]",
        st.lists(part, max_size=4),
        st.booleans(),
        GAP,
    )


def _inline_table(
    values: st.SearchStrategy[str], gap: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    entry = st.tuples(gap, st.just("k{}"), SPACE, st.just("="), SPACE, values, gap).map("".join)
    return st.builds(
        lambda parts, comma, end: (
            "{"
            + ",".join(part.replace("k{}", f"k{index}", 1) for index, part in enumerate(parts))
            + ("," if parts and comma else "")
            + end
            + "}"
        ),
        st.lists(entry, max_size=3),
        st.booleans(),
        gap,
    )


VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(_array(inner), _inline_table(inner, SPACE), _inline_table(inner, GAP)),
    max_leaves=8,
)


def _dotted(key: str, number: int, before: str, behind: str) -> str:
    return f"{key}{before}.{behind}k{number}"


def _document(blanks: list[str], statements: list[tuple[str, str, str, str, str, str]]) -> str:
    """Keys and tables get numbers, so that none is there twice."""
    lines: list[str] = []
    for number, (indent, kind, key, space, value, end) in enumerate(statements):
        name = _dotted(f"k{number}", number, space, space) if key == "1979" else f"k{number}"
        if kind == "entry":
            lines.append(f"{indent}{name}{space}={space}{value}{end}")
        elif kind == "table":
            lines.append(f"{indent}[{space}t{number}{space}.{space}{key}{space}]{end}")
        else:
            lines.append(f"{indent}[[{space}t{space}]]{end}")
    lines[1:1] = blanks
    return "".join(lines)


_STATEMENT = st.tuples(
    SPACE,
    st.sampled_from(["entry", "entry", "entry", "table", "element"]),
    KEY,
    SPACE,
    VALUE,
    st.lists(LINE_END, min_size=1, max_size=4).map("".join),
)
DOCUMENTS = st.builds(
    _document,
    st.lists(LINE_END, max_size=4),
    st.lists(_STATEMENT, max_size=6),
)
"""Documents with LF line ends."""
