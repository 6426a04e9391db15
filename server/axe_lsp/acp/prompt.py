"""The text of a message: content blocks of the protocol as the task of an agent."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from axe_lsp.acp.connection import INVALID_PARAMS, RequestError


def task_of(blocks: Sequence[Any], folder: Path) -> str:
    """The task. Links to files below `folder` become relative paths. Raises RequestError."""
    return "\n\n".join(filter(None, (_text_of(block, folder) for block in blocks)))


def _text_of(block: Any, folder: Path) -> str:
    kind = block.get("type") if isinstance(block, Mapping) else None
    match kind:
        case "text":
            return _member(block, "text", "text")
        case "resource_link":
            uri = _member(block, "uri", "resource_link")
            return f"[{_member(block, 'name', 'resource_link')}]({_place(uri, folder)})"
        case "resource":
            return _embedded(block.get("resource"), folder)
    raise RequestError(
        INVALID_PARAMS,
        f"invalid params: prompt has a block of type {kind!r}; text, resource_link and resource can be sent",
    )


def _embedded(resource: Any, folder: Path) -> str:
    if not isinstance(resource, Mapping) or not isinstance(resource.get("text"), str):
        raise RequestError(
            INVALID_PARAMS,
            "invalid params: prompt has a resource without text, which can't be sent",
        )
    text = resource["text"]
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{_place(_member(resource, 'uri', 'resource'), folder)}\n{fence}\n{text}\n{fence}"


def _member(block: Mapping[str, Any], name: str, kind: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise RequestError(
            INVALID_PARAMS, f"invalid params: a block {kind} in prompt needs the string {name}"
        )
    return value


def _place(uri: str, folder: Path) -> str:
    """The path of a file below the folder, or the URI as it is."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme != "file":
        return uri
    path = os.path.normpath(unquote(parts.path))
    relative = os.path.relpath(path, folder)
    return path if relative.startswith("..") else relative
