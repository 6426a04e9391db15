"""Agents in copies on the workers of a real cluster of Dask, and what its processes may do to this side."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import struct
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from axe_lsp.agentfile.text.addresses import dask_host
from axe_lsp.hosting.places import tool_protocol
from axe_lsp.hosting.places.dask import dask_channel, dask_workers
from axe_lsp.hosting.places.dask_worker import OPERATION, PRELOAD
from axe_lsp.hosting.places.machine_connection import Connection, FaultError
from axe_lsp.hosting.places.machines import Machines
from axe_lsp.runtime.events import AgentEnd, AgentPlace, ToolBegin
from axe_lsp.runtime.files.execution import Dask
from support.answers import Call, Says, calls_agent
from support.clusters import Cluster, authority
from support.copies import HELP, Person, Place, placed, results, waiting
from support.engines import Bench, running
from support.ports import kept_port
from support.processes import Sleepers
from support.scripted_provider import ScriptedProvider
from support.waiting import promptly, until

distributed: Any = pytest.importorskip("distributed", reason="pip install -e '.[dev]' brings it")
to_pickle: Any = pytest.importorskip("distributed.protocol.serialize").ToPickle


class ClusterPlace(Place):
    """A place whose copies are on the workers of a cluster."""

    def __init__(self, tmp_path: Path, provider: ScriptedProvider, cluster: Cluster) -> None:
        super().__init__(tmp_path, provider)
        self.cluster = cluster
        self.config = tmp_path / "config"
        cluster.configure(self.config)
        self.silence = 15.0

    @asynccontextmanager
    async def bench(self, *arguments: Any, **keys: Any) -> AsyncIterator[tuple[Bench, Person]]:
        environment = {**self.environment, **self.provider.environment}
        machines = Machines(environment, silence=self.silence)
        async with super().bench(*arguments, machines=machines, **keys) as (made, person):
            yield made, person
        self.cluster.wait_until_left()

    def moved(self, made: Bench) -> list[str]:
        """Return the workers that the helper was on."""
        return [each for each, _ in placed(made) if each]


def machine(text: str) -> str:
    """Return the machine of a path."""
    (name,) = re.findall(r"/cluster/(build\d)/", text)
    return str(name)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Provide a cluster that no test harms."""
    cluster = Cluster(tmp_path_factory.mktemp("calm") / "cluster")
    try:
        cluster.start("build1", "build2")
        yield cluster
    finally:
        cluster.end()


@pytest.fixture
def place(tmp_path: Path, provider: ScriptedProvider, calm: Cluster) -> ClusterPlace:
    return ClusterPlace(tmp_path, provider, calm)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path / "cluster")
    try:
        yield cluster
    finally:
        cluster.end()


async def test_changes_come_home_and_no_prompt_and_no_key_gets_there(place: ClusterPlace) -> None:
    place.repository.write({"a.txt": "dirty\n", "untracked.txt": "u\n"})
    key, prompt, task = (f"{uuid.uuid4()}-{what}" for what in ("key", "prompt", "task"))
    place.environment["OPENAI_API_KEY"] = key
    place.lead(calls_agent("helper", task, call_id="c1"))
    place.commands("cat a.txt untracked.txt; echo there > a.txt; pwd; env")
    async with place.bench(system_prompt=prompt) as (made, person):
        result = await made.run("lead", f"go {task}")
    assert result.content == "done"
    (found,) = results(made)
    assert found.content.startswith("dirty\nu\n/")
    assert "API_KEY" not in found.content
    (where,) = place.moved(made)
    assert where in (place.cluster.worker("build1"), place.cluster.worker("build2"))
    assert person.asked == [("apply_changes", "a.txt")]
    assert place.read() == "there\n"

    (page,) = re.findall(r"dashboard at: +(http://\S+)/status", place.cluster.log("scheduler"))
    pages = [f"{page}/{each}" for each in ("info/main/workers.html", "json/counts.json", "metrics")]
    shown = [each.read() async for each in _fetched(pages)]
    secrets = [each.encode() for each in (key, prompt, task, *_keys(place.provider))]
    for name, process in place.cluster.processes.items():
        about = Path(f"/proc/{process.pid}")
        kept = [(about / each).read_bytes() for each in ("cmdline", "environ")]
        for text in [place.cluster.log(name).encode(), *kept, *shown, *_memory(process.pid)]:
            assert not [each for each in secrets if each in text], name
    reached = "build1" if where == place.cluster.worker("build1") else "build2"
    pid = place.cluster.processes[reached].pid
    assert any(OPERATION.encode() in each for each in _memory(pid))  # So it can be read.


async def _fetched(addresses: list[str]) -> AsyncIterator[Any]:
    for each in addresses:
        with await asyncio.to_thread(urlopen, each) as answer:
            yield answer


def _keys(provider: ScriptedProvider) -> list[str]:
    return [text for name, text in provider.environment.items() if name.endswith("_API_KEY")]


def _memory(pid: int) -> Iterator[bytes]:
    """Yield the memory of a process of ours."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in maps:
            area, rights, *_ = line.split()
            first, end = (int(each, 16) for each in area.split("-"))
            if rights.startswith("rw"):
                memory.seek(first)
                try:
                    yield memory.read(end - first)
                except OSError:
                    continue


async def test_copies_go_to_the_worker_with_the_fewest_and_wait_for_slots(
    place: ClusterPlace, tmp_path: Path
) -> None:
    place.cluster.configure(place.config, "slots = 1")
    place.lead(*(calls_agent("helper", f"help {n}", call_id=f"c{n}") for n in range(4)))
    place.repository.write({"wait.sh": f"until [ -e {tmp_path}/go ]; do sleep 0.02; done\n"})
    wait = Call("run_command", {"command": "sh wait.sh"}, "r")
    place.provider.script("m-helper", *[Says(calls=[wait])] * 4, *[Says("helped")] * 4)
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await until(lambda: len(waiting(made)) == 2)
        (tmp_path / "go").touch()
        await run
    seats = {each.run.run_id: each.place for each in made.of(AgentPlace) if each.place}
    both = sorted(place.cluster.worker(name) for name in ("build1", "build2"))
    assert sorted(seats.values()) == sorted(both * 2)
    assert waiting(made) == both


async def test_a_cancelled_command_ends_within_a_second(place: ClusterPlace) -> None:
    sleepers = Sleepers()
    place.lead(HELP)
    place.commands(sleepers.command)
    async with place.bench() as (made, _):
        run = asyncio.ensure_future(made.run("lead", "go"))
        await until(sleepers.count)
        with promptly():
            run.cancel()
            await until(lambda: not sleepers.count())
        await asyncio.wait({run})


async def test_a_killed_worker_ends_its_command_which_is_told_and_not_repeated(
    tmp_path: Path, provider: ScriptedProvider, cluster: Cluster
) -> None:
    cluster.start("build1", "build2")
    place = ClusterPlace(tmp_path, provider, cluster)
    mark, sleepers = tmp_path / "effects", Sleepers()
    place.repository.write(
        {"effect.sh": f"echo x >> {mark}; echo lost > a.txt; {sleepers.command}\n"}
    )
    place.lead(HELP)
    place.commands("echo first > a.txt; pwd", "sh effect.sh", "cat a.txt; pwd")
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await until(sleepers.count)
        hit = machine(results(made)[0].content)
        cluster.signal(hit)
        with promptly():
            await until(lambda: not sleepers.count())
        await run
    told = results(made)[1]
    assert told.is_error
    assert "was lost during this call" in told.content
    assert "Look before you do it again" in told.content
    (other,) = {"build1", "build2"} - {hit}
    assert results(made)[2].content.startswith("first\n/")
    assert machine(results(made)[2].content) == other
    assert mark.read_text() == "x\n"
    assert place.read() == "first\n"


async def test_a_worker_that_is_stopped_is_lost_and_ends_its_command(
    tmp_path: Path, provider: ScriptedProvider, cluster: Cluster
) -> None:
    cluster.start("build1", "build2")
    place = ClusterPlace(tmp_path, provider, cluster)
    place.silence = 4.0
    sleepers = Sleepers()
    place.lead(HELP)
    place.commands("pwd", sleepers.command, "pwd")
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await until(sleepers.count)
        hit = machine(results(made)[0].content)
        cluster.signal(hit, signal.SIGSTOP)
        await until(lambda: not sleepers.count())
        await run
        assert len(results(made)) == 3
        assert machine(results(made)[2].content) != hit
        assert any("nothing was heard from it for 4 s" in each for each in made.warnings)


class Wire:
    """A network between this side and a worker, which can be cut: nothing arrives, and nothing is closed."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self.target = target
        self._whole = asyncio.Event()
        self._whole.set()
        self._server: asyncio.Server
        self._ends: list[asyncio.StreamWriter] = []
        self._tasks = set[asyncio.Task[None]]()

    async def lay(self) -> None:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        self._whole.clear()

    async def end(self) -> None:
        self._whole.set()
        self._server.close()
        for each in self._ends:
            each.transport.abort()
        await asyncio.wait(self._tasks)

    async def _connect(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        await self._whole.wait()
        theirs, there = await asyncio.open_connection("127.0.0.1", self.target)
        self._ends += (sink, there)
        await asyncio.gather(self._pass(source, there), self._pass(theirs, sink))

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while piece := await source.read(65536):
                await self._whole.wait()
                sink.write(piece)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()


@pytest.fixture
def port() -> Iterator[int]:
    """Where a worker will listen."""
    with kept_port() as port:
        yield port


async def test_a_cut_network_ends_the_command_there_and_the_agent_goes_on_elsewhere(
    tmp_path: Path, provider: ScriptedProvider, cluster: Cluster, port: int
) -> None:
    wire = Wire(port)
    await wire.lay()
    where = [
        *("--listen-address", f"tls://127.0.0.1:{wire.target}"),
        *("--contact-address", f"tls://127.0.0.1:{wire.port}"),
    ]
    await asyncio.to_thread(partial(cluster.start, "build1", where=where))
    place = ClusterPlace(tmp_path, provider, cluster)
    place.silence = 4.0
    mark, sleepers = tmp_path / "effects", Sleepers()
    place.repository.write(
        {"effect.sh": f"echo x >> {mark}; echo lost > a.txt; {sleepers.command}\n"}
    )
    place.lead(HELP)
    place.commands("echo first > a.txt", "sh effect.sh", "cat a.txt")
    try:
        async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
            await until(sleepers.count)
            wire.cut()
            with promptly():
                await until(lambda: not sleepers.count())
            await asyncio.to_thread(cluster.start, "build2")
            await run
    finally:
        await wire.end()
    assert "nothing was heard from it for 4 s" in results(made)[1].content
    assert results(made)[2].content == "first\n"
    assert mark.read_text() == "x\n"
    assert place.read() == "first\n"


async def test_a_worker_that_its_nanny_starts_again_is_found_at_its_new_address(
    tmp_path: Path, provider: ScriptedProvider, cluster: Cluster
) -> None:
    cluster.start("build1", nanny=True)
    place = ClusterPlace(tmp_path, provider, cluster)
    place.lead(HELP)
    place.provider.script(
        "m-helper",
        Says(calls=[Call("write_file", {"path": "a.txt", "content": "written\n"}, "c1")]),
        Says(calls=[Call("read_file", {"path": "a.txt"}, "c2")]),
        Says("helped"),
    )
    async with place.bench() as (made, _):

        def lose(event: object) -> None:
            if isinstance(event, ToolBegin) and event.name == "read_file":
                os.kill(cluster.below_nanny("build1"), signal.SIGKILL)

        made.on_event = lose
        await made.run("lead", "go")
    assert results(made, "read_file")[0].content == "1: written"
    assert len(set(place.moved(made))) == 2
    assert place.read() == "written\n"


async def test_with_the_scheduler_its_workers_are_lost_and_nothing_is_done_here(
    tmp_path: Path, provider: ScriptedProvider, cluster: Cluster
) -> None:
    cluster.start("build1")
    place = ClusterPlace(tmp_path, provider, cluster)
    # A busy machine takes seconds for the connection.
    cluster.configure(place.config, "wait = 10")
    place.lead(HELP)
    sleepers = Sleepers()
    place.commands("echo kept > a.txt", sleepers.command, "echo here > a.txt")
    async with place.bench() as (made, _), running(made.run("lead", "go")) as run:
        await until(sleepers.count)
        cluster.signal("scheduler")
        await until(lambda: not sleepers.count())
        await run
    (end,) = (each for each in made.of(AgentEnd) if each.run.agent == "helper")
    assert f"no machine for its copy can be reached within 10 s: {cluster.address}: " in str(
        end.error
    )
    assert 'engine = "here"' in str(end.error)
    assert [each.is_error for each in results(made)] == [False, True, True]
    assert place.read() == "a\n"
    (ref,) = place.repository.refs
    assert place.repository.git("show", f"{ref}:a.txt") == "kept"


async def test_a_worker_without_the_preload_says_what_it_lacks(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    cluster = Cluster(tmp_path / "cluster", tls=False)
    try:
        cluster.start("build1", preload="")
        place = ClusterPlace(tmp_path, provider, cluster)
        place.lead(HELP)
        async with place.bench() as (made, _):
            await made.run("lead", "go")
    finally:
        cluster.end()
    (end,) = (each for each in made.of(AgentEnd) if each.run.agent == "helper")
    told = f"{cluster.worker('build1')}: the worker was started without --preload {PRELOAD}"
    assert told in str(end.error)


# Processes that are not what they should be: they speak with Dask's own code.


class Touch:
    """What makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, ...]]:
        return os.system, (f"touch {self.file}",)


@asynccontextmanager
async def answering(folder: Path, *, scheme: str = "tls", **answers: Any) -> AsyncIterator[Dask]:
    """Provide a server that has these answers to operations, seen from here with the files of its authority."""
    authority(folder, "own")
    files = {each: str(folder / f"own{end}") for each, end in _FILES.items()}
    own = {"tls_worker_cert": files["cert"], "tls_worker_key": files["key"]}
    security = distributed.Security(require_encryption=False, tls_ca_file=files["ca"], **own)

    async def handle(comm: Any) -> None:
        try:
            asked = await comm.read()
            default = {"workers": {listener.contact_address: {"status": "running"}}}
            await comm.write(answers.get(asked["op"], default))
            await comm.read()
        except OSError:
            comm.abort()

    listener = await distributed.comm.listen(
        f"{scheme}://127.0.0.1:0", handle, **security.get_listen_args("worker")
    )
    try:
        yield Dask(dask_host(listener.contact_address), **files)
    finally:
        listener.stop()


_FILES = {"ca": "-ca.pem", "cert": ".pem", "key": ".key"}


async def fault_of(dask: Dask) -> str:
    """Return why the first worker can't be used."""
    try:
        (host, *_) = await dask_workers(dask)
        channel = await dask_channel(host, dask)
        try:
            await Connection.opened(channel, 0, 15.0)
        finally:
            await channel.end(1.0)
    except FaultError as fault:
        return f"later: {fault}" if fault.may_pass else str(fault)
    raise AssertionError("it was used")


@pytest.mark.parametrize("when", ["identity", OPERATION])
async def test_a_pickle_is_refused_and_nothing_in_it_is_executed(tmp_path: Path, when: str) -> None:
    evil = to_pickle(Touch(tmp_path / "owned"))
    async with answering(tmp_path, **{when: evil}) as dask:
        assert await fault_of(dask) == "it has sent an invalid message"
    assert not (tmp_path / "owned").exists()


async def test_a_pickle_in_the_handshake_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        distributed.comm.tcp.TLS,
        "handshake_info",
        lambda _: {"a": to_pickle(Touch(tmp_path / "owned"))},
    )
    async with answering(tmp_path) as dask:
        assert await fault_of(dask) == "it has sent an invalid message"
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            tool_protocol.encode(tool_protocol.Hello("0.0.1 1")) + b"\n",
            "axe-lsp there is version 0.0.1, and here",
        ),
        (None, f"the worker was started without --preload {PRELOAD}"),
        ("text", "it has sent an invalid message"),
        (b"{no hello\n" * 200, "it writes more than 100 lines before its first message; "),
        (b'{"a":' * 100_000 + b"\n" + b"{no hello\n" * 200, "it writes more than 100 lines "),
    ],
    ids=["another version", "no preload", "a text", "no end of noise", "brackets"],
)
async def test_a_worker_that_is_none_of_ours(tmp_path: Path, said: object, told: str) -> None:
    async with answering(tmp_path, **{OPERATION: said}) as dask:
        assert (await fault_of(dask)).startswith(told)


async def test_a_scheduler_that_sends_nothing_but_brackets_is_refused() -> None:
    """Of msgpack, as deep as no reader of Python can follow."""
    frame = b"\x81\xa1a" + b"\x91" * 100_000 + b"\xc0"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(struct.pack("<3Q", 16 + len(frame), 1, len(frame)) + frame)
        with suppress(ConnectionError):
            await reader.read()
        writer.transport.abort()
        over.set()

    over = asyncio.Event()
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(FaultError, match="it has sent an invalid message"):
            await dask_workers(Dask(dask_host(f"tcp://127.0.0.1:{port}")))
        await over.wait()


async def test_workers_that_lead_elsewhere_are_left_out(tmp_path: Path) -> None:
    running = {"status": "running"}
    said = {"workers": {"tcp://127.0.0.1:1": running, "tls://127.0.0.1:2": {"status": "paused"}}}
    said["workers"]["inproc://1"] = running
    async with answering(tmp_path, identity=said) as dask:
        with pytest.raises(FaultError, match="it has no workers"):
            await dask_workers(dask)


async def test_certificates_of_another_authority_are_refused_on_both_sides(tmp_path: Path) -> None:
    authority(tmp_path, "other")
    other = {each: str(tmp_path / f"other{end}") for each, end in _FILES.items()}
    async with answering(tmp_path) as dask:
        for files, told in (
            ({"ca": other["ca"]}, f"its certificate can't be verified with {other['ca']}: "),
            (
                {"cert": other["cert"], "key": other["key"]},
                f"it refuses the certificate {other['cert']}: ",
            ),
            ({"cert": other["cert"]}, "the files of TLS can't be read: "),
            (
                {"ca": f"{tmp_path}/none"},
                f"the files of TLS can't be read: {tmp_path}/none: No such file",
            ),
        ):
            names = {each: getattr(dask, each) for each in _FILES}
            assert (await fault_of(Dask(dask.scheduler, **{**names, **files}))).startswith(told)
    async with answering(tmp_path, scheme="tcp") as dask:
        as_tls = Dask(
            dask_host(f"tls://127.0.0.1:{dask.scheduler.port}"), dask.ca, dask.cert, dask.key
        )
        assert (await fault_of(as_tls)).startswith("there is no connection with TLS")
