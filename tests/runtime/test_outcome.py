"""Answers that read like refusals, and those that don't."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.outcome import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "Sorry, but I can't do this.",
        "I can’t do this.",
        "I'm unable to access the internet.",
        "Unfortunately I am unable to run commands.",
        "I'm not able to read it.",
        "i am not able to",
        "I must decline this request.",
        "I don't have the ability to see pictures.",
        "I do not have the ability to see pictures.",
        "As an AI language model, I don't have opinions.",
        "As an AI, it is something that I won't do.",
    ],
)
def test_a_refusal_is_recognised(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Done.",
        "The test can't pass, since the file is missing.",
        "As an AI reviewer I find the change good. It does not need tests.",
        "As an AI, I like it.",
        "You are unable to reach it. AI cannot either.",
        "Wi-Fi cannot be reached.",
    ],
)
def test_other_answers_are_none(text: str) -> None:
    assert not is_refusal(text)
