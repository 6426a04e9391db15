"""Text that can be sent and shown: no lone surrogates, no undecodable bytes.

They come from file names, the command line and answers of providers. Each becomes U+FFFD, as Go's
encoder makes it, instead of an exception in the middle of a run.
"""

from __future__ import annotations

import re
from pathlib import Path

_SURROGATES = re.compile("[\ud800-\udfff]+")


def valid_text(text: str) -> str:
    """`text` with U+FFFD in place of what no UTF-8 can express."""
    return text if text.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def decode(data: bytes) -> str:
    """Bytes as text; what is not UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace")


def shown_path(path: Path | str) -> str:
    """A path for people and prompts."""
    return valid_text(str(path))
