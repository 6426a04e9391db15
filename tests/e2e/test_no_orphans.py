"""Whoever is killed on the way from an editor to a command: no process remains.

All that a test starts bears a mark, in its environment or on its command line, and is counted by it. Hosts inherit
variables of Python only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from support.listening import listening_server
from support.processes import Sleepers, bearing, hosts_bearing, wait_for_none
from support.raw_client import RawClient
from support.scripted_provider import PATIENCE, Call, Says, ScriptedProvider, calls_agent
from support.session import SERVER, Editor, Project

LEAD = 'name = "lead"\nmodel = "ollama/m-lead"\nsub_agents = ["searcher"]\n'
SEARCHER = 'name = "searcher"\nmodel = "ollama/m-searcher"\ntools = ["grep"]\n'

ENDLESS_SEARCH = "#!/bin/sh\nsetsid {0} & {0} & {0}\n"
"""In place of ripgrep, since a search needs nobody's approval."""


@pytest.fixture
def sleepers() -> Sleepers:
    return Sleepers()


@pytest.fixture
def mark() -> Iterator[str]:
    mark = uuid.uuid4().hex
    yield mark
    for pid in bearing(mark):  # Only a test that failed leaves something to be killed.
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider, sleepers: Sleepers, mark: str) -> Project:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "rg").write_text(ENDLESS_SEARCH.format(sleepers.command))
    (programs / "rg").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    project = Project(tmp_path, {**provider.environment, "PATH": path, "PYTHON_MARK": mark})
    project.write("lead", LEAD)
    project.write("searcher", SEARCHER)
    return project


def script_two_searches(provider: ScriptedProvider) -> None:
    order = calls_agent("searcher", "search")
    provider.script("m-lead", Says(calls=[order, order]))
    for _ in range(2):
        provider.script("m-searcher", Says(calls=[Call("grep", {"pattern": "x"})]))


def kill_the_server(server: subprocess.Popen[bytes], _: str) -> None:
    server.kill()


def kill_the_host(_: subprocess.Popen[bytes], mark: str) -> None:
    for pid in hosts_bearing(mark):
        os.kill(pid, signal.SIGKILL)


def kill_both(server: subprocess.Popen[bytes], mark: str) -> None:
    hosts = hosts_bearing(mark)
    server.kill()
    for pid in hosts:
        with suppress(ProcessLookupError):  # The system may have been faster.
            os.kill(pid, signal.SIGKILL)


def stop_the_host_and_kill_the_server(server: subprocess.Popen[bytes], mark: str) -> None:
    """A host that is stopped can't see that its server has gone until it goes on."""
    hosts = hosts_bearing(mark)
    for pid in hosts:
        os.kill(pid, signal.SIGSTOP)
    server.kill()
    server.wait()
    for pid in hosts:
        os.kill(pid, signal.SIGCONT)


def stop_all_below_the_server_and_kill_it(server: subprocess.Popen[bytes], mark: str) -> None:
    """Nothing is continued: hosts, their guards and what forks them are stopped for good."""
    for pid in bearing(mark):
        if pid != server.pid:
            os.kill(pid, signal.SIGSTOP)
    server.kill()


def stop_all_below_the_server_and_end_it(server: subprocess.Popen[bytes], mark: str) -> None:
    for pid in bearing(mark):
        if pid != server.pid:
            os.kill(pid, signal.SIGSTOP)
    server.terminate()


@pytest.mark.req("002-21")
@pytest.mark.parametrize(
    "fault",
    [
        kill_the_server,
        kill_the_host,
        kill_both,
        stop_the_host_and_kill_the_server,
        stop_all_below_the_server_and_kill_it,
        stop_all_below_the_server_and_end_it,
    ],
)
def test_no_process_remains_when_something_is_killed(
    project: Project,
    provider: ScriptedProvider,
    sleepers: Sleepers,
    mark: str,
    fault: Callable[[subprocess.Popen[bytes], str], None],
) -> None:
    script_two_searches(provider)
    with RawClient.spawn(SERVER, env=project.environment, cwd=project.root) as client:
        editor = Editor(project, client)
        editor.client.start_request("axe/run", {"agent": "lead"})
        sleepers.wait_for(6)
        assert client.process is not None
        assert hosts_bearing(mark)

        fault(client.process, mark)

        wait_for_none(sleepers.seconds)
        if fault is kill_the_host:
            assert client.leave() == 0
    wait_for_none(mark)


def test_no_process_remains_when_a_server_of_several_editors_is_killed(
    project: Project, provider: ScriptedProvider, sleepers: Sleepers, mark: str
) -> None:
    script_two_searches(provider)
    script_two_searches(provider)
    with listening_server(project.environment) as server, ExitStack() as clients:
        for _ in range(2):
            client = clients.enter_context(server.connect())
            Editor(project, client)
            client.start_request("axe/run", {"agent": "lead"})
        sleepers.wait_for(12)

        server.process.kill()

        wait_for_none(sleepers.seconds)
        wait_for_none(mark)


@pytest.mark.parametrize("isolation", ["", '[isolation]\nmode = "process"\n'])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_no_process_remains_when_a_run_at_a_terminal_is_ended(
    project: Project,
    provider: ScriptedProvider,
    sleepers: Sleepers,
    mark: str,
    how: signal.Signals,
    isolation: str,
) -> None:
    project.write("searcher", SEARCHER + isolation)
    script_two_searches(provider)
    command = [sys.executable, "-m", "axe_lsp", "run", "lead"]
    environment = {**os.environ, **project.environment}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, cwd=project.root, **quiet) as run:
        try:
            sleepers.wait_for(6)
            assert len(hosts_bearing(mark)) == (2 if isolation else 0)

            run.send_signal(how)

            wait_for_none(sleepers.seconds)
            assert run.wait(PATIENCE) != 0
        finally:
            run.kill()
    wait_for_none(mark)
