"""Regular expressions that an author has written: whether Python takes them."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from axe_lsp.agentfile.text.nearest import KEPT


@lru_cache(maxsize=KEPT)
def expression_fault(pattern: str) -> str:
    """Why a text is no regular expression of Python's, or "". Each keystroke asks for those of the file again."""
    try:
        with warnings.catch_warnings():
            # Of what a later Python may read otherwise. It would be on standard error.
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return ""
