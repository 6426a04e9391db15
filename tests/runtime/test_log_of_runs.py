"""The steps of runs: what they hold comes back to the byte, and no secret is in them."""

from __future__ import annotations

import json

import pytest

from axe_lsp.runtime.children.delegation import child_run_id
from axe_lsp.runtime.messages import Message, Request, Response, ToolCall
from axe_lsp.runtime.run_log import decoded, encoded

STRANGE = [
    {"half": "\ud800", "text": "ünï\u2028"},
    {"not a number": float("nan"), "endless": float("-inf")},
    {"large": 2**70, "float": 1.0, "tiny": 5e-324},
    {"z": 1, "a": {"y": None, "b": [[], {}, ""]}},
]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: next(iter(value)))
def test_what_a_step_holds_comes_back_to_the_byte(value: dict[str, object]) -> None:
    call = ToolCall("1", "t", value, is_broken=True)
    answer = Response("text", (call,), original=[value], input_tokens=3, cost=0.25)
    request = Request("m", (Message("assistant", tool_calls=(call,), original=value),))

    for struct in (answer, request):
        again = decoded(encoded(struct), type(struct))
        assert type(again) is type(struct)
        assert repr(again) == repr(struct)  # NaN equals nothing, and the order counts.
    assert encoded(answer).isascii()


def test_secrets_are_taken_out_of_every_text_also_of_one_that_json_escapes() -> None:
    secret = 'pa"ss\\wörd'
    answer = Response(f"It is {secret}.", original=[{"deep": [f"<{secret}>"]}])

    kept = encoded(answer, [secret])

    assert json.dumps(secret)[1:-1] not in kept
    assert decoded(kept, Response).original == [{"deep": ["<[redacted]>"]}]


def test_a_call_that_is_executed_again_starts_the_same_run() -> None:
    first = child_run_id("a" * 32, 2, "call-1")

    assert first == child_run_id("a" * 32, 2, "call-1")
    others = {child_run_id("a" * 32, 3, "call-1"), child_run_id("b" * 32, 2, "call-1")}
    assert first not in others
    assert len(first) == 32
    assert child_run_id("a", 1, "\ud800")
