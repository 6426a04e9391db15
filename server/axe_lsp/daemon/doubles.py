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

    Only doubles are looked at, since there are few of them.
    """
    files = [file for uri in changed if (file := snapshot.file(uri)) is not None]
    stems = {file.place.stem for file in files}
    alike = [uris for stem in stems if len(uris := snapshot.names.get(stem, ())) > 1]
    if not alike:
        return {}  # As after nearly every keystroke.
    known, touched = snapshot.real_uris, {file.uri for file in files}
    in_doubt = [uri for uris in alike for uri in uris if uri in touched or uri not in known]
    real_folder = cache(os.path.realpath)
    found = {
        uri: _real_uri(path, real_folder(path.parent)) for uri in in_doubt if (path := path_of(uri))
    }
    return {uri: real for uri, real in found.items() if known.get(uri) != real}


def _real_uri(path: Path, folder: str) -> str:
    # Hardly any file is a link, and to follow all of a path takes many looks at the disk.
    return uri_of(Path(os.path.realpath(path)) if path.is_symlink() else Path(folder, path.name))
