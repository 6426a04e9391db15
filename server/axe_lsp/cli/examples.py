"""Examples of each command, and the page of the documentation about it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EXAMPLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "init": ("axe-lsp init", "axe-lsp init helper --model ollama/qwen3"),
        "run": (
            "axe-lsp run reviewer 'Review src/app.py'",
            "git diff | axe-lsp run reviewer --require-stdin",
        ),
        "chat": ("axe-lsp chat reviewer", "axe-lsp chat reviewer --continue"),
        "resume": ("axe-lsp resume", "axe-lsp resume 3f2a9c1e --from-turn 3"),
        "runs": ("axe-lsp runs", "axe-lsp runs --in . --json"),
        "attach": ("axe-lsp attach 3f2a9c1e", "axe-lsp attach 3f2a9c1e --json"),
        "send": ("axe-lsp send 3f2a9c1e 'Leave out the tests.'", "axe-lsp send 3f2a9c1e --list"),
        "stop": ("axe-lsp stop 3f2a9c1e", "axe-lsp stop 77ab01cd"),
        "changes": ("axe-lsp changes", "axe-lsp changes 3f2a9c1e --turn 2 --diff"),
        "undo": ("axe-lsp undo --dry-run", "axe-lsp undo 3f2a9c1e --turn 2"),
        "check": ("axe-lsp check", "axe-lsp check --strict --format github"),
        "hook": ("cat event.json | axe-lsp hook", "axe-lsp help coding-agents"),
        "test": ("axe-lsp test", "axe-lsp test new 3f2a9c1e"),
        "agents": ("axe-lsp agents list", "axe-lsp agents stats --source all"),
        "import": ("axe-lsp import .claude/agents", "axe-lsp import --dry-run .codex/agents"),
        "export": ("axe-lsp export --to claude reviewer", "axe-lsp export --to codex"),
        "sync": (
            "axe-lsp sync reviewer --from .claude/agents/reviewer.md",
            "axe-lsp sync reviewer --from axe/agents/reviewer.toml --dry-run",
        ),
        "trust": ("axe-lsp trust", "axe-lsp trust --list"),
        "config": ("axe-lsp config init", "axe-lsp config key anthropic"),
        "schema": ("axe-lsp schema agent", "axe-lsp schema run-result"),
        "gc": ("axe-lsp gc reviewer --dry-run", "axe-lsp gc --all"),
        "history": ("axe-lsp history list --in .", "axe-lsp history cost --since 2026-11-01"),
        "acp": ("axe-lsp acp", "axe-lsp acp --agent reviewer"),
        "mcp": ("axe-lsp mcp reviewer", "axe-lsp mcp --http 0 --all"),
        "hands": ("ssh HOST axe-lsp hands", "axe-lsp help elsewhere"),
        "demo": ("axe-lsp demo", "axe-lsp demo --copy my-demo"),
        "bench": ("axe-lsp bench --quick", "axe-lsp bench --only keystrokes"),
        "serve": ("axe-lsp --stdio", "axe-lsp serve --tcp 127.0.0.1:7777"),
        "models": ("axe-lsp models", "axe-lsp models anthropic --json"),
        "doctor": ("axe-lsp doctor", "axe-lsp doctor --network --json"),
        "help": ("axe-lsp help", "axe-lsp help providers"),
        "completion": ('eval "$(axe-lsp completion bash)"', "axe-lsp completion zsh"),
        "version": ("axe-lsp version", "axe-lsp -V"),
    }
)
"""Two examples of each command."""

TOPICS: Mapping[str, str] = MappingProxyType(
    {
        "init": "agent-files",
        "chat": "resume",
        "resume": "resume",
        "runs": "resume",
        "attach": "resume",
        "send": "delegation",
        "stop": "resume",
        "changes": "resume",
        "undo": "resume",
        "check": "diagnostics",
        "test": "testing",
        "agents": "agent-files",
        "import": "converting",
        "export": "converting",
        "trust": "security",
        "config": "config-file",
        "schema": "schemas",
        "history": "history",
        "acp": "acp",
        "mcp": "mcp-server",
        "hands": "elsewhere",
        "bench": "benchmarks",
        "serve": "any-client",
        "models": "models",
        "doctor": "troubleshooting",
    }
)
"""The page about each command; `command-line` about the others."""


def further_help(command: str) -> str:
    """Return the examples of a command, such as `history`, and its page, for the end of its help."""
    if command not in EXAMPLES:
        return ""
    examples = "".join(f"  {each}\n" for each in EXAMPLES[command])
    page = TOPICS.get(command, "command-line")
    return f"\nexamples:\n{examples}\n`axe-lsp help {page}` shows the documentation.\n"
