"""At no moment of typing, and wherever the cursor is, does a request fail."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.fixtures import agent_files
from support.session import Editor, Project

Json = Any

ABOUT_A_PLACE = {
    "completion": {},
    "definition": {},
    "documentHighlight": {},
    "hover": {},
    "prepareCallHierarchy": {},
    "prepareRename": {},
    "references": {"context": {"includeDeclaration": True}},
    "rename": {"newName": "another"},
}
ABOUT_THE_DOCUMENT = {
    "codeLens": {},
    "documentLink": {},
    "documentSymbol": {},
    "foldingRange": {},
    "formatting": {"options": {"tabSize": 2, "insertSpaces": True}},
    "semanticTokens/full": {},
}
REFUSED = -32803
"""RequestFailed: what a name that can't be renamed is answered with, and why."""

EVERYTHING = '''\
\ufeffname = "every-thing"  # what it is called
model = "ollama/llama3.2"
description = """
😀 first line\r
  second "line" \\
"""
skill = 'lint'
files = ["src/**/*.py", "docs/*.md"]
tools = ["read_file", "bash"]
sub_agents = [
\t"helper", # who helps
\t"nobody",
]
sub_agents_config = { max_depth = 6, parallel = true }
params.temperature = 0.5

[[mcp_servers]]
name = "one"
url = "https://localhost/x"
transport = "sse"
headers = { Authorization = "Bearer ${TOKEN}" }

[task.type.test]
description = "Runs the tests"
tools = ["run_command"]

[input.properties]
"strange key" = { type = "string" }
'''


def ask_all(editor: Editor, name: str, offset: int) -> None:
    """Send every request about this place and this document; all must be answered, in their order."""
    text, uri = editor.texts[name], {"uri": editor.uri(name)}
    document = {"textDocument": uri}
    here = editor.range(name, offset, offset)
    whole = editor.range(name, 0, len(text))
    requests = [
        *(
            (each, {**document, "position": here["start"], **more})
            for each, more in ABOUT_A_PLACE.items()
        ),
        *((each, {**document, **more}) for each, more in ABOUT_THE_DOCUMENT.items()),
        ("selectionRange", {**document, "positions": [here["start"]]}),
        ("inlayHint", {**document, "range": whole}),
        ("codeAction", {**document, "range": here, "context": {"diagnostics": []}}),
        ("rangeFormatting", {**document, "range": here, **ABOUT_THE_DOCUMENT["formatting"]}),
    ]
    numbers = {
        editor.client.start_request(f"textDocument/{each}", params): each
        for each, params in requests
    }
    for number, method in numbers.items():
        error = editor.client.answer(number).get("error")
        assert error is None or ("ename" in method and error["code"] == REFUSED), (
            f"{method} at {offset} of {text!r}: {error}"
        )


def begin(editor: Editor, name: str, text: str) -> None:
    """Open the document with this text, or exchange all of it."""
    if name not in editor.texts:
        editor.open(name, text)
        return
    editor.texts[name] = text
    editor.versions[name] += 1
    document = {"uri": editor.uri(name), "version": editor.versions[name]}
    editor.client.notify(
        "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
    )


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    project = Project(tmp_path)
    project.write("helper", 'name = "helper"\nmodel = "ollama/m"\n')
    project.write("caller", 'name = "caller"\nmodel = "ollama/m"\nsub_agents = ["every-thing"]\n')
    with project.editor() as editor:
        yield editor
        assert "Traceback" not in editor.client.stderr()
        assert editor.client.leave() == 0


def test_requests_while_a_file_is_typed_letter_by_letter(editor: Editor) -> None:
    choose = random.Random(1)  # places to look at, the same in each run
    for length in range(len(EVERYTHING) + 1):
        begin(editor, "every-thing", EVERYTHING[:length])
        ask_all(editor, "every-thing", length)
        ask_all(editor, "every-thing", choose.randrange(length + 1))
        editor.client.forget()


def test_requests_in_beginnings_of_every_fixture(editor: Editor) -> None:
    choose = random.Random(2)  # places to look at, the same in each run
    for text in agent_files().values():
        for shown in (text, *(text[: choose.randrange(len(text))] for _ in range(4))):
            begin(editor, "fixture", shown)
            ask_all(editor, "fixture", choose.randrange(len(shown) + 1))
        editor.client.forget()
