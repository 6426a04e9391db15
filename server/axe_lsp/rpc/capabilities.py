"""The capabilities of a server, derived from the handlers that are registered.

Written as the JSON that is sent. It is made once in a session, while the editor waits: classes for it
would take longer to be made than all the rest of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from lsprotocol import types

from axe_lsp.rpc.client import Client
from axe_lsp.serving.json_rpc import JsonObject

Options: TypeAlias = JsonObject | bool | Callable[[Client], JsonObject | bool]
"""The value of a method's capability: LSP's options, True without options, False to leave it out,
or a function that decides by the client."""

_PROVIDERS = {
    types.TEXT_DOCUMENT_DOCUMENT_COLOR: "colorProvider",
    types.TEXT_DOCUMENT_FORMATTING: "documentFormattingProvider",
    types.TEXT_DOCUMENT_RANGE_FORMATTING: "documentRangeFormattingProvider",
    types.TEXT_DOCUMENT_ON_TYPE_FORMATTING: "documentOnTypeFormattingProvider",
    types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: "callHierarchyProvider",
    types.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY: "typeHierarchyProvider",
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: "semanticTokensProvider",
    types.WORKSPACE_SYMBOL: "workspaceSymbolProvider",
}
"""The capabilities that are not called as their methods, as `hoverProvider` is."""

_FILE_OPERATIONS = {
    types.WORKSPACE_WILL_CREATE_FILES: "willCreate",
    types.WORKSPACE_DID_CREATE_FILES: "didCreate",
    types.WORKSPACE_WILL_RENAME_FILES: "willRename",
    types.WORKSPACE_DID_RENAME_FILES: "didRename",
    types.WORKSPACE_WILL_DELETE_FILES: "willDelete",
    types.WORKSPACE_DID_DELETE_FILES: "didDelete",
}

_OF_WORKSPACE = {types.WORKSPACE_TEXT_DOCUMENT_CONTENT: "textDocumentContent"}
"""The methods that the capability `workspace` announces, by the member."""

_OPTIONS = {
    types.CALL_HIERARCHY_INCOMING_CALLS: (types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, ""),
    types.CALL_HIERARCHY_OUTGOING_CALLS: (types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, ""),
    types.CODE_ACTION_RESOLVE: (types.TEXT_DOCUMENT_CODE_ACTION, "resolveProvider"),
    types.CODE_LENS_RESOLVE: (types.TEXT_DOCUMENT_CODE_LENS, "resolveProvider"),
    types.COMPLETION_ITEM_RESOLVE: (types.TEXT_DOCUMENT_COMPLETION, "resolveProvider"),
    types.DOCUMENT_LINK_RESOLVE: (types.TEXT_DOCUMENT_DOCUMENT_LINK, "resolveProvider"),
    types.INLAY_HINT_RESOLVE: (types.TEXT_DOCUMENT_INLAY_HINT, "resolveProvider"),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (types.TEXT_DOCUMENT_RENAME, "prepareProvider"),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, "range"),
    types.WORKSPACE_DIAGNOSTIC: (types.TEXT_DOCUMENT_DIAGNOSTIC, "workspaceDiagnostics"),
    types.WORKSPACE_SYMBOL_RESOLVE: (types.WORKSPACE_SYMBOL, "resolveProvider"),
}
"""The methods that the capability of another method announces, by an option of this name."""

_ALWAYS_SENT = frozenset(
    {
        types.INITIALIZED,
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.TEXT_DOCUMENT_DID_SAVE,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
    }
)
"""The notifications that `capabilities` announces for every server, or that need no announcement."""

_KNOWN = frozenset(types.ServerCapabilities.__annotations__)
"""LSP's capabilities, in the spelling of lsprotocol (`hover_provider`)."""


class UnannouncedError(Exception):
    """A handler that no client would ever call."""


def check_announced(method: str) -> None:
    """Raise `UnannouncedError` for a method of LSP that no capability announces."""
    if method not in types.METHOD_TO_TYPES:
        return  # Clients know from elsewhere which methods of our own they may send.
    if any(method in each for each in (_ALWAYS_SENT, _OPTIONS, _FILE_OPERATIONS, _OF_WORKSPACE)):
        return
    if _in_python(_provider(method)) not in _KNOWN:
        raise UnannouncedError(
            f"no capability announces {method}, so no client would send it; "
            "rpc/capabilities.py says which capability announces which method"
        )


def capabilities(
    options: Mapping[str, Options], commands: Iterable[str], client: Client
) -> JsonObject:
    """Return the capabilities of a server with handlers of these methods and commands.

    Raises `UnannouncedError` for a method that the options of another method should announce, but
    do not.
    """
    for method, (announcing, member) in _OPTIONS.items():
        if method in options and not _announces(options.get(announcing, False), member):
            option = f" with the option {member}" if member else ""
            raise UnannouncedError(
                f"{method} is announced by {announcing}{option}, which is missing"
            )
    said = {method: _said(each, client) for method, each in options.items()}
    return {
        "textDocumentSync": {
            "openClose": True,
            "change": types.TextDocumentSyncKind.Incremental.value,
            "save": types.TEXT_DOCUMENT_DID_SAVE in options,
        },
        **{_provider(each): value for each, value in said.items() if value and _is_provider(each)},
        "executeCommandProvider": {"commands": list(commands)},
        "workspace": {
            "workspaceFolders": {"supported": True, "changeNotifications": True},
            **{name: said[each] for each, name in _OF_WORKSPACE.items() if said.get(each)},
            "fileOperations": {
                name: said[method] for method, name in _FILE_OPERATIONS.items() if said.get(method)
            },
        },
    }


def _said(options: Options, client: Client) -> JsonObject | bool:
    return options(client) if callable(options) else options


def _announces(options: Options, member: str) -> bool:
    """Return whether the options hold a member; options that depend on the client may."""
    if isinstance(options, dict):
        return not member or bool(options.get(member))
    return callable(options) or (options and not member)


def _is_provider(method: str) -> bool:
    others = (_ALWAYS_SENT, _OPTIONS, _FILE_OPERATIONS, _OF_WORKSPACE)
    return method in types.METHOD_TO_TYPES and not any(method in each for each in others)


def _provider(method: str) -> str:
    """Return the capability of a method: `hoverProvider` of `textDocument/hover`."""
    return _PROVIDERS.get(method) or f"{method.rpartition('/')[2]}Provider"


def _in_python(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)
