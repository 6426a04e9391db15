"""`axe-lsp agents`."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import load
from axe_lsp.cli.main import main
from support.command_line import Home
from support.engines import agent

FULL = agent(
    "full",
    description="D",
    system_prompt="SP",
    skill="s.md",
    files=["a", "b"],
    workdir="/w",
    sub_agents=["x", "y"],
    sub_agents_config={"max_depth": 2, "parallel": False, "timeout": 30},
    memory={"enabled": True, "path": "m.md", "last_n": 3, "max_entries": 9},
    params={"temperature": 0.5, "max_tokens": 100},
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path)
    monkeypatch.chdir(home.work)
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("TERM", "CI"):  # Without them there are no hints.
        monkeypatch.delenv(name, raising=False)
    return home


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["agents", *arguments]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_the_list_has_a_line_for_each_agent_that_can_be_run(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    here.add(FULL | agent("solo") | {"bad": "nonsense"})
    assert said(capsys, "list") == "full - D\nsolo\n"


def test_the_list_is_empty_without_agents(here: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "list") == ""


@pytest.mark.req("001-5.7")
def test_all_set_keys_are_shown(here: Home, capsys: pytest.CaptureFixture[str]) -> None:
    here.add(FULL)
    assert said(capsys, "show", "full") == (
        "Name:           full\n"
        "Description:    D\n"
        "Model:          openai/m-full\n"
        "System Prompt:  SP\n"
        "Skill:          s.md\n"
        "Files:          a, b\n"
        "Workdir:        /w\n"
        "Sub-Agents:     x, y\n"
        "Max Depth:      2\n"
        "Parallel:       false\n"
        "Timeout:        30\n"
        "Memory Enabled: true\n"
        "Memory Path:    m.md\n"
        "Memory LastN:   3\n"
        "Memory MaxEntries:9\n"
        "Temperature:    0.5\n"
        "Max Tokens:     100\n"
    )


def test_unset_keys_are_not_shown(here: Home, capsys: pytest.CaptureFixture[str]) -> None:
    here.add(agent("solo", timeout=7, sub_agents=["x"]))
    assert said(capsys, "show", "solo") == (
        "Name:           solo\n"
        "Model:          openai/m-solo\n"
        "Timeout:        7\n"
        "Sub-Agents:     x\n"
        "Max Depth:      3\n"
        "Parallel:       true\n"
        "Sub-Agent Timeout:0\n"
    )


def test_types_are_shown_with_what_they_fill_in(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    here.add(agent("lead", type="plan", task={"types": ["code", "solo"]}))
    assert said(capsys, "show", "lead") == (
        "Name:           lead\n"
        "Description:    Planning and analysis\n"
        "Model:          openai/m-lead\n"
        "Type:           plan\n"
        "System Prompt:  Analyze and output numbered plan. Don't change files.\n"
        "Tools:          run_command, read_file\n"
        "Task:           code, solo\n"
    )


def test_agent_that_cannot_be_shown_is_an_error_with_its_reason(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    here.add({"bad": FULL["full"].replace("max_depth = 2", "max_depth = 9")})
    assert said(capsys, "show", "bad", code=1) == "sub_agents_config.max_depth cannot exceed 5\n"
    assert said(capsys, "show", "none", code=1) == "agent config not found: none\n"


@pytest.mark.req("001-5.6", "001-T2")
def test_a_new_agent_is_a_valid_file_with_everything_to_choose_from(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    path = here.config / "agents" / "fresh.toml"
    assert said(capsys, "init", "fresh") == f"{path}\n"
    text = path.read_text()
    assert "# [sub_agents_config]\n# max_depth = 3\n# parallel = true\n# timeout = 120\n" in text
    assert load(text).name == "fresh"
    uncommented = "\n".join(
        line.removeprefix("# ") for line in text.splitlines() if " = " in line or "# [" in line
    )
    assert load(uncommented).sub_agents_config.timeout == 120


def test_existing_agent_is_not_overwritten(here: Home, capsys: pytest.CaptureFixture[str]) -> None:
    here.add(agent("solo"))
    path = here.config / "agents" / "solo.toml"
    assert said(capsys, "init", "solo", code=1) == f"agent config already exists: {path}\n"
    assert path.read_text() == agent("solo")["solo"]


def test_a_new_agent_goes_to_the_project_if_it_has_a_place_for_agents(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (here.work / ".axe" / "agents").mkdir(parents=True)
    assert said(capsys, "init", "a") == f"{here.work}/.axe/agents/a.toml\n"
    (here.work / "axe" / "agents").mkdir(parents=True)
    assert said(capsys, "init", "a") == f"{here.work}/axe/agents/a.toml\n"
    assert said(capsys, "init", "a", "--agents-dir", "mine") == "mine/a.toml\n"
    assert said(capsys, "--agents-dir", "mine", "show", "a").startswith("Name:           a\n")


def test_a_new_agent_cannot_lie_elsewhere(here: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert "must not contain path separators" in said(capsys, "init", "../evil", code=1)
    assert not (here.config / "evil.toml").exists()


def test_edit_opens_the_file_in_the_users_editor(
    here: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here.add(agent("solo"))
    monkeypatch.setenv("EDITOR", "sed -i 's/solo/edited/g'")
    assert said(capsys, "edit", "solo") == ""
    assert 'name = "edited"' in (here.config / "agents" / "solo.toml").read_text()
    monkeypatch.setenv("EDITOR", "false")
    assert main(["agents", "edit", "solo"]) == 1
    monkeypatch.delenv("EDITOR")
    assert said(capsys, "edit", "solo", code=1) == "$EDITOR environment variable is not set\n"
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert "no-such-editor" in said(capsys, "edit", "solo", code=1)


def test_without_a_subcommand_they_are_listed(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys)
    assert all(name in out for name in ("list", "show", "init", "edit"))


def test_the_name_of_a_new_agent_is_given_without_its_suffix(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, "init", "solo.toml", code=1)
    assert text == "give the name without .toml: axe-lsp agents init solo\n"
    assert not list(here.work.rglob("*.toml"))


def test_an_editor_that_can_not_be_started_is_named(
    here: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here.add(agent("solo"))
    monkeypatch.setenv("EDITOR", "no-such-editor -w")
    text = said(capsys, "edit", "solo", code=1)
    assert text == "failed to start $EDITOR (no-such-editor -w): No such file or directory\n"


def test_a_folder_that_can_not_be_written_is_named(
    here: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (here.work / "file").write_text("")
    text = said(capsys, "init", "solo", "--agents-dir", "file/below", code=1)
    assert text.startswith("failed to write agent config: ")
    assert "file/below" in text


def test_closed_output_of_the_list_is_no_error(here: Home) -> None:
    here.add(agent("solo"))
    assert here.shell("agents list | true")[2] == ""
