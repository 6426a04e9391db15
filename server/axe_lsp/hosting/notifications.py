"""Events of runs as clients see them. The one place where an event becomes a notification, or one again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache

from axe_lsp.hosting.jsonable import Json, from_json, json_text, to_json
from axe_lsp.hosting.message import Message
from axe_lsp.runtime import events
from axe_lsp.runtime.events import Event, RunIds


class Notification(Message, frozen=True, dict=True):
    """From the host: an event of a run, with the method and the parameters that clients see."""

    TYPE = "event"

    method: str
    params: Mapping[str, Json]

    @cached_property
    def text(self) -> str:
        """The parameters as JSON, made once for the wire and for the history."""
        return json_text(self.params)


def notification(event: Event) -> Notification:
    """An event of a run as clients see it."""
    kind = {} if event.KIND is None else {"kind": event.KIND}
    return Notification(event.METHOD, {**_who(event.run), **kind, **to_json(event, but="run")})


@lru_cache(maxsize=2_048)
def _who(run: RunIds) -> Mapping[str, Json]:
    """What all events of a run begin with, made once for them."""
    who: Mapping[str, Json] = to_json(run)
    return who


def event_of(notification: Notification) -> Event:
    """The event that a notification tells of."""
    params = notification.params
    kind = _EVENTS[notification.method, params.get("kind")]
    return from_json(kind, {**params, "run": params})


_EVENTS: dict[tuple[str, str | None], type[Event]] = {
    (kind.METHOD, kind.KIND): kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
}
