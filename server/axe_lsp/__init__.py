"""axe-lsp: a language server and a runtime for AI agents that are defined in TOML."""

__version__ = "0.1.0"
