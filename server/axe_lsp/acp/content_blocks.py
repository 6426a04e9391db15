"""A message: content blocks of the protocol as the task of an agent, and its pictures."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from axe_lsp.acp.client_connection import INVALID_PARAMS, RequestError
from axe_lsp.runtime.files.images import LARGEST_IMAGE, image_of
from axe_lsp.runtime.messages import Image

_MOST_IMAGES = 20
"""In a message. Providers take no more than that of full size."""


class Prompt(NamedTuple):
    """The message of a user."""

    task: str
    images: tuple[Image, ...] = ()


def read_prompt(blocks: Sequence[Any], folder: Path) -> Prompt:
    """Return the message. Links to files below `folder` become relative paths. Raises RequestError."""
    images = tuple(_image(block) for block in blocks if _kind(block) == "image")
    if len(images) > _MOST_IMAGES:
        raise _wrong(f"prompt has {len(images)} images; at most {_MOST_IMAGES} can be sent")
    texts = (_text(block, folder) for block in blocks if _kind(block) != "image")
    return Prompt("\n\n".join(filter(None, texts)), images)


def _kind(block: Any) -> Any:
    return block.get("type") if isinstance(block, Mapping) else None


def _text(block: Any, folder: Path) -> str:
    match kind := _kind(block):
        case "text":
            return _member(block, "text", "text")
        case "resource_link":
            uri = _member(block, "uri", "resource_link")
            return f"[{_member(block, 'name', 'resource_link')}]({_place(uri, folder)})"
        case "resource":
            return _embedded(block.get("resource"), folder)
    raise _wrong(
        f"prompt has a block of type {kind!r}; text, resource_link, resource and image can be sent"
    )


def _image(block: Mapping[str, Any]) -> Image:
    try:
        data = b64decode(_member(block, "data", "image"), validate=True)
    except ValueError:
        raise _wrong("the data of an image in prompt is not Base64") from None
    image = image_of(data)
    if image is None:
        raise _wrong(
            "an image in prompt can't be sent: PNG, JPEG, GIF and WebP are possible, with at most "
            f"{LARGEST_IMAGE:,} bytes"
        )
    return image


def _embedded(resource: Any, folder: Path) -> str:
    if not isinstance(resource, Mapping) or not isinstance(resource.get("text"), str):
        raise _wrong("prompt has a resource without text, which can't be sent")
    text = resource["text"]
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{_place(_member(resource, 'uri', 'resource'), folder)}\n{fence}\n{text}\n{fence}"


def _member(block: Mapping[str, Any], name: str, kind: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise _wrong(f"a block {kind} in prompt needs the string {name}")
    return value


def _wrong(complaint: str) -> RequestError:
    return RequestError(INVALID_PARAMS, f"invalid params: {complaint}")


def _place(uri: str, folder: Path) -> str:
    """Return the path of a file below the folder, or the URI as it is."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme != "file":
        return uri
    path = os.path.normpath(unquote(parts.path))
    relative = os.path.relpath(path, folder)
    return path if relative.startswith("..") else relative
