"""The command line, called in this process or as a process of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

COMMAND = [sys.executable, "-m", "axe_lsp"]
"""What `axe-lsp` is, for tests that need a process."""


class Home:
    """A user's folders, empty at first, and the environment that leads to them."""

    def __init__(self, root: Path, environment: Mapping[str, str] | None = None) -> None:
        self.work = root / "work"
        self.config = root / "config" / "axe"
        self.data = root / "data" / "axe"
        self.history = root / "state" / "axe" / "history.db"
        self.work.mkdir()
        (self.config / "agents").mkdir(parents=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "XDG_CONFIG_HOME": str(root / "config"),
            "XDG_DATA_HOME": str(root / "data"),
            "XDG_STATE_HOME": str(root / "state"),
            **(environment or {}),
        }

    def add(self, agents: Mapping[str, str]) -> None:
        """Put agents into the user's folder."""
        for name, text in agents.items():
            (self.config / "agents" / f"{name}.toml").write_text(text)

    def start(
        self, *arguments: str, stdin: int | None = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        """Start a process in the working folder."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.work,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
        """Run a process to its end; returns exit code, standard output and standard error."""
        pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        with self.start(*arguments, stdin=pipe) as process:
            out, err = process.communicate(stdin, timeout=60)
        return process.returncode, out, err

    def shell(self, line: str) -> tuple[int, str, str]:
        """Return the same with what a shell can do to the streams, such as `run solo >&-`."""
        return self.shell_line(f"{shlex.join(COMMAND)} {line}")

    def shell_line(self, command: str) -> tuple[int, str, str]:
        """Any line of a shell in the working folder."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
