"""Commands that obviously reach beyond the working directory are refused before they run.

This keeps a model from straying, as in axe; it is no wall. A shell has endless ways to spell a path:
who needs a wall runs axe-lsp in a container.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.tools.tool import ToolError

_URL = re.compile(r"https?://[^\s'`\"]+")
_WORD_END = r"\s'\"`;&|<>(){}=,:"
_WORD = re.compile(rf"[^{_WORD_END}]+")
_ABSOLUTE = re.compile(r"(?:^|^-\w+|[^\w.*?\]})$~+/-])(/.*)")
"""From the slash on that begins a path: the first one, or one behind an option or a sign such as `@`."""

_HOME = re.compile(rf"(?:^|(?<=[{_WORD_END}]))~(?:[A-Za-z_][\w-]*)?(?=[/{_WORD_END}]|$)")


def check_command(command: str, folder: Path) -> None:
    """Raises ToolError for a home folder, an absolute path or `..` that leads outside."""
    root = os.path.normpath(folder)
    if root == os.sep:
        return
    spoken = _URL.sub("_", command)
    if home := _HOME.search(spoken):
        raise ToolError(
            f"command rejected: home directory expansion {quoted(home[0])} is not allowed; "
            "use relative paths from the working directory instead"
        )
    for word in _WORD.findall(spoken):
        _check_word(word, root)


def _check_word(word: str, root: str) -> None:
    inside = Path(os.path.normpath(os.path.join(root, word))).is_relative_to(root)  # noqa: PTH118
    if not inside and not word.startswith("/"):
        raise ToolError(
            f"command rejected: parent traversal in {quoted(word)} escapes the working directory "
            f"{quoted(root)}; use relative paths that stay within the workdir"
        )
    absolute = _ABSOLUTE.search(word)
    if absolute and not _is_harmless(absolute[1], root):
        raise ToolError(
            f"command rejected: absolute path {quoted(absolute[1])} is outside the working directory "
            f"{quoted(root)}; use relative paths instead"
        )


def _is_harmless(path: str, root: str) -> bool:
    """Whether an absolute path is a device, or leads into the working directory."""
    place = Path(os.path.normpath(path))
    return place.is_relative_to("/dev") or place.is_relative_to(root)
