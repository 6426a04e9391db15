"""Who vouches for the servers that requests go to: the authorities that the system trusts.

A system may name none, as does Python's own package for macOS; then those count that Mozilla trusts.
"""

from __future__ import annotations

import ssl
import sys
from functools import cache
from pathlib import Path


@cache
def trusted_authorities() -> ssl.SSLContext | bool:
    """What aiohttp takes as `ssl`. True stands for the system's, which aiohttp has read already."""
    if sys.platform == "win32" or _system_names_some(ssl.get_default_verify_paths()):
        return True
    import certifi  # noqa: PLC0415 - hardly any system needs it

    return ssl.create_default_context(cafile=certifi.where())


def _system_names_some(paths: ssl.DefaultVerifyPaths) -> bool:
    """The paths are those that exist, `SSL_CERT_FILE` and `SSL_CERT_DIR` included."""
    return paths.cafile is not None or (
        paths.capath is not None and any(Path(paths.capath).iterdir())
    )
