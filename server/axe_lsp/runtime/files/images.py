"""Pictures in files: which ones models take, told by their first bytes."""

from __future__ import annotations

from base64 import b64encode

from axe_lsp.runtime.messages import Image

LARGEST_IMAGE = 5_000_000
"""Bytes. Anthropic takes no larger ones, and others not many more."""

_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def media_type(data: bytes) -> str:
    """Return the media type of a picture that models take, "" for everything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    found = (type_ for beginning, type_ in _BEGINNINGS.items() if data.startswith(beginning))
    return next(found, "")


def image_of(data: bytes) -> Image | None:
    """Return the picture in a file; None if the file is no picture, or too large."""
    type_ = media_type(data)
    if not type_ or len(data) > LARGEST_IMAGE:
        return None
    return Image(type_, b64encode(data).decode())
