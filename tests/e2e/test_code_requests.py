"""Tools that ask the editor, through the language server: when they are offered, who is asked, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from support.raw_client import NEVER, ServerError
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project

Json = Any

ANSWERS = {"experimental": {"axe": {"editor": True}}}
SYMBOLS = Call("symbols", {"path": "a.ts"})
NOT_UNDERSTOOD = "the editor's answer was not understood"
TOOLS = ["diagnostics", "definition", "references", "symbols", "hover", "call_hierarchy"]


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    agent = 'model = "openai/m-{0}"\nname = "{0}"\ntools = ["read_file", "symbols"]\n'
    project.write("lone", agent.format("lone"))
    project.write("apart", agent.format("apart") + '[isolation]\nmode = "process"\n')
    project.write(
        "lead", 'name = "lead"\nmodel = "openai/m-lead"\nsub_agents = ["apart", "lone"]\n'
    )
    project.write("all", 'name = "all"\nmodel = "openai/m-all"\ntools = ["*"]\n')
    (project.root / "a.ts").write_text("const one = 1\n")
    return project


def questions(editor: Editor) -> list[Json]:
    received = editor.client.received
    return [each["params"] for each in received if each.get("method") == "axe/editor"]


def result(provider: ScriptedProvider, agent: str = "lone") -> str:
    """Return what the model was told about its call."""
    content: str = provider.asked(f"m-{agent}")[-1].body["messages"][-1]["content"]
    return content


def offered(provider: ScriptedProvider, agent: str) -> list[str]:
    body = provider.asked(f"m-{agent}")[0].body
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def run(project: Project, provider: ScriptedProvider, answer: Json) -> Editor:
    """Run an agent that asks for symbols, in an editor with this answer."""
    provider.script("m-lone", Says(calls=[SYMBOLS]), Says("done"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.answer_with["axe/editor"] = lambda _: answer
        editor.client.request("axe/run", {"agent": "lone"})
    return editor


def test_client_is_asked_with_the_run_and_its_answer_reaches_the_model(
    project: Project, provider: ScriptedProvider
) -> None:
    uri = (project.root / "a.ts").as_uri()
    item = {"uri": uri, "line": 1, "name": "one", "kind": "constant"}
    editor = run(project, provider, {"items": [item]})
    (question,) = questions(editor)
    assert question.pop("runId") == question.pop("rootRunId")
    assert question == {
        "agent": "lone",
        "depth": 0,
        "question": "symbols",
        "uri": uri,
        "timeoutMs": 10_000,
    }
    heading, line = result(provider).split("\n")
    assert heading.startswith("1 symbol, ")
    assert line == "a.ts:1: constant one"


def test_tools_are_offered_only_where_the_client_answers_them(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lone", Says("done"), Says("done"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.request("axe/run", {"agent": "lone"})
        preview = editor.client.request("axe/preview", {"agent": "lone"})
    assert offered(provider, "lone") == preview["tools"] == ["read_file", "symbols"]
    provider.requests.clear()
    with project.editor() as editor:
        editor.client.request("axe/run", {"agent": "lone"})
        preview = editor.client.request("axe/preview", {"agent": "lone"})
    assert offered(provider, "lone") == preview["tools"] == ["read_file"]


def test_glob_gives_no_tool_that_asks_the_editor(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-all", Says("done"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.request("axe/run", {"agent": "all"})
    assert not {*TOOLS} & {*offered(provider, "all")}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, NOT_UNDERSTOOD),
        ([], NOT_UNDERSTOOD),
        ({"items": 1}, NOT_UNDERSTOOD),
        ({"missing": "mind"}, NOT_UNDERSTOOD),
        ({"items": [1, {"uri": "untitled:1", "line": 1}, {"uri": "file://[", "line": True}]}, None),
        ({"missing": "server"}, "no language server of the editor answers this for a.ts"),
    ],
)
def test_whatever_is_no_answer_does_not_end_the_run(
    project: Project, provider: ScriptedProvider, answer: Json, expected: str | None
) -> None:
    run(project, provider, answer)
    assert result(provider) == (expected or "no symbol; 2 outside of the workspace are not shown")


def test_client_that_fails_is_named(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-lone", Says(calls=[SYMBOLS]), Says("done"))

    def fail(_: Json) -> Json:
        raise ServerError({"code": -32603, "message": "broken"})

    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.answer_with["axe/editor"] = fail
        editor.client.request("axe/run", {"agent": "lone"})
    assert result(provider) == "the editor could not be asked"


def test_stopped_run_withdraws_its_question(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-lone", Says(calls=[SYMBOLS]), Says("done"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.answer_with["axe/editor"] = lambda _: NEVER
        number = editor.client.start_request("axe/run", {"agent": "lone"})
        editor.client.wait_for("axe/editor")
        editor.client.cancel(number)
        editor.client.wait_for("$/cancelRequest")
        assert editor.client.answer(number)["error"]["code"] == -32800


@pytest.mark.parametrize("child", ["apart", "lone"])
def test_children_ask_the_client_of_their_root(
    project: Project, provider: ScriptedProvider, child: str
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent(child, "go")]), Says("done"))
    provider.script(f"m-{child}", Says(calls=[SYMBOLS]), Says("well"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.answer_with["axe/editor"] = lambda _: {"items": []}
        root = editor.client.request("axe/run", {"agent": "lead"})["runId"]
        (question,) = questions(editor)
    assert (question["agent"], question["rootRunId"]) == (child, root)
    assert result(provider, child) == "no symbol"


@pytest.mark.parametrize("call", [SYMBOLS, Call("symbols", {"query": "one"})])
def test_child_in_a_copy_gets_no_answer_about_the_original_file(
    project: Project, provider: ScriptedProvider, call: Call
) -> None:
    text = (project.root / "axe" / "agents" / "lone.toml").read_text()
    project.write("lone", text + '[isolation]\nmode = "copy"\n')
    original = (project.root / "a.ts").as_uri()

    def answer(params: Json) -> Json:
        if params.get("uri") not in (None, original):
            return {"missing": "folder"}
        return {"items": [{"uri": original, "line": 1, "name": "one", "kind": "constant"}]}

    provider.script("m-lead", Says(calls=[calls_agent("lone", "go")]), Says("done"))
    provider.script("m-lone", Says(calls=[call]), Says("well"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.answer_with["axe/editor"] = answer
        editor.client.request("axe/run", {"agent": "lead"})
        (question,) = questions(editor)
    assert question.get("uri") != original
    assert result(provider, "lone").startswith("this agent works in a copy of its folder")


def test_resumed_run_repeats_its_question_to_the_editor_that_resumes_it(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lone", Says(calls=[SYMBOLS]), Says("done"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.answer_with["axe/editor"] = lambda _: NEVER
        number = editor.client.start_request("axe/run", {"agent": "lone"})
        run_id = editor.client.wait_for("axe/editor")["runId"]
        editor.client.request("axe/stop", {"runId": run_id})
        assert "error" in editor.client.answer(number)
        editor.client.answer_with["axe/editor"] = lambda _: {"missing": "server"}
        assert editor.client.request("axe/resume", {"runId": run_id})["content"] == "done"
    assert result(provider) == "no language server of the editor answers this for a.ts"


def test_run_that_is_resumed_without_such_an_editor_goes_on(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lone", Says(calls=[SYMBOLS]), Says("done"))
    with project.editor(capabilities=ANSWERS) as editor:
        editor.client.answer_with["axe/editor"] = lambda _: NEVER
        number = editor.client.start_request("axe/run", {"agent": "lone"})
        run_id = editor.client.wait_for("axe/editor")["runId"]
        editor.client.request("axe/stop", {"runId": run_id})
        assert "error" in editor.client.answer(number)
    with project.editor() as editor:
        assert editor.client.request("axe/resume", {"runId": run_id})["content"] == "done"
    assert result(provider).startswith("the editor is gone")


def test_hint_says_where_the_tools_work(project: Project) -> None:
    def is_there(hints: list[str]) -> bool:
        return hints == ['no-effect "symbols"']

    with project.editor() as editor:
        editor.open("lone")
        editor.problems("lone", is_there)
    with project.editor(capabilities=ANSWERS) as editor:
        editor.open("lone")
        editor.problems("lone", 0)


@pytest.fixture
def coder(project: Project, provider: ScriptedProvider) -> Project:
    """Return a project with an agent that names no tool that asks the editor, and that makes a mistake."""
    text = 'model = "openai/m-coder"\nname = "coder"\ntools = ["edit_file"]\n'
    project.write("coder", text)
    edit = Call("edit_file", {"path": "a.ts", "old_string": "1", "new_string": "'1'"})
    provider.script("m-coder", Says(calls=[edit]), Says("done"))
    return project


ALLOWS = {"tools": {"allow": ["edit_file"]}}
TYPE_ERROR = {"line": 1, "severity": "error", "message": "not a number", "source": "ts"}


def checking(text: str, problem: Json) -> Callable[[Json], Json]:
    """Return a client's answer: once asked to wait, it has checked this text, with this problem."""

    def answer(params: Json) -> Json:
        if not params["timeoutMs"]:
            return {}
        return {
            "items": [{**problem, "uri": params["uri"]}],
            "checked": {params["uri"]: sha256(text.encode()).hexdigest()},
        }

    return answer


@pytest.mark.parametrize("text", ["const one = '1'\n", "const one = 1\n"])
def test_result_of_an_edit_has_the_problems_of_its_text_alone(
    coder: Project, provider: ScriptedProvider, text: str
) -> None:
    with coder.editor(capabilities=ANSWERS, initializationOptions=ALLOWS) as editor:
        editor.client.answer_with["axe/editor"] = checking(text, TYPE_ERROR)
        editor.client.request("axe/run", {"agent": "coder"})
    before, after = questions(editor)
    assert (before["question"], before["timeoutMs"]) == ("diagnostics", 0)
    assert (after["uri"], after["timeoutMs"]) == ((coder.root / "a.ts").as_uri(), 3_000)
    is_current = (coder.root / "a.ts").read_text() == text
    remark = result(provider, "coder").removeprefix("replaced 1 occurrence(s) in a.ts\n")
    assert remark.endswith("a.ts:1: error: not a number [ts]") is is_current
    assert (remark == "the editor has not finished checking a.ts") is not is_current


def test_edit_is_not_checked_by_a_client_that_does_not_answer_questions(
    coder: Project, provider: ScriptedProvider
) -> None:
    with coder.editor(initializationOptions=ALLOWS) as editor:
        editor.client.request("axe/run", {"agent": "coder"})
    assert not questions(editor)
    assert result(provider, "coder") == "replaced 1 occurrence(s) in a.ts"


def test_run_becomes_a_test_that_needs_no_editor(
    coder: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lone", Says(calls=[SYMBOLS]), Says("done"))
    item = {"uri": (coder.root / "a.ts").as_uri(), "line": 1, "name": "one", "kind": "constant"}
    with coder.editor(
        capabilities=ANSWERS, initializationOptions={**ALLOWS, "trusted": True}
    ) as editor:
        editor.client.answer_with["axe/editor"] = lambda _: {"items": [item]}
        lone = editor.client.request("axe/run", {"agent": "lone"})["runId"]
        asked = len(questions(editor))
        tests = editor.client.request("axe/newTest", {"runId": lone})
        again = len(questions(editor))
    assert [each["verdict"] for each in tests["results"]] == ["passed"], tests
    assert (asked, again) == (1, 1)
