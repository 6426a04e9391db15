"""The extension's package.json agrees with the server that it starts."""

from __future__ import annotations

import json
import re

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


def test_menus_keys_and_the_walkthrough_name_commands_that_exist() -> None:
    parts = MANIFEST["contributes"]
    declared = {command["command"] for command in parts["commands"]}
    menus = [
        entry["command"] for menu in parts["menus"].values() for entry in menu if "command" in entry
    ]
    keys = [entry["command"] for entry in parts["keybindings"]]
    steps = json.dumps(parts["walkthroughs"])
    linked = re.findall(r"(?:command|onCommand):(axeLsp\.\w+)\b(?!\.focus)", steps)
    assert linked
    assert {*menus, *keys, *linked} <= declared


def test_agents_are_formatted_by_us_whatever_other_extensions_offer() -> None:
    languages = [language["id"] for language in MANIFEST["contributes"]["languages"]]
    defaults = MANIFEST["contributes"]["configurationDefaults"]
    ours = f"{MANIFEST['publisher']}.{MANIFEST['name']}"
    assert {defaults[f"[{each}]"]["editor.defaultFormatter"] for each in languages} == {ours}
