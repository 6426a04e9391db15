"""Questions of MCP servers to the person who started the run: forms, and addresses to be visited.

A server is a stranger: its texts are shortened and shown without disguise, it is named in each question,
nothing is filled in for the person, and no address is opened.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from axe_lsp.agentfile.mcp_servers import is_secret_name
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.plain_text import escaped
from axe_lsp.runtime.safety.questions import DISMISSED, NOBODY_ANSWERS, Answer

_LONGEST_MESSAGE = 2000
_LONGEST_DESCRIPTION = 300
_LONGEST_LABEL = 80
_LONGEST_ADDRESS = 2000
"""Characters of what a server says."""

_MOST_FIELDS = 20
_MOST_OPTIONS = 50
_MOST_REQUESTS = 30
"""The number of requests of one connection. Further requests are declined."""

_ATTEMPTS = 3
"""How often a person may answer with what does not fit."""

_LEAVE_OUT, _SEND, _ACCEPT, _DECLINE, _VISITED = "Leave out", "Send", "Accept", "Decline", "Done"


class Elicitation(Struct, frozen=True):
    """A request of a server: a form with the properties of a flat `schema`, or a visit of `url`."""

    message: str
    schema: Mapping[str, Json] = field(default_factory=dict)
    url: str = ""


class Reply(Struct, frozen=True):
    """The answer of the person. `cancel` is for a question that was dismissed."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Json] = field(default_factory=dict)


Elicit = Callable[[Elicitation], Awaitable[Reply]]

AskForServer = Callable[[str, str, tuple[str, ...]], Awaitable[Answer]]
"""Takes the name of the server, the question and its choices."""

_DECLINED = Reply("decline")
_CANCELLED = Reply("cancel")


class _EndedError(Exception):
    """The person does not go on. Its argument is the reply."""


class _MisfitError(Exception):
    """The answer does not fit, for the reason that is its argument."""


class _UnfitError(Exception):
    """The server asks what can't be shown."""


class Elicitor:
    """Puts the questions of one server to the person. It is an `Elicit`."""

    def __init__(self, server: str, ask: AskForServer, warn: Callable[[str], None]) -> None:
        self._server = server
        self._ask = ask
        self._warn = warn
        self._requests = 0

    async def __call__(self, asked: Elicitation) -> Reply:
        """Return the answer. To cancel this takes the question back."""
        self._requests += 1
        try:
            return await self._asked(asked)
        except _UnfitError as fault:
            self._warn(f"MCP server {quoted(self._server)} {fault}; this was declined")
            return _DECLINED
        except _EndedError as ended:
            reply: Reply = ended.args[0]
            return reply

    async def _asked(self, asked: Elicitation) -> Reply:
        if self._requests > _MOST_REQUESTS:
            raise _UnfitError(f"asks for more than {_MOST_REQUESTS} inputs")
        message = _short(asked.message.strip(), _LONGEST_MESSAGE)
        if asked.url:
            return await self._visit(message, asked.url)
        return await self._fill_in(message, _fields(asked.schema))

    async def _visit(self, message: str, url: str) -> Reply:
        host = _host(url)
        text = (
            f"{message}\n\nThe server wants you to open an address of {host}:\n{url}\n\n"
            f"Open it in a browser if you know {host}, and choose {_VISITED} when you are done there."
        )
        return await self._confirmed(text, _VISITED)

    async def _fill_in(self, message: str, fields: Sequence[_Field]) -> Reply:
        if not fields:
            return await self._confirmed(message, _ACCEPT)
        content: dict[str, Json] = {}
        shown = []
        for number, each in enumerate(fields, 1):
            head = f"[{number} of {len(fields)}] " if len(fields) > 1 else ""
            begin = f"{message}\n\n{head}" if number == 1 else head
            answer, value = await self._value(begin, each)
            if value is not None:
                content[each.name] = value
            shown.append(f"{each.title}: {'***' if each.is_secret else answer}")
        if len(fields) > 1:
            answers = "\n".join(shown)
            await self._confirmed(f"These answers go to the server:\n{answers}", _SEND)
        return Reply("accept", content)

    async def _confirmed(self, text: str, word: str) -> Reply:
        answer = await self._answer(text, (word, _DECLINE))
        if answer.casefold() != word.casefold():
            raise _EndedError(_DECLINED if answer.casefold() == _DECLINE.casefold() else _CANCELLED)
        return Reply("accept")

    async def _value(self, begin: str, asked: _Field) -> tuple[str, Json]:
        """Return the typed text, and its value; None if the property is left out."""
        fault = ""
        for _ in range(_ATTEMPTS):
            answer = await self._answer(f"{fault}{begin}{asked.text}", asked.choices)
            if not asked.is_required and answer.casefold() == _LEAVE_OUT.casefold():
                return _LEAVE_OUT, None
            try:
                return answer, asked.read(answer)
            except _MisfitError as misfit:
                fault = f"That does not fit: {misfit}.\n\n"
        raise _EndedError(_CANCELLED)

    async def _answer(self, text: str, choices: tuple[str, ...]) -> str:
        answer = await self._ask(self._server, text, choices)
        if answer == NOBODY_ANSWERS:
            raise _UnfitError("asks for an input, and nobody can be asked here")
        if answer.decision == "deny":
            if answer != DISMISSED:
                self._warn(f"MCP server {quoted(self._server)} has got no answer: {answer.why}")
            raise _EndedError(_CANCELLED)
        return answer.text.strip()


class _Field(Struct, frozen=True):
    """A property of a form. `options` are the labels of its only values."""

    name: str
    kind: str
    title: str
    description: str
    is_required: bool
    options: Mapping[str, Json]
    takes_several: bool
    default: str
    least: float
    most: float

    @property
    def is_secret(self) -> bool:
        """Whether it looks like what no server may ask for in a form."""
        return is_secret_name(self.name) or is_secret_name(self.title)

    @property
    def _is_number(self) -> bool:
        return self.kind in ("integer", "number")

    @property
    def text(self) -> str:
        """The question."""
        lines = [f"{self.title}{'' if self.is_required else ' (may be left out)'}"]
        lines += [self.description] if self.description else []
        if self.takes_several:
            lines += [f"Several of these, separated by commas: {', '.join(self.options)}"]
        elif self._is_number:
            lines += ["A whole number." if self.kind == "integer" else "A number."]
            lines += [f"The server proposes {self.default}."] if self.default else []
            lines += [] if self.is_required else [f"Answer {quoted(_LEAVE_OUT)} to leave it out."]
        if self.is_secret:
            lines += [
                "This looks like a secret, which servers must not ask for in this way. "
                "Your answer goes to the server as it is."
            ]
        return "\n".join(lines)

    @property
    def choices(self) -> tuple[str, ...]:
        """The options of the question. Without options any answer is possible.

        There are none beside numbers: at a terminal, a choice is made by its number.
        """
        if self._is_number and not self.options:
            return ()
        own = () if self.takes_several else tuple(self.options)
        default = (self.default,) if self.default and self.default not in own else ()
        return (*default, *own, *(() if self.is_required else (_LEAVE_OUT,)))

    def read(self, answer: str) -> Json:
        """Return the value that an answer means. Raises _MisfitError."""
        if self.takes_several:
            parts = [part.strip() for part in answer.split(",") if part.strip()]
            self._check(len(parts), "choices")
            return [self._option(part) for part in parts]
        if self.options:
            return self._option(answer)
        if self.kind == "string":
            self._check(len(answer), "characters")
            return answer
        try:
            number = int(answer) if self.kind == "integer" else float(answer)
        except ValueError:
            raise _MisfitError("it is not a number") from None
        if not isinstance(number, int) and not math.isfinite(number):
            raise _MisfitError("it is not a number")
        self._check(number, "")
        return number

    def _option(self, answer: str) -> Json:
        typed = answer.casefold()
        for label, value in self.options.items():
            if typed in (label.casefold(), str(value).casefold()):
                return value
        begun = [label for label in self.options if typed and label.casefold().startswith(typed)]
        if len(begun) == 1:
            return self.options[begun[0]]
        raise _MisfitError(f"{quoted(escaped(answer[:_LONGEST_LABEL]))} is none of the choices")

    def _check(self, size: float, unit: str) -> None:
        what = f" {unit}" if unit else ""
        if size < self.least:
            raise _MisfitError(f"the least is {self.least:g}{what}")
        if size > self.most:
            raise _MisfitError(f"the most is {self.most:g}{what}")


def _fields(schema: Mapping[str, Json]) -> list[_Field]:
    """Return the properties of a form. Raises _UnfitError."""
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, dict) or len(properties) > _MOST_FIELDS:
        raise _UnfitError(f"asks for a form that has no properties or more than {_MOST_FIELDS}")
    needed = required if isinstance(required, list) else ()
    return [_field(name, each, is_required=name in needed) for name, each in properties.items()]


def _field(name: str, written: Json, *, is_required: bool) -> _Field:
    table = _without_null(written) if isinstance(written, dict) else {}
    kind = table.get("type")
    takes_several = kind == "array"
    source = table.get("items") if takes_several else table
    options = dict(_options(source)) if isinstance(source, dict) else {}
    if kind == "boolean":
        options = {"Yes": True, "No": False}
    if kind not in ("string", "integer", "number", "boolean", "array"):
        raise _UnfitError(
            f"asks for {quoted(name)}, which is neither a text, a number, a choice nor a truth value"
        )
    if takes_several and not options:
        raise _UnfitError(f"asks for {quoted(name)}, a list of anything")
    least, most = {
        "array": ("minItems", "maxItems"),
        "string": ("minLength", "maxLength"),
    }.get(kind, ("minimum", "maximum"))
    return _Field(
        name=name,
        kind=kind,
        title=_line(table.get("title")) or _line(name),
        description=_line(table.get("description"), _LONGEST_DESCRIPTION),
        is_required=is_required,
        options=options,
        takes_several=takes_several,
        default=_default(table.get("default"), options),
        least=_number(table.get(least), -math.inf),
        most=_number(table.get(most), math.inf),
    )


def _default(value: Json, options: Mapping[str, Json]) -> str:
    """Return the default that a server proposes, as an answer."""
    if isinstance(value, list):
        return ", ".join(_default(each, options) for each in value)
    label = next((each for each, option in options.items() if option == value), None)
    return label or (_line(value) if isinstance(value, (str, int, float)) else "")


def _without_null(table: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the schema of a property, where generators write `anyOf` for one that may be null."""
    either = table.get("anyOf")
    if not isinstance(either, list) or "type" in table:
        return table
    real = [each for each in either if isinstance(each, dict) and each.get("type") != "null"]
    return {**table, **real[0]} if len(real) == 1 else table


def _options(table: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the labels of the only values, and these. Raises _UnfitError."""
    titled = table.get("oneOf") or table.get("anyOf")
    values, names = table.get("enum"), table.get("enumNames")
    pairs: list[tuple[Json, Json]] = []
    if isinstance(titled, list):
        options = [each for each in titled if isinstance(each, dict) and "const" in each]
        pairs = [(each.get("title"), each["const"]) for each in options]
    elif isinstance(values, list):
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(labels, values, strict=True))
    if len(pairs) > _MOST_OPTIONS:
        raise _UnfitError(f"asks to choose among more than {_MOST_OPTIONS} values")
    for label, value in pairs:
        yield _line(label) or _line(value), value


def _host(url: str) -> str:
    """Return the host of an address that a person may be sent to. Raises _UnfitError."""
    try:
        parts = urlsplit(url)
        host, user = parts.hostname or "", parts.username
    except ValueError:
        host, user, parts = "", None, urlsplit("")
    if (
        parts.scheme not in ("http", "https")
        or not host
        or user is not None
        or len(url) > _LONGEST_ADDRESS
        or not (url.isascii() and url.isprintable())
        or any(each in url for each in " \\")  # Browsers take the latter for a slash.
    ):
        raise _UnfitError("wants to send you to something else than a plain web address")
    return host


def _line(value: Json, longest: int = _LONGEST_LABEL) -> str:
    """Return the message of a server, in a line."""
    return "" if value is None else _short(" ".join(escaped(str(value)).split()), longest)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


def _number(value: Json, otherwise: float) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return otherwise
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
