"""The protocol: LSP over JSON-RPC. The only room that knows pygls and lsprotocol."""

from axe_lsp.lsp import deferred_types

# Every module of this package imports lsprotocol sooner or later; this has to be the first import.
deferred_types.install()
