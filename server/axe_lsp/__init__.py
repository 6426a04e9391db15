"""axe-lsp: a language server and a runtime for AI agents in TOML and Markdown files."""

__version__ = "0.1.0"
