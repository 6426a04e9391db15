"""`list_directory`: the names in a folder."""

from __future__ import annotations

import os
from functools import partial

import anyio

from axe_lsp.runtime.files.opening import names_in
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.tools.paths import place, speaking_of
from axe_lsp.runtime.tools.tool import BuiltinTool, Workplace, capped_lines, required


async def _list_directory(call: ToolCall, workplace: Workplace) -> str:
    names = partial(_names, workplace, required(call, "path"))
    return capped_lines(await anyio.to_thread.run_sync(names, abandon_on_cancel=True))


def _names(workplace: Workplace, path: str) -> list[str]:
    folder = place(workplace, path)
    with speaking_of(path):
        return [
            valid_text(name) + ("/" if is_folder else "")
            for name, is_folder in sorted(names_in(folder), key=lambda each: os.fsencode(each[0]))
        ]


TOOL = BuiltinTool(
    Tool(
        "list_directory",
        "List the contents of a directory relative to the working directory. Returns one entry "
        "per line; subdirectories are suffixed with /.",
        {
            "path": ToolParameter(
                "string",
                'Relative path to the directory to list. Use "." to list the working directory '
                "root.",
                required=True,
            ),
        },
    ),
    _list_directory,
)
