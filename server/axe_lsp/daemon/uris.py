"""Between paths and `file:` URIs. One file has one URI in here, however a client spells it."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit


def uri_of(path: Path) -> str:
    """Return the URI of an absolute path."""
    return path.as_uri()


def path_of(uri: str) -> Path | None:
    """Return the path of a `file:` URI; None for any other (such as `untitled:`), and for one that no file can have."""
    try:
        parts = urlsplit(uri)
    except ValueError:  # As for `file://[`, where an address should follow.
        return None
    if parts.scheme != "file":
        return None
    # UNC paths carry their host in the authority.
    is_ours = parts.netloc.lower() in ("", "localhost")
    path = parts.path if is_ours else f"//{parts.netloc}{parts.path}"
    path = windows_path(path) if sys.platform == "win32" else _posix_path(path)
    return None if "\0" in path else Path(path)


def folder_of(uri: str) -> Path | None:
    """Return the folder that a file lies in, by its URI."""
    return _folder(uri.rpartition("/")[0])


@lru_cache(maxsize=256)  # Thousands of files lie in few folders.
def _folder(uri: str) -> Path | None:
    return path_of(f"{uri}/")


@lru_cache(maxsize=4096)  # Every keystroke asks.
def canonical(uri: str) -> str:
    """Return the one spelling of a URI; clients differ in what they escape, in drive letters and in slashes."""
    path = path_of(uri)
    if path is None or not path.is_absolute():
        return unquote(uri)
    # `..` in a URI goes back by a name, whatever the disk holds (RFC 3986, 5.2.4).
    return Path(os.path.normpath(path)).as_uri()


def windows_path(path: str) -> str:
    """Return the path of a URI as Windows has it: the drive comes first, in capitals."""
    # Not `url2pathname`: it takes the `c%3A` that VS Code writes for a folder's name.
    path = unquote(path)
    if path[2:3] == ":" and path[1].isalpha():
        return path[1].upper() + path[2:]
    return path


def _posix_path(path: str) -> str:
    """Return the path of a URI elsewhere, where two slashes at its beginning mean nothing but pathlib keeps them."""
    path = unquote(path)
    return f"/{path.lstrip('/')}" if path.startswith("//") else path
