"""Regular expressions that an author has written: whether Python takes them."""

from __future__ import annotations

import re
import warnings


def expression_fault(pattern: str) -> str:
    """Why a text is no regular expression of Python's, or ""."""
    try:
        with warnings.catch_warnings():
            # Of what a later Python may read otherwise. It would be on standard error.
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return ""
