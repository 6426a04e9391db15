"""Workspaces as one string: several files, `<|>` where the cursor is.

    --- parent.toml
    sub_agents = ["<|>"]
    --- user: lint.toml
    name = "lint"

Files lie in the agents folder of a workspace, those marked `user:` in the user's own, those marked
with a folder in that one. A fixture without a `---` line is one file, `main.toml`. The file with the
cursor, else the first, is open.
"""

from __future__ import annotations

import re

from msgspec import Struct

from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Places
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from support.carets import dedented

CURSOR = "<|>"
FOLDER = "file:///project/axe/agents"
USER_FOLDER = "file:///home/user/.config/axe/agents"
PLACES = Places(user_folder=USER_FOLDER, roots=("file:///project",))


class Fixture(Struct, frozen=True):
    snapshot: Snapshot
    file: AgentFile
    offset: int

    @property
    def text(self) -> str:
        assert self.file.open is not None
        return self.file.open.parse.text


def uri_of(header: str) -> str:
    scope, _, name = header.rpartition(":")
    folder = {"": FOLDER, "user": USER_FOLDER}.get(scope.strip(), f"file://{scope.strip()}")
    return f"{folder}/{name.strip()}"


def files_of(fixture: str) -> dict[str, str]:
    """URI to text, markers included."""
    pieces = re.split(r"^--- (.*)\n", dedented(fixture), flags=re.MULTILINE)
    if len(pieces) == 1:
        return {uri_of("main.toml"): pieces[0]}
    return {uri_of(head): text for head, text in zip(pieces[1::2], pieces[2::2], strict=True)}


def texts_of(fixture: str) -> dict[str, str]:
    """URI to text, without markers."""
    return {uri: text.replace(CURSOR, "") for uri, text in files_of(fixture).items()}


def open_text(text: str) -> AgentFile:
    """Return the only file of a workspace, with exactly this text."""
    uri = uri_of("main.toml")
    workspace = Workspace(PLACES)
    file = workspace.apply([Change(uri, text, in_buffer=True)], complete=True).snapshot.file(uri)
    assert file is not None
    return file


def open_fixture(fixture: str, *, complete: bool = True) -> Fixture:
    files = files_of(fixture)
    opened = next((uri for uri, text in files.items() if CURSOR in text), next(iter(files)))
    offset = max(files[opened].find(CURSOR), 0)
    texts = {uri: text.replace(CURSOR, "") for uri, text in files.items()}
    workspace = Workspace(PLACES)
    workspace.apply([Change(uri, text) for uri, text in texts.items()])
    snapshot = workspace.apply(
        [Change(opened, texts[opened], in_buffer=True)], complete=complete
    ).snapshot
    file = snapshot.file(opened)
    assert file is not None
    return Fixture(snapshot, file, offset)
