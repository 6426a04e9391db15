"""A cluster of Dask: its scheduler names the workers, and each of these starts a tool server (`dask_worker.py`).

The messages of Dask are read here without Dask, whose own reader executes what a message contains: a member
`__Pickled__` is unpickled whatever its `deserializers` are, in the handshake as well. The format, as far as it is
needed: the length of what follows, the number of frames, their lengths, the frames, with 64 bits for each number; the
first frame is a message of msgpack. Frames after it would carry objects, so that a message with several is refused.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
from msgspec import MsgspecError, Struct
from msgspec.msgpack import Decoder, Encoder

from axe_lsp.agentfile.text.addresses import DaskHost, dask_host
from axe_lsp.hosting.places.dask_worker import OPERATION, PRELOAD
from axe_lsp.hosting.places.machine_connection import FaultError, lines_of
from axe_lsp.hosting.places.tool_protocol import LONGEST_LINE
from axe_lsp.runtime.files.execution import Dask
from axe_lsp.runtime.plain_text import os_fault

_CONNECTING = 10.0
"""Seconds for a connection, as with ssh."""

_NUMBER = struct.Struct("<Q")
_LONGEST = LONGEST_LINE + 1024


class _Worker(Struct):
    status: str = ""


class _Identity(Struct):
    """A scheduler's description of itself."""

    workers: dict[str, _Worker]


_encoder = Encoder()
_piece = Decoder(bytes | None)
_identity = Decoder(_Identity)
_handshake = Decoder(dict[str, Any])


async def dask_workers(dask: Dask) -> tuple[DaskHost, ...]:
    """Return the workers of a cluster that can be used. Raises FaultError."""
    comm = await _Comm.opened(dask.scheduler, dask)
    try:
        with anyio.fail_after(_CONNECTING):
            await comm.write({"op": "identity", "close": True})
            workers = (await comm.read(_identity)).workers
    except (OSError, EOFError, ValueError) as error:
        raise _fault(error, dask) from error
    finally:
        comm.abort()
    hosts = []
    for address, worker in workers.items():
        try:
            host = dask_host(address)
        except ValueError:
            continue
        if worker.status == "running" and host.scheme == dask.scheduler.scheme:
            hosts.append(host)
    if not hosts:
        raise FaultError("it has no workers", may_pass=True)
    return tuple(hosts)


async def dask_channel(host: DaskHost, dask: Dask) -> DaskChannel:
    """Connect with the tool server of a worker. Raises FaultError."""
    comm = await _Comm.opened(host, dask)
    try:
        await comm.write({"op": OPERATION})
    except OSError as error:
        comm.abort()
        raise _fault(error, dask) from error
    return DaskChannel(comm, dask)


class DaskChannel:
    """A connection to the tool server of a worker. It is a `Channel`."""

    def __init__(self, comm: _Comm, dask: Dask) -> None:
        self._comm = comm
        self._dask = dask
        self._fault = FaultError("the connection was closed", may_pass=True)

    async def send(self, line: bytes) -> None:
        await self._comm.write(line + b"\n")

    async def lines(self) -> AsyncIterator[bytes]:
        try:
            async for line in lines_of(self._pieces()):
                yield line
        except EOFError:
            pass
        except (OSError, ValueError) as error:
            self._fault = _fault(error, self._dask)

    async def end(self, within: float) -> None:
        self._comm.abort()  # What matters has been answered.

    @property
    def fault(self) -> FaultError:
        return self._fault

    async def _pieces(self) -> AsyncIterator[bytes]:
        while (piece := await self._comm.read(_piece)) is not None:
            yield piece
        # The answer of a worker to what it does not know.
        raise ValueError(f"the worker was started without --preload {PRELOAD}")


class _Comm:
    """A connection to a scheduler or a worker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def opened(cls, host: DaskHost, dask: Dask) -> _Comm:
        """Return the connection, once both sides have introduced themselves. Raises FaultError."""
        context = _context(dask) if host.scheme == "tls" else None
        comm: _Comm | None = None
        try:
            with anyio.fail_after(_CONNECTING):
                comm = cls(
                    *await asyncio.open_connection(host.host.strip("[]"), host.port, ssl=context)
                )
                about = {"compression": None, "python": sys.version_info[:3], "pickle-protocol": 4}
                await comm.write(about)
                await comm.read(_handshake)
        except BaseException as error:
            if comm is not None:
                comm.abort()
            if isinstance(error, (OSError, EOFError, ValueError)):
                raise _fault(error, dask) from error
            raise
        return comm

    async def write(self, message: bytes | Mapping[str, object]) -> None:
        """Send a message. Raises OSError."""
        frame = _encoder.encode(message)
        self._writer.write(struct.pack("<3Q", 16 + len(frame), 1, len(frame)) + frame)
        await self._writer.drain()

    async def read(self, decoder: Decoder[Any]) -> Any:
        """Receive a message. Raises OSError, EOFError, or ValueError for what is no such message."""
        (size,) = _NUMBER.unpack(await self._reader.readexactly(_NUMBER.size))
        if not 16 < size <= _LONGEST:
            raise ValueError("it has sent an invalid message")
        count, length = struct.unpack("<2Q", await self._reader.readexactly(16))
        if count != 1 or length != size - 16:
            raise ValueError("it has sent an invalid message")
        try:
            return decoder.decode(await self._reader.readexactly(length))
        except (MsgspecError, RecursionError) as error:
            raise ValueError("it has sent an invalid message") from error

    def abort(self) -> None:
        self._writer.transport.abort()


def _context(dask: Dask) -> ssl.SSLContext:
    """Return the context of the connection. Raises FaultError."""
    # It trusts no other authority: those of the system are not loaded.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Certificates of a cluster name no addresses. Who has one that this authority has signed belongs to it.
    context.check_hostname = False
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    file = dask.ca
    try:
        context.load_verify_locations(file)
        file = f"{dask.cert}, {dask.key}"
        context.load_cert_chain(dask.cert, dask.key, _passphrase)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FaultError(f"the files of TLS can't be read: {file}: {reason}") from error
    return context


def _passphrase() -> str:
    """Raise ValueError instead of asking for a passphrase at the terminal."""
    raise ValueError("the key has a passphrase")


def _fault(error: Exception, dask: Dask) -> FaultError:
    """Return the fault of a connection."""
    match error:
        case ssl.SSLCertVerificationError():
            what = (
                f"its certificate can't be verified with {dask.ca}: {error.verify_message}; "
                "`ca` has to name the authority that has signed it"
            )
        case ssl.SSLError(reason=str(reason)) if "ALERT" in reason:
            what = (
                f"it refuses the certificate {dask.cert}: {reason}; "
                "its own authority has to have signed `cert`"
            )
        case ssl.SSLError():
            what = f"there is no connection with TLS: {error.reason or error}"
        case TimeoutError():
            what = "it does not answer"
        case OSError():
            what = os_fault(error)
        case EOFError():
            what = "the connection was closed"
        case _:
            what = str(error)
    lasts = isinstance(error, (ssl.SSLError, ValueError))
    return FaultError(what, may_pass=not lasts)
