"""The methods of LSP, one file per method or family. Only this package and `axe_lsp.rpc` know lsprotocol."""

from axe_lsp.rpc import deferred_types

# Every module of this package imports lsprotocol sooner or later; this has to be the first import.
deferred_types.install()
