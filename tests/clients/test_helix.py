"""Helix, a real one in a terminal, with what lies in clients/helix: what a user types and sees."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli

from axe_lsp.lsp.session import LANGUAGE_ID
from support import agent_tests
from support.agent_tests import PLAIN, TOO_FEW_TURNS
from support.editors import PROJECT, clean_environment, helix, missing, server_program
from support.review_project import MENDED, script_review, write_project
from support.scripted_provider import Call, Says, ScriptedProvider
from support.terminal import Terminal

CLIENT = PROJECT / "clients" / "helix"


@pytest.fixture
def manager(tmp_path: Path) -> Path:
    """Return an agent in a repository."""
    manager = write_project(tmp_path / "project")
    (tmp_path / "project" / ".git").mkdir()
    return manager


@pytest.fixture
def languages() -> str:
    """Return what the user has added to languages.toml."""
    return ""


@pytest.fixture
def terminal(
    manager: Path, provider: ScriptedProvider, tmp_path: Path, languages: str
) -> Iterator[Terminal]:
    """Helix with the agent, as a user has it who follows the README."""
    program = helix()
    if program is None:
        missing("Helix", ".ci/install-helix")
    environment = clean_environment(tmp_path / "home", **provider.environment)
    environment["PATH"] = f"{server_program().parent}{os.pathsep}{environment['PATH']}"
    configuration = Path(environment["XDG_CONFIG_HOME"]) / "helix"
    shutil.copytree(CLIENT, configuration)
    with (configuration / "languages.toml").open("a", encoding="utf-8") as file:
        file.write(languages)
    folder = tmp_path / "project"
    with Terminal([str(program), str(manager)], environment, folder, columns=140) as terminal:
        yield terminal


@pytest.mark.editor
def test_an_agent_is_mended_and_run_in_helix(
    terminal: Terminal, provider: ScriptedProvider
) -> None:
    review = script_review(provider)
    sees(terminal, "timeout must be non-negative (it is -30)")
    sees(terminal, 'no agent file defines "ghost"')
    replace(terminal, b"-30", b"30", until="timeout = 30")
    sees_no_more(terminal, "non-negative")
    replace(terminal, b"ghost", b"slow", until='"slow"]')
    replace(terminal, b"= 6", b"= 5", until="max_depth = 5")
    sees_no_more(terminal, "cannot exceed")

    command(terminal, b'axe.run {"agent": "manager", "task": "Review the change"}')

    sees(terminal, "fast🚀: completed")
    review.slow.release()
    sees(terminal, "slow: completed")
    review.end.release()
    sees(terminal, "manager: Ready to merge.")
    assert provider.asked("manager")[0].body["messages"][-1]["content"] == "Review the change"


@pytest.mark.editor
def test_an_agent_is_created_and_another_renamed_in_helix(
    manager: Path, terminal: Terminal
) -> None:
    sees(terminal, 'no agent file defines "ghost"')
    terminal.type(b"%sghost\r")
    terminal.type(b" a")
    sees(terminal, 'Create the agent "ghost"')
    terminal.type(b"\r")
    sees(terminal, 'name = "ghost"')
    terminal.type(b":buffer-close!\r")
    terminal.type(f":open {manager}\r".encode())
    sees_no_more(terminal, "no agent file defines")
    assert manager.with_name("ghost.toml").exists()

    terminal.type(b"%stimeout\r;")
    terminal.type(b" k")
    sees(terminal, "timeout · integer")
    terminal.type(b"%sghost\r")
    terminal.type(b"csl")
    sees(terminal, "slow  reference")
    terminal.type(b"\t")
    sees(terminal, '"slow"]')
    terminal.type(b"\r")
    sees_no_more(terminal, "slow  reference")
    terminal.type(b"\x1b")
    sees(terminal, " NOR ")
    terminal.type(b"uu")
    sees(terminal, '"ghost"]')

    terminal.type(b"%sghost\r;")
    terminal.type(b" r")
    sees(terminal, "rename-to:")
    terminal.type(b"\x15spirit\r")
    sees(terminal, '"spirit"]')
    assert manager.with_name("spirit.toml").exists()
    assert not manager.with_name("ghost.toml").exists()


@pytest.mark.editor
def test_the_tests_of_the_open_file_are_run_in_helix(manager: Path, terminal: Terminal) -> None:
    project = agent_tests.Project(manager.parents[2])
    tests = project.case(TOO_FEW_TURNS, PLAIN)
    sees(terminal, "non-negative")
    terminal.type(f":open {tests}\r".encode())
    sees(terminal, "turns = { max = 1 }")
    terminal.type(b":sh axe-lsp test %{buffer_name} 2>&1; true\r")
    sees(terminal, "FAILED asks")
    sees(terminal, "axe/tests/release.toml:10: lead: turns is 3, more than 1")


@pytest.mark.editor
def test_a_run_is_previewed_and_stopped_with_keys_in_helix(
    manager: Path, terminal: Terminal, provider: ScriptedProvider
) -> None:
    script_review(provider)
    sees(terminal, "non-negative")
    replace(terminal, b"-30", b"30", until="timeout = 30")
    replace(terminal, b"ghost", b"slow", until='"slow"]')
    replace(terminal, b"= 6", b"= 5", until="max_depth = 5")
    sees_no_more(terminal, "cannot exceed")
    terminal.type(b" xr")
    sees(terminal, "fast🚀: completed")
    terminal.type(b" xs")
    sees(terminal, "cancelled after")
    terminal.type(b" xp")
    sees(terminal, "=== Dry Run ===")

    terminal.type(b":buffer-close!\r")
    sees(terminal, "max_depth = 5")
    kill_server(terminal)
    terminal.type(b":lsp-restart\r")
    replace(terminal, b"= 5", b"= 6", until="max_depth = 6")
    sees(terminal, "cannot exceed")


@pytest.mark.editor
def test_an_agent_asks_in_helix_before_it_changes_something(
    manager: Path, terminal: Terminal, provider: ScriptedProvider, tmp_path: Path
) -> None:
    writes = [Call("write_file", {"path": f"{name}.txt", "content": "A\n"}) for name in "ab"]
    provider.script("manager", *(Says(calls=[each]) for each in writes), Says("Written."))
    sees(terminal, "non-negative")
    manager.write_text(f'tools = ["write_file"]\n{MENDED}', encoding="utf-8")
    terminal.type(b":reload\r")
    sees_no_more(terminal, "non-negative")
    terminal.type(b" xr")
    sees(terminal, 'agent "manager" wants to write a.txt:')
    sees(terminal, "+A")
    terminal.type(b"\r")
    sees(terminal, "wants to write b.txt:")
    terminal.type(b"\x1b[B" * 2 + b"\r")  # Down to the third choice.
    sees(terminal, "manager: Written.")
    assert (tmp_path / "project" / "a.txt").read_text("utf-8") == "A\n"
    assert not (tmp_path / "project" / "b.txt").exists()
    assert "the user said no" in provider.requests[-1].raw.decode()

    terminal.type(b" xh")
    sees(terminal, "30 + 15    project  manager")


@pytest.mark.editor
def test_a_model_asks_in_helix_with_answers_to_choose_from(
    manager: Path, terminal: Terminal, provider: ScriptedProvider
) -> None:
    which = Call("ask_user", {"question": "Which one?", "choices": ["Postgres", "SQLite"]})
    really = Call("ask_user", {"question": "Really?", "choices": ["Yes"]})
    calls = [which, really, Call("ask_user", {"question": "Why?"})]
    provider.script("manager", *(Says(calls=[each]) for each in calls), Says("Understood."))
    sees(terminal, "non-negative")
    manager.write_text(f'tools = ["ask_user"]\n{MENDED}', encoding="utf-8")
    terminal.type(b":reload\r")
    sees_no_more(terminal, "non-negative")
    terminal.type(b" xr")
    sees(terminal, "Postgres")
    terminal.type(b"\x1b[B" * 2 + b"\r")  # Down to the third entry.
    sees(terminal, "Really?")
    terminal.type(b"\r")
    sees(terminal, "manager: Understood.")
    results = [each.body["messages"][-1]["content"] for each in provider.requests[1:]]
    assert results == [
        "SQLite",
        "the user dismissed the question",
        "nobody can be asked here; decide yourself and say what you assumed",
    ]


@pytest.mark.editor
@pytest.mark.parametrize("languages", ["[language-server.axe-lsp.config]\ntrusted = false\n"])
def test_an_untrusted_project_is_checked_and_not_run_in_helix(
    terminal: Terminal, provider: ScriptedProvider
) -> None:
    sees(terminal, "non-negative")
    terminal.type(b" xr")
    sees(terminal, "agents do not run in an untrusted workspace")
    assert provider.requests == []


def test_commands_of_the_configuration_exist() -> None:
    languages = tomli.loads((CLIENT / "languages.toml").read_text("utf-8"))
    server = languages["language-server"]["axe-lsp"]
    assert [server["command"], *server["args"]] == [server_program().name, "--stdio"]
    language, markdown = languages["language"]
    assert language["name"] == LANGUAGE_ID
    for each in (language, markdown):
        assert (CLIENT / "runtime" / "queries" / each["name"] / "highlights.scm").exists()
    project = Path("/home/me/project")
    for place in ("axe/agents/a.toml", ".axe/agents/a.toml", ".config/axe/config.toml"):
        assert any((project / place).match(each["glob"]) for each in language["file-types"])
    for place in ("Cargo.toml", "axe/agents/more/a.toml", "axe/config.toml"):
        assert not any((project / place).match(each["glob"]) for each in language["file-types"])


def sees(terminal: Terminal, text: str) -> None:
    """Wait until the user sees a text. Wide characters take two columns."""
    terminal.shows(lambda rows: any(text in row.replace("🚀 ", "🚀") for row in rows))


def sees_no_more(terminal: Terminal, text: str) -> None:
    terminal.shows(lambda rows: not any(text in row for row in rows))


def kill_server(terminal: Terminal) -> None:
    editor = terminal.process.pid
    (server,) = Path(f"/proc/{editor}/task/{editor}/children").read_text().split()
    assert "axe-lsp" in Path(f"/proc/{server}/cmdline").read_text()
    os.kill(int(server), signal.SIGKILL)


def replace(terminal: Terminal, old: bytes, new: bytes, until: str) -> None:
    """Select the text in the whole buffer, and change it."""
    terminal.type(b"%s" + old + b"\r")
    terminal.type(b"c" + new)
    sees(terminal, until)
    terminal.type(b"\x1b")
    sees(terminal, " NOR ")  # What came with the escape would be read as a key with Alt.
    terminal.type(b",")


def command(terminal: Terminal, words: bytes) -> None:
    terminal.type(b":lsp-workspace-command " + words + b"\r")
