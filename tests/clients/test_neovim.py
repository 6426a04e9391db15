"""The Neovim plugin in real Neovims: the old one of Debian stable, which counts columns in UTF-16, and
a current one, which counts in UTF-8."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import load
from support import agent_tests
from support.agent_tests import PLAIN, TOO_FEW_TURNS
from support.checked_project import assert_checked, checked_project, language_servers
from support.codex_project import write_claude_project, write_codex_project
from support.editors import PROJECT, clean_environment, missing, neovims, server_program
from support.engines import agent
from support.first_hour import FirstHour
from support.hostile_words import HOSTILE_AGENT, OBEYED, script_hostile_answers
from support.plain_mcp import ASKING, plain_server
from support.review_project import CITING, MANAGER, MENDED, script_review, write_project
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent
from support.side_project import side_project, user_texts
from support.undo_project import run_that_changes_files

SCENARIOS = Path(__file__).parent / "neovim"
PATIENCE = 300.0
"""Seconds. The scenario itself gives up long before and says why."""


def _which(nvim: Path | None) -> str:
    if nvim is None:
        return "none"
    return nvim.parent.name if nvim.parent.name.startswith("neovim") else "system"


@pytest.fixture(params=neovims() or [None], ids=_which)
def nvim(request: pytest.FixtureRequest) -> Path:
    if request.param is None:
        missing("Neovim", ".ci/install-neovim")
    return Path(request.param)


@pytest.mark.editor
def test_run_with_nul_in_its_task_is_listed_in_neovim(nvim: Path, tmp_path: Path) -> None:
    """A function of Vim takes a string with a NUL for a blob."""
    script = tmp_path / "list.lua"
    script.write_text(
        "local words = require('axe_lsp.words')\n"
        "local run = { began = '2026-11-28T09:30:00Z', status = 'completed', agent = 'a', task = 'one\\0two' }\n"
        "local ok, line = pcall(function() return vim.fn.strtrans(words.past(run)) end)\n"
        "io.stdout:write(tostring(ok), ' ', line)\n"
        "vim.cmd('qall!')\n"
    )
    client = PROJECT / "clients" / "neovim"
    command = [
        str(nvim),
        "--clean",
        "--headless",
        "--cmd",
        f"set rtp^={client}",
        "-c",
        f"luafile {script}",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.startswith("true ")
    assert done.stdout.endswith("a: one␀two")


@pytest.mark.editor
def test_words_of_strangers_have_no_effect_in_neovim(nvim: Path, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "project").parent
    stranger = folder / f"%{{execute('let g:executed = 1')}}{OBEYED}.toml"
    stranger.write_text(HOSTILE_AGENT, encoding="utf-8")
    with ScriptedProvider() as provider:
        script_hostile_answers(provider)
        environment = clean_environment(tmp_path / "home", **provider.environment)
        _play(nvim, "strangers_words.lua", stranger, environment)


@pytest.mark.editor
def test_an_agent_is_mended_and_run_in_neovim(nvim: Path, tmp_path: Path) -> None:
    manager = write_project(tmp_path / "project")
    with ScriptedProvider() as provider:
        review = script_review(provider, CITING)
        environment = clean_environment(tmp_path / "home", **provider.environment)
        with _neovim(nvim, "mend_and_run.lua", manager, environment) as process:
            told = _read_until(process, "the fast child has answered")
            review.slow.release()
            told += _read_until(process, "the manager has begun its answer")
            review.end.release()
            told += _read_until(process, "")
            _, errors = process.communicate()
    assert process.returncode == 0, errors + _server_log(tmp_path / "home")
    assert "\n  │ Ready to merge.\n" in told
    assert "\n    │ The style is fine.\n" in told


@pytest.mark.editor
def test_a_run_is_previewed_and_stopped_in_neovim(nvim: Path, tmp_path: Path) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text(MENDED, encoding="utf-8")
    (tmp_path / "project" / "other.toml").write_text("max_depth = 6\n", encoding="utf-8")
    with ScriptedProvider() as provider:
        script_review(provider)
        variables = {**provider.environment, "TZ": "NZST-12NZDT,M9.5.0,M4.1.0/3"}
        environment = clean_environment(tmp_path / "home", **variables)
        _play(nvim, "preview_and_stop.lua", manager, environment)
    _play(nvim, "look_back.lua", tmp_path / "project" / "other.toml", environment)


@pytest.mark.editor
def test_runs_end_in_neovim_when_the_server_is_killed(nvim: Path, tmp_path: Path) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text(MENDED, encoding="utf-8")
    with ScriptedProvider() as provider:
        script_review(provider)
        environment = clean_environment(tmp_path / "home", **provider.environment)
        _play(nvim, "lose_the_server.lua", manager, environment)


@pytest.mark.editor
def test_markdown_is_shown_without_its_marks_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    reader = tmp_path / "project" / "axe" / "agents" / "reader.toml"
    reader.parent.mkdir(parents=True)
    reader.write_text('name = "reader"\nmodel = "openai/m-reader"\n', encoding="utf-8")
    words = "# The plan\n\nThis is **bold** and *slanted*, 2 * 3 * 4.\n\n- one `code`\n- two\n"
    block = "```lua\n**not bold**\nlocal plan\n```\n"
    provider.script("m-reader", Says(f"{words}{block}\n__Done__, [here](https://example.org)."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "markdown.lua", reader, environment)


@pytest.mark.editor
def test_a_completed_run_is_replied_to_and_forked_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    reader = tmp_path / "project" / "axe" / "agents" / "reader.toml"
    reader.parent.mkdir(parents=True)
    reader.write_text('name = "reader"\nmodel = "openai/m-reader"\n', encoding="utf-8")
    provider.script("m-reader", *map(Says, ("On Friday.", "At noon.", "Yes.")))
    provider.script("m-other", Says("On some Friday."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "reply_and_fork.lua", reader, environment)
    sent = provider.asked("m-reader")[1].body["messages"]
    assert [each["content"] for each in sent] == ["When?", "On Friday.", "At what time?"]


@pytest.mark.editor
def test_messages_to_a_run_and_its_side_run_are_sent_and_changed_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    lead = side_project(tmp_path / "project", provider)
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "messages.lua", lead, environment)
    answer = '[Side run "lint-1" has ended]\nClean.'
    assert user_texts(provider, "m-lead") == ["Go", "Only c.py", answer]
    assert user_texts(provider, "m-lint") == ["Task: Lint", "Stop it"]


@pytest.mark.editor
def test_the_file_changes_of_a_run_are_shown_and_undone_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    environment = clean_environment(tmp_path / "home", **provider.environment)
    writer = run_that_changes_files(tmp_path / "project", provider, environment)
    _play(nvim, "undo.lua", writer, environment)
    assert (tmp_path / "project" / "plan.txt").read_text(encoding="utf-8") == "edited since\n"


@pytest.mark.editor
def test_changed_files_of_a_run_are_listed_compared_and_put_back_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    environment = clean_environment(tmp_path / "home", **provider.environment)
    writer = run_that_changes_files(tmp_path / "project", provider, environment)
    _play(nvim, "changes.lua", writer, environment)
    assert (tmp_path / "project" / "plan.txt").read_text(encoding="utf-8") == "edited since\n"


@pytest.mark.editor
def test_agent_in_neovim_asks_language_servers_and_sees_the_errors_of_its_edits(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    coder = checked_project(tmp_path / "project", provider)
    environment = clean_environment(tmp_path / "home", **provider.environment, **language_servers())
    if _play(nvim, "code.lua", coder, environment) != "too old\n":
        assert_checked(provider)


@pytest.mark.editor
def test_a_test_is_made_of_a_run_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    environment = clean_environment(tmp_path / "home", **provider.environment)
    writer = run_that_changes_files(tmp_path / "project", provider, environment)
    _play(nvim, "new_test.lua", writer, environment)


@pytest.mark.editor
def test_tests_of_agents_are_run_in_neovim(nvim: Path, tmp_path: Path) -> None:
    cases = agent_tests.Project(tmp_path / "project").case(TOO_FEW_TURNS, PLAIN)
    _play(nvim, "testing.lua", cases, clean_environment(tmp_path / "home"))


@pytest.mark.editor
def test_neotest_finds_and_runs_tests_of_agents(nvim: Path, tmp_path: Path) -> None:
    if _which(nvim) == "system":
        pytest.skip("neotest needs a newer Neovim")
    more = """
[[case]]
name = 'fails "loudly"' # it does
task = "Can this be released?"
replay = "asks.toml"

[case.expect]
turns = { max = 1 }
"""
    cases = agent_tests.Project(tmp_path / "project").case(more, PLAIN)
    _play(nvim, "neotest_adapter.lua", cases, clean_environment(tmp_path / "home"))


@pytest.mark.editor
def test_one_child_one_run_and_all_runs_are_stopped_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text(MENDED, encoding="utf-8")
    for _ in range(4):
        script_review(provider)
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "stop.lua", manager, environment)


@pytest.mark.editor
def test_an_agent_is_run_previewed_and_looked_up_from_its_lenses_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text(MENDED, encoding="utf-8")
    provider.script("slow", Says("The style is fine."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    told = _play(nvim, "lenses.lua", manager.with_name("slow.toml"), environment)
    assert told.strip() == "manager.toml 9"


@pytest.mark.editor
def test_an_untrusted_project_is_checked_and_not_run_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    write_project(tmp_path / "project")
    other = tmp_path / "project" / "other.toml"
    other.touch()
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "untrusted.lua", other, environment)
    assert provider.requests == []


@pytest.mark.editor
def test_neovim_says_that_the_server_is_not_installed(nvim: Path, tmp_path: Path) -> None:
    write_project(tmp_path / "project")
    other = tmp_path / "project" / "other.toml"
    other.touch()
    environment = clean_environment(tmp_path / "home")
    environment["PATH"] = "/usr/bin:/bin"
    _play(nvim, "no_server.lua", other, environment, with_server=False)


@pytest.mark.editor
def test_the_first_hour_in_neovim_has_no_dead_end(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    hour = FirstHour(provider, tmp_path)
    told = _play(nvim, "first_hour.lua", hour.agent, hour.environment)
    assert hour.key_is_asked_for(told)
    told = _play(nvim, "first_hour.lua", hour.agent, hour.with_key)
    assert "invalid x-api-key" in told
    told = _play(nvim, "first_hour.lua", hour.agent, hour.with_key)
    assert "It works." in told
    assert "✓ assistant" in told


@pytest.mark.editor
def test_a_missing_agent_is_created_and_another_renamed_in_neovim(
    nvim: Path, tmp_path: Path
) -> None:
    manager = write_project(tmp_path / "project")
    environment = clean_environment(tmp_path / "home", OPENAI_API_KEY="none")
    told = _play(nvim, "code_actions.lua", manager, environment)
    mended = MANAGER.replace("-30", "0").replace("= 6", "= 5").replace("fast🚀", "quick")
    assert told.strip() == mended.strip()
    quick = load((manager.parent / "quick.toml").read_text("utf-8"))
    assert (quick.name, manager.with_name("fast🚀.toml").exists()) == ("quick", False)
    ghost = load((manager.parent / "ghost.toml").read_text("utf-8"))
    assert (ghost.name, ghost.model) == ("ghost", "openai/manager")


@pytest.mark.editor
def test_a_skill_leads_to_its_agents_in_neovim(nvim: Path, tmp_path: Path) -> None:
    manager = write_project(tmp_path / "project")
    manager.write_text(f'skill = "style"\n{MENDED}', encoding="utf-8")
    environment = clean_environment(tmp_path / "home", OPENAI_API_KEY="none")
    skill = Path(environment["XDG_CONFIG_HOME"]) / "axe" / "skills" / "style" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("# Style\n\nShort.\n", encoding="utf-8")
    told = _play(nvim, "skill.lua", manager, {**environment, "SKILL": str(skill)})
    assert told.strip() in {"manager.toml 1", "this version knows no server for several languages"}


@pytest.mark.editor
def test_agents_ask_in_neovim_before_they_change_something(nvim: Path, tmp_path: Path) -> None:
    lead = write_project(tmp_path / "project").with_name("lead.toml")
    agents = {
        **agent("lead", tools=["run_command"], sub_agents=["writer"]),
        **agent("writer", tools=["write_file"]),
    }
    for name, text in agents.items():
        lead.with_name(f"{name}.toml").write_text(text, encoding="utf-8")
    with ScriptedProvider() as provider:
        files = (("a.txt", "a\n" * 38), ("b.txt", "first"), ("b.txt", "second"))
        writes = [Call("write_file", {"path": path, "content": text}) for path, text in files]
        calls = [Says(calls=[write]) for write in writes]
        provider.script("m-writer", *calls, Says("written"))
        commands = [Call("run_command", {"command": f"touch {name}.txt"}, name) for name in "de"]
        provider.script(
            "m-lead", Says(calls=[calls_agent("writer", "w")]), Says(calls=commands), Says("done")
        )
        environment = clean_environment(tmp_path / "home", **provider.environment)
        _play(nvim, "approve.lua", lead, environment)
        told = str(provider.asked("m-writer")[1].body["messages"][-1])
    assert "the user said no: write b.txt" in told
    written = {path.name: path for path in (tmp_path / "project").rglob("?.txt")}
    assert len(written) == 2
    assert written["b.txt"].read_text(encoding="utf-8") == "second"


@pytest.mark.editor
@pytest.mark.parametrize("script", ["withdraw.lua", "withdraw_choice.lua"])
def test_the_question_of_a_stopped_agent_is_withdrawn_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path, script: str
) -> None:
    if _which(nvim) == "system":
        pytest.skip("before 0.11 a question is asked at once, and waits for its answer alone")
    lead = write_project(tmp_path / "project").with_name("lead.toml")
    for name, text in {
        **agent("lead", sub_agents=["writer"]),
        **agent("writer", tools=["write_file"]),
    }.items():
        lead.with_name(f"{name}.toml").write_text(text, encoding="utf-8")
    provider.script("m-lead", Says(calls=[calls_agent("writer", "w")]), Says("done"))
    write = Call("write_file", {"path": "a.txt", "content": "a"})
    provider.script("m-writer", Says(calls=[write]))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, script, lead, environment)
    assert not (tmp_path / "project" / "a.txt").exists()


@pytest.mark.editor
def test_an_interrupt_dismisses_a_question_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    lead = write_project(tmp_path / "project").with_name("lead.toml")
    lead.write_text(agent("lead", tools=["run_command"])["lead"], encoding="utf-8")
    touch = [Call("run_command", {"command": f"touch {name}.txt"}, name) for name in "de"]
    provider.script("m-lead", *(Says(calls=[each]) for each in touch), Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "interrupt.lua", lead, environment)
    assert [path.name for path in (tmp_path / "project").rglob("?.txt")] == ["e.txt"]


@pytest.mark.editor
def test_a_model_asks_in_neovim_what_it_wants_to_know(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    asker = write_project(tmp_path / "project").with_name("asker.toml")
    asker.write_text(agent("asker", tools=["ask_user"])["asker"], encoding="utf-8")
    choices = {"question": "Which one?", "choices": ["Postgres", "SQLite"]}
    calls = [Call("ask_user", each) for each in (choices, choices, {"question": "Which one?"})]
    provider.script("m-asker", *(Says(calls=[each]) for each in calls), Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    way = _play(nvim, "ask.lua", asker, environment)
    messages = provider.asked("m-asker")[-1].body["messages"]
    told = [message["content"] for message in messages if message["role"] == "tool"]
    dismissed = "the user dismissed the question"
    nobody = "nobody can be asked here; decide yourself and say what you assumed"
    by_message = way.strip() == "by a message"  # Which older versions show, with the choices.
    expected = ["SQLite", dismissed, nobody] if by_message else ["SQLite", "DuckDB", dismissed]
    assert told == expected


@pytest.mark.editor
def test_an_mcp_server_is_started_and_asks_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    bot = write_project(tmp_path / "project").with_name("bot.toml")
    server = plain_server(tmp_path, ASKING)
    bot.write_text(agent("bot", mcp_servers=[server])["bot"], encoding="utf-8")
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "servers.lua", bot, environment)
    told = provider.asked("m-bot")[1].body["messages"][-1]["content"]
    assert '"action": "accept"' in told


@pytest.mark.editor
def test_claude_agent_is_checked_in_neovim_without_settings(nvim: Path, tmp_path: Path) -> None:
    reviewer = write_claude_project(tmp_path / "project")
    _play(nvim, "markdown_agent.lua", reviewer, clean_environment(tmp_path / "home"))
    assert "tools: Read, Grep\n" in reviewer.read_text("utf-8")


@pytest.mark.editor
def test_a_codex_project_is_checked_in_neovim_without_settings(nvim: Path, tmp_path: Path) -> None:
    reviewer = write_codex_project(tmp_path / "project")
    environment = clean_environment(tmp_path / "home")
    _play(nvim, "codex.lua", reviewer, environment)
    assert "model_reasoning_effort" in reviewer.read_text("utf-8")


@pytest.mark.editor
def test_reopened_changed_and_foreign_files_get_their_lists_in_neovim(
    nvim: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    agents = project / "axe" / "agents"
    agents.mkdir(parents=True)
    (project / "pyproject.toml").write_text("[tool.x]\nname = 1\n")
    (agents / "faulty.toml").write_text(
        'name = "faulty"\nmodel = "ollama/m"\nsub_agents = ["nobody"]\nbogus = 1\n'
    )
    lead = agents / "lead.toml"
    lead.write_text('name = "lead"\nmodel = "ollama/m"\nsub_agents = ["faulty"]\n')
    _play(nvim, "reopen.lua", lead, clean_environment(tmp_path / "home"))


@pytest.mark.editor
def test_an_input_is_asked_for_and_lines_of_other_files_are_handed_over_in_neovim(
    nvim: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    reader = write_project(tmp_path / "project").with_name("reader.toml")
    fields = {
        "path": {"type": "string", "description": "A file."},
        "lines": {"type": "integer"},
        "depth": {"enum": ["low", "high"]},
    }
    agents = {
        **agent("reader", input={"required": ["path"], "properties": fields}),
        **agent("lister", input={"properties": {"paths": {"type": "array"}}}),
    }
    for name, text in agents.items():
        reader.with_name(f"{name}.toml").write_text(text, encoding="utf-8")
    for model in ("m-reader", "m-lister", "slow"):
        provider.script(model, Says("done"))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    _play(nvim, "inputs.lua", reader, environment)
    tasks = [request.body["messages"][-1]["content"] for request in provider.requests]
    assert tasks[0] == '{"depth":"low","lines":20,"path":"a.py"}'
    assert tasks[2] == "Look at this:\n\nsecond\nthird"


@pytest.mark.editor
def test_neovim_finds_help_and_says_how_the_plugin_is(nvim: Path, tmp_path: Path) -> None:
    copy = tmp_path / "plugin"
    shutil.copytree(PROJECT / "clients" / "neovim" / "doc", copy / "doc")
    (tmp_path / "project").mkdir()
    environment = clean_environment(tmp_path / "home", PLUGIN_COPY=str(copy), OPENAI_API_KEY="k-1")
    told = _play(nvim, "help.lua", tmp_path / "project" / "a.txt", environment)
    release = version("axe-lsp").partition("+")[0]
    assert re.search(rf"axe-lsp {re.escape(release)}\S*, as this plugin", told)
    assert f"the server is {server_program()}" in told
    assert "it answers, and knows 3 agents" in told
    assert "ERROR" not in told
    assert "k-1" not in told


def _play(
    nvim: Path, scenario: str, file: Path, environment: dict[str, str], *, with_server: bool = True
) -> str:
    """Return what a scenario reports."""
    with _neovim(nvim, scenario, file, environment, with_server=with_server) as process:
        told, errors = process.communicate()
    assert process.returncode == 0, errors + _server_log(Path(environment["HOME"]))
    return told


@contextmanager
def _neovim(
    nvim: Path,
    scenario: str,
    file: Path,
    environment: dict[str, str],
    *,
    with_server: bool = True,
) -> Iterator[subprocess.Popen[str]]:
    """Neovim without a user's configuration, with the plugin, at work on a scenario."""
    plugin = PROJECT / "clients" / "neovim"
    command = [str(nvim), "--clean", "--headless", "--cmd", f"set runtimepath^={plugin}"]
    command += ["--cmd", f"lua package.path = '{SCENARIOS}/?.lua;' .. package.path"]
    command += [str(file), "-c", f"luafile {SCENARIOS / scenario}", "-c", "cquit 9"]
    server = f"{server_program().parent}{os.pathsep}" if with_server else ""
    with subprocess.Popen(
        command,
        cwd=file.parent,
        env={**environment, "PATH": f"{server}{environment['PATH']}"},
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


def _read_until(process: subprocess.Popen[str], expected: str) -> str:
    """Return what the scenario reports up to a line, or to the end if `expected` is empty."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if expected and line.strip() == expected:
            break
    return "".join(lines)


def _server_log(home: Path) -> str:
    logs = [log.read_text(encoding="utf-8") for log in home.rglob("lsp.log")]
    return "\n".join(["", *logs])
