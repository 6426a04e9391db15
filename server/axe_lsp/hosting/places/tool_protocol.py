"""The messages between a run and the tool server on another machine: one compact JSON object a line, in UTF-8.

No prompt, no key and no agent file is in one. Bytes are in Base64. Each request has an `id`, and one answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.json import Decoder

from axe_lsp import __version__
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.copies.mirror import Changed
from axe_lsp.runtime.json_data import Json, decoded, decoder_of, json_text
from axe_lsp.runtime.messages import Image
from axe_lsp.runtime.safety.questions import Change

WIRE = f"{__version__} 2"
"""The version that both sides must share: that of the tools and of the messages."""

LONGEST_LINE = 128 * 1024 * 1024
"""Bytes of a message."""

PACK_PIECE = 1024 * 1024

SILENCE = 15.0
"""Seconds without any message after which the other side is taken for lost."""


class Hello(Message, frozen=True, tag="hello"):
    """The first message of each side, theirs before ours.

    Ours says for how many seconds the files of a project are kept, and after how many seconds of `silence` they
    end.
    """

    version: str
    keep_copies: int = 0
    silence: float = SILENCE


class Ping(Message, frozen=True, tag="ping"):
    """To the other machine: say that you are well."""


class Pong(Message, frozen=True, tag="pong"):
    """From it: it is."""


class Request(Message, frozen=True, kw_only=True):
    """To the other machine. Its answer has the same `id`, which the connection gives it."""

    id: int = 0


class Project(Request, frozen=True, tag="project"):
    """Say which commits of a project you have."""

    project: str


class Pack(Request, frozen=True, tag="pack"):
    """The next piece of a pack for a project; all have one `id`. The last one names the `commits` that are in it."""

    project: str
    data: bytes
    commits: tuple[str, ...] = ()
    object_format: str = "sha1"


class Open(Request, frozen=True, tag="open"):
    """Make a copy. It begins with the commit `now` of that `tree`; `base` is what the agent's own git calls HEAD.

    The agent works in the folder `prefix`. `ignored` is a text of ignored names.
    """

    copy: str
    project: str
    base: str
    now: str
    tree: str
    prefix: str
    is_repository: bool
    object_format: str
    ignored: str


class Call(Request, frozen=True, tag="call"):
    """Execute a tool in a folder of a copy. `agents` are the names of those that have led to it."""

    copy: str
    folder: str
    name: str
    arguments: Mapping[str, Json]
    read_only: bool = False
    agents: tuple[str, ...] = ()


class Rehearse(Call, frozen=True, tag="rehearse"):
    """Say what such a call would do."""


class Cancel(Message, frozen=True, tag="cancel"):
    """End the request of that id."""

    id: int


class Collect(Request, frozen=True, tag="collect"):
    """Say what has changed in a copy."""

    copy: str


class Put(Request, frozen=True, tag="put"):
    """Make these changes in a copy."""

    copy: str
    changes: tuple[Changed, ...]


class Close(Request, frozen=True, tag="close"):
    """Delete a copy."""

    copy: str


class _Reply(Message, frozen=True):
    """From the other machine: the answer to the request of that id."""

    id: int


class Done(_Reply, frozen=True, tag="done"):
    """From the other machine: the request has been done."""


class Known(_Reply, frozen=True, tag="known"):
    """The commits of a project that it has."""

    commits: tuple[str, ...]


class Opened(_Reply, frozen=True, tag="opened"):
    """The copy is in that folder."""

    folder: str


class Result(_Reply, frozen=True, tag="result"):
    """The result of a call, as its tool has it."""

    text: str
    images: tuple[Image, ...] = ()
    is_error: bool = False


class Rehearsed(_Reply, frozen=True, tag="rehearsal"):
    """The change that a call would make."""

    purpose: str
    details: str = ""
    change: Change | None = None
    subject: str = ""


class Patch(_Reply, frozen=True, tag="patch"):
    """The changes of a copy."""

    changes: tuple[Changed, ...]


class Failed(_Reply, frozen=True, tag="failed"):
    """The request could not be done."""

    text: str


Reply = Done | Known | Opened | Result | Rehearsed | Patch | Failed
ToServer = Hello | Ping | Project | Pack | Open | Call | Rehearse | Cancel | Collect | Put | Close
FromServer = Hello | Pong | Reply

_TO: Decoder[Any] = decoder_of(ToServer)
_FROM: Decoder[Any] = decoder_of(FromServer)


def encode(message: Message) -> bytes:
    """Return a message as a line, without its end."""
    return json_text(message).encode()


def to_server(line: bytes) -> ToServer:
    """Read a message to the server. Raises ValueError for anything else, and for a request without its `id`."""
    message: ToServer = decoded(line, _TO)
    if isinstance(message, Request) and not message.id:
        raise ValueError("a request has no id")
    return message


def from_server(line: bytes) -> FromServer:
    """Read a message from the server. Raises ValueError for anything else."""
    message: FromServer = decoded(line, _FROM)
    return message
