"""An editor is asked before an agent changes something: every way to ask, to answer and not to answer."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from support.processes import children_of
from support.raw_client import NEVER
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project

Json = Any

WRITE = Call("write_file", {"path": "a.txt", "content": "A\n"}, "1")
WRITE_B = Call("write_file", {"path": "b.txt", "content": "B\n"}, "2")
COMMAND = Call("run_command", {"command": "echo done > c.txt"}, "3")
WRITER = """\
name = "{0}"
model = "openai/m-{0}"
tools = ["write_file", "run_command"]
"""
ASKS = {"experimental": {"axe": {"approve": True}}}
SHOWS = {"window": {"showMessage": {}}}


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, {**provider.environment, "OPENAI_API_KEY": "the-key-of-the-user"})
    for name in ("left", "right"):
        project.write(name, WRITER.format(name))
    parent = WRITER.format("parent") + 'sub_agents = ["left", "right"]\n'
    project.write("parent", parent)
    return project


def editor_with(project: Project, capabilities: Json, **options: Json) -> Any:
    return project.editor(capabilities=capabilities, initializationOptions=options)


def told(provider: ScriptedProvider, agent: str) -> list[str]:
    """Return what the model of an agent was told last about its calls."""
    messages = provider.asked(f"m-{agent}")[-1].body["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def run(editor: Editor, agent: str = "left") -> Json:
    return editor.client.request("axe/run", {"agent": agent})


def asked(editor: Editor, method: str = "axe/approve") -> list[Json]:
    """Return the questions so far."""
    received = editor.client.received
    return [message["params"] for message in received if message.get("method") == method]


def test_the_editor_is_shown_the_exact_change_and_it_happens_when_it_agrees(
    project: Project, provider: ScriptedProvider
) -> None:
    (project.root / "a.txt").write_text("old\n")
    provider.script("m-left", Says(calls=[WRITE, COMMAND]), Says("done"))
    with editor_with(project, ASKS) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: {"decision": "allow"}
        result = run(editor)
        assert result["content"] == "done"
        calls = [it["params"] for it in editor.client.received if it.get("method") == "axe/tool"]
        change, command = sorted(asked(editor), key=lambda params: params["tool"], reverse=True)
        begun = {it["name"]: it["callId"] for it in calls if it["kind"] == "begin"}
        assert change.pop("callId") == begun["write_file"]
        assert command["callId"] == begun["run_command"]
        assert change.pop("subject") != command["subject"]
        assert change.pop("rule") == "write_file(a.txt)"
        assert command["forRun"] == "this command"
        assert change == {
            "runId": result["runId"],
            "rootRunId": result["runId"],
            "agent": "left",
            "depth": 0,
            "tool": "write_file",
            "arguments": {"path": "a.txt", "content": "A\n"},
            "reason": 'agent "left" wants to write a.txt',
            "details": "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+A",
            "change": {"path": "a.txt", "before": "old\n", "after": "A\n"},
            "forRun": "this file",
            "timeoutMs": 120_000,
        }
        assert command["details"] == "echo done > c.txt"
        assert command["reason"] == 'agent "left" wants to run a command'
    assert (project.root / "a.txt").read_text() == "A\n"
    assert (project.root / "c.txt").read_text() == "done\n"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"decision": "deny"}, "the user said no"),
        ({"decision": "deny", "note": "use b.txt"}, "the user said no: use b.txt"),
        ({"decision": "perhaps"}, "the editor's answer was not understood"),
        (None, "the editor's answer was not understood"),
    ],
)
def test_any_other_answer_is_a_denial_with_its_reason(
    project: Project, provider: ScriptedProvider, answer: Json, why: str
) -> None:
    provider.script("m-left", Says(calls=[WRITE]), Says("done"))
    with editor_with(project, ASKS) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: answer
        assert run(editor)["content"] == "done"
    assert told(provider, "left") == [f"write_file was not allowed: {why}"]
    assert not (project.root / "a.txt").exists()


def test_an_editor_that_refuses_to_ask_has_not_agreed(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE]), Says("done"))
    with editor_with(project, ASKS) as editor:
        run(editor)
    assert told(provider, "left") == ["write_file was not allowed: the user could not be asked"]


def test_no_answer_in_time_is_a_no_and_the_question_is_withdrawn(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE]), Says("done"))
    with editor_with(project, ASKS, approvalTimeout=1) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: NEVER
        run(editor)
        assert withdrawn(editor) == open_questions(editor)
    expected = "write_file was not allowed: the user did not answer within 1 s"
    assert told(provider, "left") == [expected]


def withdrawn(editor: Editor) -> list[Json]:
    received = editor.client.received
    return [it["params"]["id"] for it in received if it.get("method") == "$/cancelRequest"]


def open_questions(editor: Editor) -> list[Json]:
    return [it["id"] for it in editor.client.received if it.get("method") == "axe/approve"]


class Sessions:
    """Answers questions of a client when the test says so, each in its own time."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        editor.client.answer_with["axe/approve"] = lambda _: NEVER

    def question(self, agent: str) -> Json:
        """Wait until an agent asks once more; returns the request's id."""
        params = self._editor.client.wait_for("axe/approve", lambda it: it["agent"] == agent)
        received = self._editor.client.received
        return next(message["id"] for message in received if message.get("params") is params)

    def answer(self, question: Json, **result: Json) -> None:
        self._editor.client.send({"jsonrpc": "2.0", "id": question, "result": result})


BOTH = Says(calls=[calls_agent("left", "l", "1"), calls_agent("right", "r", "2")])


def test_children_ask_at_the_same_time_and_each_gets_its_own_answer(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-parent", BOTH, Says("done"))
    provider.script("m-left", Says(calls=[WRITE]), Says("l"))
    provider.script("m-right", Says(calls=[WRITE_B]), Says("r"))
    with editor_with(project, ASKS) as editor:
        desk = Sessions(editor)
        request = editor.client.start_request("axe/run", {"agent": "parent"})
        left, right = desk.question("left"), desk.question("right")
        desk.answer(right, decision="allow")
        desk.answer(left, decision="deny", note="not you")
        root = editor.client.result(request)["runId"]
        assert {(it["depth"], it["rootRunId"]) for it in asked(editor)} == {(1, root)}
    assert told(provider, "left") == ["write_file was not allowed: the user said no: not you"]
    assert told(provider, "right") == ["wrote 2 bytes to b.txt"]


def test_allowed_for_this_run_is_for_one_file_in_the_whole_tree_and_no_other_run(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-parent", BOTH, Says("done"), BOTH, Says("done"))
    provider.script("m-left", Says(calls=[WRITE]), Says("l"), Says("l"))
    again = [Says(calls=[WRITE]), Says(calls=[WRITE_B]), Says("r")]
    provider.script("m-right", *again, Says(calls=[WRITE]), Says("r"))
    with editor_with(project, ASKS) as editor:
        desk = Sessions(editor)
        request = editor.client.start_request("axe/run", {"agent": "parent"})
        left, right = desk.question("left"), desk.question("right")
        desk.answer(left, decision="allowForRun")
        editor.client.wait_for("$/cancelRequest", lambda params: params["id"] == right)
        desk.answer(desk.question("right"), decision="deny")
        assert asked(editor)[-1]["arguments"] == WRITE_B.arguments
        editor.client.result(request)
        assert told(provider, "right")[0] == "wrote 2 bytes to a.txt"

        request = editor.client.start_request("axe/run", {"agent": "parent"})
        desk.answer(desk.question("right"), decision="allow")
        editor.client.result(request)
    assert [it["tool"] for it in asked(editor)].count("write_file") == 4


@pytest.mark.parametrize("how", ["stop", "cancel"])
def test_a_run_that_ends_takes_its_questions_back(
    project: Project, provider: ScriptedProvider, how: str
) -> None:
    provider.script("m-left", Says(calls=[WRITE]))
    with editor_with(project, ASKS) as editor:
        desk = Sessions(editor)
        request = editor.client.start_request("axe/run", {"agent": "left"})
        question = desk.question("left")
        if how == "stop":
            editor.client.request("axe/stop", {"runId": asked(editor)[0]["runId"]})
        else:
            editor.client.notify("$/cancelRequest", {"id": request})
        assert editor.client.answer(request)["error"]["code"] == -32800
        editor.client.wait_for("$/cancelRequest", lambda params: params["id"] == question)
        desk.answer(question, decision="allow")  # Which comes too late and does no harm.
        provider.script("m-left", Says("alive"))
        assert run(editor)["content"] == "alive"
    assert not (project.root / "a.txt").exists()


def test_a_child_that_is_stopped_takes_its_question_back_and_no_other(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-parent", BOTH, Says("done"))
    provider.script("m-left", Says(calls=[WRITE]))
    provider.script("m-right", Says(calls=[WRITE_B]), Says("r"))
    with editor_with(project, ASKS) as editor:
        desk = Sessions(editor)
        request = editor.client.start_request("axe/run", {"agent": "parent"})
        left, right = desk.question("left"), desk.question("right")
        (child,) = [it["runId"] for it in asked(editor) if it["agent"] == "left"]
        assert editor.client.request("axe/stop", {"runId": child}) == {"stopped": True}
        editor.client.wait_for("$/cancelRequest", lambda params: params["id"] == left)
        desk.answer(right, decision="allow")
        assert editor.client.result(request)["content"] == "done"
        assert withdrawn(editor) == [left]
    assert (project.root / "b.txt").exists()


def test_a_host_that_dies_leaves_no_question_open(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE]))
    with editor_with(project, ASKS, run={"goOn": False}) as editor:
        desk = Sessions(editor)
        request = editor.client.start_request("axe/run", {"agent": "left"})
        question = desk.question("left")
        assert editor.client.process is not None
        (host,) = children_of(editor.client.process.pid)
        os.kill(host, signal.SIGKILL)
        assert editor.client.answer(request)["error"]["code"] == -32803
        editor.client.wait_for("$/cancelRequest", lambda params: params["id"] == question)


def test_a_question_is_asked_again_when_its_run_goes_on_in_another_host(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE]), Says("done"))
    with editor_with(project, ASKS) as editor:
        desk = Sessions(editor)
        request = editor.client.start_request("axe/run", {"agent": "left"})
        question = desk.question("left")
        editor.client.request("axe/runs", {})  # The history has the answer from then on.
        assert editor.client.process is not None
        (host,) = children_of(editor.client.process.pid)
        os.kill(host, signal.SIGKILL)
        editor.client.wait_for("$/cancelRequest", lambda params: params["id"] == question)
        desk.answer(desk.question("left"), decision="allow")
        assert editor.client.result(request)["content"] == "done"
    assert (project.root / "a.txt").exists()
    assert len(provider.requests) == 2


def test_an_editor_that_leaves_has_not_agreed(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-left", Says(calls=[WRITE]))
    with editor_with(project, ASKS) as editor:
        desk = Sessions(editor)
        editor.client.start_request("axe/run", {"agent": "left"})
        desk.question("left")
        assert editor.client.leave() == 0
    assert not (project.root / "a.txt").exists()


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"title": "Allow"}, "wrote 2 bytes to a.txt"),
        ({"title": "Deny"}, "write_file was not allowed: the user said no"),
        (None, "write_file was not allowed: the user said no"),
    ],
)
def test_editors_that_know_only_lsp_show_a_message_with_buttons(
    project: Project, provider: ScriptedProvider, chosen: Json, expected: str
) -> None:
    provider.script("m-left", Says(calls=[WRITE]), Says("done"))
    with editor_with(project, SHOWS) as editor:
        editor.client.answer_with["window/showMessageRequest"] = lambda _: chosen
        editor.client.request(
            "workspace/executeCommand", {"command": "axe.run", "arguments": [{"agent": "left"}]}
        )
        (message,) = asked(editor, "window/showMessageRequest")
        assert message["message"] == (
            'agent "left" wants to write a.txt:\n--- /dev/null\n+++ a.txt\n@@ -0,0 +1 @@\n+A'
        )
        titles = [action["title"] for action in message["actions"]]
        assert titles == ["Allow", "Allow This File for This Run", "Deny"]
    assert told(provider, "left") == [expected]


@pytest.mark.parametrize("name", ["Eglot", "emacs"])
def test_emacs_is_asked_though_it_does_not_say_that_it_answers(
    project: Project, provider: ScriptedProvider, name: str
) -> None:
    """It takes the first action for a mere Enter."""
    provider.script("m-left", Says(calls=[WRITE]), Says("done"))
    with project.editor(clientInfo={"name": name}, capabilities={}) as editor:
        editor.client.answer_with["window/showMessageRequest"] = lambda params: params["actions"][0]
        run(editor)
    assert told(provider, "left") == ["write_file was not allowed: the user said no"]


PROTECTED = Call("write_file", {"path": ".github/a.yml", "content": "a"}, "4")


def test_protected_place_is_asked_about_each_time(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[PROTECTED]), Says(calls=[PROTECTED]), Says("done"))
    with editor_with(project, ASKS, tools={"allow": ["*"]}) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: {"decision": "allowForRun"}
        run(editor)
        first, second = asked(editor)
    assert first["rule"] == second["rule"] == "write_file(.github/a.yml)"
    assert not {"subject", "forRun"} & first.keys()
    assert "a protected place, which is asked about each time" in first["reason"]


def test_protected_place_has_no_button_for_the_run(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[PROTECTED]), Says("done"))
    with editor_with(project, SHOWS) as editor:
        editor.client.answer_with["window/showMessageRequest"] = lambda _: {"title": "Allow"}
        run(editor)
        (message,) = asked(editor, "window/showMessageRequest")
    assert [action["title"] for action in message["actions"]] == ["Allow", "Deny"]
    assert (project.root / ".github" / "a.yml").read_text() == "a"


def test_protected_place_is_written_where_a_rule_names_it(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[PROTECTED]), Says("done"))
    with editor_with(project, ASKS, tools={"allow": ["write_file(.github/**)"]}) as editor:
        run(editor)
        assert asked(editor) == []
    assert (project.root / ".github" / "a.yml").read_text() == "a"


def test_allowing_for_this_run_works_with_buttons_too(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE]), Says(calls=[WRITE]), Says("done"))
    with editor_with(project, SHOWS) as editor:
        button = {"title": "Allow This File for This Run"}
        editor.client.answer_with["window/showMessageRequest"] = lambda _: button
        run(editor)
        assert len(asked(editor, "window/showMessageRequest")) == 1
    assert (project.root / "a.txt").exists()


@pytest.mark.parametrize(
    "command",
    [f"echo {'x' * 30_000}; touch a.txt", "\n" * 60 + "touch a.txt"],
    ids=["characters", "lines"],
)
def test_long_change_is_in_a_private_file_until_it_is_answered(
    project: Project, provider: ScriptedProvider, command: str
) -> None:
    provider.script("m-left", Says(calls=[Call("run_command", {"command": command})]), Says("done"))
    seen: list[tuple[str, str, int]] = []

    def answer(params: Json) -> Json:
        path = Path(params["message"].rpartition("; all of it is in ")[2])
        seen.append((str(path), path.read_text(), path.stat().st_mode & 0o777))
        return {"title": "Allow"}

    capabilities = {"window": {"showMessage": {}, "showDocument": {"support": True}}}
    with editor_with(project, capabilities) as editor:
        editor.client.answer_with["window/showMessageRequest"] = answer
        editor.client.answer_with["window/showDocument"] = lambda _: {"success": True}
        run(editor)
        (message,) = asked(editor, "window/showMessageRequest")
        (shown,) = asked(editor, "window/showDocument")
    ((path, text, mode),) = seen
    assert text == command
    assert mode == 0o600
    assert shown["uri"] == Path(path).as_uri()
    assert not shown["takeFocus"], "whoever is typing goes on typing"
    assert len(message["message"]) < 2300
    assert "more characters; all of it is in" in message["message"]
    assert not Path(path).exists(), "nobody has to clear up"
    assert (project.root / "a.txt").exists()


def test_an_editor_is_asked_about_a_long_change_with_all_of_it(
    project: Project, provider: ScriptedProvider
) -> None:
    content = "".join(f"{number:0>100}\n" for number in range(300))
    call = Call("write_file", {"path": "a.txt", "content": content})
    provider.script("m-left", Says(calls=[call]), Says("done"))
    with editor_with(project, ASKS) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: {"decision": "allow"}
        run(editor)
        (question,) = asked(editor)
    assert question["details"].count("\n+0") == 300
    assert question["change"]["after"] == content
    assert (project.root / "a.txt").read_text() == content


def test_an_editor_that_can_not_ask_is_told_what_to_do(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE, WRITE_B]), Says("done"))
    with editor_with(project, {}) as editor:
        run(editor)
        (message,) = asked(editor, "window/showMessage")
        assert message["message"].startswith(
            'agent "left" wanted to use write_file, which needs your approval: '
            "this editor can't ask you; the setting axe.tools.allow"
        )
    assert told(provider, "left")[0].startswith("write_file was not allowed: it needs the user's")


def test_call_allowed_by_settings_is_not_asked_about(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE, COMMAND]), Says("done"))
    allow = ["write_file", "run_command(echo done)"]
    with editor_with(project, ASKS, **{"tools.allow": allow}) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: {"decision": "deny"}
        run(editor)
        (question,) = asked(editor)
        assert question["tool"] == "run_command"
    assert told(provider, "left")[0] == "wrote 2 bytes to a.txt"


def test_rules_of_config_toml_allow_calls_in_editors(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Says(calls=[WRITE, COMMAND]), Says("done"))
    config = project.user_agents.parent / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[tools]\nallow = ['write_file(a.txt)']\n")
    with editor_with(project, ASKS) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: {"decision": "deny"}
        run(editor)
        (question,) = asked(editor)
        assert question["tool"] == "run_command"
    assert told(provider, "left")[0] == "wrote 2 bytes to a.txt"


def test_question_has_no_api_key(project: Project, provider: ScriptedProvider) -> None:
    leak = Call("run_command", {"command": "echo the-key-of-the-user"})
    provider.script("m-left", Says(calls=[leak]), Says("done"))
    with editor_with(project, ASKS) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: {"decision": "deny"}
        run(editor)
        (question,) = asked(editor)
        assert question["details"] == "echo [redacted]"
        assert "the-key-of-the-user" not in str(editor.client.received)


def test_a_rule_for_a_name_that_any_file_can_give_its_server_is_worth_a_warning(
    project: Project, provider: ScriptedProvider
) -> None:
    with editor_with(project, {}, **{"tools.allow": ["issues/*", "write_file"]}) as editor:
        provider.script("m-left", Says("done"))
        run(editor)
        (message,) = asked(editor, "window/showMessage")
    assert message["message"] == (
        '"issues/*" in axe.tools.allow names a server of MCP by the name that an agent file gives it; '
        "write the server's address and the tool, such as `https://host/path#tool`; it has no effect"
    )
