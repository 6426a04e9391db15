"""A cluster of Dask for tests: a real scheduler and real workers on loopback, with certificates of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from axe_lsp.hosting.places.dask_worker import PRELOAD
from support.waiting import wait_until


def authority(folder: Path, name: str) -> None:
    """Make an authority, and a certificate that it has signed, as docs/elsewhere.md says."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    ca, key = f"{name}-ca.pem", f"{name}-ca.key"
    for arguments in (
        ["-subj", f"/CN={name}-ca", "-keyout", key, "-out", ca],
        [
            *("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem"),
            *("-CA", ca, "-CAkey", key, "-addext", "basicConstraints=critical,CA:FALSE"),
        ],
    ):
        command = ["openssl", "req", "-x509", *curve, *arguments]
        subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)


class Cluster:
    """A scheduler, and the workers that a test starts."""

    def __init__(self, folder: Path, *, tls: bool = True) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self._tls: list[str] = []
        if tls:
            authority(folder, "own")
            files = (("ca-file", "own-ca.pem"), ("cert", "own.pem"), ("key", "own.key"))
            self._tls = ["--protocol", "tls"]
            for option, name in files:
                self._tls += [f"--tls-{option}", str(folder / name)]
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        file = folder / "scheduler.json"
        page = ["--dashboard-address", "127.0.0.1:0"]
        where = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
        self._start("scheduler", *page, *where)
        self.address: str = self._told(file)["address"]

    def _told(self, file: Path) -> dict[str, str]:
        def read() -> dict[str, str] | None:
            with suppress(OSError, ValueError):  # It is not there, or being written.
                told: dict[str, str] = json.loads(file.read_text())
                return told
            return None

        return wait_until(read, lambda: self.log("scheduler"))

    def _start(self, name: str, *arguments: str, environment: Mapping[str, str] = {}) -> None:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        kind = "scheduler" if name == "scheduler" else "worker"
        with (home / "log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "dask", kind, *self._tls, *arguments],
                cwd=home,
                stdout=log,
                stderr=log,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(home),
                    "MACHINE": name,
                    "SOME_API_KEY": "of-the-machine",
                    **environment,
                },
            )

    def start(
        self,
        *names: str,
        preload: str = PRELOAD,
        nanny: bool = False,
        where: Sequence[str] = ("--host", "127.0.0.1"),
        environment: Mapping[str, str] = {},
    ) -> None:
        """Start workers; returns once they are listed."""
        for name in names:
            self._start(
                name,
                *("--name", name, "--nthreads", "1", "--memory-limit", "0"),
                *("--local-directory", str(self.folder / name / "scratch")),
                *(*where, "--no-dashboard", "--nanny" if nanny else "--no-nanny"),
                *(("--preload", preload) if preload else ()),
                self.address,
                environment=environment,
            )
        for name in names:
            log = partial(self.log, name)
            wait_until(lambda log=log: "Registered to" in log(), log)

    def log(self, name: str) -> str:
        return (self.folder / name / "log").read_text()

    def worker(self, name: str) -> str:
        """Return the address of a worker, as it was last."""
        lines = [line for line in self.log(name).splitlines() if "Start worker at:" in line]
        return lines[-1].split()[-1]

    def configure(self, config: Path, more: str = "", **files: str) -> None:
        """Choose the engine in the config.toml of this folder."""
        file = config / "axe" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        names = {"ca": "own-ca.pem", "cert": "own.pem", "key": "own.key", **files}
        text = f'[execution]\nengine = "dask"\n{more}\n[execution.dask]\n'
        text += f"scheduler = {json.dumps(self.address)}\n"
        if self._tls:
            for key, name in names.items():
                text += f"{key} = {json.dumps(str(self.folder / name))}\n"
        else:
            text += "insecure = true\n"
        file.write_text(text)

    def signal(self, name: str, number: int = signal.SIGKILL) -> None:
        self.processes[name].send_signal(number)

    def below_nanny(self, name: str) -> int:
        """Return the process of a worker that has a nanny."""
        nanny = self.processes[name].pid
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if parent == nanny and b"spawn_main" in line:
                return int(folder.name)
        raise AssertionError("there is no worker")

    @property
    def left(self) -> list[Path]:
        """The tool servers there are: each has a folder with its copies, as long as it lasts."""
        return list(self.folder.glob("*/.local/state/axe/hands/*"))

    def wait_until_left(self) -> None:
        """Until no machine has anything of a run."""
        wait_until(lambda: not self.left, lambda: self.left)

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()
