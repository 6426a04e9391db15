"""The same commands as tasks of Dask; prints the milliseconds that they take. Run by our own Python.

The arguments are the address of a scheduler, the files of TLS, the number of commands and their milliseconds.
"""

from __future__ import annotations

import subprocess
import sys
import time

from distributed import Client
from distributed.security import Security


def main(address: str, ca: str, cert: str, key: str, count: int, milliseconds: int) -> None:
    def command(_: int) -> None:
        subprocess.run(["sleep", str(milliseconds / 1000)], check=True)

    files = {"tls_ca_file": ca, "tls_client_cert": cert, "tls_client_key": key}
    with Client(address, security=Security(require_encryption=True, **files)) as client:
        client.gather(client.map(abs, [-1], pure=False))
        started = time.perf_counter()
        client.gather(client.map(command, range(count), pure=False))
        print((time.perf_counter() - started) * 1000, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:5], *map(int, sys.argv[5:7]))
