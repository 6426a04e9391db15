"""Outline, folding, selections and colours as editors get them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding
from support.session import Editor, Project

TEXT = """\
name = "😀 parent"
[[mcp_servers]]
name = "é"
files = [
  "a",
]
# two
# lines
"""
TREE = {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def asked(editor: Editor, feature: str, **params: Any) -> Any:
    document = {"textDocument": {"uri": editor.uri("parent")}}
    return editor.client.request(f"textDocument/{feature}", {**document, **params})


def open_with(editor: Editor) -> Editor:
    editor.open("parent", TEXT)
    return editor


def text_at(where: Any, encoding: PositionEncoding = "utf-16") -> str:
    lines = LineIndex(TEXT)
    ends = (where["start"], where["end"])
    start, end = (lines.offset(each["line"], each["character"], encoding) for each in ends)
    return TEXT[start:end]


def test_the_outline_is_a_tree_where_the_client_knows_trees(project: Project) -> None:
    kinds = {"symbolKind": {"valueSet": list(range(1, 27))}}
    capabilities = {"textDocument": {"documentSymbol": {**TREE["documentSymbol"], **kinds}}}
    with project.editor(capabilities=capabilities) as editor:
        name, server = asked(open_with(editor), "documentSymbol")
        assert (name["name"], name["detail"], name["kind"]) == ("name", "😀 parent", 15)
        assert text_at(name["range"]) == 'name = "😀 parent"'
        assert (server["name"], server["detail"], server["kind"]) == ("mcp_servers[0]", "é", 19)
        assert [child["name"] for child in server["children"]] == ["name", "files"]


def test_the_outline_is_a_list_where_the_client_knows_nothing_else(project: Project) -> None:
    with project.editor() as editor:
        found = asked(open_with(editor), "documentSymbol")
        assert [(each["name"], each.get("containerName")) for each in found] == [
            ("name", None),
            ("mcp_servers[0]", None),
            ("name", "mcp_servers[0]"),
            ("files", "mcp_servers[0]"),
            ("a", "files"),
        ]
        # Kinds above 18 are for clients that say that they know them.
        assert found[1]["kind"] == 2
        assert found[1]["location"]["uri"] == editor.uri("parent")


def test_folds_follow_line_only_and_range_limit(project: Project) -> None:
    folding = {"foldingRange": {"lineFoldingOnly": True, "rangeLimit": 2}}
    with project.editor(capabilities={"textDocument": folding}) as editor:
        assert asked(open_with(editor), "foldingRange") == [
            {"startLine": 1, "endLine": 5},
            {"startLine": 6, "endLine": 7, "kind": "comment"},
        ]


def test_folds_have_characters_where_the_client_supports_them(project: Project) -> None:
    with project.editor() as editor:
        assert asked(open_with(editor), "foldingRange")[2] == {
            "startLine": 3,
            "startCharacter": 9,
            "endLine": 5,
            "endCharacter": 0,
        }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_selection_grows_behind_astral_characters(project: Project, encoding: Any) -> None:
    capabilities = {"general": {"positionEncodings": [encoding]}}
    with project.editor(capabilities=capabilities) as editor:
        open_with(editor)
        offset = TEXT.index("parent")
        positions = [editor.range("parent", at, at)["start"] for at in (offset, 0)]
        word, key = asked(editor, "selectionRange", positions=positions)
        assert text_at(word["range"], encoding) == "parent"
        assert text_at(word["parent"]["range"], encoding) == "😀 parent"
        assert text_at(key["parent"]["range"], encoding) == 'name = "😀 parent"'


@pytest.mark.parametrize(
    ("encoding", "columns"), [("utf-8", [8, 11]), ("utf-16", [8, 9]), ("utf-32", [8, 8])]
)
def test_tokens_are_counted_in_the_encoding_of_the_session(
    project: Project, encoding: str, columns: list[int]
) -> None:
    capabilities = {"general": {"positionEncodings": [encoding]}}
    with project.editor(capabilities=capabilities) as editor:
        data = asked(open_with(editor), "semanticTokens/full")["data"]
        legend = editor.server["capabilities"]["semanticTokensProvider"]["legend"]
        kinds = [legend["tokenTypes"][number] for number in data[3::5]]
        assert kinds == ["property", "class", "type", "property", "unresolvedReference"]
        assert data[5:10] == [0, columns[0], columns[1], kinds.index("class") + 1, 1]


def test_tokens_over_several_lines_come_in_pieces(project: Project) -> None:
    with project.editor() as editor:
        editor.open("parent", 'sub_agents = [\n"""\none\r\n\ntwo"""]\n')
        whole = asked(editor, "semanticTokens/full")["data"]
        assert whole == [0, 0, 10, 0, 0, 2, 0, 3, 2, 0, 2, 0, 3, 2, 0]
        lines = {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}}
        assert asked(editor, "semanticTokens/range", range=lines)["data"] == whole


def test_structure_features_are_advertised(project: Project) -> None:
    with project.editor() as editor:
        capabilities = editor.server["capabilities"]
        assert capabilities["documentSymbolProvider"]
        assert capabilities["foldingRangeProvider"]
        assert capabilities["selectionRangeProvider"]
        assert capabilities["semanticTokensProvider"]["full"] is True
        assert capabilities["semanticTokensProvider"]["range"] is True


def test_closed_file_has_no_structure(project: Project) -> None:
    project.write("parent", TEXT)
    with project.editor() as editor:
        assert asked(editor, "documentSymbol") is None
        assert asked(editor, "foldingRange") is None
        assert asked(editor, "selectionRange", positions=[{"line": 0, "character": 0}]) is None
        assert asked(editor, "semanticTokens/full") is None


EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}


def test_hints_can_be_accepted_and_switched_off(project: Project) -> None:
    capabilities = {"workspace": {"inlayHint": {"refreshSupport": True}}}
    with project.editor(capabilities=capabilities) as editor:
        editor.open("parent", 'description = "😀"\n[memory]\n')
        (hint,) = asked(editor, "inlayHint", range=EVERYTHING)
        assert hint["position"] == {"line": 1, "character": 8}
        assert hint["label"] == "enabled = false"
        assert hint["paddingLeft"] is True
        assert hint["textEdits"][0]["newText"] == "\nenabled = false"
        assert hint["tooltip"]["value"].startswith("**`memory.enabled`**")
        settings = {"settings": {"axe": {"inlayHints": False}}}
        editor.client.notify("workspace/didChangeConfiguration", settings)
        editor.client.wait_for("workspace/inlayHint/refresh")
        assert asked(editor, "inlayHint", range=EVERYTHING) is None
