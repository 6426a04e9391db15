"""The Emacs package in real Emacsen: that of Debian stable with Eglot as a package, and a current one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import load
from support import agent_tests
from support.agent_tests import PLAIN, TOO_FEW_TURNS
from support.checked_project import assert_checked, checked_project, language_servers
from support.codex_project import write_claude_project, write_codex_project
from support.editors import PROJECT, clean_environment, emacsen, missing, server_program
from support.engines import agent
from support.first_hour import FirstHour
from support.hostile_words import HOSTILE_AGENT, OBEYED, script_hostile_answers
from support.plain_mcp import ASKING, plain_server
from support.processes import wait_for_none
from support.review_project import CITING, MANAGER, MENDED, script_review, write_project
from support.scripted_provider import Call, Says, ScriptedProvider
from support.side_project import side_project, user_texts
from support.terminal import Terminal
from support.undo_project import run_that_changes_files

SCENARIOS = Path(__file__).parent / "emacs"
PACKAGE = PROJECT / "clients" / "emacs"
LSP_MODE = Path("/usr/share/emacs/site-lisp/elpa-src")
"""Where Debian puts it, for the Emacs of the system alone."""

FOLDED = re.compile(r"✓ manager: go  [\d.]+ s · 2 turns · .*\.\.\.$")

PATIENCE = 300.0
"""Seconds. The scenario itself gives up long before and says why."""


def _which(emacs: Path | None) -> str:
    if emacs is None:
        return "none"
    return emacs.parent.name if emacs.parent.name.startswith("emacs") else "system"


@pytest.fixture(params=emacsen() or [None], ids=_which)
def emacs(request: pytest.FixtureRequest) -> Path:
    if request.param is None:
        missing("Emacs", ".ci/install-emacs")
    return Path(request.param)


@pytest.mark.editor
def test_an_agent_is_mended_and_run_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    review = script_review(provider, CITING)
    environment = clean_environment(tmp_path / "home", **provider.environment)
    with _playing(emacs, "mend_and_run.el", manager, environment) as process:
        told = _read_until(process, "the fast child has answered")
        review.slow.release()
        told += _read_until(process, "the manager has begun its answer")
        review.end.release()
        told += _read_until(process, "")
        _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "\n  │ Ready to merge.\n" in f"{told}\n"
    assert "\n    │ The style is fine.\n" in told


@pytest.mark.editor
def test_an_agent_is_fixed_previewed_and_stopped_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    (tmp_path / "project" / "other.toml").write_text("max_depth = 6\n", encoding="utf-8")
    script_review(provider)
    variables = {**provider.environment, "TZ": "NZST-12NZDT,M9.5.0,M4.1.0/3"}
    environment = clean_environment(tmp_path / "home", **variables)
    told = _play(emacs, "fix_and_stop.el", manager, environment)
    assert told.startswith("No agent is running\n")
    assert "■ manager  " in told
    assert manager.with_name("ghost.toml").exists()
    steady = load(manager.with_name("steady.toml").read_text("utf-8"))
    assert (steady.name, manager.with_name("slow.toml").exists()) == ("steady", False)

    fields = {
        "path": {"type": "string", "description": "A file."},
        "lines": {"type": "integer"},
        "depth": {"enum": ["low", "high"]},
    }
    (reader,) = agent("reader", input={"required": ["path"], "properties": fields}).values()
    manager.with_name("reader.toml").write_text(reader, encoding="utf-8")
    provider.script("m-reader", Says("read"))
    provider.script("fast", Says("looked"))
    _play(emacs, "look_back.el", manager, environment)
    tasks = [request.body["messages"][-1]["content"] for request in provider.requests[-2:]]
    assert tasks == ['{"depth":"low","lines":20,"path":"a.py"}', "Look at this:\n\nsecond\nthird"]


@pytest.mark.editor
def test_words_of_strangers_have_no_effect_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    stranger = write_project(tmp_path / "project").with_name(f"stranger{OBEYED}.toml")
    stranger.write_text(HOSTILE_AGENT, encoding="utf-8")
    script_hostile_answers(provider)
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(emacs, "strangers_words.el", stranger, environment)


@pytest.mark.editor
def test_an_agent_asks_in_emacs_before_it_changes_something(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text('tools = ["write_file", "run_command"]\n' + MENDED, encoding="utf-8")
    write = Call("write_file", {"path": "a.txt", "content": "A\n"})
    command = Call("run_command", {"command": "touch b.txt"})
    provider.script("manager", *(Says(calls=[each]) for each in (write, command, command)))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    told = _play(emacs, "approve.el", manager, environment)
    assert told.startswith(
        'agent "manager" wants to write a.txt:\ndiff-mode --- /dev/null\n+++ a.txt\n'
    )
    assert (
        told.count('agent "manager" wants to run a command:\nfundamental-mode touch b.txt\n') == 2
    )
    assert (tmp_path / "project" / "a.txt").exists()
    assert not (tmp_path / "project" / "b.txt").exists()
    assert "the user said no: not there" in provider.requests[-1].raw.decode()


@pytest.mark.editor
def test_an_error_while_the_user_answers_in_emacs_is_a_denial(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text('tools = ["run_command"]\n' + MENDED, encoding="utf-8")
    touch = [Call("run_command", {"command": f"touch {name}.txt"}, name) for name in "def"]
    provider.script("manager", *(Says(calls=[each]) for each in touch), Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(emacs, "approve_error.el", manager, environment)
    assert [path.name for path in (tmp_path / "project").glob("?.txt")] == ["f.txt"]


@pytest.mark.editor
def test_a_model_asks_in_emacs_what_it_wants_to_know(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text('tools = ["ask_user"]\n' + MENDED, encoding="utf-8")
    choices = {"question": "Which one?", "choices": ["Postgres", "SQLite"]}
    calls = [Call("ask_user", each) for each in (choices, {"question": "Which one?"}, choices)]
    provider.script("manager", *(Says(calls=[each]) for each in calls), Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    told = _play(emacs, "ask.el", manager, environment)
    assert told.splitlines()[:2] == [
        'agent "manager" asks (empty: no answer): ("Postgres" "SQLite") Which one?',
        'agent "manager" asks (empty: no answer): nil Which one?',
    ]
    results = [each.body["messages"][-1]["content"] for each in provider.requests[1:]]
    assert results == ["SQLite", "DuckDB", "the user dismissed the question"]


@pytest.mark.editor
def test_an_mcp_server_is_started_and_asks_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    bot = write_project(tmp_path / "project").with_name("bot.toml")
    server = plain_server(tmp_path, ASKING)
    bot.write_text(agent("bot", mcp_servers=[server])["bot"], encoding="utf-8")
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    told = _play(emacs, "servers.el", bot, environment)
    asked = [line for line in told.splitlines() if line.endswith('")')]
    assert asked == [
        f'agent "bot" of {tmp_path}/project wants to reach out of this workspace: '
        '("allow" "allow the same for this run" "deny")',
        'agent "bot" wants to start the MCP server "plain": '
        '("allow" "allow this MCP server for this run" "deny")',
        'agent "bot" wants to call tell of the MCP server "plain": '
        '("allow" "allow this call for this run" "deny")',
        'MCP server "plain" of agent "bot" asks (empty: no answer):  ("Accept" "Decline")',
    ]
    assert told.count("plain_server.py") == 3
    assert "May I go on?" in told
    result = provider.asked("m-bot")[1].body["messages"][-1]["content"]
    assert '"action": "accept"' in result


@pytest.mark.editor
def test_claude_agent_is_checked_in_emacs_without_settings(emacs: Path, tmp_path: Path) -> None:
    reviewer = write_claude_project(tmp_path / "project")
    _play(emacs, "markdown_agent.el", reviewer, clean_environment(tmp_path / "home"))
    assert "tools: Read, Grep\n" in reviewer.read_text("utf-8")


@pytest.mark.editor
def test_a_codex_project_is_checked_in_emacs_without_settings(emacs: Path, tmp_path: Path) -> None:
    reviewer = write_codex_project(tmp_path / "project")
    _play(emacs, "codex.el", reviewer, clean_environment(tmp_path / "home"))
    assert "model_reasoning_effort" in reviewer.read_text("utf-8")


@pytest.mark.editor
def test_file_opened_later_or_again_shows_its_problems_in_emacs(
    emacs: Path, tmp_path: Path
) -> None:
    agents = tmp_path / "project" / "axe" / "agents"
    agents.mkdir(parents=True)
    (agents / "faulty.toml").write_text(
        'name = "faulty"\nmodel = "ollama/m"\nsub_agents = ["nobody"]\nbogus = 1\n'
    )
    lead = agents / "lead.toml"
    lead.write_text('name = "lead"\nmodel = "ollama/m"\nsub_agents = ["faulty"]\n')
    _play(emacs, "reopen.el", lead, clean_environment(tmp_path / "home"))


@pytest.mark.editor
def test_a_key_answers_the_question_at_a_terminal(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text(f'tools = ["write_file"]\n{MENDED}', encoding="utf-8")
    write = Call("write_file", {"path": "a.txt", "content": "A\n"})
    provider.script("manager", Says(calls=[write]), Says("Written."))
    surroundings = clean_environment(tmp_path / "home", **provider.environment)
    environment = {**surroundings, **_own_environment(surroundings, manager)}
    start = f'exec "{emacs}" -Q -nw -l "{SCENARIOS / "support.el"}" -f open-agent </dev/tty'
    with Terminal(["/bin/sh", "-c", start], environment, tmp_path / "project", 120) as terminal:

        def sees(text: str) -> None:
            terminal.shows(lambda rows: any(text in row for row in rows))

        sees("[eglot:project")
        terminal.type(b"\x03\x03")  # C-c C-c
        sees("Task (empty")
        terminal.type(b"go\r")
        sees('agent "manager" wants to write a.txt:')
        sees("+A")
        terminal.type(b"y")  # Somebody is typing something else.
        terminal.type(b"\x03\x01")  # C-c C-a
        sees("wants to write a.txt:")
        terminal.type(b"y")
        sees("│ Written.")
        sees("✓ manager: go")
        terminal.type(b"\x18o\x1b<\t")  # C-x o M-< TAB
        terminal.shows(lambda rows: any(FOLDED.search(row) for row in rows))
    assert (tmp_path / "project" / "a.txt").read_text("utf-8") == "A\n"


@pytest.mark.editor
def test_runs_end_in_emacs_when_the_server_is_killed(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text(MENDED, encoding="utf-8")
    script_review(provider)
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(emacs, "lose_the_server.el", manager, environment)


@pytest.mark.editor
def test_markdown_has_faces_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    reader = tmp_path / "project" / "axe" / "agents" / "reader.toml"
    reader.parent.mkdir(parents=True)
    reader.write_text('name = "reader"\nmodel = "openai/m-reader"\n', encoding="utf-8")
    code = "```sh\n# **not bold**\n```\n"
    tildes = "~~~\n```\n**nor this**\n~~~~\n"
    long = "````\n```\n" + "a line of code\n" * 2_000 + "**nor that, much later**\n````\n"
    words = (
        "# The plan\n\nThis is **bold** and *slanted*, 2 * 3 * 4, with `code`.\n"
        f"Run `ls a*.py b*.txt`, then *.md or `*.rst`.\n{code}{tildes}{long}**Done.**"
    )
    provider.script("m-reader", Says(words))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(emacs, "markdown.el", reader, environment)


@pytest.mark.editor
def test_a_completed_run_is_replied_to_and_forked_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    reader = tmp_path / "project" / "axe" / "agents" / "reader.toml"
    reader.parent.mkdir(parents=True)
    reader.write_text('name = "reader"\nmodel = "openai/m-reader"\n', encoding="utf-8")
    provider.script("m-reader", *map(Says, ("On Friday.", "At noon.", "Yes.")))
    provider.script("m-other", Says("On some Friday."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(emacs, "reply_and_fork.el", reader, environment)
    sent = provider.asked("m-reader")[1].body["messages"]
    assert [each["content"] for each in sent] == ["When?", "On Friday.", "At what time?"]


@pytest.mark.editor
def test_messages_to_a_run_and_its_side_run_are_sent_and_changed_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    lead = side_project(tmp_path / "project", provider)
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(emacs, "messages.el", lead, environment)
    answer = '[Side run "lint-1" has ended]\nClean.'
    assert user_texts(provider, "m-lead") == ["Go", "Only c.py", answer]
    assert user_texts(provider, "m-lint") == ["Task: Lint", "Stop it"]


@pytest.mark.editor
def test_the_file_changes_of_a_run_are_shown_and_undone_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    environment = clean_environment(tmp_path / "home", **provider.environment)
    writer = run_that_changes_files(tmp_path / "project", provider, environment)
    _play(emacs, "undo.el", writer, environment)
    assert (tmp_path / "project" / "plan.txt").read_text(encoding="utf-8") == "edited since\n"


@pytest.mark.editor
def test_changed_files_of_a_run_are_listed_compared_and_put_back_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    environment = clean_environment(tmp_path / "home", **provider.environment)
    writer = run_that_changes_files(tmp_path / "project", provider, environment)
    _play(emacs, "changes.el", writer, environment)
    assert (tmp_path / "project" / "plan.txt").read_text(encoding="utf-8") == "edited since\n"


@pytest.mark.editor
def test_agent_in_emacs_asks_language_servers_and_sees_the_errors_of_its_edits(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    coder = checked_project(tmp_path / "project", provider)
    environment = clean_environment(tmp_path / "home", **provider.environment, **language_servers())
    _play(emacs, "code.el", coder, environment)
    assert_checked(provider)


@pytest.mark.editor
def test_a_test_is_made_of_a_run_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    environment = clean_environment(tmp_path / "home", **provider.environment)
    writer = run_that_changes_files(tmp_path / "project", provider, environment)
    _play(emacs, "new-test.el", writer, environment)


@pytest.mark.editor
def test_tests_of_agents_are_run_in_emacs(emacs: Path, tmp_path: Path) -> None:
    cases = agent_tests.Project(tmp_path / "project").case(TOO_FEW_TURNS, PLAIN)
    _play(emacs, "testing.el", cases, clean_environment(tmp_path / "home"))


@pytest.mark.editor
def test_an_agent_is_mended_run_and_looked_back_at_through_lsp_mode(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    program = shutil.which("emacs")
    if program is None or not list(LSP_MODE.glob("lsp-mode-*")):
        missing("Emacs with lsp-mode", ".ci/install-emacs")
    manager = write_project(tmp_path / "project")
    (tmp_path / "project" / ".git").mkdir()
    tools = '["write_file", "run_command", "ask_user"]'
    manager.write_text(f"tools = {tools}\n{MANAGER}", encoding="utf-8")
    write = Call("write_file", {"path": "a.txt", "content": "A\n"})
    commands = [Call("run_command", {"command": f"touch {name}.txt"}) for name in "cb"]
    asks = [Call("ask_user", {"question": "Why?", **more}) for more in ({}, {"choices": ["No"]})]
    provider.script("manager", *(Says(calls=[each]) for each in (write, *commands, *asks)))
    script_review(provider)
    environment = clean_environment(tmp_path / "home", **provider.environment)
    told = _play(Path(program), "lsp_mode.el", manager, environment)
    assert told.startswith('agent "manager" wants to write a.txt:')
    assert "\n+A\n" in told
    assert 'agent "manager" wants to run a command:touch b.txt' in told
    written = {path.name for path in (tmp_path / "project").glob("?.txt")}
    assert written == {"a.txt", "c.txt"}  # The setting allows the second.
    results = [each.body["messages"][-1]["content"] for each in provider.asked("manager")[3:6]]
    assert results[0].endswith("the user said no: not there")
    assert results[1:] == ["not there", "the user dismissed the question"]
    steady = load(manager.with_name("steady.toml").read_text("utf-8"))
    assert (steady.name, manager.with_name("ghost.toml").exists()) == ("steady", False)

    wait_for_none(str(tmp_path))  # The last run of the first Emacs may still have been asking.
    asked = len(provider.requests)
    _play(Path(program), "lsp_mode_later.el", manager, environment)
    assert len(provider.requests) == asked


@pytest.mark.editor
def test_an_untrusted_project_is_checked_and_not_run_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(emacs, "untrusted.el", manager, environment)
    assert provider.requests == []


@pytest.mark.editor
def test_a_repository_allows_nothing_by_the_settings_of_its_folder_in_emacs(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text('tools = ["write_file", "run_command"]\n' + MENDED, encoding="utf-8")
    allow = '(:axe (:tools (:allow ["run_command"])))'
    (tmp_path / "project" / ".dir-locals.el").write_text(
        f"((nil . ((eglot-workspace-configuration . {allow}))))\n", encoding="utf-8"
    )
    write = Call("write_file", {"path": "a.txt", "content": "A\n"})
    command = Call("run_command", {"command": "touch b.txt"})
    provider.script("manager", *(Says(calls=[each]) for each in (write, command)), Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    told = _play(emacs, "dir_locals.el", manager, environment)
    assert told.splitlines()[0] == "touch b.txt"
    assert (tmp_path / "project" / "a.txt").exists()
    assert not (tmp_path / "project" / "b.txt").exists()


@pytest.mark.editor
def test_emacs_says_that_the_server_is_not_installed(emacs: Path, tmp_path: Path) -> None:
    manager = write_project(tmp_path / "project")
    environment = {**clean_environment(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    told = _play(emacs, "no_server.el", manager, environment, with_server=False)
    assert told.splitlines() == [
        "Agent files are not checked: ‘axe-lsp’ is not installed; install it, or set ‘axe-lsp-command’",
        "‘axe-lsp’ is not installed: ‘pipx install CLONE’ or ‘uv tool install CLONE’ installs it from a clone of axe-lsp",
    ]


@pytest.mark.editor
def test_the_first_hour_in_emacs_has_no_dead_end(
    emacs: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    hour = FirstHour(provider, tmp_path)
    told = _play(emacs, "first_hour.el", hour.agent, hour.environment)
    assert hour.key_is_asked_for(told)
    told = _play(emacs, "first_hour.el", hour.agent, hour.with_key)
    assert "invalid x-api-key" in told
    told = _play(emacs, "first_hour.el", hour.agent, hour.with_key)
    assert "It works." in told
    assert "✓ assistant" in told


@pytest.mark.editor
def test_the_package_compiles_and_is_documented_without_a_warning(
    emacs: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with _playing(emacs, "compile.el", tmp_path, clean_environment(home)) as process:
        told, errors = process.communicate()
    assert re.findall(r".*\.el:\d.*", errors) == []
    files = [path.name for path in sorted(PACKAGE.glob("*.el"))]
    assert told.split() == files
    assert sorted(path.name for path in home.glob("*.elc")) == [f"{name}c" for name in files]


def _play(
    emacs: Path,
    scenario: str,
    agent: Path,
    environment: dict[str, str],
    *,
    with_server: bool = True,
) -> str:
    """Return what a scenario reports."""
    with _playing(emacs, scenario, agent, environment, with_server=with_server) as process:
        told, errors = process.communicate()
    assert process.returncode == 0, errors
    return told


@contextmanager
def _playing(
    emacs: Path,
    scenario: str,
    agent: Path,
    environment: dict[str, str],
    *,
    with_server: bool = True,
) -> Iterator[subprocess.Popen[str]]:
    """Emacs without a user's configuration, with the package, at work on a scenario."""
    own = _own_environment(environment, agent, with_server=with_server)
    with subprocess.Popen(
        [str(emacs), "-Q", "--batch", "-l", str(SCENARIOS / scenario)],
        env={**environment, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        deadline = threading.Timer(PATIENCE, process.kill)
        deadline.start()
        try:
            yield process
        finally:
            deadline.cancel()
            process.kill()


def _own_environment(
    environment: dict[str, str], agent: Path, *, with_server: bool = True
) -> dict[str, str]:
    """Return what `support.el` reads, and the server on PATH."""
    server = f"{server_program().parent}{os.pathsep}" if with_server else ""
    return {
        "LANG": "C.UTF-8",
        "PATH": f"{server}{environment['PATH']}",
        "AGENT": str(agent),
        "AXE_EMACS": str(PACKAGE),
    }


def _read_until(process: subprocess.Popen[str], expected: str) -> str:
    """Return what the scenario reports up to a line, or to the end if `expected` is empty."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if expected and line.strip() == expected:
            break
    return "".join(lines)
