"""Texts for property tests: agent files, half of one, and nonsense made of what TOML is made of."""

from __future__ import annotations

from hypothesis import strategies as st

_PIECES = [
    *"[]{}=.,#\"'\\ \t\n",
    "\r\n",
    '"""',
    "'''",
    "[[",
    "]]",
    " = ",
    "name",
    "model",
    "sub_agents",
    "sub_agents_config",
    "max_depth",
    "mcp_servers",
    "task",
    "type",
    "tools",
    "params",
    "memory",
    "input",
    "[sub_agents_config]\n",
    "[[mcp_servers]]\n",
    '"lint"',
    '"a/b"',
    '["lint", "fix"]',
    "{ enabled = true }",
    "0",
    "7",
    "true",
    "1979-05-27 07:32:00",
    "# c\n",
    "é",
    "😀",
    "\u2028",
    "\x00",
    "\ufeff",
]

TEXTS = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)
"""Any text, with the pieces of agent files in it."""
