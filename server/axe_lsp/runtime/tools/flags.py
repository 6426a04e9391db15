"""Arguments that say yes or no. Models write them as strings, as the tools of axe want it."""

from __future__ import annotations

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.tools.tool import ToolError

_YES = frozenset(["1", "t", "T", "true", "TRUE", "True"])
_NO = frozenset(["0", "f", "F", "false", "FALSE", "False", ""])


def is_true(call: ToolCall, name: str) -> bool:
    """Whether an argument says yes; absent it says no. Raises ToolError if it says neither."""
    text = call.argument(name)
    if text not in _YES | _NO:
        raise ToolError(f"invalid {name} value {quoted(text)}: must be true or false")
    return text in _YES
