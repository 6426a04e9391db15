"""Events of runs as clients see them. The one place where an event becomes a notification, or one again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Any

from axe_lsp.runtime import events
from axe_lsp.runtime.events import Event, RunIds
from axe_lsp.runtime.json_data import Json, JsonStruct, from_json, json_text, to_json


class Message(JsonStruct, frozen=True, tag_field="type"):
    """A message between the supervisor and the host; the tag names its kind.

    The others are in `protocol.py`, which a process that makes runs without a host does not need.
    """


class Notification(Message, frozen=True, dict=True, tag="event"):
    """From the host: an event of a run, with the method and the parameters that clients see."""

    method: str
    params: Mapping[str, Json]

    @cached_property
    def text(self) -> str:
        """The parameters as JSON, made once for the wire and for the history."""
        return json_text(self.params)

    @property
    def ends_tree(self) -> bool:
        """Whether a root run has ended."""
        is_root = self.params["depth"] == 0 and self.method == "axe/agent"
        return is_root and self.params["kind"] == "end"

    @property
    def members(self) -> dict[str, Json]:
        """Method and parameters, as programs get the events of past runs."""
        return {"method": self.method, "params": self.params}


def notification(event: Event) -> Notification:
    """Return an event of a run as clients see it."""
    own = to_json(event)
    del own["run"]
    return Notification(event.METHOD, {**_ids(event.run), **own})


@lru_cache(maxsize=2_048)
def _ids(run: RunIds) -> Mapping[str, Json]:
    """Return the beginning of all events of a run, encoded once."""
    return to_json(run)


def event_of(notification: Notification) -> Event:
    """Return the event that a notification tells of. Raises ValueError if it is none."""
    params = notification.params
    kind = _EVENTS.get(notification.method)
    if kind is None:
        raise ValueError(f"{notification.method} is not the method of an event")
    event: Event = from_json(kind, {**params, "run": params})
    return event


_KINDS = [
    kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
]

_EVENTS: Mapping[str, Any] = {
    method: reduce(or_, (kind for kind in _KINDS if method == kind.METHOD))
    for method in dict.fromkeys(kind.METHOD for kind in _KINDS)
}
"""The events of a method, which their tags tell apart."""
