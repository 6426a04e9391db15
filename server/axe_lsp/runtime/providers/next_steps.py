"""The next step after an error of a provider, in a sentence for a person.

Imported when there is an error. The words of local servers are those of LM Studio, llama.cpp, vLLM and Ollama.
"""

from __future__ import annotations

import re

from msgspec import Struct

from axe_lsp.agentfile.schema.models import ending_of, nearly_named
from axe_lsp.agentfile.schema.providers import Auth
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.providers.failures import WRONG_PLACE

_NO_SUCH_ADDRESS = (
    r"(?i)^((file|page|404 page|url|resource|path) )?not found\b"
    r"|^invalid url|^method not allowed|unexpected endpoint|cannot post|no route (?!to host)"
    r"|, text/html from "
)
"""The words of servers, and ours about a page in place of an answer, for an address that there is not."""

_IS_LOADING = "Loading model"
"""What llama.cpp says with status 503 until the model is in memory."""

_WHO_ASKS = 401
"""The status of a key that is refused; 403 means what it may be used for."""

_BAD_REQUEST = 400
"""The status with which xAI and Google refuse a key."""

_NOT_FOUND = 404

GARBLED_CALL = (
    "The model wrote a tool call that the provider can't read, and did so again when it was asked once more. "
    "Try another model, or fewer tools with simpler parameters"
)
"""The next step after a call that can't be read."""


class Asked(Struct, frozen=True):
    """The service that was asked. Where its key and its base URL come from is "" for nowhere and the usual place.

    `url` is shown without anything that may be secret. `has_headers`: the user has named headers to send.
    """

    provider: str
    model: str
    url: str
    auth: Auth
    has_headers: bool
    key_origin: str
    base_url_origin: str


def next_step(error: ProviderError, asked: Asked) -> str:
    """Return what helps, "" if nothing is known."""
    if error.status == _WHO_ASKS or (error.status == _BAD_REQUEST and error.category == "auth"):
        return _about_key(asked)
    if error.is_garbled_call:
        return GARBLED_CALL
    if WRONG_PLACE in error.message:
        return ""
    if _names_model(error, asked.model):
        return _about_model(asked)
    if asked.base_url_origin and re.search(_NO_SUCH_ADDRESS, error.message):
        return (
            f"Check the base URL, which is that of {asked.base_url_origin}. {asked.url} was asked"
        )
    return _about_server(error.message, asked)


_IS_NO_ID = "is not a valid model ID"
"""What OpenRouter says of a model with status 400."""


def _names_model(error: ProviderError, model: str) -> bool:
    """Return whether an error is about the model."""
    is_told = error.status == _NOT_FOUND or _IS_NO_ID in error.message
    return is_told and bool(re.search(rf"(?<!\w){re.escape(model)}(?!\w)", error.message))


def _about_key(asked: Asked) -> str:
    table = f"[providers.{asked.provider}] of config.toml"
    has_key = bool(asked.key_origin) and asked.auth != "none"
    if has_key:
        return f"Check the key, which is that of {asked.key_origin}"
    if asked.auth == "sigv4":
        return ""
    if asked.has_headers:
        return f"Check `headers` in {table}"
    if asked.auth == "none":
        return (
            f'No key was sent: in {table}, replace `auth = "none"` by `api_key_env`, the name of the '
            "variable that holds the key"
        )
    return f"No key was sent: `api_key_env` in {table} names the variable that holds it"


def _about_model(asked: Asked) -> str:
    """Return advice about a model that its provider does not have."""
    name = f"{asked.provider}/{asked.model}"
    similar, ending = nearly_named(name), ending_of(name)
    if similar is not None:
        return f"Did you mean {similar}?"
    if ending is not None:
        named = ending.successor
        successor = f"; its provider names {named} in its place" if named else ""
        return f"{name} {'ended' if ending.is_past else 'ends'} on {ending.day}{successor}"
    endpoint = re.fullmatch(r"([^?]*)/(?:chat/completions|responses)", asked.url)
    return f"{endpoint[1]}/models lists the models of this server" if endpoint else ""


def _about_server(message: str, asked: Asked) -> str:
    """Return advice about a server that can't be reached, or has not loaded the model yet."""
    if message == _IS_LOADING:
        return "Try again when the server has loaded the model, or set `[retry]` in the agent file"
    if message != "connection refused" and not message.startswith("the host can't be "):
        return ""
    if asked.base_url_origin:
        return f"Start the server, or check the base URL, which is that of {asked.base_url_origin}"
    # Ollama's own message says where it is expected.
    is_local = asked.url.startswith("http://localhost:")
    return "" if is_local else "Check the network, or name the proxy in HTTPS_PROXY"
