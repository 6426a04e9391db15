"""Replay recorded cases against a newer version of their program, and print the drift. Linux only, without a network.

    PYTHONPATH=tests python -m recorded.refresh codex --program DIR/bin/codex [--write] [--quick] [-k PART]

DIR is an unpacked package of the program (for Codex: `npm pack '@openai/codex@VERSION-linux-x64'`), fetched beforehand:
nothing is downloaded here. Every start gets an empty home folder and runs in namespaces of its own (`unshare`), in
which no network interface is up and only its own processes are visible; what it starts ends with it.

The drift is one line a finding: names that are new, gone or changed, and cases of which the program says something
else than before. The exit status is 0 without drift, 1 with drift, and 2 if nothing could be compared. `--write` writes
the names of this version beside the others. `--quick` leaves out the search for new names, and `-k` all names.

A further program is a module `recorder.py` in the folder of its cases with a class `Recorder`, and needs no change here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from support.recorded_checks import RECORDED, Case, load_cases

Names = dict[str, Any]
"""Tables of names of one version, such as keys with their types. The version is the value of the program's own name."""

Says = Mapping[str, Any]
"""What a program says of the files of a case: why it does not start (`fatal`, or None), and its `messages`."""


class NoSandboxError(Exception):
    """Processes can't be cut off from the network here."""


class Sandbox:
    """Starts a program without a network. `folder` is there as long as the sandbox is used."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = str(program.resolve())
        self.folder = folder
        flags = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        self._before = ["unshare", *(["--map-root-user"] if os.geteuid() else []), *flags, "--"]
        if shutil.which("unshare") is None:
            raise NoSandboxError("there is no `unshare` on this machine")
        test = subprocess.run(
            [*self._before, "cat", "/proc/net/dev"], capture_output=True, text=True, check=False
        )
        links = re.findall(r"^\s*(\w+):", test.stdout, re.M)
        if test.returncode or not set(links) <= {"lo"}:
            raise NoSandboxError(test.stderr.strip() or f"there are network interfaces: {links}")

    def command(self, environment: Mapping[str, str], *arguments: str) -> list[str]:
        """Return the command that starts the program with this environment and no other variables."""
        variables = (f"{name}={value}" for name, value in environment.items())
        return [*self._before, "env", "-i", *variables, self.program, *arguments]

    def call(
        self, environment: Mapping[str, str], folder: Path, *arguments: str, limit: float = 300
    ) -> subprocess.CompletedProcess[bytes]:
        """Return the outcome of the program with these arguments, started in `folder`."""
        return subprocess.run(
            self.command(environment, *arguments),
            cwd=folder,
            capture_output=True,
            timeout=limit,
            stdin=subprocess.DEVNULL,
            check=False,
        )


class Recorder(Protocol):
    """How one program is asked."""

    version: str

    def names(self, before: Names, *, is_quick: bool) -> Names:
        """Return the names that this version knows. `before` are those of the version before."""

    def says(self, case: Case) -> Says:
        """Return what this version says of a case."""


def name_drift(before: Names, after: Names) -> Iterator[str]:
    """Yield a line for each name that differs between two versions."""
    for table, old in before.items():
        new = after.get(table, old)
        if isinstance(old, list):
            yield from (
                f"{table}: `{name}` is {'new' if name in new else 'gone'}"
                for name in sorted(set(old) ^ set(new))
            )
        elif isinstance(old, dict):
            for name in [*old, *(each for each in new if each not in old)]:
                if name not in new:
                    yield f"{table}: `{name}` is gone (it was {json.dumps(old[name])})"
                elif name not in old:
                    yield f"{table}: `{name}` is new: {json.dumps(new[name])}"
                elif old[name] != new[name]:
                    yield f"{table}: `{name}` was {json.dumps(old[name])}, is {json.dumps(new[name])}"


def case_drift(case: Case, now: Says) -> str:
    """Return how a case differs from what was recorded last, "" if it does not."""
    recorded: Mapping[str, Says] = case.get("says", {})
    if not recorded:
        return ""
    before = recorded[max(recorded, key=lambda version: [*map(int, version.split("."))])]
    if before["fatal"] != now["fatal"]:
        return f"start: was {before['fatal'] or 'fine'}, is {now['fatal'] or 'fine'}"
    gone = [f"no longer: {each}" for each in before["messages"] if each not in now["messages"]]
    new = [f"now: {each}" for each in now["messages"] if each not in before["messages"]]
    return "; ".join(gone + new)


def replay(recorder: Recorder, cases: Sequence[Case], jobs: int = 4) -> Iterator[str]:
    """Yield a line for each case that differs from what was recorded last."""
    with ThreadPoolExecutor(jobs) as pool:
        for case, now in zip(cases, pool.map(recorder.says, cases), strict=True):
            if drift := case_drift(case, now):
                yield f"case {case['name']}: {drift}"


def _recorder_of(folder: Path) -> Callable[[Sandbox], Recorder]:
    spec = spec_from_file_location(f"recorder_of_{folder.name}", folder / "recorder.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    recorder: Callable[[Sandbox], Recorder] = module.Recorder
    return recorder


def main() -> int:
    """Compare one program with its recorded cases."""
    programs = sorted(each.parent.name for each in RECORDED.glob("*/recorder.py"))
    parser = argparse.ArgumentParser(description="Compare a newer program with recorded cases.")
    parser.add_argument("subject", choices=programs, help="the folder of recorded cases")
    parser.add_argument("--program", required=True, type=Path, help="the unpacked program")
    parser.add_argument("--write", action="store_true", help="write the names of this version")
    parser.add_argument("--quick", action="store_true", help="do not search for new names")
    parser.add_argument("-k", default="", metavar="PART", help="only cases with PART in the name")
    chosen = parser.parse_args()
    folder = RECORDED / chosen.subject
    before: Names = json.loads(max(folder.glob("names-*.json")).read_text(encoding="utf-8"))
    cases = [
        case
        for file in sorted(folder.glob("cases-*"))
        for case in load_cases(file)
        if chosen.k in case["name"]
    ]
    with tempfile.TemporaryDirectory(prefix="axe-refresh-") as scratch:
        try:
            recorder = _recorder_of(folder)(Sandbox(chosen.program, Path(scratch)))
        except NoSandboxError as error:
            print(f"nothing was compared: {error}", file=sys.stderr)
            return 2
        print(f"{chosen.subject} {recorder.version}, compared with {before[chosen.subject]}")
        names = before if chosen.k else recorder.names(before, is_quick=chosen.quick)
        number = 0
        for line in chain(name_drift(before, names), replay(recorder, cases)):
            print(line, flush=True)
            number += 1
    if chosen.write and not chosen.k:
        release = ".".join(recorder.version.split(".")[:2])
        text = json.dumps(names, indent=0, ensure_ascii=False)
        (folder / f"names-{release}.json").write_text(f"{text}\n", encoding="utf-8")
    print(f"{len(cases)} cases: {number} differences")
    return 1 if number else 0


if __name__ == "__main__":
    sys.exit(main())
