"""The folder `integrations` in Claude Code, Codex, Gemini CLI and opencode, which ask a scripted provider.

Each model writes an agent file with an unknown key, and has to hear of it with the result of that call.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.coding_agents import INTEGRATIONS, CodingAgent, patch_call, program
from support.editors import PROJECT
from support.scripted_provider import Answer, Call, Says, ScriptedProvider

pytestmark = [pytest.mark.process, pytest.mark.slow]

BAD = 'name = "r"\ndescription = "d"\ndeveloper_instructions = "x"\nsandbox_mod = "read-only"\n'
FILE = ".codex/agents/r.toml"
TASK = "Write the agent"
FIX = "Replace `sandbox_mod` with `sandbox_mode`."
DONE = Answer(Says("done"), repeat=True)


@pytest.fixture
def user(tmp_path: Path, provider: ScriptedProvider) -> CodingAgent:
    return CodingAgent(tmp_path, provider)


def claude(user: CodingAgent, *arguments: str) -> str:
    command = [program("claude"), "-p", TASK, "--model", "m", *arguments]
    return user.call(
        command,
        {
            "ANTHROPIC_BASE_URL": user.provider.url,
            "ANTHROPIC_API_KEY": "key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )


def test_hook_of_claude_code_answers_a_write(user: CodingAgent) -> None:
    write = Call("Write", {"file_path": str(user.work / FILE), "content": BAD})
    user.provider.script("m", Answer(Says(calls=[write]), match=TASK), DONE)
    claude(
        user,
        *("--plugin-dir", str(INTEGRATIONS / "claude-code" / "hook"), "--allowedTools", "Write"),
    )
    assert user.is_told(FIX)


def test_hook_of_claude_code_answers_a_shell_command(user: CodingAgent) -> None:
    """The hook of the start of the session has marked the files, so that the first command is compared with them."""
    path = user.write("../work/axe/agents/lead.toml", 'name = "lead"\nmodel = "anthropic/m"\n')
    command = Call("Bash", {"command": f"echo 'modl = 1' >> {path}", "description": "d"})
    user.provider.script("m", Answer(Says(calls=[command]), match=TASK), DONE)
    claude(
        user,
        *("--plugin-dir", str(INTEGRATIONS / "claude-code" / "hook"), "--allowedTools", "Bash"),
    )
    assert user.is_told("axe-lsp: axe/agents/lead.toml has 1 warning.")


def test_claude_code_accepts_the_marketplace_and_its_plugins(user: CodingAgent) -> None:
    for folder in (PROJECT, *(INTEGRATIONS / "claude-code").iterdir()):
        user.call([program("claude"), "plugin", "validate", str(folder)])
    user.call([program("claude"), "plugin", "marketplace", "add", str(PROJECT)])
    for plugin in ("axe-lsp-hook", "axe-lsp"):
        user.call([program("claude"), "plugin", "install", f"{plugin}@axe-lsp"])


def test_hook_of_codex_answers_a_patch(user: CodingAgent) -> None:
    lines = "".join(f"+{line}\n" for line in BAD.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {FILE}\n{lines}*** End Patch\n"
    model = "gpt-6.2-sol"
    user.write(
        ".codex/config.toml",
        f'model = "{model}"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "s"\n'
        f'base_url = "{user.provider.url}/v1"\nwire_api = "responses"\nenv_key = "KEY"\n',
    )
    user.provider.script(model, Answer(patch_call(patch), match=TASK), DONE)
    codex = program("codex")
    user.call([codex, "plugin", "marketplace", "add", str(PROJECT)])
    user.call([codex, "plugin", "add", "axe-lsp@axe-lsp"])
    freely = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    user.call([codex, "exec", *freely, TASK], {"KEY": "key"})
    assert user.is_told(FIX)


def test_hook_of_gemini_answers_a_write(user: CodingAgent) -> None:
    settings = {
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": False},
        },
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True},
    }
    user.write(".gemini/settings.json", settings)
    environment = {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": user.provider.url}
    gemini, model = program("gemini"), "gemini-2.5-pro"
    write = Call("write_file", {"file_path": str(user.work / FILE), "content": BAD})
    user.provider.script(model, Answer(Says(calls=[write]), match=TASK), DONE)
    extension = str(INTEGRATIONS / "gemini")
    user.call([gemini, "extensions", "link", "--consent", extension], environment)
    user.call([gemini, "-m", model, "--approval-mode", "yolo", "-p", TASK], environment)
    assert user.is_told(FIX)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (FILE, BAD, "Did you mean `sandbox_mode`?"),
        (
            "axe/agents/lead.toml",
            'name = "lead"\nmodel = "anthropic/m"\nsub_agents = ["nobody"]\n',
            "ERROR [3:15] no agent file defines",
        ),
        (
            ".claude/agents/r.md",
            "---\nname: r\ndescription: d\ntools: Red, Write\n---\nbody\n",
            "ERROR [4:8] Claude Code has no tool",
        ),
    ],
)
def test_language_server_answers_a_write_of_opencode(
    name: str, text: str, message: str, user: CodingAgent
) -> None:
    """Opencode shows errors only: what is a warning for people has to be one."""
    settings = json.loads((INTEGRATIONS / "opencode" / "opencode.json").read_text("utf-8"))
    scripted = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "s",
        "options": {"baseURL": f"{user.provider.url}/v1", "apiKey": "key"},
        "models": {"m": {"name": "m"}},
    }
    user.write(
        ".config/opencode/opencode.json",
        {
            **settings,
            "provider": {"s": scripted},
            "model": "s/m",
            "small_model": "s/m",
            "autoupdate": False,
            "permission": {"*": "allow"},
        },
    )
    write = Call("write", {"filePath": str(user.work / name), "content": text})
    is_turn = '"name":"write"'  # The request for a title has no tools.
    user.provider.script("m", Answer(Says(calls=[write]), match=is_turn), DONE)
    user.call([program("opencode"), "run", TASK], {"OPENCODE_DISABLE_MODELS_FETCH": "1"})
    assert user.is_told(message)
