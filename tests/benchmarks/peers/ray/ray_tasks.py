"""The same commands as tasks of Ray, with so many workers on this machine; prints the milliseconds that they take.

The arguments are the number of workers, that of commands, and their milliseconds.
"""

from __future__ import annotations

import subprocess
import sys
import time

import ray


def main(workers: int, count: int, milliseconds: int) -> None:
    @ray.remote(num_cpus=1)
    def command(seconds: float) -> None:
        subprocess.run(["sleep", str(seconds)], check=True)

    ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR")
    ray.get([command.remote(0.1) for _ in range(workers)])  # Its processes are there.
    started = time.perf_counter()
    ray.get([command.remote(milliseconds / 1000) for _ in range(count)])
    print((time.perf_counter() - started) * 1000, flush=True)
    ray.shutdown()


main(*map(int, sys.argv[1:4]))
