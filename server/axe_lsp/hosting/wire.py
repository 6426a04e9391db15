"""Messages as the supervisor and the host exchange them: one compact JSON object a line, in UTF-8."""

from __future__ import annotations

from axe_lsp.hosting import protocol
from axe_lsp.hosting.jsonable import from_json, json_text, parsed_json, to_json
from axe_lsp.hosting.message import Message
from axe_lsp.hosting.notifications import Notification


def encode(message: Message) -> bytes:
    """A message as a line, with its newline."""
    if isinstance(message, Notification):
        line = f'{{"type":"{message.TYPE}","method":"{message.method}","params":{message.text}}}\n'
        return line.encode()
    return json_text({"type": message.TYPE, **to_json(message)}).encode() + b"\n"


def decode(line: bytes) -> Message:
    """The message in a line. Raises ValueError, LookupError or TypeError if there is none."""
    value = parsed_json(line)
    if value["type"] == Notification.TYPE:  # As most are, and there is nothing to be translated.
        return Notification(value["method"], value["params"])
    return from_json(_MESSAGES[value["type"]], value)


_MESSAGES: dict[str, type[Message]] = {
    kind.TYPE: kind
    for kind in (Notification, *vars(protocol).values())
    if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message
}
