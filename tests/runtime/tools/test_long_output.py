"""The beginning and the end of an output that is too long, for all kinds of output."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.runtime.tools.long_output import MAX_OUTPUT, LongOutput, shown_end, shown_output

LEFT_OUT = r"\.\.\. \[([\d,]+) bytes left out: the output exceeds 100KB\] \.\.\."


def test_output_of_just_the_limit_is_whole_and_one_byte_more_is_cut() -> None:
    assert shown_output("x" * MAX_OUTPUT) == "x" * MAX_OUTPUT
    assert re.search(LEFT_OUT, shown_output("x" * (MAX_OUTPUT + 1)))


def test_long_output_has_its_first_and_its_last_line_and_says_how_much_is_missing() -> None:
    lines = [f"line {number}" for number in range(50_000)]
    text = "\n".join(lines)
    shown = shown_output(text)
    beginning, end = re.split(LEFT_OUT, shown)[::2]
    assert {*beginning.splitlines(), *end.strip().splitlines()} < {*lines}
    assert shown.startswith("line 0\n")
    assert shown.endswith("\nline 49999")
    found = re.search(LEFT_OUT, shown)
    assert found is not None
    kept = len(beginning.rstrip("\n")) + len(end.lstrip("\n"))
    assert int(found[1].replace(",", "")) == len(text) - kept
    assert 90_000 < kept <= MAX_OUTPUT


@given(st.integers(0, 3), st.sampled_from("éあ🙂"), st.integers(1, 100))
def test_no_character_is_cut(before: int, character: str, size: int) -> None:
    text = "x" * before + character * 100
    output = LongOutput(beginning=size, end=size)
    output.add(text.encode())
    assert "\ufffd" not in output.text()


@given(st.lists(st.binary(max_size=40)), st.integers(1, 30), st.integers(0, 30))
def test_pieces_make_no_difference(pieces: list[bytes], beginning: int, end: int) -> None:
    in_pieces, at_once = (LongOutput(beginning, end) for _ in range(2))
    for piece in pieces:
        in_pieces.add(piece)
    at_once.add(b"".join(pieces))
    assert in_pieces.text() == at_once.text()
    assert in_pieces.beginning == b"".join(pieces)[:beginning]


@pytest.mark.parametrize("blank", ["", " ", "\n"])
@pytest.mark.parametrize(
    "secret", ["the-secret-of-this-run", "sk-abcdefghijklmnopqrstuvwxyz012345"]
)
@pytest.mark.parametrize("half", [MAX_OUTPUT // 2, 150_000 - MAX_OUTPUT // 2])
def test_no_part_of_a_secret_is_left_at_the_seam(half: int, secret: str, blank: str) -> None:
    for cut in range(len(secret) + 1):
        text = "x" * (half - cut - len(blank)) + blank + secret + blank
        text += "y" * (150_000 - len(text))
        shown = redact(shown_output(text, [secret]), [secret])
        parts = {secret[:size] for size in (4, 8, 12)} | {secret[-size:] for size in (4, 8, 12)}
        assert not [part for part in parts if part in shown]


def test_key_that_nobody_knows_is_not_cut_out_of_its_word() -> None:
    key = "sk-abcdefghijklmnopqrstuvwxyz012345"
    for cut in range(len(key) + 1):
        text = "x " * ((MAX_OUTPUT // 2 - cut) // 2) + key + " y" * MAX_OUTPUT
        assert "sk-a" not in redact(shown_output(text))


def test_memory_stays_bounded_however_much_is_written() -> None:
    output, piece = LongOutput(), b"x" * 65536
    tracemalloc.start()
    for _ in range(2000):
        output.add(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert output.size == 2000 * 65536
    assert peak < 2_000_000


def test_output_without_its_beginning_says_so_and_keeps_its_end() -> None:
    for text in ("cut\nEND", "x" * 300_000 + "\nEND", "y\n" * 200_000 + "END"):
        shown = shown_end(text)
        assert shown.startswith("... [the beginning of the output is left out")
        assert shown.endswith("\nEND")
        assert len(shown) < 103_000
