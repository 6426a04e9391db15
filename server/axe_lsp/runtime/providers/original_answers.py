"""Answers in the words of their wire, which their provider may refuse to read again.

What was refused stays out of the conversation, and what the model says afterwards is kept as usual.
"""

from __future__ import annotations

from msgspec.structs import replace

from axe_lsp.runtime.messages import Message, Request

_KEPT = "without originals"
"""Where in `Request.kept` the answers are that have lost theirs, by the id of the message."""


def forget_originals(request: Request) -> bool:
    """Send the answers so far in plain words from now on; False if they are already.

    A message is kept beside the one that is sent for it, so its id is nobody else's.
    """
    told = _told(request)
    new = [each for each in request.messages if each.original is not None and id(each) not in told]
    told.update((id(each), (each, replace(each, original=None))) for each in new)
    return bool(new)


def with_readable(request: Request) -> Request:
    """The request without the originals that were forgotten."""
    told = _told(request)
    if not told:
        return request
    messages = (told.get(id(each), (each, each))[1] for each in request.messages)
    return replace(request, messages=tuple(messages))


def _told(request: Request) -> dict[int, tuple[Message, Message]]:
    told: dict[int, tuple[Message, Message]] = request.kept.setdefault(_KEPT, {})
    return told
