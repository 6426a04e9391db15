"""`axe-lsp run` on agents in Markdown, with processes and a real provider."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Home
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent


def put(home: Home, name: str, *keys: str, body: str = "Go.") -> Path:
    path = home.work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["---", *keys, "---", "", body, ""]))
    return path


def claude(home: Home, name: str, *keys: str, body: str = "Go.") -> Path:
    file = f".claude/agents/{name}.md"
    return put(home, file, f"name: {name}", "description: d", *keys, body=body)


def tools_of(request: Any) -> list[str]:
    return sorted(each["function"]["name"] for each in request.body.get("tools", ()))


def called(request: Any) -> str:
    return next(str(each) for each in request.body["tools"] if "call_agent" in str(each))


MODEL = ("--model", "openai/m")


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        (".claude/agents/review.md", ["name: review", "description: d", "tools: Read Grep"]),
        (".github/agents/review.agent.md", ["description: d", "tools: [read/readFile, Grep]"]),
        (
            ".opencode/agent/review.md",
            ["description: d", "permission: {'*': deny, read: allow, grep: allow}"],
        ),
        (
            ".gemini/agents/review.md",
            ["name: review", "description: d", "tools: [read_file, grep_search]"],
        ),
    ],
)
def test_agent_of_each_program_runs_with_its_tools(
    home: Home, provider: ScriptedProvider, file: str, keys: list[str]
) -> None:
    put(home, file, *keys, body="You review.")
    provider.script("m", Says("done"))
    assert home.call("run", "review", "-p", "go", *MODEL)[:2] == (0, "done")
    (request,) = provider.requests
    assert "You review." in str(request.body)
    assert set(tools_of(request)) <= {"read_file", "grep", "find_files"}
    assert {"read_file", "grep"} <= set(tools_of(request))


def test_agent_without_a_known_model_needs_one(home: Home) -> None:
    claude(home, "a", "model: inherit", "tools: Read")
    put(home, ".opencode/agent/b.md", "model: github-copilot/gpt-5", "tools: {'*': false}")
    code, out, err = home.call("run", "a")
    assert (code, out) == (2, "")
    assert 'agent "a" names no model; give one, such as --model' in err
    assert home.call("run", "b")[0] == 2
    err = home.call("run", "b", "--dry-run", *MODEL)[2]
    assert 'axe-lsp knows no provider "github-copilot"' in err


def test_model_alias_of_claude_code_is_the_newest_model(home: Home) -> None:
    claude(home, "a", "model: haiku", "tools: Read")
    code, out, _ = home.call("run", "a", "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)["model"].startswith("anthropic/claude-haiku-")


def test_front_matter_grants_nothing(home: Home, provider: ScriptedProvider) -> None:
    hook = "hooks: {PreToolUse: [{matcher: Write, hooks: [{type: command, command: touch ran}]}]}"
    claude(home, "a", "tools: Write", "permissionMode: bypassPermissions", hook)
    put(home, ".opencode/agent/b.md", "description: d", "permission: allow")
    for name in ("a", "b"):
        write = Call("write_file", {"path": "new.txt", "content": "x"})
        provider.script("m", Says(calls=[write]), Says("done"))
        code, _, err = home.call("run", name, *MODEL)
        assert code == 0
        assert not (home.work / "new.txt").exists()
        assert not (home.work / "ran").exists()
        assert "approves nothing: you are asked before each change" in err
    assert "hooks are not executed" in home.call("run", "a", "--dry-run", *MODEL)[2]


def test_lost_keys_are_named_before_the_run(home: Home) -> None:
    claude(home, "a", "tools: Read, TodoWrite", "color: red", "background: true", "skills: [s]")
    code, out, err = home.call("run", "a", "--dry-run", "--json", *MODEL)
    assert code == 0
    (warning,) = json.loads(out)["warnings"]
    assert warning == (
        'agent "a": background: its caller waits for its answer; '
        "there is no counterpart for TodoWrite, skills"
    )
    assert warning in err


def test_tools_of_the_web_need_their_names(home: Home, provider: ScriptedProvider) -> None:
    claude(home, "a")
    provider.script("m", Says("done"))
    code, _, err = home.call("run", "a", *MODEL)
    assert code == 0
    assert not {"url_fetch", "web_search"} & set(tools_of(provider.requests[0]))
    assert "url_fetch, web_search are left out: the file does not list them" in err


def test_agent_list_binds_only_the_main_agent(home: Home, provider: ScriptedProvider) -> None:
    claude(home, "lead", "tools: Read, Agent(one, gone)")
    claude(home, "one", "tools: Agent(lead)")
    claude(home, "two", "tools: Read")
    provider.script("m", Says(calls=[calls_agent("one", "go")]), Says("child"), Says("done"))
    code, out, err = home.call("run", "lead", *MODEL)
    assert (code, out) == (0, "done")
    assert 'there is no agent "gone"' in err
    first, child = provider.requests[:2]
    assert "one" in called(first)
    assert "two" not in called(first)
    assert "lead, one, two" in called(child)


def test_opencode_lists_no_denied_and_no_primary_agents(
    home: Home, provider: ScriptedProvider
) -> None:
    task = "permission: {task: {'*': deny, 'team/*': allow}}"
    put(home, ".opencode/agent/lead.md", "description: d", task)
    for name, mode in (("team/one", "subagent"), ("team/two", "primary"), ("other", "all")):
        put(home, f".opencode/agent/{name}.md", "description: d", f"mode: {mode}")
    provider.script("m", Says(calls=[calls_agent("team/one", "go")]), Says("child"), Says("done"))
    assert home.call("run", "lead", *MODEL)[:2] == (0, "done")
    first, child = provider.requests[:2]
    assert "team/one" in called(first)
    assert "team/two" not in called(first)
    assert "other" not in called(first)
    assert "call_agent" not in tools_of(child)


def test_name_of_several_programs_means_axes_first(home: Home, provider: ScriptedProvider) -> None:
    claude(home, "a", "tools: Read", body="You are Claude's.")
    put(home, ".gemini/agents/a.md", "name: a", "description: d", body="You are Gemini's.")
    axe = home.work / "axe/agents/a.toml"
    axe.parent.mkdir(parents=True)
    axe.write_text('name = "a"\nmodel = "openai/m"\nsystem_prompt = "You are axe\'s."\n')
    for name, prompt in (
        ("a", "You are axe's."),
        ("axe:a", "You are axe's."),
        ("claude:a", "You are Claude's."),
        ("gemini:a", "You are Gemini's."),
        (".gemini/agents/a.md", "You are Gemini's."),
    ):
        provider.script("m", Says("done"))
        code, _, err = home.call("run", name, *MODEL)
        assert code == 0
        assert prompt in str(provider.requests[-1].body)
        warnings = ['agent "a" is that of axe', 'there is also "claude:a"', '"gemini:a"']
        assert all(each in err for each in warnings) is (name == "a"), err
    assert home.call("check")[0] == 0  # Twins are no duplicates.


def test_file_that_its_program_drops_does_not_run(home: Home) -> None:
    put(home, ".claude/agents/a.md", "name: a")
    put(home, ".opencode/agent/b.md", "description: d", "permission: [x")
    code, _, err = home.call("run", "a", *MODEL)
    assert code == 2
    assert "`description` is missing: Claude Code does not load this file" in err
    code, _, err = home.call("run", "b", *MODEL)
    assert code == 2
    assert "the agent has no limits" in err


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_link_out_of_the_project_is_not_sent(home: Home) -> None:
    secret = home.work.parent / "secret.txt"
    secret.write_text("password")
    link = home.work / ".opencode/agent/a.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(secret)
    code, _, err = home.call("run", "a", *MODEL)
    assert code == 2
    assert "is a link to a file outside its project" in err


def test_list_and_show_have_agents_in_markdown(home: Home) -> None:
    claude(home, "a", "tools: Read")
    put(home, ".github/agents/b.agent.md", "description: B")
    (home.work / ".claude/agents/README.md").write_text("# Our agents\n")
    assert home.call("agents", "list")[:2] == (0, "a - d\nb - B\n")
    assert "System Prompt:  Go." in home.call("agents", "show", "b")[1]


def test_users_own_agents_run_in_the_current_folder(home: Home, provider: ScriptedProvider) -> None:
    folder = Path(home.environment["HOME"]) / ".claude/agents"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("---\nname: a\ndescription: d\ntools: Read\n---\nYou are mine.\n")
    provider.script("m", Says("done"))
    assert home.call("run", "a", *MODEL)[:2] == (0, "done")
    assert "You are mine." in str(provider.requests[0].body)


def test_agent_of_axe_calls_an_agent_of_claude_and_the_run_says_which(
    home: Home, provider: ScriptedProvider
) -> None:
    claude(home, "review", "tools: Read, Agent", body="You are Claude's.")
    put(home, ".gemini/agents/review.md", "name: review", "description: d", body="Gemini's.")
    home.add({"lead": 'name = "lead"\nmodel = "openai/m"\nsub_agents = ["review"]\n'})
    provider.script("m", Says(calls=[calls_agent("review", "go")]), Says("found"), Says("done"))
    code, out, err = home.call("run", "lead", "-p", "go")
    assert (code, out) == (0, "done")
    assert "You are Claude's." in str(provider.requests[1].body)
    assert 'agent "review" is that of claude' in err
    assert '"gemini:review"' in err


@pytest.mark.parametrize(
    ("name", "prompt"), [("gemini:review", "Gemini's."), ("axe:review", "Axe's.")]
)
def test_agent_of_axe_chooses_the_program_of_a_called_agent(
    home: Home, provider: ScriptedProvider, name: str, prompt: str
) -> None:
    claude(home, "review", body="Claude's.")
    put(home, ".gemini/agents/review.md", "name: review", "description: d", body="Gemini's.")
    home.add({"review": 'name = "review"\nmodel = "openai/m"\nsystem_prompt = "Axe\'s."\n'})
    home.add({"lead": f'name = "lead"\nmodel = "openai/m"\nsub_agents = ["{name}"]\n'})
    provider.script("m", Says(calls=[calls_agent(name, "go")]), Says("found"), Says("done"))
    code, out, err = home.call("run", "lead", "-p", "go")
    assert (code, out) == (0, "done")
    assert prompt in str(provider.requests[1].body)
    assert "is that of" not in err
