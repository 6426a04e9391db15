"""Agents in copies on other machines at the command line: `--on`, config.toml, and what a killed run leaves."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.answers import Call, Says, calls_agent
from support.clusters import Cluster
from support.command_line import Home
from support.engines import agent
from support.machines import SshMachines
from support.ports import kept_port
from support.processes import Sleepers
from support.repositories import Repository
from support.scripted_provider import Answer, Hold, ScriptedProvider
from support.waiting import promptly, wait_until

LEAD = 'name = "lead"\nmodel = "anthropic/m-lead"\nsub_agents = ["helper"]\n'
HELPER = (
    'name = "helper"\nmodel = "anthropic/m"\ntools = ["write_file", "run_command"]\n'
    '[isolation]\nmode = "copy"\n'
)


@pytest.fixture
def repository(home: Home) -> Repository:
    home.add({"lead": LEAD, "helper": HELPER})
    return Repository(home.work, {"a.txt": "a\n", "b.txt": "b\n"})


@pytest.fixture
def machines(home: Home, tmp_path: Path) -> SshMachines:
    machines = SshMachines(tmp_path / "machines", "build1")
    machines.configure(home.config.parent)
    return machines


def runs(command: str) -> Says:
    return Says(calls=[Call("run_command", {"command": command})])


def test_on_places_the_root_agent_as_well(
    home: Home, provider: ScriptedProvider, repository: Repository, machines: SshMachines
) -> None:
    provider.script("m", runs("echo $MACHINE; echo changed > a.txt; pwd"), Says("helped"))
    code, out, err = home.call("run", "helper", "-p", "go", "--yes", "-v", "--on", "ssh://build1")
    assert (code, out.strip()) == (0, "helped"), err
    assert "[place] helper works at ssh://build1" in err
    assert str(machines.folder / "build1") in err  # The copy there.
    assert (home.work / "a.txt").read_text() == "changed\n"
    assert "Its changes were applied: M a.txt" in err
    assert repository.refs == []
    with closing(sqlite3.connect(home.history)) as history:
        (run_id,) = history.execute("SELECT run_id FROM runs").fetchone()
    shown = home.call("history", "show", run_id)[1]
    assert "works at ssh://build1" in shown


def test_on_here_wins_over_config_toml(
    home: Home, provider: ScriptedProvider, repository: Repository, machines: SshMachines
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    provider.script("m", runs("echo here > a.txt"), Says("helped"))
    code, _, err = home.call("run", "lead", "-p", "go", "--yes", "--on", "here")
    assert code == 0, err
    assert (home.work / "a.txt").read_text() == "here\n"
    assert not (machines.folder / "asked").exists()


@pytest.mark.parametrize(
    ("on", "told"),
    [
        ("condor", '--on "condor": there is no such engine'),
        ("dask", "execution.dask.scheduler is missing"),
        ("tls://build1", "--on must be the address of a scheduler"),
        ("tls://build1:8786", "execution.dask.ca is missing"),
        ("tcp://build1:8786", "without TLS everybody in that network can execute commands"),
        ("ssh://-oProxyCommand=touch", "--on must be the address of a machine"),
        ("ssh://build1;touch", "--on must be the address of a machine"),
        ("ssh://build1:99999", "--on must be the address of a machine"),
    ],
)
def test_unknown_engine_is_refused_before_the_run(home: Home, on: str, told: str) -> None:
    code, _, err = home.call("run", "helper", "-p", "go", "--on", on)
    assert code == 2
    assert told in err


WRONG = {
    'engine = "condor"': 'execution.engine = "condor": there is no such engine',
    "engine = 1": "execution.engine is not a string",
    'engine = "ssh"': "execution.ssh.hosts names no machine",
    'engine = "ssh"\nssh.hosts = "build1"': "execution.ssh.hosts is not an array of strings",
    'engine = "dask"': "execution.dask.scheduler is missing",
    'engine = "ssh"\nslots = 0\nssh.hosts = ["build1"]': "execution.slots is not an integer from 1",
}


@pytest.mark.parametrize("table", WRONG)
def test_wrong_execution_in_config_toml_fails_the_run_before_it_begins(
    home: Home, provider: ScriptedProvider, table: str
) -> None:
    home.add(agent("lead"))
    home.environment["CI"] = "1"  # Hints are for people.
    (home.config / "config.toml").write_text(f"[execution]\n{table}\n")
    code, out, err = home.call("run", "lead", "-p", "go")
    assert (code, out) == (2, "")
    assert f"config.toml: {WRONG[table]}" in err
    assert any(each in err for each in ("There are here, ssh and dask", "--on"))
    assert provider.requests == []
    assert home.call("history", "list", "--json")[1] == "[]\n"


def test_a_killed_run_leaves_nothing_there_and_is_resumed_with_its_files(
    home: Home, provider: ScriptedProvider, repository: Repository, machines: SshMachines
) -> None:
    hold, sleepers = Hold(), Sleepers()
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    provider.script(
        "m",
        runs("echo before > a.txt"),
        Answer(Says("never"), hold=hold),
        runs("cat a.txt > b.txt"),
        Says("helped"),
    )
    process = home.start("run", "lead", "-p", "go", "--yes")
    hold.wait_until_arrived()
    assert machines.copies("build1")
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    with promptly():
        wait_until(lambda: not machines.pids("build1") and not sleepers.count())

    code, out, err = home.call("resume", "--yes")
    assert (code, out) == (0, "done"), err
    assert (home.work / "b.txt").read_text() == "before\n"
    assert repository.refs == []
    assert machines.pids("build1") == []


def test_ctrl_c_ends_a_command_there_within_a_second(
    home: Home, provider: ScriptedProvider, repository: Repository, machines: SshMachines
) -> None:
    sleepers = Sleepers()
    provider.script("m", runs(sleepers.command), Says("helped"))
    process = home.start("run", "helper", "-p", "go", "--yes", "--on", "ssh://build1")
    sleepers.wait_for(1)
    with promptly():
        process.send_signal(signal.SIGINT)
        sleepers.wait_for(0)
    process.communicate(timeout=60)
    assert process.returncode == 130


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="pip install -e '.[dev]' brings it")
    cluster = Cluster(tmp_path_factory.mktemp("dask") / "cluster")
    try:
        cluster.start("build1")
        yield cluster
    finally:
        cluster.end()


def test_a_killed_run_leaves_nothing_on_a_worker_of_dask_and_is_resumed(
    home: Home, provider: ScriptedProvider, repository: Repository, cluster: Cluster
) -> None:
    cluster.configure(home.config.parent)
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    provider.script(
        "m",
        runs("echo before > a.txt"),
        Answer(Says("never"), hold=hold),
        runs("cat a.txt > b.txt"),
        Says("helped"),
    )
    process = home.start("run", "lead", "-p", "go", "--yes")
    hold.wait_until_arrived()
    assert cluster.left
    process.kill()
    process.communicate(timeout=60)
    with promptly():
        cluster.wait_until_left()

    code, out, err = home.call("resume", "--yes", "-v")
    assert (code, out.strip()) == (0, "done"), err
    assert f"helper works at {cluster.worker('build1')}" in err
    assert (home.work / "b.txt").read_text() == "before\n"
    assert repository.refs == []


def test_ctrl_c_ends_a_command_on_a_worker_of_dask_within_a_second(
    home: Home, provider: ScriptedProvider, repository: Repository, cluster: Cluster
) -> None:
    cluster.configure(home.config.parent)
    sleepers = Sleepers()
    provider.script("m", runs(sleepers.command), Says("helped"))
    process = home.start("run", "helper", "-p", "go", "--yes", "--on", cluster.address)
    sleepers.wait_for(1)
    with promptly():
        process.send_signal(signal.SIGINT)
        sleepers.wait_for(0)
    process.communicate(timeout=60)
    assert process.returncode == 130
    with promptly():
        cluster.wait_until_left()


SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


class Sshd:
    """A real sshd on loopback, which nobody but this user can enter, with keys of its own."""

    def __init__(self, folder: Path, home: Home, port: int) -> None:
        folder.mkdir()
        for name in ("host", "user"):
            key = folder / name
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True
            )
        shutil.copy(folder / "user.pub", folder / "authorized")
        self.port = port
        (folder / "config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPasswordAuthentication no\n"
            f"SetEnv HOME={home.environment['HOME']} XDG_STATE_HOME={folder}/there XDG_CACHE_HOME={folder}/cache\n"
        )
        known = (folder / "host.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {known}")
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        assert SSHD is not None
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "config")])
        self.ssh = f"ssh -F none -i {folder}/user -o UserKnownHostsFile={folder}/known"
        self.host = f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}"
        self.there = folder / "there"
        (home.config / "config.toml").write_text(
            f'[execution.ssh]\nhosts = ["{self.host}"]\nssh = "{self.ssh}"\n'
            f'axe = "{sys.executable} -m axe_lsp"\n'
        )
        wait_until(self._listens)

    def _listens(self) -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def left(self) -> list[Path]:
        return list(self.there.glob("axe/hands/*"))


@pytest.fixture
def sshd(tmp_path: Path, home: Home) -> Iterator[Sshd]:
    if SSHD is None and not os.environ.get("AXE_REQUIRE_EDITORS"):
        pytest.skip("there is no sshd")
    with kept_port() as port:
        server = Sshd(tmp_path / "sshd", home, port)
        yield server
        server.process.terminate()
        server.process.wait()


def test_a_real_ssh_leads_there(
    home: Home, provider: ScriptedProvider, repository: Repository, sshd: Sshd
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    provider.script("m", runs("echo $SSH_CONNECTION; env; echo there > a.txt"), Says("helped"))
    code, out, err = home.call("run", "lead", "-p", "go", "--yes", "-v", "--on", "ssh")
    assert (code, out.strip()) == (0, "done"), err
    assert f"[place] helper works at {sshd.host}" in err
    assert "API_KEY" not in err
    assert (home.work / "a.txt").read_text() == "there\n"
    with promptly():
        wait_until(lambda: not sshd.left)


def test_a_lost_ssh_ends_what_is_there_and_the_agent_goes_on(
    home: Home, provider: ScriptedProvider, repository: Repository, sshd: Sshd
) -> None:
    sleepers = Sleepers()
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    provider.script(
        "m",
        runs("echo one > a.txt"),
        runs(f"echo lost > b.txt; {sleepers.command}"),
        runs("cat a.txt b.txt"),
        Says("helped"),
    )
    process = home.start("run", "lead", "-p", "go", "--yes", "-v", "--on", "ssh")
    sleepers.wait_for(1)
    (of_ssh,) = (
        pid
        for pid, line in _processes().items()
        if line.startswith("ssh ") and str(sshd.port) in line
    )
    with promptly():
        os.kill(of_ssh, signal.SIGKILL)
        sleepers.wait_for(0)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out.strip()) == (0, "done"), err
    assert "was lost during this call" in err
    assert (home.work / "a.txt").read_text() == "one\n"
    assert (home.work / "b.txt").read_text() == "b\n"


def _processes() -> dict[int, str]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found[int(folder.name)] = " ".join(word.decode("utf-8", "replace") for word in words)
    return found
