"""`web_search`: what is asked, what comes back, what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS
from support.web_site import Answer, WebSite

RESULTS = {"results": [{"title": "A", "url": "http://a", "content": "About a"}, {"title": "B"}]}


async def searched(site: WebSite, key: str = "tvly-secret", query: str = "what") -> str:
    """Return what a model gets that searches."""
    environment = {
        "HOME": "/absent",
        "TAVILY_API_KEY": key,
        "AXE_WEB_SEARCH_BASE_URL": f"http://127.0.0.1:{site.port}/",
    }
    call = ToolCall("1", "web_search", {"query": query})
    return await BUILTIN_TOOLS["web_search"].execute(call, Workplace(Path("/"), environment))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (RESULTS, "Title: A\nURL: http://a\nSnippet: About a\n\nTitle: B\nURL: \nSnippet: "),
        ({"results": []}, "No results found."),
    ],
)
async def test_a_search_has_results(answer: object, text: str) -> None:
    with WebSite({"/search": Answer(json.dumps(answer).encode())}) as site:
        assert await searched(site) == text
    (asked,) = site.asked
    assert asked.headers["authorization"] == "Bearer tvly-secret"
    assert json.loads(asked.body)["query"] == "what"
    assert b"tvly-secret" not in asked.body


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(b"bad key tvly-secret", 401), "Tavily API error (HTTP 401): bad key [redacted]"),
        (Answer(b"x" * 900, 500), "Tavily API error (HTTP 500): " + "x" * 500),
        (Answer(b"nonsense"), "failed to parse Tavily response: JSONDecodeError("),
        (Answer(b'{"results": [1]}'), "failed to parse Tavily response: AttributeError("),
        (Answer(b"[" * 100_000), "failed to parse Tavily response: RecursionError("),
        (Answer(b"[]"), "failed to parse Tavily response: TypeError("),
    ],
)
async def test_a_search_that_fails(answer: Answer, told: str) -> None:
    with WebSite({"/search": answer}) as site, pytest.raises(ToolError) as error:
        await searched(site)
    assert str(error.value).startswith(told)
    assert len(str(error.value)) < 600


async def test_what_a_search_needs() -> None:
    with WebSite({}) as site:
        with pytest.raises(ToolError, match="TAVILY_API_KEY environment variable is not set"):
            await searched(site, key="")
        with pytest.raises(ToolError, match="query is required"):
            await searched(site, query="")
    with pytest.raises(ToolError, match="connection refused"):
        await searched(site)
