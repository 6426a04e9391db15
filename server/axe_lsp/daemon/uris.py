"""Between paths and `file:` URIs. One file has one URI in here, however a client spells it."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit


def uri_of(path: Path) -> str:
    """The URI of an absolute path."""
    return path.as_uri()


def path_of(uri: str) -> Path | None:
    """The path of a `file:` URI, or None for any other (such as `untitled:`)."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    # UNC paths carry their host in the authority.
    path = f"//{parts.netloc}{parts.path}" if parts.netloc not in ("", "localhost") else parts.path
    return Path(_local(path))


@lru_cache(maxsize=4096)  # Every keystroke asks.
def canonical(uri: str) -> str:
    """The one spelling of a URI; clients differ in what they escape and in drive letters."""
    path = path_of(uri)
    if path is None or not path.is_absolute():
        return unquote(uri)
    return path.as_uri()


def _local(path: str) -> str:
    """A path of a URI as this system writes it."""
    if sys.platform == "win32":
        # Elsewhere this only unquotes, and the import takes 10 ms of the start (HTTP, mail, SSL).
        from urllib.request import url2pathname  # noqa: PLC0415

        return url2pathname(path)
    return unquote(path)
