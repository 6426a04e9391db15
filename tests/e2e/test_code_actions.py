"""Code actions as editors get them and take them, and the commands behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli

from support.applying import EVERYTHING, apply_edit
from support.raw_client import ServerError
from support.secrets import ANTHROPIC_KEY
from support.session import PUBLISH, Editor, Project

HEAD = 'name = "parent"\nmodel = "ollama/m"\n'
GHOST = HEAD + 'sub_agents = ["é😀", "ghost"]\n'
SECRET = HEAD + f'api_key = "{ANTHROPIC_KEY}"\ntimeout = 3\n'
MOVE_SECRET = "Move it to config.toml, as the key of anthropic"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def without(*paths: str) -> dict[str, Any]:
    """Return the capabilities of a client that knows everything but what is at the paths."""

    def copy(value: Any, here: str) -> Any:
        if not isinstance(value, dict):
            return value
        inside = {name: (f"{here}.{name}".lstrip("."), each) for name, each in value.items()}
        return {name: copy(each, at) for name, (at, each) in inside.items() if at not in paths}

    return dict(copy(EVERYTHING, ""))


LITERALS = "textDocument.codeAction.codeActionLiteralSupport"
OPERATIONS = "workspace.workspaceEdit.resourceOperations"


def actions(editor: Editor, name: str, at: str, *only: str) -> list[Any]:
    """Return what is offered in the middle of a piece of the text, beside the diagnostics that are shown."""
    start = editor.texts[name].index(at) + 1
    shown = editor.client.notifications(PUBLISH)
    about = [each["diagnostics"] for each in shown if each["uri"] == editor.uri(name)]
    context: dict[str, Any] = {"diagnostics": about[-1] if about else []}
    params = {
        "textDocument": {"uri": editor.uri(name)},
        "range": editor.range(name, start, start),
        "context": {**context, "only": list(only)} if only else context,
    }
    return list(editor.client.request("textDocument/codeAction", params))


def titled(offered: list[Any], title: str) -> Any:
    found = [each for each in offered if each["title"] == title]
    assert len(found) == 1, [each["title"] for each in offered]
    return found[0]


def execute(editor: Editor, command: Any) -> Any:
    params = {"command": command["command"], "arguments": command["arguments"]}
    return editor.client.request("workspace/executeCommand", params)


def lets_edit(editor: Editor) -> None:
    """The client applies what the server asks it to."""

    def applied(params: Any) -> Any:
        apply_edit(editor, params["edit"])
        return {"applied": True}

    editor.client.answer_with["workspace/applyEdit"] = applied


# -- edits


def test_a_fix_is_taken_and_its_diagnostic_goes_away(project: Project) -> None:
    project.write("lint", 'name = "lint"\nmodel = "ollama/m"\n')
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", HEAD + 'sub_agents = ["lnt"]  # 😀\n')
        editor.problems("parent", 1)
        fix = titled(actions(editor, "parent", "lnt"), "Replace by `lint`")
        assert (fix["kind"], fix["isPreferred"]) == ("quickfix", True)
        (diagnostic,) = fix["diagnostics"]
        assert diagnostic["code"] == "unknown-agent"
        assert fix["edit"]["documentChanges"][0]["textDocument"]["version"] == 1
        apply_edit(editor, fix["edit"])
        assert editor.problems("parent", 0) == []
        assert editor.texts["parent"] == HEAD + 'sub_agents = ["lint"]  # 😀\n'


def test_everything_certain_is_fixed_on_save(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", HEAD + 'timeout = -1\nstream = "true"\n')
        editor.problems("parent", 2)
        (fix,) = actions(editor, "parent", "name", "source.fixAll")
        assert fix["kind"] == "source.fixAll"
        apply_edit(editor, fix["edit"])
        assert editor.problems("parent", 0) == []
        assert actions(editor, "parent", "name", "source.fixAll") == []


def test_only_the_kinds_that_are_asked_for_are_offered(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        provider = editor.server["capabilities"]["codeActionProvider"]
        assert provider["codeActionKinds"] == [
            "quickfix",
            "refactor.extract",
            "refactor.rewrite",
            "source.fixAll",
        ]
        editor.open("parent", GHOST)
        editor.problems("parent", 2)
        kinds = {each["kind"] for each in actions(editor, "parent", "ghost")}
        assert kinds == {"quickfix", "refactor.rewrite"}
        (layout,) = actions(editor, "parent", "ghost", "refactor")
        assert layout["title"] == "Put each item on a line of its own"


def test_a_type_is_extracted_to_an_agent_file(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", HEAD + '[task.type.audit]\nprompt = "Audit."\n')
        title = 'Move the type to an agent "audit" of its own'
        move = titled(actions(editor, "parent", "task.type"), title)
        assert move["kind"] == "refactor.extract"
        apply_edit(editor, move["edit"])
        assert tomli.loads(project.path("audit").read_text("utf-8"))["system_prompt"] == "Audit."
        types = ["explore", "plan", "code", "audit"]
        assert tomli.loads(editor.texts["parent"])["task"] == {"types": types}


def test_impossible_action_is_disabled_with_a_reason(project: Project) -> None:
    text = HEAD + '[task.type.audit]\nprompt = "Audit."\n'
    (project.agents / "audit.toml").symlink_to("nowhere")
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", text)
        (move,) = actions(editor, "parent", "task.type", "refactor.extract")
        assert move["disabled"]["reason"] == f"{project.path('audit')} already exists"
        assert "edit" not in move
    for unknown in ("textDocument.codeAction.disabledSupport", LITERALS):
        with project.editor(capabilities=without(unknown)) as editor:
            editor.open("parent", text)
            assert actions(editor, "parent", "task.type", "refactor.extract") == []


# -- new agents


def test_a_missing_agent_is_created_and_shown(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        shown: list[Any] = []
        editor.client.answer_with["window/showDocument"] = lambda params: (
            shown.append(params) or {"success": True}
        )
        editor.open("parent", GHOST)
        editor.problems("parent", 2)
        fix = titled(actions(editor, "parent", "é😀"), 'Create the agent "é😀"')
        assert fix["command"]["command"] == "axe.createAgent"
        assert execute(editor, fix["command"]) == {"uri": editor.uri("é😀")}
        agent = tomli.loads(project.path("é😀").read_text("utf-8"))
        assert (agent["name"], agent["model"]) == ("é😀", "ollama/m")
        assert editor.problems("parent", 1) == ['unknown-agent "ghost"']
        editor.client.wait_for("window/showDocument")
        assert shown == [{"uri": editor.uri("é😀"), "takeFocus": True}]


def test_new_agent_lies_in_the_project_or_else_with_the_user(
    project: Project,
) -> None:
    with project.editor() as editor:
        create = {"command": "axe.createAgent", "arguments": [{"name": "new"}]}
        assert execute(editor, create) == {"uri": editor.uri("new")}
    project.path("new").unlink()
    project.agents.rmdir()
    with project.editor() as editor:
        uri = (project.user_agents / "new.toml").as_uri()
        assert execute(editor, create) == {"uri": uri}
        assert tomli.loads((project.user_agents / "new.toml").read_text("utf-8"))["name"] == "new"


@pytest.mark.parametrize(
    ("variables", "provider"),
    [({"OPENAI_API_KEY": "sk-0123456789"}, "openai"), ({}, "anthropic")],
)
def test_a_new_agent_has_a_model_for_which_there_is_a_key(
    project: Project, variables: dict[str, str], provider: str
) -> None:
    project.environment.update({"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", **variables})
    with project.editor() as editor:
        execute(editor, {"command": "axe.createAgent", "arguments": [{"name": "new"}]})
    model = tomli.loads(project.path("new").read_text("utf-8"))["model"]
    assert model.startswith(f"{provider}/")


def test_an_agent_is_created_in_the_folder_that_is_picked(project: Project) -> None:
    bots = project.root / "bots"
    bots.mkdir()
    options = {"agentPaths": ["bots"]}
    with project.editor(initializationOptions=options) as editor:
        folders = editor.client.request("axe/folders")
        assert folders == [
            {"uri": project.agents.as_uri(), "scope": "workspace", "exists": True},
            {"uri": bots.as_uri(), "scope": "workspace", "exists": True},
            {"uri": project.user_agents.as_uri(), "scope": "user", "exists": True},
        ]
        argument = {"name": "new", "folder": bots.as_uri()}
        create = {"command": "axe.createAgent", "arguments": [argument]}
        assert execute(editor, create) == {"uri": (bots / "new.toml").as_uri()}
    assert tomli.loads((bots / "new.toml").read_text("utf-8"))["name"] == "new"


def test_a_folder_that_is_not_there_yet_is_made_for_the_first_agent(project: Project) -> None:
    project.agents.rmdir()
    with project.editor() as editor:
        folder = editor.client.request("axe/folders")[0]
        assert folder == {"uri": project.agents.as_uri(), "scope": "workspace", "exists": False}
        argument = {"name": "first", "folder": folder["uri"]}
        execute(editor, {"command": "axe.createAgent", "arguments": [argument]})
    assert project.path("first").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEAD, HEAD + 'sub_agents = ["helper"]\n'),
        (HEAD + 'sub_agents = ["lint"]\n', HEAD + 'sub_agents = ["lint", "helper"]\n'),
    ],
)
def test_a_new_agent_gets_into_the_list_of_the_one_it_is_for(
    project: Project, before: str, after: str
) -> None:
    project.write("parent", before)
    with project.editor(capabilities=EVERYTHING) as editor:
        lets_edit(editor)
        editor.open("parent", before)
        argument = {"name": "helper", "uri": editor.uri("parent"), "list": True}
        execute(editor, {"command": "axe.createAgent", "arguments": [argument]})
        assert editor.texts["parent"] == after
    assert tomli.loads(project.path("helper").read_text("utf-8"))["model"] == "ollama/m"


def test_an_agent_that_is_in_the_list_already_is_only_created(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", HEAD + 'sub_agents = ["helper"]\n')
        argument = {"name": "helper", "uri": editor.uri("parent"), "list": True}
        execute(editor, {"command": "axe.createAgent", "arguments": [argument]})
        assert editor.problems("parent", 0) == []


UNUSABLE: list[tuple[Any, str]] = [
    ({"name": "parent"}, "parent.toml already exists"),
    ({"name": "open"}, 'there is an agent "open" already: '),
    ({"name": "../x"}, "must not contain path separators"),
    ({"name": "x", "uri": "file:///nowhere.toml"}, "file:///nowhere.toml is not a known agent"),
    ({"name": 1}, '"name" must be a string'),
    ({"name": "x", "uri": 1}, '"uri" must be a string'),
    ({"name": "x", "folder": 1}, '"folder" must be a string'),
    ({"name": "x", "folder": "file:///x", "uri": "file:///y"}, 'either "uri" or "folder"'),
    (
        {"name": "x", "folder": "file:///x"},
        "agents are not found in file:///x, which is outside every agent folder",
    ),
    (None, '"name" must be a string'),
]


def test_why_an_agent_can_not_be_created(project: Project) -> None:
    project.path("parent").symlink_to("nowhere")
    with project.editor() as editor:
        editor.open("open", HEAD)
        for argument, said in UNUSABLE:
            with pytest.raises(ServerError) as caught:
                execute(editor, {"command": "axe.createAgent", "arguments": [argument]})
            assert said in caught.value.message


# -- what we carry out


@pytest.mark.parametrize("unknown", [LITERALS, OPERATIONS])
def test_files_are_created_for_clients_that_can_not_do_it(project: Project, unknown: str) -> None:
    with project.editor(capabilities=without(unknown)) as editor:
        lets_edit(editor)
        editor.open("parent", HEAD + 'system_prompt = "Be brief."\n')
        title = "Move the prompt to skills/parent/SKILL.md of the configuration folder"
        move = titled(actions(editor, "parent", "system_prompt"), title)
        command = move if isinstance(move["command"], str) else move["command"]
        assert command["command"] == "axe.applyAction"
        assert execute(editor, command) is None
        skill = project.home / ".config" / "axe" / "skills" / "parent" / "SKILL.md"
        assert editor.texts["parent"] == HEAD + 'skill = "skills/parent/SKILL.md"\n'
        assert skill.read_text("utf-8") == "Be brief.\n"


def test_a_missing_skill_is_created_and_shown(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", HEAD + 'skill = "review"\n')
        assert editor.problems("parent", 1) == ['missing-file "review"']
        fix = titled(actions(editor, "parent", "review"), "Create the skill review")
        assert execute(editor, fix["command"]) is None
        skill = project.home / ".config" / "axe" / "skills" / "review" / "SKILL.md"
        assert skill.read_text("utf-8") == "# review\n"
        assert editor.problems("parent", 0) == []
        assert editor.client.wait_for("window/showDocument")["uri"] == skill.as_uri()


def test_clients_that_know_only_commands_get_commands(project: Project) -> None:
    with project.editor(capabilities=without(LITERALS)) as editor:
        assert editor.server["capabilities"]["codeActionProvider"] is True
        lets_edit(editor)
        editor.open("parent", HEAD + "timeout = -1\n")
        editor.problems("parent", 1)
        fix = titled(actions(editor, "parent", "-1"), "Replace by `0`")
        execute(editor, fix)
        assert editor.problems("parent", 0) == []


def test_action_that_client_and_server_cannot_apply_is_not_offered(project: Project) -> None:
    with project.editor(capabilities=without(LITERALS, "workspace.applyEdit")) as editor:
        editor.open("parent", GHOST)
        editor.problems("parent", 2)
        titles = [each["title"] for each in actions(editor, "parent", "ghost")]
        assert titles == ['Create the agent "ghost"']
    with project.editor(capabilities=without(OPERATIONS)) as editor:
        editor.open("parent", 'name = "other"\nmodel = "ollama/m"\n')
        editor.problems("parent", 1)
        titles = [each["title"] for each in actions(editor, "parent", "other")]
        assert "Replace by `parent`" in titles
        assert not any(title.startswith("Rename the file") for title in titles)


def test_an_action_that_has_become_impossible_is_refused(project: Project) -> None:
    with project.editor(capabilities=without(LITERALS)) as editor:
        lets_edit(editor)
        editor.open("parent", HEAD + "timeout = -1\n")
        editor.problems("parent", 1)
        fix = titled(actions(editor, "parent", "-1"), "Replace by `0`")
        editor.replace("parent", "-1", "10")
        with pytest.raises(ServerError, match="no longer possible here"):
            execute(editor, fix)
        editor.replace("parent", "10", "-1")
        editor.client.answer_with["workspace/applyEdit"] = lambda _: {
            "applied": False,
            "failureReason": "read-only",
        }
        with pytest.raises(ServerError, match="the editor did not change the text: read-only"):
            execute(editor, fix)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (None, "textDocument"),
        ({"textDocument": {"uri": "x"}, "range": 1, "title": ""}, "range"),
        (
            {
                "textDocument": {"uri": "x"},
                "range": {
                    "start": {"line": 0, "character": 0},
                    "end": {"line": 0, "character": 0},
                },
            },
            '"title" must be a string',
        ),
    ],
)
def test_a_command_that_names_no_action_is_refused(
    project: Project, argument: Any, said: str
) -> None:
    with (
        project.editor() as editor,
        pytest.raises(ServerError, match=r"axe\.applyAction") as caught,
    ):
        execute(editor, {"command": "axe.applyAction", "arguments": [argument]})
    assert caught.value.code == -32602
    assert said in caught.value.message


# -- secrets


def test_secret_moves_to_config_toml_and_is_in_no_message(project: Project) -> None:
    config = project.home / ".config" / "axe" / "config.toml"
    with project.editor(capabilities=EVERYTHING) as editor:
        lets_edit(editor)
        editor.open("parent", SECRET)
        editor.problems("parent", lambda found: any("plain-secret" in each for each in found))
        fix = titled(actions(editor, "parent", ANTHROPIC_KEY), MOVE_SECRET)
        execute(editor, fix["command"])
        assert editor.texts["parent"] == HEAD + "timeout = 3\n"
        shown = editor.client.wait_for("window/showMessage")
        assert shown["message"] == f"The key of anthropic is in {config} now."
        told = f"{editor.client.received}{editor.client.stderr()}"
    assert tomli.loads(config.read_text("utf-8")) == {
        "providers": {"anthropic": {"api_key": ANTHROPIC_KEY}}
    }
    assert config.stat().st_mode & 0o777 == 0o600
    assert ANTHROPIC_KEY not in told


def test_a_secret_stays_where_it_is_if_it_can_not_be_put_elsewhere(project: Project) -> None:
    config = project.home / ".config" / "axe" / "config.toml"
    config.write_text('[providers.anthropic]\napi_key = "other"\n', "utf-8")
    with project.editor(capabilities=EVERYTHING) as editor:
        lets_edit(editor)
        editor.open("parent", SECRET)
        fix = titled(actions(editor, "parent", ANTHROPIC_KEY), MOVE_SECRET)
        with pytest.raises(ServerError, match="has another key of anthropic already") as caught:
            execute(editor, fix["command"])
        assert ANTHROPIC_KEY not in str(caught.value)
        assert editor.texts["parent"] == SECRET


ENTER_KEY = "Enter the key of openai in config.toml"
NEEDS_KEY = HEAD.replace("ollama", "openai")


def test_a_key_is_entered_where_the_users_keys_are(project: Project) -> None:
    config = project.home / ".config" / "axe" / "config.toml"
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", NEEDS_KEY)
        editor.problems("parent", 1)
        fix = titled(actions(editor, "parent", "openai"), ENTER_KEY)
        execute(editor, fix["command"])
        shown = editor.client.wait_for("window/showDocument")
    assert config.read_text("utf-8") == '[providers.openai]\napi_key = ""\n'
    assert config.stat().st_mode & 0o777 == 0o600
    cursor = {"line": 1, "character": len('api_key = "')}
    assert shown["uri"] == config.as_uri()
    assert shown["selection"] == {"start": cursor, "end": cursor}


def test_where_config_toml_is_open_its_editor_makes_the_place_for_a_key(project: Project) -> None:
    config = project.home / ".config" / "axe" / "config.toml"
    opened = {"uri": config.as_uri(), "languageId": "toml", "version": 1, "text": "# unsaved\n"}
    with project.editor(capabilities=EVERYTHING) as editor:
        asked: list[Any] = []
        editor.client.answer_with["workspace/applyEdit"] = lambda params: (
            asked.append(params["edit"]) or {"applied": True}
        )
        editor.client.notify("textDocument/didOpen", {"textDocument": opened})
        editor.open("parent", NEEDS_KEY)
        editor.problems("parent", 1)
        execute(editor, titled(actions(editor, "parent", "openai"), ENTER_KEY)["command"])
        shown = editor.client.wait_for("window/showDocument")
    assert not config.exists()
    ((change,),) = [each["edits"] for each in asked[0]["documentChanges"]]
    assert change["newText"] == '\n[providers.openai]\napi_key = ""\n'
    assert shown["selection"]["start"] == {"line": 3, "character": len('api_key = "')}


def test_the_other_agent_of_a_name_is_shown_to_clients_that_show_files(project: Project) -> None:
    other = project.root / "more" / "axe" / "agents" / "parent.toml"
    other.parent.mkdir(parents=True)
    other.write_text(HEAD, "utf-8")
    title = f"Open {other}"
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", HEAD)
        editor.problems("parent", 1)
        execute(editor, titled(actions(editor, "parent", '"parent"'), title)["command"])
        assert editor.client.wait_for("window/showDocument")["uri"] == other.as_uri()
    with project.editor(capabilities=without("window.showDocument")) as editor:
        editor.open("parent", HEAD)
        editor.problems("parent", 1)
        assert title not in [each["title"] for each in actions(editor, "parent", '"parent"')]


def test_an_agent_is_converted_to_a_file_that_is_shown(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", HEAD + 'system_prompt = "Be brief."\n')
        title = "Convert to an agent of Claude Code (without model)"
        convert = titled(actions(editor, "parent", "parent"), title)
        assert execute(editor, convert["command"]) is None
        new = project.root / ".claude" / "agents" / "parent.md"
        assert new.read_text("utf-8").endswith("---\n\nBe brief.")
        assert editor.client.wait_for("window/showDocument")["uri"] == new.as_uri()
        again = titled(actions(editor, "parent", "parent"), title)
        assert again["disabled"]["reason"] == f"{new} already exists"


def test_a_codex_agent_is_converted_with_its_text(project: Project) -> None:
    with project.editor(capabilities=EVERYTHING) as editor:
        uri = (project.root / ".codex" / "agents" / "fix.toml").as_uri()
        text = 'name = "fix"\ndescription = "d"\ndeveloper_instructions = "Go."\n'
        editor.open(uri, text, language="axe-agent")
        convert = titled(actions(editor, uri, "fix"), "Convert to an agent of axe")
        execute(editor, convert["command"])
        assert tomli.loads(project.path("fix").read_text("utf-8"))["system_prompt"] == "Go."


def test_an_agent_is_not_converted_through_a_link_out_of_the_workspace(project: Project) -> None:
    """A repository could bring a link to the user's own agents, which are trusted."""
    project.agents.rmdir()
    project.agents.symlink_to(project.user_agents)
    with project.editor(capabilities=EVERYTHING) as editor:
        uri = (project.root / ".codex" / "agents" / "fix.toml").as_uri()
        editor.open(uri, 'name = "fix"\ndescription = "d"\n', language="axe-agent")
        convert = titled(actions(editor, uri, "fix"), "Convert to an agent of axe")
        number = editor.client.start_request("workspace/executeCommand", convert["command"])
        told = editor.client.answer(number)["error"]["message"]
    assert "a link leads out of the workspace, to " in told
    assert list(project.user_agents.iterdir()) == []


def test_what_a_fix_has_guessed_is_selected_where_the_client_can(project: Project) -> None:
    edits = {"documentChanges": True, "snippetEditSupport": True}
    actions_known = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
    capabilities = {
        "workspace": {"workspaceEdit": edits},
        "textDocument": {"codeAction": actions_known},
    }
    with project.editor(capabilities=capabilities) as editor:
        editor.open("parent", 'name = "a$b}"\n')
        editor.problems("parent", lambda found: any("missing-key" in each for each in found))
        title = 'Set `model` to "anthropic/claude-sonnet-5-5"'
        (change,) = titled(actions(editor, "parent", "name"), title)["edit"]["documentChanges"]
        (edit,) = change["edits"]
        assert edit["snippet"] == {
            "kind": "snippet",
            "value": '\nmodel = "${1:anthropic/claude-sonnet-5-5}"',
        }
    with project.editor(capabilities=EVERYTHING) as editor:
        editor.open("parent", 'name = "a$b}"\n')
        editor.problems("parent", lambda found: any("missing-key" in each for each in found))
        (change,) = titled(actions(editor, "parent", "name"), title)["edit"]["documentChanges"]
        assert change["edits"][0]["newText"] == '\nmodel = "anthropic/claude-sonnet-5-5"'
