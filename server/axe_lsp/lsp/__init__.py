"""The protocol: LSP over JSON-RPC. With `axe_lsp.rpc` the only room that knows pygls and lsprotocol."""

from axe_lsp.rpc import deferred_types

# Every module of this package imports lsprotocol sooner or later; this has to be the first import.
deferred_types.install()
