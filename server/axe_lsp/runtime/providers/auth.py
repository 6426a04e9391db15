"""The header that holds the API key of a request."""

from __future__ import annotations

from axe_lsp.agentfile.schema.providers import Auth

_HEADERS: dict[Auth, str] = {
    "x-api-key": "x-api-key",
    "api-key": "api-key",
    "x-goog-api-key": "x-goog-api-key",
}


def key_headers(auth: Auth, key: str) -> dict[str, str]:
    """The headers that hold the key; none for a service that wants none, or if there is no key."""
    if auth == "none" or not key:
        return {}
    if auth == "bearer":
        return {"authorization": f"Bearer {key}"}
    return {_HEADERS[auth]: key}
