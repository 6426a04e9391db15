"""The extension's package.json agrees with the server that it starts."""

from __future__ import annotations

import json

from axe_lsp import __version__
from support.editors import PROJECT

MANIFEST = json.loads((PROJECT / "vscode-extension" / "package.json").read_text(encoding="utf-8"))


def test_extension_and_server_have_one_version() -> None:
    assert MANIFEST["version"] == __version__


def test_the_extensions_commands_are_none_of_the_servers() -> None:
    """The client registers the server's commands itself; a name given twice is an error."""
    names = [command["command"] for command in MANIFEST["contributes"]["commands"]]
    assert names
    assert not [name for name in names if name.startswith("axe.")]
