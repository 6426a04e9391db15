"""`read_file`: the lines of a text file, numbered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from itertools import chain, islice
from typing import BinaryIO

import anyio

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.files.context_files import BINARY_PROBE
from axe_lsp.runtime.files.images import LARGEST_IMAGE, image_of, media_type
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.tools.editor_files import read_in_editor
from axe_lsp.runtime.tools.long_output import MAX_OUTPUT
from axe_lsp.runtime.tools.paths import opened, place, speaking_of
from axe_lsp.runtime.tools.seen_files import COMPARED_BYTES
from axe_lsp.runtime.tools.tool import (
    BuiltinTool,
    Shown,
    ToolError,
    Workplace,
    capped_lines,
    required,
)

_LIMIT = 2000
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")
"""Models also write 5.0 for 5."""

_LONGEST_LINE = MAX_OUTPUT // 2


async def _read_file(call: ToolCall, workplace: Workplace) -> str | Shown:
    path = required(call, "path")
    offset, limit = _positive(call, "offset", 1), _positive(call, "limit", _LIMIT)
    found = place(workplace, path)
    held = await read_in_editor(workplace, found)
    if held is not None:
        workplace.seen_files.note(found, held.content)
        return _shown(BytesIO(held.content), offset, limit)
    read = partial(_numbered, workplace, path, offset, limit)
    return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)


def _positive(call: ToolCall, name: str, default: int) -> int:
    text = call.argument(name)
    if not text:
        return default
    found = _WHOLE_NUMBER.fullmatch(text)
    if found is None:
        raise ToolError(f"invalid {name} {quoted(text)}: not a whole number")
    number = int(found[1])
    if number < 1:
        raise ToolError(f"{name} must be >= 1")
    return number


def _numbered(workplace: Workplace, path: str, offset: int, limit: int) -> str | Shown:
    found = place(workplace, path)
    with speaking_of(path), opened(found) as file:
        beginning = file.read(BINARY_PROBE)
        if media_type(beginning):
            return _picture(beginning + file.read(LARGEST_IMAGE))
        if b"\0" in beginning:
            raise ToolError("binary file detected")
        file.seek(0)
        shown = _shown(file, offset, limit)
        file.seek(0)
        workplace.seen_files.note(found, file.read(COMPARED_BYTES))
    return shown


def _picture(data: bytes) -> Shown:
    image = image_of(data)
    if image is None:
        raise ToolError(f"the picture is larger than {LARGEST_IMAGE:,} bytes")
    return Shown(f"a picture ({image.media_type}, {len(data):,} bytes)", (image,))


def _shown(file: BinaryIO, offset: int, limit: int) -> str:
    lines = _lines(file)
    skipped = sum(1 for _ in islice(lines, offset - 1))
    first = next(lines, None)
    if first is None and offset > 1:
        raise ToolError(f"offset {offset} exceeds file length of {skipped} lines")
    if first is None:
        return ""
    rest = islice(lines, limit - 1)
    numbered = (f"{number}: {line}" for number, line in enumerate(chain([first], rest), offset))
    return capped_lines(numbered, "use offset and limit to read on")


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file, which end at LF only. A line that is too long is truncated."""
    while line := file.readline(_LONGEST_LINE):
        shown = decode(line.removesuffix(b"\n"))
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            shown += " ... [line truncated]"
            while (more := file.readline(_LONGEST_LINE)) and not more.endswith(b"\n"):
                pass
        yield shown


TOOL = BuiltinTool(
    Tool(
        "read_file",
        "Read the contents of a file relative to the working directory. Returns line-numbered "
        "output in the format 'N: content' for each line.",
        {
            "path": ToolParameter("string", "Relative path to the file to read.", required=True),
            "offset": ToolParameter(
                "string", "1-indexed line number to start reading from. Defaults to 1."
            ),
            "limit": ToolParameter(
                "string", "Maximum number of lines to return. Defaults to 2000."
            ),
        },
    ),
    _read_file,
)
