"""What clients/python says of the protocol is what the server sends."""

from __future__ import annotations

from dataclasses import fields

from msgspec import Struct

import axe_client
from axe_client import events as client_events
from axe_lsp.runtime import events, run_result
from axe_lsp.runtime.events import Event

SENT = [
    each
    for each in vars(events).values()
    if isinstance(each, type) and issubclass(each, Event) and each is not Event
]


def test_the_python_client_knows_every_event_with_all_its_members() -> None:
    common = names(client_events.Event)
    assert common == (names(Event) | names(events.RunIds)) - {"run"}
    sent = {(each.METHOD, each.__struct_config__.tag): names(each) - names(Event) for each in SENT}
    known = {which: names(kind) - common for which, kind in client_events.KINDS.items()}
    assert known == sent


def test_the_python_client_knows_every_member_of_a_result() -> None:
    # Clients see the results of root runs, which have no caller to hand a copy over to.
    assert names(axe_client.RunResult) == names(run_result.RunResult) - {"handover"}


def names(kind: type) -> set[str]:
    """Return the fields of a class of the client, or of one of the server."""
    return {*kind.__struct_fields__} if issubclass(kind, Struct) else {f.name for f in fields(kind)}
