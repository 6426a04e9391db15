"""The certificate authorities that the system trusts, for connections to providers.

A system may name none, as does Python's own package for macOS; then those count that Mozilla trusts.
Reading them takes longer than most of what a run does before its first request. It happens in a
thread, once, and only if a server that needs a certificate is contacted.
"""

from __future__ import annotations

import ssl
import sys
import threading
from concurrent.futures import Future
from functools import cache, partial
from pathlib import Path


def trusted_authorities() -> ssl.SSLContext:
    """Return the authorities as the HTTP libraries take them. Waits until they are read."""
    return read_ahead().result()


@cache
def read_ahead() -> Future[ssl.SSLContext]:
    """Begin to read them, so that they are there when they are needed."""
    reading: Future[ssl.SSLContext] = Future()
    threading.Thread(target=partial(_complete, reading), name="certificates").start()
    return reading


def _complete(reading: Future[ssl.SSLContext]) -> None:
    try:
        reading.set_result(_read())
    except Exception as error:  # noqa: BLE001 - it is for those who wait
        reading.set_exception(error)


def _read() -> ssl.SSLContext:
    if sys.platform == "win32" or _system_names_some(ssl.get_default_verify_paths()):
        authorities = None
    else:
        import certifi

        authorities = certifi.where()
    context = ssl.create_default_context(cafile=authorities)
    context.set_alpn_protocols(("http/1.1",))
    return context


def _system_names_some(paths: ssl.DefaultVerifyPaths) -> bool:
    """Return whether a path of the system exists, `SSL_CERT_FILE` and `SSL_CERT_DIR` included."""
    return paths.cafile is not None or (
        paths.capath is not None and any(Path(paths.capath).iterdir())
    )
