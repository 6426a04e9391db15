"""What all that goes over the wire has in common.

Apart from `messages.py`, which nobody needs who makes runs without a host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Message:
    """What goes over the wire, where `TYPE` says which message it is."""

    TYPE: ClassVar[str]
