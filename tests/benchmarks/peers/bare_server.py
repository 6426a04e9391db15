"""The least that a language server on pygls can be: it answers `initialize`."""

from pygls.lsp.server import LanguageServer

LanguageServer("bare", "1").start_io()
