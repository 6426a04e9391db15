"""`axe-lsp import` and `axe-lsp export`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tomli

from axe_lsp.cli.main import main
from support.command_line import Home

CLAUDE = "---\nname: Code Reviewer\ndescription: Reviews.\ntools: Read, Grep\ncolor: red\n---\n\nReview.\r\nTwice."
CODEX = 'name = "fixer"\ndescription = "d"\ndeveloper_instructions = "Fix."\nnickname_candidates = ["Bo"]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = Home(tmp_path)
    monkeypatch.chdir(home.work)
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    return home.work


def put(project: Path, **files: str) -> None:
    for name, text in files.items():
        suffix = ".toml" if name == "codex" else ".md"
        path = project / f".{name}" / "agents" / f"reviewer{suffix}"
        path.parent.mkdir(parents=True)
        path.write_text(text, newline="")


def test_a_project_is_imported_with_a_line_for_each_key(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, claude=CLAUDE, codex=CODEX)
    assert main(["import", ".", "--model", "openai/x"]) == 0
    values = tomli.loads((project / "axe/agents/code-reviewer.toml").read_text())
    assert values == {
        "name": "code-reviewer",
        "description": "Reviews.",
        "model": "openai/x",
        "tools": ["read_file", "grep"],
        "system_prompt": "Review.\r\nTwice.",
    }
    assert (project / "axe/agents/fixer.toml").is_file()
    out = capsys.readouterr().out
    assert ".claude/agents/reviewer.md (Claude Code) → axe/agents/code-reviewer.toml (axe)" in out
    assert "  kept    instructions, description" in out
    assert "  lost    color: axe has no counterpart" in out
    assert "  lost    nickname_candidates: axe has no counterpart" in out


def test_agents_are_exported_by_name_to_the_folder_of_the_program(project: Path) -> None:
    folder = project / "axe" / "agents"
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        (folder / f"{name}.toml").write_text(
            f'name = "{name}"\nmodel = "openai/x"\nsystem_prompt = "Go."'
        )
    assert main(["export", "--to", "copilot", "one"]) == 0
    assert [each.name for each in (project / ".github/agents").iterdir()] == ["one.agent.md"]
    assert main(["export", "--to", "codex"]) == 0
    assert len(list((project / ".codex/agents").iterdir())) == 2
    assert main(["export", "--to", "gemini", "axe/agents/two.toml", "--output", "out"]) == 0
    assert (project / "out" / "two.md").is_file()


@pytest.mark.parametrize("program", ["claude", "codex", "copilot", "gemini", "vibe"])
def test_strict_check_has_no_finding_in_exported_agent(
    project: Path, capsys: pytest.CaptureFixture[str], program: str
) -> None:
    folder = project / "axe" / "agents"
    folder.mkdir(parents=True)
    text = 'description = "Reads."\nmodel = "ollama/x"\nsystem_prompt = "Go."\ntools = ["grep", "read_file"]\n'
    (folder / "one.toml").write_text(f'name = "one"\n{text}')

    assert main(["export", "--to", program]) == 0
    code = main(["check", "--strict"])

    assert (code, capsys.readouterr().out.splitlines()[-1]) == (0, "No problems in 2 files.")


def test_existing_file_is_not_replaced_without_force(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, claude=CLAUDE)
    there = project / "axe" / "agents" / "code-reviewer.toml"
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    assert main(["import", ".claude/agents/reviewer.md"]) == 1
    assert there.read_text() == "mine"
    assert "axe/agents/code-reviewer.toml already exists; --force" in capsys.readouterr().err
    assert main(["import", ".claude/agents/reviewer.md", "--force"]) == 0
    assert tomli.loads(there.read_text())["description"] == "Reviews."


@pytest.mark.parametrize("link", ["axe", "axe/agents", "axe/agents/code-reviewer.toml"])
@pytest.mark.parametrize("options", [(), ("--force",), ("--dry-run",)])
def test_nothing_is_written_through_a_link_out_of_the_workspace(
    project: Path, capsys: pytest.CaptureFixture[str], link: str, options: tuple[str, ...]
) -> None:
    """It could be the user's own folder of agents, whose files are trusted."""
    put(project, claude=CLAUDE)
    users = project.parent / "users"
    users.mkdir()
    is_file = link.endswith(".toml")
    place = project / link
    place.parent.mkdir(parents=True, exist_ok=True)
    if is_file:
        (users / "code-reviewer.toml").write_text("mine")
    place.symlink_to(users / "code-reviewer.toml" if is_file else users)
    assert main(["import", *options, ".claude/agents/reviewer.md"]) == 1
    assert "a link leads out of the workspace, to " in capsys.readouterr().err
    assert [each.read_text() for each in users.rglob("*.toml")] == ["mine"] * is_file
    assert main(["import", "--output", str(project.parent / "named"), ".claude"]) == 0


def test_a_dry_run_shows_the_change_and_writes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "sk-ant-" + "a1B2c3D4e5" * 4
    put(project, claude=CLAUDE + key)
    assert main(["import", ".", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert '+tools = ["read_file", "grep"]' in out
    assert "lost    color" in out
    assert key not in out
    assert not (project / "axe").exists()


def test_a_broken_file_is_named_and_the_others_are_converted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, claude="---\nname: a\nwords\n---\n", codex=CODEX)
    assert main(["import", "."]) == 1
    assert (
        "axe-lsp import: .claude/agents/reviewer.md:3: there should be a key"
        in capsys.readouterr().err
    )
    assert (project / "axe/agents/fixer.toml").is_file()


def test_a_file_that_is_not_utf_8_is_named_with_its_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "x.md"
    path.write_bytes(b"---\nname: a\n---\n\nGr\xfc\xdfe")
    assert main(["import", "x.md"]) == 1
    assert "x.md:5: the file is not UTF-8" in capsys.readouterr().err


def test_two_agents_of_one_name_do_not_replace_each_other(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, claude=CLAUDE, gemini=CLAUDE.replace("Code Reviewer", "code-reviewer"))
    assert main(["import", ".", "--force"]) == 1
    err = capsys.readouterr().err
    assert "was just made of .claude/agents/reviewer.md" in err
    assert "or import those of one program, such as `--from gemini`" in err


def test_two_agents_of_one_name_and_format_are_told_apart_by_their_folders(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("agents", "old/agents"):
        (project / folder).mkdir(parents=True)
        (project / folder / "reviewer.md").write_text(CLAUDE)
    assert main(["import", "."]) == 1
    err = capsys.readouterr().err
    assert (
        "rename one of the agents, or import one of the folders alone, such as old/agents\n" in err
    )


def test_how_many_agents_have_no_model_is_said_at_the_end(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    put(project, claude=CLAUDE, codex=CODEX)
    other = CLAUDE.replace("Code Reviewer", "other").replace("---\n", "---\nmodel: sonnet\n", 1)
    (project / ".claude/agents/other.md").write_text(other)
    assert main(["import"]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("axe-lsp import: agents without a model, which can't run: 2 of 3; ")
    assert "`--force --model openai/" in last
    (project / "axe/agents/code-reviewer.toml").unlink()
    assert main(["import"]) == 1  # The others are there already.
    assert "can't run: 1 of 1; " in capsys.readouterr().err
    assert main(["import", ".", "--force", "--model", "openai/m"]) == 0
    assert capsys.readouterr().err == ""


def test_a_broken_config_file_keeps_no_agent_from_its_conversion(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, claude=CLAUDE)
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "axe" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("x = [\n")
    assert main(["import"]) == 0
    assert "`--force --model provider/model-name` gives" in capsys.readouterr().err


def test_a_named_format_is_that_of_its_own_folder(project: Path) -> None:
    put(project, claude=CLAUDE, gemini=CLAUDE.replace("Code Reviewer", "other"), codex=CODEX)
    assert main(["import", ".", "--from", "gemini"]) == 0
    assert [each.name for each in (project / "axe/agents").iterdir()] == ["other.toml"]


def test_only_what_looks_like_an_agent_is_taken_from_an_unusual_folder(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "team/reviewer.md": CLAUDE,
        "team/fixer.toml": CODEX,
        "CONTRIBUTING.md": "# Contributing\n",
        "post.md": "---\ntitle: A post\ndescription: name: no\n---\nname: no",
        "team/skill/SKILL.md": CLAUDE,
        "team/skill/references/state.md": CLAUDE.replace("Code Reviewer", "reference"),
        "team/skill/agents/helper.md": CLAUDE.replace("Code Reviewer", "helper"),
        "Cargo.toml": "[workspace]\n",
        "node_modules/x/agent.md": CLAUDE.replace("Code Reviewer", "theirs"),
        ".hidden/agent.md": CLAUDE.replace("Code Reviewer", "hidden"),
    }
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    assert main(["import", "."]) == 0
    made = sorted(each.name for each in (project / "axe/agents").iterdir())
    assert made == ["code-reviewer.toml", "fixer.toml", "helper.toml"]
    assert main(["import", "team/skill", "--output", "out"]) == 0
    assert [each.name for each in (project / "out").iterdir()] == ["helper.toml"]
    left_out, model, *rest = capsys.readouterr().err.splitlines()
    assert left_out == (
        "axe-lsp import: Markdown without `name` and `description` at its beginning is left out (files: 2); "
        "name a file to convert it all the same"
    )
    assert "agents without a model, which can't run: 3 of 3; " in model
    assert [each for each in rest if "agents without a model" not in each] == []


def test_files_of_other_kinds_are_not_exported(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "Cargo.toml").write_text("[workspace]\n[profile.dist]\n")
    assert main(["export", "--to", "codex", "."]) == 2
    assert "no agent files in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["import", "nowhere"], 2, "no such file or folder"),
        (["import", "."], 2, "no agent files in"),
        (["export", "--to", "claude", "nobody"], 2, "agent config not found: nobody"),
        (["export", "--to", "axe", "axe/agents/a.toml"], 1, "it is an agent of axe already"),
    ],
)
def test_missing_path_is_reported(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    if "axe/agents/a.toml" in arguments:
        (project / "axe" / "agents").mkdir(parents=True)
        (project / "axe/agents/a.toml").write_text('name = "a"\nmodel = "openai/x"')
    assert main(arguments) == code
    assert message in capsys.readouterr().err


def test_a_model_without_a_provider_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["import", ".", "--model", "sonnet"])
    assert "expected provider/model-name" in capsys.readouterr().err
