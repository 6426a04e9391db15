"""code-server: the program in which VS Code's workbench is served to a browser, with settings and extensions of its own."""

from __future__ import annotations

import atexit
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from support.editors import clean_environment

_PATIENCE = 120.0
"""Seconds. How long the program may take to start or to stop on a machine that is busy."""


@contextmanager
def served(
    program: Path,
    environment: Mapping[str, str],
    scratch: Path,
    settings: Mapping[str, Any],
    extension: Path | None,
    others: Sequence[Path],
) -> Iterator[str]:
    """Serves a workbench on a free port; the value is its address. All that it writes goes to `scratch`.

    `extension` is a package; `others` are folders of extensions, for where nothing is installed.
    """
    command = _command(program, scratch)
    _write_settings(scratch, settings)
    if extension:
        _copy_installed(_installed(program, extension), scratch / "extensions")
    for folder in others:
        shutil.copytree(folder, scratch / "extensions" / folder.name)
    options = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry"]
    options += ["--disable-update-check", "--disable-getting-started-override"]
    log = scratch / "code-server.log"  # A pipe that nobody reads would hold it up once it is full.
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*command, *options], env=dict(environment), stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield _address(process, log)
        finally:
            _end(process)


def _command(program: Path, scratch: Path) -> list[str]:
    configuration = scratch / "code-server.yaml"
    configuration.touch()
    command = [str(program), "--config", str(configuration)]
    command += ["--user-data-dir", str(scratch / "data")]
    return [*command, "--extensions-dir", str(scratch / "extensions")]


def _write_settings(scratch: Path, settings: Mapping[str, Any]) -> None:
    """The user's, and those of the machine: only from there VS Code takes settings that name programs."""
    for place in ("User", "Machine"):
        folder = scratch / "data" / place
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


@cache
def _installed(program: Path, extension: Path) -> Path:
    """Return a folder of extensions into which VS Code has installed this one. Each window gets a copy."""
    scratch = Path(tempfile.mkdtemp(prefix="axe-lsp-extensions-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    installed = subprocess.run(
        [*_command(program, scratch), "--install-extension", str(extension)],
        env=clean_environment(scratch / "home"),
        check=False,
        capture_output=True,
        text=True,
    )
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return scratch / "extensions"


def _copy_installed(installed: Path, extensions: Path) -> None:
    """The list of extensions names their folders."""
    shutil.copytree(installed, extensions)
    listed = extensions / "extensions.json"
    text = listed.read_text(encoding="utf-8").replace(str(installed), str(extensions))
    listed.write_text(text, encoding="utf-8")


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < end:
        found = re.search(r"listening on http://(\S+?)/?\s", log.read_text(encoding="utf-8"))
        if found:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"code-server does not listen: {log.read_text(encoding='utf-8')}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
