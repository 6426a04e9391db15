"""The folder in which the executors of a user listen: private, the user's own, and no link."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from axe_lsp.runtime.files.folders import Environment, state_folder

_SUFFIX = ".sock"

_UNSUPPORTED = "this system has no Unix sockets"


def socket_folders(environment: Environment) -> tuple[Path, ...]:
    """Return the folder in which an executor listens, then the one of executors without XDG_RUNTIME_DIR.

    Raises ConfigError if the user has no home.
    """
    runtime, state = environment.get("XDG_RUNTIME_DIR", ""), state_folder(environment) / "runs"
    return (Path(runtime, "axe", "runs"), state) if Path(runtime).is_absolute() else (state,)


@contextmanager
def private_folder(folder: Path, *, create: bool = False) -> Iterator[int]:
    """Provide a descriptor of the folder. Raises OSError, a PermissionError if others may enter it."""
    if sys.platform == "win32":
        raise OSError(_UNSUPPORTED)
    if create:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise PermissionError(f"{folder} is not a folder of this user alone")
        yield descriptor
    finally:
        os.close(descriptor)


def listen(folder: Path) -> socket.socket:
    """Return a socket of this process in the folder, which listens. Raises OSError.

    It gets its name when it listens: who finds it refused has found one that was left behind.
    """
    if sys.platform == "win32":
        raise OSError(_UNSUPPORTED)
    name, new = _name(os.getpid()), f".{os.getpid()}.new"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with private_folder(folder, create=True) as descriptor:
            with suppress(FileNotFoundError):
                os.unlink(new, dir_fd=descriptor)
            listener.bind(_address(folder, descriptor, new))
            listener.listen()
            os.rename(new, name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
    except BaseException:
        listener.close()
        raise
    return listener


def stop_listening(folder: Path) -> None:
    """Remove the name of this process's socket."""
    with suppress(OSError), private_folder(folder) as descriptor:
        os.unlink(_name(os.getpid()), dir_fd=descriptor)


def has_executors(environment: Environment) -> bool:
    """Return whether a process has a socket, or has left one behind."""
    return any(executor_pids(each) for each in socket_folders(environment))


def executor_pids(folder: Path) -> list[int]:
    """Return the ids of the processes that have a socket in the folder; none of a folder that is not private."""
    if sys.platform == "win32":
        return []
    with suppress(OSError), private_folder(folder) as descriptor:
        names = [each.removesuffix(_SUFFIX) for each in os.listdir(descriptor)]
        return sorted(int(each) for each in names if each.isascii() and each.isdigit())
    return []


def connect(folder: Path, pid: int, patience: float) -> socket.socket | None:
    """Return a connection to an executor; None, and its name is removed, if it has died. Raises OSError."""
    if sys.platform == "win32":
        raise OSError(_UNSUPPORTED)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(patience)
    try:
        with private_folder(folder) as descriptor:
            try:
                connection.connect(_address(folder, descriptor, _name(pid)))
            except ConnectionRefusedError:
                with suppress(FileNotFoundError):
                    os.unlink(_name(pid), dir_fd=descriptor)
            except FileNotFoundError:
                pass
            else:
                return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def _name(pid: int) -> str:
    return f"{pid}{_SUFFIX}"


def _address(folder: Path, descriptor: int, name: str) -> str:
    """Return a path of at most 107 bytes, which is what an address has room for, where the system allows it."""
    if sys.platform == "linux":
        return f"/proc/self/fd/{descriptor}/{name}"
    return str(folder / name)
