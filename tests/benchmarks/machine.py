"""What the results depend on beside axe-lsp: machine, versions, date."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.contenders import PEERS, ROOT


@dataclass(frozen=True)
class Machine:
    """Where and when it was measured."""

    date: str
    commit: str
    processor: str
    cores: int
    system: str
    load: float
    """How many processes wanted a processor in the last minute, before anything was measured."""
    versions: dict[str, str]


def this_machine() -> Machine:
    """Here and now."""
    return Machine(
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        commit=_commit(),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        load=round(os.getloadavg()[0], 1),
        versions={"Python": platform.python_version(), **_peers()},
    )


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _peers() -> dict[str, str]:
    files = (PEERS / each / "requirements.txt" for each in (".", "doors", "ray"))
    pairs = (line.partition("==") for file in files for line in file.read_text().splitlines())
    versions = {name: version for name, equals, version in pairs if equals}
    npm = json.loads((PEERS / "doors" / "package.json").read_text())
    return dict(sorted({**versions, **npm["dependencies"]}.items()))
