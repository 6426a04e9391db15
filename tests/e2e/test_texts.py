"""Texts without a file that clients fetch by a URI: the first request of an agent, and transcripts of runs (LSP 3.18)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from support.raw_client import ServerError
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider
from support.session import Editor, Project

FETCHES = {"workspace": {"textDocumentContent": {}}, "window": {"showDocument": {"support": True}}}
REFRESH = "workspace/textDocumentContent/refresh"


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    project.write("solo", 'name = "solo"\nmodel = "openai/m-solo"\nsystem_prompt = "Be brief."\n')
    return project


def _text(editor: Editor, uri: str) -> str:
    answer = editor.client.request("workspace/textDocumentContent", {"uri": uri})
    return str(answer["text"])


def _answers_refreshes(editor: Editor) -> None:
    editor.client.answer_with[REFRESH] = lambda _: None


def test_a_preview_is_a_document_that_follows_the_agent(project: Project) -> None:
    with project.editor(capabilities=FETCHES) as editor:
        _answers_refreshes(editor)
        shown: list[str] = []
        editor.client.answer_with["window/showDocument"] = lambda params: (
            shown.append(params["uri"]) or {"success": True}
        )
        editor.open("solo")
        command = {"command": "axe.preview", "arguments": [{"uri": editor.uri("solo")}]}
        editor.client.request("workspace/executeCommand", command)
        editor.client.wait_for("window/showDocument")
        (uri,) = shown
        assert uri.startswith("axe-request:")
        assert "Be brief." in _text(editor, uri)

        editor.replace("solo", "brief", "thorough")
        assert editor.client.wait_for(REFRESH) == {"uri": uri}
        assert "Be thorough." in _text(editor, uri)

        editor.replace("solo", "model = ", "model := ")
        editor.client.wait_for(REFRESH)
        assert "solo.toml" in _text(editor, uri), "why there is no request is what one reads"


def test_the_preview_of_a_buffer_that_was_never_saved_is_a_file(project: Project) -> None:
    with project.editor(capabilities=FETCHES) as editor:
        shown: list[str] = []
        editor.client.answer_with["window/showDocument"] = lambda params: (
            shown.append(params["uri"]) or {"success": True}
        )
        text = project.path("solo").read_text("utf-8")
        editor.open("untitled:Untitled-1", text, language="axe-agent")
        command = {"command": "axe.preview", "arguments": [{"uri": "untitled:Untitled-1"}]}
        editor.client.request("workspace/executeCommand", command)
        editor.client.wait_for("window/showDocument")
        (uri,) = shown
        assert "Be brief." in Path(unquote(urlsplit(uri).path)).read_text("utf-8")


def test_a_transcript_grows_while_its_run_goes_on(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-solo", Answer(Says("All of it."), hold=hold))
    with project.editor(capabilities=FETCHES) as editor:
        _answers_refreshes(editor)
        running = editor.client.start_request("axe/run", {"agent": "solo", "task": "Go"})
        run_id = editor.client.wait_for("axe/turn")["runId"]
        uri = f"axe-transcript:/{run_id}.txt"
        assert "All of it." not in _text(editor, uri)
        hold.release()
        editor.client.result(running)
        assert editor.client.wait_for(REFRESH) == {"uri": uri}
        assert "All of it." in _text(editor, uri)
        assert "no run" in _text(editor, "axe-transcript:/unknown.txt")


def test_other_texts_are_refused_and_other_clients_are_told_of_none(project: Project) -> None:
    with project.editor(capabilities=FETCHES) as editor:
        schemes = editor.server["capabilities"]["workspace"]["textDocumentContent"]["schemes"]
        assert schemes == ["axe-request", "axe-transcript"]
        with pytest.raises(ServerError, match="begins with axe-request: or axe-transcript:"):
            _text(editor, "file:///etc/hostname")
    with project.editor() as editor:
        assert "textDocumentContent" not in editor.server["capabilities"]["workspace"]
