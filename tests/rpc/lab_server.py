"""The server that the tests of the protocol speak to: a handler for each thing that can happen.

python lab_server.py stdio | tcp | pipe PATH
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import ctypes
import functools
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types

from axe_lsp.lsp.tcp_token import token_on_disk
from axe_lsp.rpc import sockets, transports
from axe_lsp.rpc.documents import Documents
from axe_lsp.rpc.language_server import LanguageServer, RequestFailed
from axe_lsp.serving import server_process

FEATURES: dict[str, Callable[..., Any]] = {}
COMMANDS: dict[str, Callable[..., Any]] = {}


class LabServer(LanguageServer):
    def __init__(self) -> None:
        super().__init__("lab", "1")
        set_up(self)

    async def release(self) -> None:
        print("released", file=sys.stderr, flush=True)


def set_up(server: Any) -> None:
    server.documents = Documents()
    for name, handler in FEATURES.items():
        server.feature(name)(functools.partial(handler, server))
    for name, handler in COMMANDS.items():
        server.command(name)(functools.partial(handler, server))


def feature(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda handler: FEATURES.setdefault(name, handler)


def command(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda handler: COMMANDS.setdefault(name, handler)


# --- At once


@feature("test/echo")
def echo(ls: Any, params: Any) -> Any:
    return params


@feature("test/tell")
def tell(ls: Any, params: Any) -> None:
    ls.protocol.notify("test/told", {"params": params})


@feature("textDocument/hover")
def hover(ls: Any, params: types.HoverParams) -> types.Hover:
    return types.Hover(f"{params.text_document.uri}:{params.position.line}")


@feature("test/mixed")
def mixed(ls: Any, params: Any) -> Any:
    return {"hovers": [types.Hover("one")], "kind": types.MarkupKind.Markdown, "none": None}


@feature("test/mistake")
def mistake(ls: Any, params: Any) -> None:
    raise ValueError("sk-secret")


@feature("test/refuse")
def refuse(ls: Any, params: Any) -> None:
    raise RequestFailed("no key for the provider", data={"kind": "api"})


@feature("test/refuseOddly")
def refuse_oddly(ls: Any, params: Any) -> None:
    raise RequestFailed("no", data=object())


@feature("test/nonsense")
def nonsense(ls: Any, params: Any) -> Any:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return {"object": object(), "nan": float("nan"), "deep": deep}[params]


@feature("test/stray")
def stray(ls: Any, params: Any) -> None:
    print("a stray print")
    os.write(1, b"a stray write\n")
    ctypes.CDLL(None).puts(b"a stray line of C")
    ctypes.CDLL(None).fflush(None)
    subprocess.run(["sh", "-c", "echo a stray child; cat"], check=True)


@feature("test/burst")
def burst(ls: Any, params: Any) -> None:
    for number in range(params["count"]):
        ls.protocol.notify("test/burst", {"number": number, "filler": "x" * params["size"]})


@feature("test/together")
def together(ls: Any, params: Any) -> Any:
    """One thing after another, in different ways: ten numbers, and the answer."""
    for number in range(10):
        if number == 5:
            ls.protocol.notify("test/number", number)
        else:
            ls.protocol.notify_together("test/number", b"%d" % number)
    return "done"


@feature("test/account")
def account(ls: Any, params: Any) -> Any:
    """Return what the server still holds of messages that are done with."""
    return {
        "tasks": len(ls.protocol.tasks),
        "running": len(ls.protocol._running),
        "awaited": len(ls.protocol._awaited),
        "withdrawn": len(ls.protocol._withdrawn),
        "futures": len(ls.protocol._request_futures),
        "tokens": len(ls.protocol.progress.tokens),
    }


@feature("test/memory")
def memory(ls: Any, params: Any) -> int:
    fields = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in fields if line.startswith("VmRSS"))


@command("test.add")
def add(ls: Any, first: int, second: int = 0) -> int:
    return first + second


# --- Taking time


@feature("test/wait")
async def wait(ls: Any, params: Any) -> None:
    ls.protocol.notify("test/waiting")
    try:
        await asyncio.Event().wait()
    finally:
        ls.protocol.notify("test/ended")


@command("test.wait")
async def wait_command(ls: Any) -> None:
    await wait(ls, None)


@feature("test/waitInBackground")
def wait_in_background(ls: Any, params: Any) -> None:
    ls.start(wait(ls, params), "waiting")


@feature("test/stubborn")
async def stubborn(ls: Any, params: Any) -> None:
    ls.protocol.notify("test/waiting")
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


@feature("test/lastResort")
def set_last_resort(ls: Any, params: Any) -> None:
    server_process.LAST_RESORT = params


@feature("test/sleep")
def sleep(ls: Any, params: Any) -> None:
    ls.protocol.notify("test/waiting")
    time.sleep(params)


@feature("test/blockThreads")
def block_threads(ls: Any, params: Any) -> None:
    """Occupy more threads than asyncio's pool has, and some that the interpreter waits for."""
    concurrent.futures.ThreadPoolExecutor(1).submit(time.sleep, 3600)
    threading.Thread(target=time.sleep, args=[3600]).start()
    for _number in range(40):
        asyncio.get_running_loop().run_in_executor(None, time.sleep, 3600)


@feature("test/later")
async def later(ls: Any, params: Any) -> Any:
    return params


@feature("test/soon")
def soon(ls: Any, params: Any) -> Any:
    """Reads the document now, and answers later."""
    text = ls.documents.get(params).text
    return later(ls, text)


# --- Asking the client


@feature("test/ask")
async def ask(ls: Any, params: Any) -> Any:
    items = [types.ConfigurationItem(section="axe")]
    return await ls.workspace_configuration_async(types.ConfigurationParams(items))


@feature("test/askBriefly")
async def ask_briefly(ls: Any, params: Any) -> str:
    try:
        await asyncio.wait_for(ls.protocol.send_request_async("test/question"), 0.05)
    except asyncio.TimeoutError:
        return "gave up"
    return "was answered"


@feature("test/progress")
async def progress(ls: Any, params: Any) -> None:
    await ls.work_done_progress.create_async("token")
    ls.work_done_progress.begin("token", types.WorkDoneProgressBegin("Work"))
    ls.work_done_progress.end("token", types.WorkDoneProgressEnd())


@feature("test/cancellableProgress")
async def cancellable_progress(ls: Any, params: Any) -> str:
    ls.work_done_progress.begin("token", types.WorkDoneProgressBegin("Work"))
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wrap_future(ls.work_done_progress.tokens["token"])
    ls.work_done_progress.end("token", types.WorkDoneProgressEnd())
    return "cancelled"


# --- Documents


@feature("textDocument/didOpen")
def opened(ls: Any, params: types.DidOpenTextDocumentParams) -> None:
    ls.documents.open(params)


@feature("textDocument/didChange")
def changed(ls: Any, params: types.DidChangeTextDocumentParams) -> None:
    ls.documents.change(params, ls.client.position_encoding)


@feature("test/text")
def text_of(ls: Any, params: Any) -> str:
    return str(ls.documents.get(params).text)


def main() -> None:
    transport, *arguments = sys.argv[1:]
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    serve = {
        "stdio": transports.serve_stdio,
        "tcp": functools.partial(
            sockets.serve_tcp,
            host="127.0.0.1",
            port=0,
            token_for=functools.partial(token_on_disk, os.environ),
        ),
        "pipe": functools.partial(sockets.serve_pipe, path=Path("".join(arguments))),
    }
    server_process.run(serve[transport](LabServer))


if __name__ == "__main__":
    main()
