"""What all that goes over the wire has in common.

Apart from `messages.py`, which nobody needs who makes runs without a host.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Message(Struct, frozen=True):
    """What goes over the wire, where `TYPE` says which message it is."""

    TYPE: ClassVar[str]
