"""`url_fetch`: the text of a page of the web."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import anyio

from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace, required

if TYPE_CHECKING:
    from axe_lsp.runtime.tools.web import Page

_TIME_LIMIT = 15.0
_MOST_SHOWN = 10_000
"""Characters."""


async def _url_fetch(call: ToolCall, workplace: Workplace) -> str:
    url = required(call, "url")
    # Imported late, so that runs which fetch nothing do not wait for an HTTP library.
    from axe_lsp.runtime.tools.web import Network, fetch

    page = await fetch(url, workplace.allowed_hosts, Network(), _TIME_LIMIT)
    text = await anyio.to_thread.run_sync(_text, page, abandon_on_cancel=True)
    if len(text) > _MOST_SHOWN:
        text = f"{text[:_MOST_SHOWN]}\n... [response truncated, exceeded {_MOST_SHOWN} characters]"
    if not 200 <= page.status < 300:
        raise ToolError(f"HTTP {page.status}: {text}")
    return text


def _text(page: Page) -> str:
    try:
        text = page.body.decode(page.charset, "replace")
    except LookupError:
        text = page.body.decode("utf-8", "replace")
    return _words(text) if page.media_type == "text/html" else text


def _words(html: str) -> str:
    """Return the visible text of a page, in one line."""
    words = _Words()
    words.feed(html)
    words.close()
    return " ".join("".join(words.seen).split())


class _Words(HTMLParser):
    """Collects text, with a gap wherever an element ends."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Skip scripts and styles."""
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        """Take the end of an element."""
        if tag in ("script", "style") and self._hidden:
            self._hidden -= 1
        self.seen.append(" ")

    def handle_data(self, data: str) -> None:
        """Collect text between tags."""
        if not self._hidden:
            self.seen.append(data)


TOOL = BuiltinTool(
    Tool(
        "url_fetch",
        "Fetch content from a URL using HTTP GET and return the response body as text.",
        {"url": ToolParameter("string", "The URL to fetch.", required=True)},
    ),
    _url_fetch,
    is_here=True,
)
