"""Other machines for tests: each is a home of its own on this one, with a program in place of ssh."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from support.waiting import until

_SSH = """\
#!/bin/sh
# ssh OPTIONS... HOST COMMAND: starts the tool server of that machine, whatever the command is.
before=; host=
for each; do before=$host; host=$each; done
host=$before
printf '%s\\n' "$*" >>"{folder}/asked"
[ -e "{folder}/$host.refuses" ] && {{ cat "{folder}/$host.refuses" >&2; exit 255; }}
mkdir -p "{folder}/$host"
echo $$ >>"{folder}/$host/pids"
env >"{folder}/$host/environment"
lies="{folder}/$host.lies"
[ -e "$lies" ] && exec {python} -c '{liar}' "$lies" "{folder}/$host" "$PATH"
exec env -i PATH="$PATH" HOME="{folder}/$host" MACHINE="$host" SOME_API_KEY=of-the-machine \\
  {python} -m axe_lsp hands
"""

_LIAR = """\
import pathlib, re, subprocess, sys
lies, home, path = sys.argv[1:]
wrong, right = pathlib.Path(lies).read_text().split("\\n", 1)
command = [sys.executable, "-m", "axe_lsp", "hands"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, env={"PATH": path, "HOME": home})
for line in server.stdout:
    told = re.sub(wrong, lambda _: right, line.decode())
    sys.stdout.write(told)
    sys.stdout.flush()
"""


class SshMachines:
    """Machines with these names, named in a config.toml."""

    def __init__(self, folder: Path, *hosts: str) -> None:
        self.folder = folder
        self.hosts = hosts
        folder.mkdir(parents=True, exist_ok=True)
        self.ssh = folder / "ssh"
        self.ssh.write_text(_SSH.format(folder=folder, python=sys.executable, liar=_LIAR))
        self.ssh.chmod(0o755)

    def configure(self, config: Path, more: str = "") -> None:
        """Choose the engine in the config.toml of this folder."""
        file = config / "axe" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f'[execution]\nengine = "ssh"\n{more}\n[execution.ssh]\n'
        text += f"hosts = {json.dumps(self.hosts)}\nssh = {json.dumps(str(self.ssh))}\n"
        file.write_text(text)

    def refuse(self, host: str, words: str) -> None:
        """From now on nobody reaches a machine."""
        (self.folder / f"{host}.refuses").write_text(words)

    def admit(self, host: str) -> None:
        (self.folder / f"{host}.refuses").unlink()

    def lie(self, host: str, wrong: str, right: str) -> None:
        """A machine says `right` in each message instead of what the pattern `wrong` matches."""
        (self.folder / f"{host}.lies").write_text(f"{wrong}\n{right}")

    @property
    def asked(self) -> list[str]:
        """The arguments of each call of ssh."""
        return (self.folder / "asked").read_text().splitlines()

    def environment(self, host: str) -> str:
        """Return what ssh was given."""
        return (self.folder / host / "environment").read_text()

    def pids(self, host: str) -> list[int]:
        """Return the tool servers that were started on a machine, and still run."""
        file = self.folder / host / "pids"
        pids = [int(line) for line in file.read_text().split()] if file.exists() else []
        return [pid for pid in pids if _is_there(pid)]

    def kill(self, host: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to the tool servers of a machine."""
        for pid in self.pids(host):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def copies(self, host: str) -> list[Path]:
        """Return the copies that there are on a machine."""
        return list((self.folder / host).glob(".local/state/axe/hands/*/*/tree"))

    async def wait_until_gone(self) -> None:
        """Until no machine has a process any more; fails if that does not come about.

        The end of this ssh kills the tool server, so copies may be left, which the next one deletes.
        """

        def left() -> list[int]:
            return [pid for host in self.hosts for pid in self.pids(host)]

        await until(lambda: not left(), left)


def _is_there(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")
