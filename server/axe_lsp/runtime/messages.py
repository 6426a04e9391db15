"""The messages between an agent and a model, independent of providers (001-1.1 to 001-1.9).

Frozen data; each file in `providers/` translates it to and from one wire format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.runtime.incomplete import CONTRADICTORY, Incomplete
from axe_lsp.runtime.sources import Source
from axe_lsp.runtime.usage import Usage

Json = Any
"""A value as `json.loads` returns it."""


TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The names that providers take for tools."""


class ToolParameter(Struct, frozen=True, omit_defaults=True):
    """One parameter of a tool; `type` is a JSON Schema type (001-1.2), `choices` what it may be.

    `items` is the type of the elements of an array.
    """

    type: str
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    items: str = ""


class Tool(Struct, frozen=True, omit_defaults=True):
    """A tool as it is offered to the model (001-1.1). The order of `parameters` is kept.

    A tool that comes from elsewhere has the JSON Schema of its arguments instead. `server` is the name of its
    MCP server, "" if it has none. An `is_optional` tool may be missing in a recording.
    """

    name: str
    description: str
    parameters: Mapping[str, ToolParameter] = field(default_factory=dict)
    schema: Mapping[str, Json] | None = None
    server: str = ""
    is_optional: bool = False


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """The model's request to have a tool run (001-1.3). `arguments` is the raw JSON object.

    `id` is the provider's. `alias` is what events say instead, if another call of the same answer has
    that id. `is_broken`: the arguments are no JSON object, or the provider says that they are not whole.
    """

    id: str
    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    alias: str = ""
    is_broken: bool = False

    @property
    def event_id(self) -> str:
        """The id of the call in events, which is unique within an answer."""
        return self.alias or self.id

    def argument(self, name: str) -> str:
        """Return an argument as text: strings as they are, `null` and absent as "", the rest as JSON."""
        return argument_text(self.arguments.get(name))


def argument_text(value: Json) -> str:
    """Return a tool argument as text (001-1.3): never Python's `repr`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Image(Struct, frozen=True, omit_defaults=True):
    """A picture for a model: its media type, such as `image/png`, and its bytes in Base64."""

    media_type: str
    data: str


class ToolResult(Struct, frozen=True, omit_defaults=True):
    """The result of a tool call (001-1.4). Errors are text for the model as well.

    `name` is that of the tool, which some wires want to hear again.
    """

    call_id: str
    content: str
    is_error: bool = False
    name: str = ""
    images: tuple[Image, ...] = ()


class ToolOutcome(Struct, frozen=True, omit_defaults=True):
    """The result of a tool call, and the id of the run that the call has started, "" for none.

    `side` is the id instead if that run is a side run, known as `side_name`, whose own outcome follows in a step of
    its own: there `is_stopped` says that it was ended by a caller or a person. `gave` are the side runs whose answers the result
    of one of the tools for side runs contains.
    """

    result: ToolResult
    child: str = ""
    side: str = ""
    side_name: str = ""
    is_stopped: bool = False
    gave: tuple[str, ...] = ()


class Message(Struct, frozen=True, omit_defaults=True):
    """One entry of a conversation (001-1.7).

    An `assistant` message may carry `tool_calls` beside its text; a `tool` message carries
    `tool_results` and no text. `original` is the answer in the words of its wire, which gets it back
    as it was, and `origin` the wire and the model that it is of. `images` go with a `user` message.
    `given` are texts that follow the results, or the content, as user messages of their own: answers of side runs
    and messages of people.
    """

    role: Literal["user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    original: Json = None
    images: tuple[Image, ...] = ()
    origin: str = ""
    given: tuple[str, ...] = ()


class Given(Struct, frozen=True):
    """The side runs whose answers a request gives, by name, and the messages."""

    side_runs: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


NOTHING_GIVEN = Given()


class ResponseFormat(Struct, frozen=True, omit_defaults=True):
    """The form that the text of an answer shall have.

    With `json_schema` there is a `schema`, called `name`. `strict` asks for an exact match, which
    some providers promise for simple schemas only. A provider that refuses a format that is
    `optional` is asked again without it, and with `otherwise` at the end of the system prompt.
    """

    type: Literal["text", "json_object", "json_schema"]
    schema: Mapping[str, Json] = field(default_factory=dict)
    name: str = "response"
    strict: bool = True
    optional: bool = False
    otherwise: str = ""

    def __hash__(self) -> int:
        return hash((self.type, self.name))  # The schema, a mapping, has no hash.


class Request(Struct, frozen=True, omit_defaults=True):
    """One request to a provider. `temperature` is sent iff set, even if 0; no tools, no key.

    Of `params` the wire formats read what has no field of its own here. `continuation` is the token of
    an answer that the provider shall go on with. `session` names the conversation for a provider's cache. `kept` is what a provider keeps for the next turn. All
    requests of a conversation share it. `server_instructions` are those of MCP servers, which follow the system
    prompt; recordings do not hold them.
    """

    model: str
    messages: tuple[Message, ...]
    system: str = ""
    temperature: float | None = None
    max_tokens: int = 0
    tools: tuple[Tool, ...] = ()
    response_format: ResponseFormat | None = None
    params: Params = field(default_factory=Params)
    session: str = ""
    continuation: str = ""
    kept: dict[str, Any] = field(default_factory=dict)
    server_instructions: str = ""


class Delta(Struct, frozen=True, gc=False):
    """A piece of an answer that is being streamed: of its text, of the model's thoughts, or nothing."""

    text: str = ""
    thought: str = ""


class Response(Struct, frozen=True, omit_defaults=True):
    """A provider's answer. `stop_reason` is the provider's word; calls are detected by `tool_calls`.

    `incomplete` is why the answer is not whole, None if it is; `incomplete_detail` adds what the
    provider said about it. `thoughts` are shown to people and are no part of the answer.

    `input_tokens` are those of the whole prompt. As many as `cache_read_tokens` of them came out of
    the provider's cache, and `cache_write_tokens` were put into it; both have prices of their own.
    `cost` is in US dollars, None where nobody knows and for what was not paid for. `original` is
    the answer as the provider wants to have it back together with the results of its calls. Where a
    paused answer has a token, `continuation`, that goes back instead, and what follows is its other part.
    `native_stop_reason` is the word of the service behind the one that was asked (OpenRouter). `sources` are
    the pages and files that the answer is based on. `unread` names content that is no text, such as a picture, "" for none.
    `origin` names the wire and the model of the answer, "" for one that no service has given.
    """

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    stop_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    original: Json = None
    incomplete: Incomplete | None = None
    incomplete_detail: str = ""
    thoughts: str = ""
    continuation: str = ""
    native_stop_reason: str = ""
    sources: tuple[Source, ...] = ()
    unread: str = ""
    origin: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the answer has neither text nor tool calls."""
        return not (self.tool_calls or self.content.strip())

    @property
    def contradiction(self) -> str:
        """The stop reason that contradicts an empty answer, such as one that promises calls; "" for none."""
        if not self.is_empty or self.incomplete or self.unread:
            return ""
        reasons = self.native_stop_reason, self.stop_reason
        return next((reason for reason in reasons if reason in CONTRADICTORY), "")

    def message(self, tool_calls: tuple[ToolCall, ...] = ()) -> Message:
        """Return the answer as an entry of the conversation, with the calls that get results.

        Without them it is told in plain words, since no service takes a call back that has no result.
        """
        original = self.original if len(tool_calls) == len(self.tool_calls) else None
        return Message("assistant", self.content, tool_calls, original=original, origin=self.origin)

    @property
    def usage(self) -> Usage:
        """The use of the answer."""
        return Usage(
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.cost,
        )
