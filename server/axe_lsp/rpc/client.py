"""The client, as its `initialize` describes it.

Capabilities stay the JSON that the client sent. Turning them into lsprotocol's classes costs 90 ms
at the first request of every session, and fails as a whole on one value that is newer than the
classes: an editor would be left without its server over a capability that we don't even look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, reduce
from typing import Any

from msgspec import Struct, field
from pygls.uris import from_fs_path

from axe_lsp.agentfile.text.ranges import PositionEncoding

_ENCODINGS: Mapping[str, PositionEncoding] = {
    "utf-8": "utf-8",
    "utf-16": "utf-16",
    "utf-32": "utf-32",
}


_TOKEN = "axeToken"
"""The name in `initializationOptions` of the token of a server on TCP (`axe_lsp.rpc.sockets`)."""


class Client(Struct, frozen=True, dict=True):
    """An editor or another LSP client. Values that it left out are `None` or empty."""

    process_id: int | None = None
    name: str = ""
    version: str = ""
    folders: tuple[str, ...] = ()
    """URIs of the workspace folders; of the root where the client knows no folders."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """`initializationOptions`, those in a section `axe` included"""
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    def capability(self, path: str) -> Any:
        """Return the value at a path such as `textDocument.hover.contentFormat`, or `None`."""
        found = self._found
        if path not in found:  # Each keystroke asks for several.
            found[path] = reduce(_member, path.split("."), self.capabilities)
        return found[path]

    def supports(self, path: str) -> bool:
        """Return whether the capability at `path` is there and says yes."""
        return self.capability(path) is True

    def shows_markdown(self, path: str) -> bool:
        """Return whether the formats at `path` hold Markdown; a client without any is taken to know it."""
        formats = self.capability(path)
        return not isinstance(formats, list) or "markdown" in formats

    @cached_property
    def position_encoding(self) -> PositionEncoding:
        """UTF-8 where the client offers it, else the first that we know, else LSP's default."""
        offered = self.capability("general.positionEncodings")
        known = [_ENCODINGS[name] for name in _strings(offered) if name in _ENCODINGS]
        if "utf-8" in known:
            return "utf-8"
        return known[0] if known else "utf-16"

    @cached_property
    def _found(self) -> dict[str, Any]:
        return {}


def read_client(params: Mapping[str, Any]) -> Client:
    """Return the client that sent `params` with `initialize`. Values of a wrong type count as left out."""
    info, options = _object(params.get("clientInfo")), _options(params)
    process_id = params.get("processId")
    return Client(
        process_id=process_id if type(process_id) is int and process_id > 0 else None,
        name=_string(info.get("name")),
        version=_string(info.get("version")),
        folders=_folders(params),
        options={name: value for name, value in options.items() if name != _TOKEN},
        capabilities=_object(params.get("capabilities")),
    )


def presented_token(params: Any) -> str:
    """Return the token in the params of `initialize`; empty if there is none."""
    return _string(_options(_object(params)).get(_TOKEN))


def _options(params: Mapping[str, Any]) -> Mapping[str, Any]:
    options = _object(params.get("initializationOptions"))
    # Helix sends what it has for `workspace/configuration`, where a section is asked for.
    return {**options, **_object(options.get("axe"))}


def _folders(params: Mapping[str, Any]) -> tuple[str, ...]:
    folders = params.get("workspaceFolders")
    if isinstance(folders, list):
        uris = (_string(_object(folder).get("uri")) for folder in folders)
        return tuple(uri for uri in uris if uri)
    if root_uri := _string(params.get("rootUri")):
        return (root_uri,)
    if root_path := _string(params.get("rootPath")):
        return (from_fs_path(root_path) or root_path,)
    return ()


def _member(value: Any, name: str) -> Any:
    return _object(value).get(name)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
