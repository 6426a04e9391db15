"""The JSON-RPC engine: LSP's messages, life cycle and transports. It knows no agents."""

from axe_lsp.rpc import deferred_types

# Every module of this package imports lsprotocol sooner or later; this has to be the first import.
deferred_types.install()
