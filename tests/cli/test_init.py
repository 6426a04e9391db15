"""`axe-lsp init`: what it writes runs at once, and passes `axe-lsp check`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.command_line import Home
from support.scripted_provider import Call, Says, ScriptedProvider

pytestmark = pytest.mark.process


@pytest.fixture
def home(home: Home) -> Home:
    for name in [name for name in home.environment if "KEY" in name or "TOKEN" in name]:
        del home.environment[name]
    return home


def test_the_first_agent_runs_with_the_key_that_is_there(
    home: Home, provider: ScriptedProvider
) -> None:
    home.environment["ANTHROPIC_API_KEY"] = "sk-ant-0123456789"
    code, out, err = home.call("init")
    assert (code, err) == (0, "")
    path = home.work / "axe" / "agents" / "assistant.toml"
    assert out.startswith(
        f"{path}\n\nThe agent assistant uses anthropic/claude-sonnet-5-5. Next:\n"
    )
    assert home.call("check") == (0, "No problems in 1 file.\n", "")

    look = Call("list_directory", {"path": "."})
    provider.script("claude-sonnet-5-5", Says(calls=[look]), Says("It is about nothing yet."))
    command = out.splitlines()[3].strip()
    assert command == 'axe-lsp run assistant -p "What is this project about?"'
    code, out, err = home.shell(command.removeprefix("axe-lsp "))
    assert (code, out) == (0, "It is about nothing yet."), err


@pytest.mark.parametrize(
    ("environment", "config", "model"),
    [
        ({"OPENAI_API_KEY": "sk-0123456789"}, "", "openai/gpt-6.2-sol"),
        ({"GEMINI_API_KEY": "AIza0123456789"}, "", "google/gemini-4-neon"),
        ({}, '[providers.openai]\napi_key = "sk-0123456789"\n', "openai/gpt-6.2-sol"),
        (
            {"OPENAI_API_KEY": "sk-0123456789", "ANTHROPIC_API_KEY": "sk-ant-0123456789"},
            "",
            "anthropic/claude-sonnet-5-5",
        ),
    ],
)
def test_the_model_is_one_of_a_provider_with_a_key(
    home: Home, environment: dict[str, str], config: str, model: str
) -> None:
    home.environment.update(environment)
    if config:
        (home.config / "config.toml").write_text(config)
    code, _, err = home.call("init", "reader")
    assert (code, err) == (0, "")
    assert f'model = "{model}"' in (home.work / "axe" / "agents" / "reader.toml").read_text()


@pytest.mark.parametrize("key", ["", "sk-0123456789"])
def test_a_new_agent_passes_the_checks_with_the_key_that_is_there(home: Home, key: str) -> None:
    if key:
        home.environment["OPENAI_API_KEY"] = key
    (home.work / "axe" / "agents").mkdir(parents=True)
    assert home.call("agents", "init", "reader")[0] == 0
    code, out, _ = home.call("check")
    assert code == 0, out
    assert ("missing-api-key" in out) is not bool(key)


def test_without_a_key_it_says_what_to_do_and_writes_nothing(home: Home) -> None:
    code, out, err = home.call("init")
    assert (code, out) == (2, "")
    assert "no API key was found; set ANTHROPIC_API_KEY or OPENAI_API_KEY or GEMINI_API_KEY" in err
    assert "axe-lsp init --model ollama/NAME" in err
    home.environment["OPENROUTER_API_KEY"] = "sk-or-0123456789"
    code, out, err = home.call("init")
    assert (code, out) == (2, "")
    assert "axe-lsp init --model openrouter/NAME" in err
    assert list(home.work.iterdir()) == []


def test_a_model_that_is_named_needs_no_key(home: Home) -> None:
    assert home.call("init", "local", "--model", "ollama/llama3")[0] == 0
    code, _, err = home.call("init", "--model", "llama3")
    assert code == 2
    assert "llama3" in err


def test_an_agent_that_is_there_stays_as_it_is(home: Home) -> None:
    folder = home.work / ".axe" / "agents"
    folder.mkdir(parents=True)
    assert home.call("init", "--model", "ollama/llama3")[0] == 0
    path = folder / "assistant.toml"  # The project has a folder of agents.
    path.write_text("mine")
    code, _, err = home.call("init", "--model", "ollama/llama3")
    assert code == 2
    assert f"there is an agent {path} already" in err
    assert path.read_text() == "mine"


def test_a_provider_that_is_not_known_makes_no_agent(home: Home) -> None:
    code, out, err = home.call("init", "--model", "antropic/claude")
    assert (code, out) == (2, "")
    assert err == 'unsupported provider "antropic": did you mean anthropic?\n'
    _, _, err = home.call("init", "--model", "zzzzzz/claude")
    assert err.startswith('unsupported provider "zzzzzz": there are anthropic, ')
    assert not (home.work / "axe").exists()

    (home.config / "config.toml").write_text(
        '[providers.zzzzzz]\nwire = "openai-chat"\nbase_url = "http://z"\n'
    )
    assert home.call("init", "--model", "zzzzzz/claude")[0] == 0
    assert home.call("init", "other", "--model", "replay/answers.toml")[0] == 0


@pytest.mark.parametrize("command", [["init"], ["agents", "init"]])
def test_an_agent_that_can_not_be_written_whole_leaves_nothing(
    home: Home, command: list[str]
) -> None:
    too_much = "; ".join(
        [
            "import resource, signal, sys",
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
            "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))",
            "from axe_lsp.cli.main import main",
            f"sys.exit(main({[*command, 'new']!r}))",
        ]
    )
    (home.work / "axe" / "agents").mkdir(parents=True)
    home.environment["OPENAI_API_KEY"] = "sk-0123456789"
    ended = subprocess.run(
        [sys.executable, "-c", too_much],
        check=False,
        cwd=home.work,
        env={**os.environ, **home.environment},
        capture_output=True,
        text=True,
    )
    assert ended.returncode in (1, 2)
    assert "File too large" in ended.stderr
    assert not list((home.work / "axe" / "agents").iterdir())


def test_the_commands_that_come_next_can_be_copied(home: Home) -> None:
    out = home.call("init", "two words", "--model", "ollama/m")[1]
    assert "\n  axe-lsp chat 'two words'\n" in out
