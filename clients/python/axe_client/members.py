"""From the JSON of the protocol, whose names are camelCase, to dataclasses.

Members that a class does not know are left out, so that a newer server does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def read(kind: type[T], members: Mapping[str, Any]) -> T:
    """Return an object of the dataclass `kind`."""
    known = {each.name: _camel(each.name) for each in fields(kind)}
    return kind(**{name: members[camel] for name, camel in known.items() if camel in members})


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name.rstrip("_"))
