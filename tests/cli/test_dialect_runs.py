"""`axe-lsp run` on agents of Codex and Mistral Vibe, with processes and a real provider."""

from __future__ import annotations

import json
from pathlib import Path

from support.bodies import messages_of
from support.command_line import Home
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent


def put(home: Home, name: str, text: str) -> Path:
    path = home.work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def role(name: str, more: str = "") -> str:
    return (
        f'name = "{name}"\ndescription = "d"\ndeveloper_instructions = "You are {name}."\n{more}\n'
    )


def test_a_codex_project_runs_with_its_children(home: Home, provider: ScriptedProvider) -> None:
    put(home, ".codex/agents/lead.toml", role("lead", 'model = "gpt-lead"'))
    put(home, ".codex/agents/deep/x.toml", role("My Helper", 'model = "gpt-helper"'))
    put(home, ".codex/agents/plain.toml", role("plain"))
    calls = [calls_agent("My Helper", "look"), calls_agent("plain", "look")]
    provider.script("gpt-lead", Says(calls=calls), Says("plain said"), Says("both said"))
    provider.script("gpt-helper", Says("helper said"))
    assert home.call("run", "lead", "-p", "go") == (0, "both said", "")
    by_model = [request.body["model"] for request in provider.requests]
    # A role without a model has that of its caller.
    assert sorted(by_model) == ["gpt-helper", "gpt-lead", "gpt-lead", "gpt-lead"]
    first = provider.requests[0].body
    assert "You are lead." in str(first)
    call = next(each for each in first["tools"] if "call_agent" in str(each))
    assert "My Helper, lead, plain" in str(call)
    child = next(each for each in provider.requests if each.body["model"] == "gpt-helper")
    assert "call_agent" not in str(child.body)


def test_effort_reaches_the_wire(home: Home, provider: ScriptedProvider) -> None:
    text = role("a", 'model = "gpt-5.6"\nmodel_reasoning_effort = "xhigh"')
    put(home, ".codex/agents/a.toml", text)
    provider.script("gpt-5.6", Says("done"))
    assert home.call("run", "a")[:2] == (0, "done")
    assert provider.requests[0].body["reasoning"]["effort"] == "xhigh"


def test_an_agent_of_codex_is_run_by_the_path_of_its_file_in_any_folder(
    home: Home, provider: ScriptedProvider
) -> None:
    path = put(home, "profiles/scout.toml", role("a_scout", 'model = "gpt-5.6-luna"'))
    provider.script("gpt-5.6-luna", Says("done"))
    assert home.call("run", str(path), "-p", "go") == (0, "done", "")
    assert "You are a_scout." in str(provider.requests[0].body)


def test_a_read_only_sandbox_has_no_tools_that_write(
    home: Home, provider: ScriptedProvider
) -> None:
    path = put(home, ".codex/agents/a.toml", role("a", 'sandbox_mode = "read-only"'))
    write = Call("write_file", {"path": "new.txt", "content": "x"})
    provider.script("m", Says(calls=[write]), Says("done"))
    code, _, _ = home.call("run", str(path), "--model", "openai/m", "--yes")
    assert code == 0
    names = sorted(each["function"]["name"] for each in provider.requests[0].body["tools"])
    assert names == ["call_agent", "find_files", "grep", "list_directory", "read_file"]
    assert not (home.work / "new.txt").exists()


def test_write_is_asked_about_whatever_the_file_allows(
    home: Home, provider: ScriptedProvider
) -> None:
    more = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"'
    put(home, ".codex/agents/a.toml", role("a", more))
    write = Call("write_file", {"path": "new.txt", "content": "x"})
    provider.script("m", Says(calls=[write]), Says("done"))
    code, _, err = home.call("run", "a", "--model", "openai/m")
    assert code == 0
    assert not (home.work / "new.txt").exists()
    assert "approval_policy" in err


def test_without_a_model_the_error_says_how_to_give_one(home: Home) -> None:
    put(home, ".codex/agents/a.toml", role("a", 'model = "m"\nmodel_provider = "azure"'))
    code, out, err = home.call("run", "a")
    assert (code, out) == (2, "")
    assert 'agent "a" names no model; give one, such as --model' in err


def test_key_without_effect_is_reported_before_the_run(home: Home) -> None:
    more = 'model = "m"\nweb_search = "live"\n[mcp_servers.docs]\ncommand = "docs"'
    put(home, ".codex/agents/a.toml", role("a", more))
    code, out, err = home.call("run", "a", "--dry-run", "--json")
    assert code == 0
    (warning,) = json.loads(out)["warnings"]
    assert warning == 'agent "a": there is no counterpart for web_search, mcp_servers'
    assert warning in err


def test_the_list_and_show_have_agents_of_all_dialects(home: Home) -> None:
    put(home, ".codex/agents/a.toml", role("a"))
    put(home, ".vibe/agents/b.toml", 'description = "B"\ninstructions = "You are b."')
    assert home.call("agents", "list")[:2] == (0, "a - d\nb - B\n")
    assert "System Prompt:  You are b." in home.call("agents", "show", "b")[1]


def test_the_project_is_found_from_a_folder_below_it(
    home: Home, provider: ScriptedProvider
) -> None:
    put(home, ".codex/agents/a.toml", role("a"))
    (home.work / "src").mkdir()
    home.work = home.work / "src"
    provider.script("m", Says("done"))
    assert home.call("run", "a", "--model", "openai/m")[:2] == (0, "done")


def test_the_users_own_agents_work_in_the_current_folder(
    home: Home, provider: ScriptedProvider
) -> None:
    codex = Path(home.environment["HOME"]) / ".codex"
    (codex / "agents").mkdir(parents=True)
    (codex / "agents" / "a.toml").write_text(role("a"))
    (codex / "config.toml").write_text('model = "gpt-5.6"\n')
    (home.work / "here.txt").write_text("x")
    provider.script("gpt-5.6", Says(calls=[Call("read_file", {"path": "here.txt"})]), Says("done"))
    assert home.call("run", "a")[:2] == (0, "done")
    assert "here.txt" in str(messages_of(provider.requests[-1].body))


def test_a_vibe_agent_delegates_to_subagents(home: Home, provider: ScriptedProvider) -> None:
    put(home, ".vibe/agents/lead.toml", 'instructions = "You lead."\nenabled_tools = ["task"]')
    sub = 'description = "d"\nagent_type = "subagent"\ninstructions = "You help."'
    put(home, ".vibe/agents/help.toml", sub)
    provider.script("m", Says(calls=[calls_agent("help", "t")]), Says("helped"), Says("done"))
    assert home.call("run", "lead", "--model", "openai/m")[:2] == (0, "done")
    assert [each["function"]["name"] for each in provider.requests[0].body["tools"]] == [
        "call_agent"
    ]
    assert "You help." in str(provider.requests[1].body)
