"""The token of a server on TCP, kept where only its user can read it.

Each server makes a token at its start, keeps it in a file of mode 0600 below the user's state folder,
one for each port, and removes the file at its end.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from axe_lsp.rpc.sockets import Token, reason_of
from axe_lsp.rpc.transports import CannotListenError
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.files.regular_files import write_whole_file
from axe_lsp.runtime.plain_text import shown_path

_BYTES = 32


@contextmanager
def token_on_disk(environment: Environment, ports: Iterable[int]) -> Iterator[Token]:
    """Provide a new token, which can be read from a file for each port meanwhile. Raises CannotListenError."""
    with ExitStack() as stack:
        try:
            files = [token_file(environment, port) for port in ports]
            token = stack.enter_context(_token_in_files(files))
        except (OSError, ConfigError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else error
            raise CannotListenError(
                f"can't write the token file: {reason}; set XDG_STATE_HOME to a writable folder, or use "
                "--pipe"
            ) from error
        yield Token(
            token, "".join(f"clients send the token in {shown_path(file)}\n" for file in files)
        )


def token_file(environment: Environment, port: int) -> Path:
    """Return where the token of the server on this port is. Raises ConfigError if the user has no home."""
    return state_folder(environment) / f"tcp-{port}.token"


@contextmanager
def _token_in_files(paths: Iterable[Path]) -> Iterator[str]:
    token, written = secrets.token_urlsafe(_BYTES), list[Path]()
    try:
        for path in paths:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # A link that lies there would be followed.
            write_whole_file(path, token.encode(), mode=0o600)
            written.append(path)
        yield token
    finally:
        for path in written:
            _remove(path, token)


def _remove(path: Path, token: str) -> None:
    """Remove the file if it still holds this token: another server may have got the port since."""
    with suppress(OSError):
        if path.read_bytes() == token.encode():
            path.unlink()
