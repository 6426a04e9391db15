"""What a server says it can do: that for which it has handlers.

Written as the JSON that is sent. It is made once in a session, while the editor waits: classes for it
would take longer to be made than all the rest of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lsprotocol import types

from axe_lsp.rpc.json_rpc import JsonObject

_PROVIDERS = {
    types.TEXT_DOCUMENT_COMPLETION: "completionProvider",
    types.TEXT_DOCUMENT_HOVER: "hoverProvider",
    types.TEXT_DOCUMENT_DEFINITION: "definitionProvider",
    types.TEXT_DOCUMENT_REFERENCES: "referencesProvider",
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: "documentHighlightProvider",
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: "documentSymbolProvider",
    types.TEXT_DOCUMENT_CODE_ACTION: "codeActionProvider",
    types.TEXT_DOCUMENT_CODE_LENS: "codeLensProvider",
    types.TEXT_DOCUMENT_DOCUMENT_LINK: "documentLinkProvider",
    types.TEXT_DOCUMENT_FORMATTING: "documentFormattingProvider",
    types.TEXT_DOCUMENT_RANGE_FORMATTING: "documentRangeFormattingProvider",
    types.TEXT_DOCUMENT_RENAME: "renameProvider",
    types.TEXT_DOCUMENT_FOLDING_RANGE: "foldingRangeProvider",
    types.TEXT_DOCUMENT_SELECTION_RANGE: "selectionRangeProvider",
    types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: "callHierarchyProvider",
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: "semanticTokensProvider",
    types.TEXT_DOCUMENT_INLAY_HINT: "inlayHintProvider",
    types.TEXT_DOCUMENT_DIAGNOSTIC: "diagnosticProvider",
    types.WORKSPACE_SYMBOL: "workspaceSymbolProvider",
}
"""How the capability is called that a method stands for."""

_FILE_OPERATIONS = {
    types.WORKSPACE_WILL_RENAME_FILES: "willRename",
    types.WORKSPACE_DID_RENAME_FILES: "didRename",
    types.WORKSPACE_DID_DELETE_FILES: "didDelete",
}


def capabilities(
    methods: Iterable[str], options: Mapping[str, JsonObject], commands: Iterable[str]
) -> JsonObject:
    """The capabilities of a server with handlers of these methods and commands.

    `options` are those of the methods that have some.
    """
    handled = set(methods)
    return {
        "textDocumentSync": {
            "openClose": True,
            "change": types.TextDocumentSyncKind.Incremental.value,
            "save": types.TEXT_DOCUMENT_DID_SAVE in handled,
        },
        **_named(_PROVIDERS, handled, options),
        "executeCommandProvider": {"commands": list(commands)},
        "workspace": {
            "workspaceFolders": {"supported": True, "changeNotifications": True},
            "fileOperations": _named(_FILE_OPERATIONS, handled, options),
        },
    }


def _named(
    names: Mapping[str, str], handled: set[str], options: Mapping[str, JsonObject]
) -> JsonObject:
    return {name: options.get(method, True) for method, name in names.items() if method in handled}
