"""Completion over the wire: what different clients are sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.raw_client import RawClient
from support.scripted_provider import Answer, Hold, Raw, ScriptedProvider
from support.session import SERVER, Editor, Project

HEAD = 'name = "parent"\nmodel = "ollama/m"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def able(**item: Any) -> dict[str, Any]:
    """Return the capabilities of a client whose completion items can do so much."""
    return {
        "general": {"positionEncodings": ["utf-16"]},
        "textDocument": {"completion": {"completionItem": item}},
    }


def offered(editor: Editor, name: str, before: str) -> dict[str, Any]:
    items = editor.ask("completion", name, before)["items"]
    assert [each["sortText"] for each in items] == sorted(each["sortText"] for each in items)
    return {each["label"]: each for each in items}


def test_client_without_capabilities_gets_plain_text(project: Project) -> None:
    with project.editor(capabilities={}) as editor:
        editor.open("parent", HEAD + "par")
        offer = offered(editor, "parent", "\npar")["[params]"]
        assert offer["insertTextFormat"] == 1
        assert offer["textEdit"]["newText"] == "[params]\n"
        assert offer["filterText"] == "params"
        assert "commitCharacters" not in offer


def test_documentation_is_plain_for_clients_that_do_not_read_markdown(project: Project) -> None:
    with project.editor(capabilities=able(documentationFormat=["plaintext"])) as editor:
        editor.open("parent", HEAD + "time")
        offer = offered(editor, "parent", "\ntime")["timeout"]
        assert offer["documentation"]["value"].startswith("timeout · integer\n\n")


def test_a_client_that_asks_users_whether_the_rest_of_a_word_stays_gets_both_edits(
    project: Project,
) -> None:
    project.write("lint", 'name = "lint"\n')
    with project.editor(capabilities=able(insertReplaceSupport=True)) as editor:
        editor.open("parent", HEAD + 'description = "😀"\nsub_agents = ["😀", "lixx"]\nzzz = 1\n')
        editor.problems("parent", lambda found: 'unknown-agent "lixx"' in found)
        edit = offered(editor, "parent", '", "li')["lint"]["textEdit"]
        text = editor.texts["parent"]
        start = text.index("lixx")
        assert edit["newText"] == "lint"
        assert edit["insert"] == editor.range("parent", start, start + 2)
        assert edit["replace"] == editor.range("parent", start, start + 4)
        assert "range" in offered(editor, "parent", '", "lixx')["lint"]["textEdit"]


def test_closed_header_has_its_bracket_as_commit_character(project: Project) -> None:
    with project.editor(capabilities=able(commitCharactersSupport=True)) as editor:
        editor.open("parent", HEAD + "[par]\n")
        assert offered(editor, "parent", "[par")["params"]["commitCharacters"] == ["]"]


def test_offers_of_hundreds_of_agents_are_limited_to_the_best(project: Project) -> None:
    for number in range(400):
        project.write(f"agent-{number}", 'name = "x"\nmodel = "ollama/m"\n')
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["none", "agent-39"]\n')
        editor.problems("parent", lambda found: 'unknown-agent "none"' in found)
        answer = editor.ask("completion", "parent", '"none", "')
        assert (answer["isIncomplete"], len(answer["items"])) == (True, 300)
        answer = editor.ask("completion", "parent", '"agent-39')
        assert answer["isIncomplete"] is False, "whatever is typed next, all that fit are here"
        assert answer["items"][0]["label"] == "agent-39"
        assert len(answer["items"]) < 300


@pytest.mark.parametrize(
    ("text", "before", "is_offered"),
    [("\n[", "\n[", True), ("\n  [[]]", "\n  [[", True), ("tools = []", "= [", False)],
)
def test_a_typed_bracket_offers_tables_but_no_elements(
    project: Project, text: str, before: str, is_offered: bool
) -> None:
    """The next key in a list is often Enter, which would take what is offered."""
    with project.editor() as editor:
        editor.open("parent", text)
        document = {"textDocument": {"uri": editor.uri("parent")}}
        offset = text.index(before) + len(before)
        position = editor.range("parent", offset, offset)["start"]
        typed = {"triggerKind": 2, "triggerCharacter": "["}
        ask = {**document, "position": position, "context": typed}
        answer = editor.client.request("textDocument/completion", ask)
        assert (answer["items"] != []) is is_offered
        asked_for = {**ask, "context": {"triggerKind": 1}}
        assert editor.client.request("textDocument/completion", asked_for)["items"] != []


def test_a_list_is_incomplete_while_the_folders_have_not_been_read(project: Project) -> None:
    """They are read once the client is ready, so one that isn't sees the beginning."""
    with RawClient.spawn(SERVER, env=project.environment) as client:
        params = {"processId": None, "rootUri": project.root.as_uri(), "capabilities": {}}
        client.request("initialize", params)
        document = {"uri": project.path("parent").as_uri(), "languageId": "toml", "version": 1}
        client.notify("textDocument/didOpen", {"textDocument": {**document, "text": "sub"}})
        position = {"line": 0, "character": 3}
        ask = {"textDocument": {"uri": document["uri"]}, "position": position}
        assert client.request("textDocument/completion", ask)["isIncomplete"] is True


def test_a_list_is_complete_once_the_folders_have_been_read(project: Project) -> None:
    with project.editor() as editor:
        editor.open("parent", HEAD + 'sub_agents = ["none"]\n')
        editor.problems("parent", lambda found: 'unknown-agent "none"' in found)
        assert editor.ask("completion", "parent", '["')["isIncomplete"] is False


def test_models_of_a_running_ollama_are_offered_when_it_has_answered(tmp_path: Path) -> None:
    listed = Raw(b'{"models": [{"name": "gemma3:4b", "size": 3338801804}]}')
    hold = Hold()
    with ScriptedProvider() as provider:
        provider.script("", Answer(listed, hold=hold))
        project = Project(tmp_path, provider.environment)
        with project.editor() as editor:
            editor.open("parent", 'name = "parent"\nmodel = "open"\nsub_agents = ["none"]\n')
            editor.problems("parent", lambda found: 'unknown-agent "none"' in found)
            assert editor.ask("completion", "parent", '"open')["isIncomplete"] is False
            assert provider.requests == [], "nobody has asked for a model of Ollama"
            editor.replace("parent", "open", "ollama/")
            assert editor.ask("completion", "parent", "ollama/")["isIncomplete"] is True
            hold.wait_until_arrived()
            hold.release()
            answer = editor.ask("completion", "parent", "ollama/")
            while answer["isIncomplete"]:  # As a client does with every key that is typed.
                answer = editor.ask("completion", "parent", "ollama/")
            offer = next(each for each in answer["items"] if each["label"] == "ollama/gemma3:4b")
            assert offer["detail"] == "installed, 3.3 GB"
            assert len(provider.requests) == 1
