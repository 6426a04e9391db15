"""`web_search`: what Tavily finds in the web."""

from __future__ import annotations

import json
from typing import Any

import anyio

from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace, required

_BASE_URL = "https://api.tavily.com"
_MOST_RESULTS = 10
_MOST_SHOWN_OF_AN_ERROR = 500
_TIME_LIMIT = 30.0


async def _web_search(call: ToolCall, workplace: Workplace) -> str:
    query = required(call, "query")
    key = _key(workplace.environment)
    base_url = workplace.environment.get("AXE_WEB_SEARCH_BASE_URL") or _BASE_URL
    try:
        with anyio.fail_after(_TIME_LIMIT):
            status, answer = await _ask(base_url.rstrip("/") + "/search", key, query)
    except TimeoutError as error:
        raise ToolError(f"no answer from Tavily within {_TIME_LIMIT:g}s") from error
    except RunError as error:
        raise ToolError(redact(str(error), [key])) from error
    if not 200 <= status < 300:
        reason = redact(decode(answer), [key])[:_MOST_SHOWN_OF_AN_ERROR]
        raise ToolError(f"Tavily API error (HTTP {status}): {reason}")
    return _shown(answer)


def _key(environment: Environment) -> str:
    try:
        key = load_user_config(environment).api_key("tavily")
    except RunError as error:
        raise ToolError(str(error)) from error
    if not key:
        raise ToolError("TAVILY_API_KEY environment variable is not set")
    return key


async def _ask(url: str, key: str, query: str) -> tuple[int, bytes]:
    # Imported late, so that runs which search for nothing do not wait for an HTTP library.
    from axe_lsp.runtime.providers.http_client import HttpClient

    body = {
        "query": query,
        "max_results": _MOST_RESULTS,
        "search_depth": "basic",
        "include_images": False,
    }
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    client = HttpClient()
    try:
        async with client.post(url, headers, json.dumps(body).encode()) as answer:
            return answer.status, await answer.read()
    finally:
        await client.close()


def _shown(answer: bytes) -> str:
    try:
        results = json.loads(answer)["results"]
        found = [_result(result) for result in results[:_MOST_RESULTS]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ToolError(f"failed to parse Tavily response: {error!r}") from error
    return "\n\n".join(found) or "No results found."


def _result(result: dict[str, Any]) -> str:
    title, url, snippet = (result.get(key, "") for key in ("title", "url", "content"))
    return f"Title: {title}\nURL: {url}\nSnippet: {snippet}"


TOOL = BuiltinTool(
    Tool(
        "web_search",
        "Search the web using Tavily and return text results including titles, URLs, and snippets.",
        {"query": ToolParameter("string", "The search query to perform.", required=True)},
    ),
    _web_search,
    is_here=True,
)
