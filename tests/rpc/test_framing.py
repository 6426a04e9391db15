"""Where one message ends and the next begins, whatever stands between them."""

from __future__ import annotations

import itertools
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.rpc.framing import LARGEST_BODY, BadHeader, FrameReader, frame

PING = frame(b'"ping"')


def read(data: bytes) -> list[bytes | BadHeader]:
    return list(FrameReader().feed(data))


def reasons(data: bytes) -> list[str]:
    return [found.reason for found in read(data) if isinstance(found, BadHeader)]


@given(st.lists(st.binary()), st.data())
def test_bodies_come_out_as_they_went_in_however_the_bytes_are_cut(
    bodies: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(map(frame, bodies))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    reader = FrameReader()
    pieces = zip([0, *cuts], [*cuts, len(stream)], strict=True)
    assert [body for start, end in pieces for body in reader.feed(stream[start:end])] == bodies


@given(st.binary())
def test_no_bytes_raise(garbage: bytes) -> None:
    read(garbage)


def test_length_counts_bytes_not_characters() -> None:
    body = '"😀"'.encode()
    assert frame(body) == b"Content-Length: 6\r\n\r\n" + body


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 6\r\n\r\n",
        b"CONTENT-LENGTH:6\r\n\r\n",
        b"Content-Length :  6 \r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 6\r\n\r\n",
        b"Content-Length: 6\r\nContent-Type: application/vscode-jsonrpc\r\nX-More: 1\r\n\r\n",
        b"Content-Length: 6\n\n",
    ],
)
def test_headers_are_read_in_any_case_and_order(header: bytes) -> None:
    assert read(header + b'"ping"' + PING) == [b'"ping"', b'"ping"']


@pytest.mark.parametrize(
    "garbage",
    [
        b"hello\n",
        b"\r\n\r\n",
        b"DEBUG: starting\n",
        b"no line end",
        b'{"jsonrpc": "2.0", "method": "x"}\n',
        b"\xff\x00\xfe" * 50_000,
        b"x" * 200_000 + b"\n",
    ],
)
def test_garbage_between_messages_is_skipped(garbage: bytes) -> None:
    assert read(PING + garbage + PING) == [b'"ping"', b'"ping"']


def test_garbage_is_mentioned_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        read(b"one\ntwo\nthree\n" + PING)
    assert [record.message for record in caplog.records] == [
        "the client sent an invalid LSP message; skipping it"
    ]


def test_length_that_was_too_small_costs_only_its_own_message() -> None:
    # A client that counts characters: the last byte of the body stands before the next header.
    body = '"ä"'.encode()
    assert read(b"Content-Length: 3\r\n\r\n" + body + PING) == [body[:3], b'"ping"']


@pytest.mark.parametrize("length", [b"abc", b"-5", b"", b"1e3", b"9" * 30])
def test_length_that_is_no_number_is_reported_and_reading_goes_on(length: bytes) -> None:
    stream = b"Content-Length: " + length + b'\r\nX: 1\r\n\r\n{"a": 1}' + PING
    assert len(reasons(stream)) == 1
    assert read(stream)[1:] == [b'"ping"']


def test_enormous_length_is_refused_instead_of_waited_for() -> None:
    stream = b"Content-Length: %d\r\n\r\n{}" % (LARGEST_BODY + 1) + PING
    assert reasons(stream) == [
        f"Content-Length is {LARGEST_BODY + 1}; more than {LARGEST_BODY} is refused"
    ]
    assert read(stream)[1:] == [b'"ping"']


def test_length_inside_another_header_is_no_length() -> None:
    for line in (b"X-Note: Content-Length: 2", b"Content-Type: a; Content-Length: 2"):
        assert read(line + b"\r\n\r\n{}\r\n" + PING) == [b'"ping"']


def test_length_that_is_given_twice_is_reported() -> None:
    stream = b"Content-Length: 2\r\nContent-Length: 6\r\n\r\n{}\r\n"
    assert reasons(stream) == ["Content-Length is given twice"]
    assert read(stream + PING)[1:] == [b'"ping"']


STRANGE = [
    b"POST / HTTP/1.1\r\n",
    b"Host: localhost\r\n",
    b"\r\n",
    b"x" * 70_000,
    b"Content-Length: 6, 6\r\n\r\n",
    b"Content-Length: 6\r\nContent-Length: 6\r\n\r\n",
    b"Content-Length: -1\r\n\r\n",
    b"Content-Length: 99999999\r\n\r\n",
    b"X: Content-Length: 6\r\n\r\n",
    b"}Content-Length: 6\r\n\r\n",
]


@pytest.mark.parametrize("line", STRANGE)
def test_strict_reading_ends_for_good_at_what_is_no_header(line: bytes) -> None:
    reader = FrameReader(is_strict=True, most=1000)
    assert list(reader.feed(PING + line + PING)) == [b'"ping"']
    assert reader.fault
    assert list(reader.feed(PING)) == []


def test_strict_reading_takes_what_lsp_allows() -> None:
    reader = FrameReader(is_strict=True)
    typed = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
    assert list(reader.feed(typed + PING + PING)) == [b'"ping"', b'"ping"']
    assert not reader.fault


@given(st.binary(), st.lists(st.integers(0, 200)))
def test_strict_reading_finds_the_same_however_the_bytes_are_cut(
    garbage: bytes, cuts: list[int]
) -> None:
    stream = PING + garbage + PING
    whole, cut = FrameReader(is_strict=True), FrameReader(is_strict=True)
    pieces = [0, *sorted(min(each, len(stream)) for each in cuts), len(stream)]
    found = [
        body for start, end in itertools.pairwise(pieces) for body in cut.feed(stream[start:end])
    ]
    assert found == list(whole.feed(stream))
    assert bool(cut.fault) == bool(whole.fault)
