"""Whether an answer reads like a refusal (axe's `refused`). A guess by phrases, and no more."""

from __future__ import annotations

import re

_REFUSAL = (
    r"(?i)\bI (?:cannot|can't)\b"
    r"|\bI(?:'m| am) (?:unable to|not able to)\b"
    r"|\bI must decline\b"
    r"|\bI (?:don't|do not) have the ability\b"
    r"|\bas an AI\b[^.!?\n]*\b(?:cannot|can't|unable|not able|don't|do not|won't|will not)\b"
)
"""Compiled when the first answer is there: no request waits for it."""


def is_refusal(text: str) -> bool:
    """Whether the model says that it can't or won't do what it was told."""
    return re.search(_REFUSAL, text.replace("’", "'")) is not None
