"""An API key that is written in the file itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.schema.lookup import part_at
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.splices import Splice
from axe_lsp.agentfile.text.tree import ValueKind
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.edit import Secret, TextChange
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Fix, FoundKey, change, entry_around
from axe_lsp.features.rule import Dialects, Rule, Subject

_HEADERS = ("mcp_servers", "headers")
_PROVIDERS = {"GEMINI_API_KEY": "google"}
"""Providers whose key is not in `<PROVIDER>_API_KEY`."""


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a key moved to a place that is not shared with the file: the environment, or the user's config.toml.

    The key itself appears in nothing that is shown: neither in titles nor in the arguments of commands.
    """
    where = case.finding.range
    found = entry_around(case.lookup, where.start)
    secret = part_at(case.lookup.secrets, where.start)
    if found is None or secret is None or secret.range != where:
        return
    if _is_header(case, found):
        variable = secret.variable or re.sub(r"\W+", "_", secret.owner).upper() + "_API_KEY"
        title = f"Take it from the environment, from ${variable}"
        yield change(case, title, Splice(where, f"${{{variable}}}"), preferred=True)
        return
    variable = secret.variable
    provider = _PROVIDERS.get(variable, variable.removesuffix("_API_KEY").lower())
    spec = case.lookup.schema.find(found.entry.key.names)
    is_needed = spec is not None and spec.required
    if provider in PROVIDERS and _is_whole_value(case, found) and not is_needed:
        removal = TextChange(case.file.uri, *found.removal(case.text))
        yield Fix(
            f"Move it to config.toml, as the key of {provider}",
            (removal,),
            preferred=True,
            secret=Secret(provider, case.token),
        )


def _is_header(case: Case, found: FoundKey) -> bool:
    return case.lookup.path_of(found.entry)[:-1] == _HEADERS


def _is_whole_value(case: Case, found: FoundKey) -> bool:
    value = found.entry.value
    if value is None or value.kind is not ValueKind.STRING:
        return False
    return bool(decode(case.text, value) == case.token)


RULE = Rule(
    code="plain-secret",
    severity=Severity.WARNING,
    summary="A text that looks like an API key.",
    documentation="""
Agent files are shared and committed to version control, including their comments. A provider's key
belongs in the environment (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`) or in the user's `config.toml`; a
header of an MCP server takes a value from the environment with `${NAME}`. Replace a key that was
ever shared.

Recognised are keys of Anthropic, OpenAI, OpenRouter, Google, Tavily, Groq, xAI, Hugging Face, Perplexity, Replicate,
GitHub, GitLab, Slack and AWS, by their prefixes. Messages never repeat them, and `axe-lsp check`
masks them.

```toml
[[mcp_servers]]
name = "search"
url = "https://mcp.example.com"
transport = "streamable-http"
headers = { Authorization = "Bearer ${SEARCH_TOKEN}" }
```
""",
    is_for=Dialects.ALL,
    fixes=fixes,
    about=Subject.PROBLEMS,
    is_protecting=True,
)
