"""Addresses of servers, as far as they can be judged without calling them."""

from __future__ import annotations

import re

from axe_lsp.agentfile.text.ranges import quoted


def address_fault(address: str) -> str | None:
    """The reason why a text is not the address of a server, in axe's words."""
    scheme, separator, rest = address.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        return f"must use http or https scheme, got {quoted(scheme if separator else '')}"
    if not rest.split("/", 1)[0].strip():
        return "must include a host"
    return None


def without_passwords(text: str) -> str:
    """A text in which no address says who is calling, or has a query, in which some keep a key."""
    shown = re.sub(_CALLER, "", text) if "@" in text else text
    return re.sub(_QUERY, r"\1?…", shown) if "?" in shown else shown


_CALLER = r"(?<=://)[^/@\s]*@"
_QUERY = r"""(://[^\s?'"]*)\?[^\s'"]+"""
