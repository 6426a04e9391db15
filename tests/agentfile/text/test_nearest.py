"""The nearest name is the one that comparing all names with `difflib` finds."""

from __future__ import annotations

from difflib import get_close_matches

from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.nearest import nearest

_NAMES = st.text("abcde_M", min_size=1, max_size=8)


@given(_NAMES, st.lists(_NAMES, max_size=12))
@example("workdir", ["dir"])
@example("dir", ["workdir"])
@example("mdoel", ["model", "Model", "mode"])
@example("a", [])
def test_nearest_name_is_the_one_of_difflib(name: str, names: list[str]) -> None:
    by_lower: dict[str, str] = {}
    for each in names:
        by_lower.setdefault(each.lower(), each)
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    assert nearest(name, names) == (by_lower[matches[0]] if matches else None)
