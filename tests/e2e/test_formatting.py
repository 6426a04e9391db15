"""Formatting as editors ask for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.text.ranges import LineIndex, TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from support.session import Editor, Project

TEXT = 'name="😀é"# 😀\r\nfiles=["😀",]\r\n\r\n\r\nmodel="a/b"\r\n'
OPTIONS = {"tabSize": 4, "insertSpaces": True}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def formatted(editor: Editor, text: str, method: str = "formatting", **params: Any) -> str:
    """Return what the editor has after it has applied the edits."""
    editor.open("parent", text)
    document = {"textDocument": {"uri": editor.uri("parent")}, "options": OPTIONS, **params}
    lines = LineIndex(text)

    def offset(position: Any) -> int:
        return lines.offset(position["line"], position["character"], editor.encoding)

    edits = editor.client.request(f"textDocument/{method}", document)
    return spliced(
        text,
        [
            Splice(
                TextRange(offset(edit["range"]["start"]), offset(edit["range"]["end"])),
                edit["newText"],
            )
            for edit in edits
        ],
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_document_in_every_encoding(project: Project, encoding: str) -> None:
    capabilities = {"general": {"positionEncodings": [encoding]}}
    with project.editor(capabilities=capabilities) as editor:
        assert formatted(editor, TEXT) == (
            'name = "😀é"  # 😀\r\nfiles = [\r\n    "😀",\r\n]\r\n\r\nmodel = "a/b"\r\n'
        )


def test_indentation_follows_the_options_of_the_client(project: Project) -> None:
    with project.editor() as editor:
        options = {"tabSize": 8, "insertSpaces": False}
        assert formatted(editor, "a = [1,]\n", options=options) == "a = [\n\t1,\n]\n"


def test_selection_is_formatted_alone(project: Project) -> None:
    with project.editor() as editor:
        second = {"start": {"line": 4, "character": 0}, "end": {"line": 4, "character": 3}}
        result = formatted(editor, TEXT, "rangeFormatting", range=second)
        assert result == TEXT.replace("model=", "model = ")


def test_formatted_or_broken_text_stays_as_it_is(project: Project) -> None:
    with project.editor() as editor:
        assert formatted(editor, "a = 1\n") == "a = 1\n"
        assert formatted(editor, "a  =  \n") == "a  =  \n"


def test_a_file_that_is_not_open(project: Project) -> None:
    project.write("parent", TEXT)
    with project.editor() as editor:
        document = {"textDocument": {"uri": editor.uri("parent")}, "options": OPTIONS}
        assert editor.client.request("textDocument/formatting", document) is None


def test_formatting_is_advertised(project: Project) -> None:
    with project.editor() as editor:
        assert editor.server["capabilities"]["documentFormattingProvider"]
        assert editor.server["capabilities"]["documentRangeFormattingProvider"]
