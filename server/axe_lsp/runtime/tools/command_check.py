"""Commands that obviously reach beyond the working directory are refused before they run.

This keeps a model from straying, as in axe; it is no wall. A shell has endless ways to spell a path:
who needs a wall runs axe-lsp in a container.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.tools.tool import ToolError

_URL = re.compile(r"https?://[^\s'`\"]+")
_WORD_END = r"\s'\"`;&|<>(){}=,:"
_WORD = re.compile(rf"[^{_WORD_END}]+")
_ABSOLUTE = re.compile(r"(?:^|^-\w+|[^\w.*?\]})$~+/-])(/.*)")
"""From the slash on that begins a path: the first one, or one behind an option or a sign such as `@`."""

_HOME = re.compile(rf"(?:^|(?<=[{_WORD_END}]))~(?:[A-Za-z_][\w-]*)?(?=[/{_WORD_END}]|$)")


def check_command(command: str, folders: Sequence[Path]) -> None:
    """Raises ToolError for a home folder, an absolute path or `..` that leads outside of all folders.

    The first one is that in which the command is executed.
    """
    roots = [os.path.normpath(each) for each in folders]
    if os.sep in roots:
        return
    spoken = _URL.sub("_", command)
    if home := _HOME.search(spoken):
        raise ToolError(
            f"command rejected: home directory expansion {quoted(home[0])} is not allowed; "
            "use relative paths from the working directory instead"
        )
    for word in _WORD.findall(spoken):
        _check_word(word, roots)


def _check_word(word: str, roots: Sequence[str]) -> None:
    inside = _is_below(Path(os.path.normpath(Path(roots[0], word))), roots)
    if not inside and not word.startswith("/"):
        raise ToolError(
            f"command rejected: parent traversal in {quoted(word)} escapes the working directory "
            f"{quoted(roots[0])}; use relative paths that stay within the workdir"
        )
    absolute = _ABSOLUTE.search(word)
    if absolute and not _is_harmless(absolute[1], roots):
        raise ToolError(
            f"command rejected: absolute path {quoted(absolute[1])} is outside the working directory "
            f"{quoted(roots[0])}; use relative paths instead"
        )


def _is_harmless(path: str, roots: Sequence[str]) -> bool:
    """Whether an absolute path is a device, or leads into one of the folders."""
    place = Path(os.path.normpath(path))
    return place.is_relative_to("/dev") or _is_below(place, roots)


def _is_below(path: Path, roots: Sequence[str]) -> bool:
    return any(path.is_relative_to(root) for root in roots)
