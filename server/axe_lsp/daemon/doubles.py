"""Agents of one name that are one file, to which several paths lead. `twins` knows folders that do; files are links too."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.workspace.snapshot import Snapshot


def real_uris(snapshot: Snapshot, changed: Iterable[str]) -> dict[str, str]:
    """Where the files lie that have a name in common with one that has changed, as far as that is news.

    Only doubles are looked at, since there are few of them, and what once was one: it may be no link any more.
    """
    files = [file for uri in changed if (file := snapshot.file(uri)) is not None]
    known, touched = snapshot.real_uris, {file.uri for file in files}
    alike = (snapshot.names.get(stem, ()) for stem in {file.place.stem for file in files})
    doubles = [uri for uris in alike if len(uris) > 1 for uri in uris]
    in_doubt = {uri for uri in doubles if uri in touched or uri not in known}
    in_doubt |= touched & known.keys()
    if not in_doubt:
        return {}  # As after nearly every keystroke.
    real_folder = cache(os.path.realpath)
    found = {
        uri: _real_uri(path, real_folder(path.parent)) for uri in in_doubt if (path := path_of(uri))
    }
    return {uri: real for uri, real in found.items() if known.get(uri) != real}


def _real_uri(path: Path, folder: str) -> str:
    # Hardly any file is a link, and to follow all of a path takes many looks at the disk.
    return uri_of(Path(os.path.realpath(path)) if path.is_symlink() else Path(folder, path.name))
