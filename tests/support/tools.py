"""Tools, called as the runtime calls them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS

needs_ripgrep = pytest.mark.skipif(
    shutil.which("rg") is None and not os.environ.get("AXE_REQUIRE_EDITORS"),
    reason="ripgrep (rg) is not installed",
)
"""For tests that compare searches with its own. `.ci/run` installs it, and there they fail without it."""


async def use(tool: str, folder: Path, /, **arguments: Any) -> str:
    """Return the result of a call in a folder. Raises ToolError."""
    workplace = Workplace(folder, {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    return await BUILTIN_TOOLS[tool].execute(ToolCall("1", tool, arguments), workplace)


async def refusal(tool: str, folder: Path, /, **arguments: Any) -> str:
    """Return what the model is told when the call fails."""
    with pytest.raises(ToolError) as error:
        await use(tool, folder, **arguments)
    return str(error.value)
