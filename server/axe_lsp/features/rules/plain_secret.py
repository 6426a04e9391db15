"""An API key that stands in the file itself."""

from __future__ import annotations

from axe_lsp.features.rule import Rule, Severity, Subject, problems_with

RULE = Rule(
    code="plain-secret",
    severity=Severity.WARNING,
    summary="Something that looks like an API key.",
    documentation="""
Agent files are shared and end up in version control, with everything that is written in them, comments
included. A key of a provider belongs in the environment (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`) or in the
user's own `config.toml`; a header of an MCP server takes a value from the environment with `${NAME}`. A key that was
shared once should be replaced.

Recognised are keys of Anthropic, OpenAI, OpenRouter, Google, Tavily, Groq, xAI, Hugging Face, Perplexity, Replicate,
GitHub, GitLab, Slack and AWS, by the way in which they begin. Messages never repeat them, and `axe-lsp check`
blots them out.

```toml
[[mcp_servers]]
name = "search"
url = "https://mcp.example.com"
transport = "streamable-http"
headers = { Authorization = "Bearer ${SEARCH_TOKEN}" }
```
""",
    check=problems_with("plain-secret", Severity.WARNING),
    about=Subject.PROBLEMS,
)
