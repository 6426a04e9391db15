"""Edits at random: what people type, delete and paste, mostly in the wrong place."""

from __future__ import annotations

from hypothesis import strategies as st

from support.any_text import TEXTS
from support.secrets import ANTHROPIC_KEY

RandomEdit = tuple[float, int, str]
"""Where in the text, as a part of it; how many characters go; what comes in their place."""

_NEW = TEXTS | st.sampled_from(
    [
        "",
        "1",
        "9",
        '"',
        "\n",
        "\r",
        '"""',
        "#",
        "[x]\n",
        "x = 1\n",
        "name",
        f'"{ANTHROPIC_KEY}"',
        "\\",
    ]
)
EDITS: st.SearchStrategy[list[RandomEdit]] = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 6), _NEW), min_size=1, max_size=4
)


def after(text: str, edit: RandomEdit) -> str:
    """Return the text as it is then."""
    where, removed, new = edit
    at = int(where * len(text))
    return text[:at] + new + text[at + removed :]
