"""`axe-lsp check`: what people and programs read, and the exit code."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from axe_lsp.cli.check import Progress, check, main
from axe_lsp.cli.check_formats import FORMATS, print_human
from axe_lsp.daemon import processes
from support.command_line import Home
from support.growth import calls_of
from support.secrets import OPENAI_KEY

HEAD = 'name = "{0}"\nmodel = "ollama/llama"\n'

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of agents of a project that is the current folder."""
    folder = tmp_path / "project" / "axe" / "agents"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder


@pytest.fixture
def run(agents: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(HEAD.format(name) + text, encoding="utf-8")


def test_empty_skill_is_reported_at_each_of_its_agents(agents: Path, run: Run) -> None:
    skill = agents.parents[2] / "config" / "axe" / "skills" / "review" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("")
    write(agents, "a", 'skill = "review"\n')
    write(agents, "b", 'skill = "review"\n')
    code, out, _ = run()
    assert (code, out.count("warning[bad-skill]: ")) == (0, 2)
    assert f"skill {skill}: it is empty, so it adds nothing to the prompt" in out


@pytest.mark.parametrize("git", [".git", ".git/HEAD"])
@pytest.mark.parametrize(
    ("place", "text", "code"),
    [
        ("axe/agents/rev.toml", HEAD.format("rev"), "duplicate-name"),
        (
            ".codex/agents/rev.toml",
            'name = "rev"\ndescription = "d"\ndeveloper_instructions = "i"\n',
            "replaced-agent",
        ),
        (".vibe/agents/rev.toml", 'instructions = "i"\n', "replaced-agent"),
    ],
    ids=["axe", "codex", "vibe"],
)
def test_agents_of_two_repositories_are_compared_only_without_a_repository_between_them(
    place: str, text: str, code: str, git: str, agents: Path, run: Run
) -> None:
    files = {".git/HEAD": "ref: refs/heads/main\n", place: text, f"vendor/kit/{place}": text}
    project = agents.parent.parent
    for name, content in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content)
    assert code in run()[1]
    marker = project / "vendor" / "kit" / git
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text("gitdir: elsewhere\n")
    assert code not in run()[1]


def test_sub_agent_of_another_repository_is_unknown(agents: Path, run: Run) -> None:
    kit = agents.parent.parent / "vendor" / "kit"
    write(agents, "outer", 'sub_agents = ["inner"]\n')
    write(kit / "axe" / "agents", "inner", 'sub_agents = ["outer"]\n')
    assert "unknown-agent" not in run()[1]
    (kit / ".git").write_text("gitdir: elsewhere\n")
    output = run()[1]
    assert output.count("unknown-agent") == 2
    assert output.count("belongs to another repository") == 2


def test_a_projects_file_changes_severities_and_the_command_line_comes_before_it(
    agents: Path, run: Run
) -> None:
    write(agents, "a", 'sub_agents = ["none"]\nzzz = 1\n')
    write(agents.parents[1] / "sub" / "axe" / "agents", "b", "zzz = 1\n")
    file = agents.parent / "check.toml"
    file.write_text('[diagnostics]\nunknown-key = "off"\nunknown-agent = "error"\n')
    code, out, _ = run()
    assert code == 1
    assert out.count("error[unknown-agent]") == 1
    assert out.count("[unknown-key]") == 1, "another project has its own file"
    code, out, _ = run("--severity", "unknown-agent=hint", "--severity", "unknown-key=error")
    assert (out.count("hint[unknown-agent]"), out.count("error[unknown-key]")) == (1, 2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[diagnostics]\nnam-mismatch = 'off'\n", "did you mean 'name-mismatch'?"),
        ("[diagnostics]\nname-mismatch = 'never'\n", "not 'never'"),
        ("[diagnostic]\n", "'diagnostic' is unknown; there is [diagnostics]"),
        ("diagnostics = 1\n", "'diagnostics' must be a table"),
        ("[diagnostics\n", "check.toml: Expected"),
        ("[diagnostics]\nplain-secret = 'off'\n", "plain-secret can't be milder than"),
        ("[diagnostics]\noutside-workspace = 'hint'\n", "outside-workspace can't be milder than"),
    ],
)
def test_setting_without_effect_in_a_project_file_is_an_error(
    agents: Path, run: Run, text: str, complaint: str
) -> None:
    write(agents, "a", "")
    (agents.parent / "check.toml").write_text(text)
    code, _, err = run()
    assert code == 2
    assert complaint in err


def test_a_projects_file_may_be_stricter_about_security(agents: Path, run: Run) -> None:
    write(agents, "a", 'workdir = "/etc"\n')
    (agents.parent / "check.toml").write_text("[diagnostics]\noutside-workspace = 'error'\n")
    code, out, _ = run()
    assert (code, out.count("error[outside-workspace]")) == (1, 1)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_check_shows_progress_on_a_terminal(
    agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        write(agents, f"a{number:02}", "")
    monkeypatch.setenv("TERM", "xterm")
    times = iter(range(1000))
    terminal, pipe = _Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        progress = Progress(stream, lambda: next(times) / 10)
        check([agents], None, progress)
        progress.end()
    told = terminal.getvalue().split("\r")[1:]
    assert all(each.startswith("checking ") for each in told[:-1])
    assert told[0].startswith("checking 9 of 30 files"), "a second has passed"
    assert told[-1] == "\x1b[K", "the line is empty again"
    assert pipe.getvalue() == ""


def test_link_to_an_agent_is_no_duplicate(agents: Path, run: Run) -> None:
    write(agents, "lint", "")
    other = agents.parents[1] / "sub" / "axe" / "agents"
    write(other, "style", "")
    (other / "lint.toml").symlink_to(agents / "lint.toml")
    assert run("--strict")[0] == 0
    write(agents, "style", "")
    assert "duplicate-name" in run("--strict")[1]


def test_findings_are_shown_with_their_line_and_carets(agents: Path, run: Run) -> None:
    write(agents, "lint", "")
    write(agents, "parent", 'sub_agents = ["lnt"]\n[sub_agents_config]\nmax_depth = 6\n')
    code, out, _ = run()
    assert code == 1
    assert out == (
        "axe/agents/parent.toml:3:15: warning[unknown-agent]: no agent file defines "
        '"lnt"; calling it will fail. Did you mean `lint`?\n'
        "  |\n"
        '3 | sub_agents = ["lnt"]\n'
        "  |               ^^^^^\n\n"
        "axe/agents/parent.toml:5:13: error[max-depth]: "
        "sub_agents_config.max_depth cannot exceed 5 (it is 6)\n"
        "  |\n"
        "5 | max_depth = 6\n"
        "  |             ^\n\n"
        "1 error, 1 warning in 1 of 2 files.\n"
    )


def test_without_errors_the_exit_code_is_0(agents: Path, run: Run) -> None:
    write(agents, "lint", "")
    assert run() == (0, "No problems in 1 file.\n", "")
    write(agents, "lint", "zzz = 1\n")
    assert run()[0] == 0


def test_the_severity_of_a_code_is_an_option(
    agents: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    write(agents, "lint", "zzz = 1\n")
    code, out, _ = run("--severity", "unknown-key=error")
    assert (code, out.count("error[unknown-key]")) == (1, 1)
    assert run("--severity", "unknown-key=off") == (0, "No problems in 1 file.\n", "")
    assert "hint[unknown-key]" in run("--strict", "--severity", "unknown-key=hint")[1]
    for wrong, told in [
        ("unknown-kee=off", "'unknown-kee' is not a diagnostic code; did you mean unknown-key?"),
        ("unknown-key=none", "'none' is none of error, warning, information, hint, off"),
    ]:
        with pytest.raises(SystemExit) as left:
            run("--severity", wrong)
        assert left.value.code == 1
        assert told in capsys.readouterr().err


def test_files_keys_and_programs_outside_are_looked_up(
    agents: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (agents.parent.parent / "README.md").write_text("# Read")
    write(agents, "a", 'files = ["*.md", "*.rst"]\nskill = "gone.md"\nworkdir = "."\n')
    (agents / "b.toml").write_text('name = "b"\nmodel = "openai/gpt"\n')
    code, out, _ = run("--format", "github")
    assert code == 0
    assert [line.partition("title=")[2].partition("::")[0] for line in out.splitlines()] == [
        "axe-lsp empty-glob",
        "axe-lsp missing-file",
        "axe-lsp missing-api-key",
    ]


def test_missing_api_key_is_one_finding_for_people_and_one_per_agent_for_programs(
    agents: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for name, provider in (("a", "openai"), ("b", "openai"), ("c", "anthropic"), ("d", "openai")):
        (agents / f"{name}.toml").write_text(f'name = "{name}"\nmodel = "{provider}/gpt"\n')
    _, out, _ = run()
    told = [line for line in out.splitlines() if "missing-api-key" in line]
    assert [line.partition(":")[0] for line in told] == ["axe/agents/a.toml", "axe/agents/c.toml"]
    assert told[0].endswith("or api_key in config.toml (and 2 more files)")
    assert told[1].endswith("or api_key in config.toml")
    assert out.endswith("\n2 information in 2 of 4 files.\n")
    assert run("--format", "github")[1].count("missing-api-key") == 2
    sarif = json.loads(run("--format", "sarif")[1])
    assert len(sarif["runs"][0]["results"]) == 2
    assert len(json.loads(run("--format", "json")[1])) == 4


def test_carets_stand_below_wide_characters_and_tabs(agents: Path) -> None:
    write(agents, "a", 'memory\t= { path = "日本", last_n = -7 }\n')
    out = io.StringIO()
    print_human(check([agents / "a.toml"]), out)
    assert f"\n  |       \t{' ' * 28}^^\n" in out.getvalue()


def test_carets_are_aligned_after_emoji_sequences(
    agents: Path,
) -> None:
    write(agents, "a", 'memory = { path = "👨\u200d👩\u200d👧 👍🏽 🇳🇱 ❤️", last_n = -7 }\n')
    out = io.StringIO()
    print_human(check([agents / "a.toml"]), out)
    assert f"\n  | {' ' * 42}^^\n" in out.getvalue()


def test_control_characters_of_a_file_are_escaped(agents: Path) -> None:
    write(agents, "a", 'description = "\x1b[31m\x9b2J\u202e\x7f"\n')
    out = io.StringIO()
    print_human(check([agents / "a.toml"]), out)
    assert '3 | description = "␛[31m�2J�␡"\n' in out.getvalue()
    assert not {"\x1b", "\x9b", "\u202e", "\x7f"} & set(out.getvalue())


@pytest.mark.process
def test_parallel_check_reports_every_agent(
    agents: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    count = 2 * processes.ENOUGH
    for number in range(count):
        write(agents, f"agent-{number}", f'sub_agents = ["agent-{number + 1}"]\nworkdir = "gone"\n')
    code, out, _ = run("--format", "json")
    found = json.loads(out)
    assert code == 0
    assert [each["code"] for each in found].count("missing-file") == count
    assert [each["code"] for each in found].count("unknown-agent") == 1


def test_a_recording_is_not_taken_for_an_agent(tmp_path: Path, run: Run) -> None:
    recording = tmp_path / "review.toml"
    recording.write_text("# A recording\n\nversion = 1\npaced = true\n[[run]]\nagent = 'a'\n")
    code, out, err = run(str(recording))
    assert (code, out) == (0, "")
    assert err == f"axe-lsp check: {recording} is a recording, not an agent file\n"


def test_a_file_without_a_name_is_no_agent(agents: Path, run: Run) -> None:
    (agents / ".toml").write_text("zzz = 1\n")
    write(agents, "lint", "")
    assert run() == (0, "No problems in 1 file.\n", "")


def test_very_long_line_is_shortened(agents: Path) -> None:
    write(agents, "a", 'memory = { path = "' + "x" * 1_000_000 + '", last_n = -7 }\n')
    out = io.StringIO()
    print_human(check([agents / "a.toml"]), out)
    _, _, source, carets, *_ = out.getvalue().splitlines()
    assert len(source) < 130
    assert source[carets.index("^") :].startswith("-7")


def test_names_are_looked_up_among_neighbours_and_the_users_agents(
    agents: Path, tmp_path: Path, run: Run
) -> None:
    write(tmp_path / "config" / "axe" / "agents", "mine", "timeout = -1\n")
    write(agents, "lint", "timeout = -1\n")
    write(agents, "parent", 'sub_agents = ["lint", "mine"]\n')
    assert run("axe/agents/parent.toml") == (0, "No problems in 1 file.\n", "")


def test_folder_without_agent_folders_is_checked_as_an_agent_folder(
    tmp_path: Path, run: Run
) -> None:
    write(tmp_path / "loose", "a", "timeout = -1\n")
    code, out, _ = run(str(tmp_path / "loose"))
    assert code == 1
    assert "a.toml:3:11: error[negative-timeout]" in out


def test_toml_of_other_programs_is_not_taken_for_agents(tmp_path: Path, run: Run) -> None:
    loose = tmp_path / "loose"
    write(loose, "a", "timeout = -1\n")
    (loose / "typos.toml").write_text('nmae = "typos"\nmodle = "openai/m"\n')
    others = {
        "Cargo": '[package]\nname = "x"\n[dependencies]\nserde = "1"\n',
        "netlify": '[build]\ncommand = "x"\n[[headers]]\nfor = "/*"\n',
        "pyproject": '[build-system]\nrequires = []\n[project]\nname = "x"\n[tool.ruff]\n',
        "ruff-only": "[tool.ruff]\nline-length = 100\n",
        "wrangler": 'name = "x"\nmain = "src/index.ts"\ncompatibility_date = "2026-01-01"\n',
        "rust-toolchain": '[toolchain]\nchannel = "stable"\n',
    }
    for name, text in others.items():
        (loose / f"{name}.toml").write_text(text)
    code, out, _ = run(str(loose))
    assert code == 1
    assert "a.toml:3:11: error[negative-timeout]" in out
    assert "typos.toml" in out
    assert not [name for name in others if f"{name}.toml" in out]

    (loose / "a.toml").unlink()
    (loose / "typos.toml").unlink()
    code, out, err = run(str(loose))
    assert (code, out) == (0, "")
    assert "no agent files below" in err
    assert run("--strict", str(loose))[0] == 2
    assert run(str(loose / "Cargo.toml"))[0] == 1  # Who names a file means it.


@pytest.mark.parametrize("named", ["roles/more", "roles/more/scout.toml", "roles"])
def test_agents_of_codex_in_a_folder_of_any_name_are_checked_as_codex_reads_them(
    tmp_path: Path, run: Run, named: str
) -> None:
    folder = tmp_path / "roles" / "more"
    folder.mkdir(parents=True)
    text = 'name = "a_scout"\ndescription = "d"\nmodel = "gpt-5.6-sol"\nmodel_reasoning_effort = "high"\n'
    prompt = 'developer_instructions = """\nLook around.\n"""\n'
    (folder / "scout.toml").write_text(text + prompt)
    assert run(str(tmp_path / named))[:2] == (0, "No problems in 1 file.\n")
    (folder / "scout.toml").write_text(f'modle = "x"\n{text}{prompt}')
    code, out, _ = run(str(tmp_path / named))
    assert code == 1
    assert out.count(": error[") == 1
    assert 'unknown key "modle"; Codex rejects the file' in out


def test_agents_of_codex_of_one_name_in_two_folders_do_not_replace_each_other(
    tmp_path: Path, run: Run
) -> None:
    text = 'name = "scout"\ndescription = "d"\ndeveloper_instructions = "x"\n'
    for folder in ("roles/a", "roles/b", "roles/c/.codex/agents"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "scout.toml").write_text(text)
    assert run(str(tmp_path / "roles/a"))[:2] == (0, "No problems in 1 file.\n")
    two = [str(tmp_path / f"roles/{each}/scout.toml") for each in "ab"]
    assert run(*two)[:2] == (0, "No problems in 2 files.\n")
    (tmp_path / "roles/a/again.toml").write_text(text)
    assert "another file has the name" in run(str(tmp_path / "roles/a"))[1]


def test_settings_and_broken_files_do_not_count_as_codex_agents(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "dotfiles" / "codex"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('model = "m"\ndeveloper_instructions = "x"\n')
    (folder / "broken.toml").write_text('x = """\ndeveloper_instructions = "x"\n')
    code, out, err = run(str(tmp_path / "dotfiles"))
    assert (code, out) == (0, "")
    assert "no agent files below" in err


def test_a_folder_of_tests_is_checked_when_it_is_named(agents: Path, run: Run) -> None:
    write(agents, "lead", "")
    folder = agents.parent / "tests"
    folder.mkdir()
    (folder / "lead.toml").write_text('agent = "nobody"\n')
    assert "lead.toml:1:9: " in run(str(folder))[1]


def test_markdown_is_named_and_the_others_are_checked(tmp_path: Path, run: Run) -> None:
    write(tmp_path / "mine", "a", "timeout = -1\n")
    (tmp_path / "mine/README.md").write_text("# Mine\n")
    (tmp_path / "mine/b.md").write_text("---\nname: b\ndescription: d\n---\n")
    paths = [str(tmp_path / "mine" / each) for each in ("a.toml", "README.md", "b.md")]
    code, out, err = run(*paths)
    assert code == 2
    assert "error[negative-timeout]" in out
    assert f"{paths[1]} is Markdown, not an agent file\n" in err
    assert f"{paths[2]} is Markdown; `axe-lsp import {paths[2]}` makes" in err


def test_an_agent_of_axe_that_writes_those_of_codex_is_one_of_axe(tmp_path: Path, run: Run) -> None:
    write(
        tmp_path / "mine",
        "a",
        "system_prompt = '''\nWrite this:\ndeveloper_instructions = \"x\"\n'''\n",
    )
    assert run(str(tmp_path / "mine"))[:2] == (0, "No problems in 1 file.\n")


def test_agents_in_markdown_are_checked_and_not_only_pointed_at(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "project" / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("---\nname: a\ndescription: d\n---\n")
    code, out, err = run(str(tmp_path / "project"))
    assert code == 0
    assert out == "No problems in 1 file.\n"
    assert err == ""


def test_missing_path_is_an_error(run: Run) -> None:
    assert run("nowhere") == (2, "", "axe-lsp check: no such file or folder: nowhere\n")


def test_binary_files_are_reported(agents: Path, run: Run) -> None:
    (agents / "bad.toml").write_bytes(b'name = "bad"\n# caf\xe9')
    (agents / "wide.toml").write_bytes("name".encode("utf-16"))
    (agents / "folder.toml").mkdir()
    code, out, _ = run()
    assert code == 1
    assert "bad.toml:2:6: error[syntax]: the file is not UTF-8 (line 2, column 6: byte 0xE9)" in out
    assert "wide.toml:1:1: error[syntax]: the file is not UTF-8 but UTF-16: save it" in out
    assert "folder.toml:1:1: error[syntax]: the file can't be read" in out


def test_json_counts_lines_and_columns_from_1(agents: Path, run: Run) -> None:
    write(agents, "a", 'description = "😀"\ntimeout = -30\n')
    (found,) = json.loads(run("--format", "json")[1])
    assert found == {
        "file": "axe/agents/a.toml",
        "line": 4,
        "column": 11,
        "endLine": 4,
        "endColumn": 14,
        "severity": "error",
        "code": "negative-timeout",
        "message": "timeout must be non-negative (it is -30)",
    }


def test_github_gets_workflow_commands_with_escapes(agents: Path, run: Run) -> None:
    write(agents, "a", 'foo = 1\nmodel = "x"\n')
    _, out, _ = run("--format", "github")
    first, second = out.splitlines()
    assert first.startswith("::warning file=axe/agents/a.toml,line=3,col=1,endLine=3,endColumn=4,")
    assert first.endswith('title=axe-lsp unknown-key::unknown key "foo"; it has no effect')
    assert second.startswith("::error ")


def test_sarif_names_the_rules(agents: Path, run: Run) -> None:
    write(agents, "a", "timeout = -30\n")
    log = json.loads(run("--format", "sarif")[1])
    (report,) = log["runs"]
    (result,) = report["results"]
    assert log["version"] == "2.1.0"
    rules = {rule["id"]: rule for rule in report["tool"]["driver"]["rules"]}
    assert "0 means no limit" in rules[result["ruleId"]]["help"]["markdown"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "axe/agents/a.toml"
    assert location["region"]["startLine"] == 3


def test_sarif_names_files_by_uris(agents: Path, run: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    write(agents, "a b", "timeout = -30\n")
    write(elsewhere, "a", "timeout = -30\n")
    (report,) = json.loads(run("--format", "sarif", ".", str(elsewhere))[1])["runs"]
    locations = [result["locations"][0]["physicalLocation"] for result in report["results"]]
    assert [location["artifactLocation"]["uri"] for location in locations] == [
        "axe/agents/a%20b.toml",
        (elsewhere / "a.toml").as_uri(),
    ]


def test_the_folder_around_the_agents_may_be_named(agents: Path, run: Run) -> None:
    write(agents, "a", "timeout = -30\n")
    write(agents.parent.parent / ".axe/agents", "b", "timeout = -30\n")
    assert run("axe")[1].startswith("axe/agents/a.toml:3:11")
    assert run(".axe")[1].startswith(".axe/agents/b.toml:3:11")


def test_warnings_fail_a_strict_check(agents: Path, run: Run) -> None:
    write(agents, "lint", "zzz = 1\n")
    assert run("--strict")[0] == 1
    write(agents, "lint", "")
    assert run("--strict")[0] == 0


def test_subfolder_without_agents_checks_those_of_its_project(
    agents: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(agents, "lint", "zzz = 1\n")
    inner = agents.parents[1] / "src" / "core"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    code, out, _ = run("--strict")
    assert (code, out.startswith(f"{agents / 'lint.toml'}:3:1: warning[unknown-key]")) == (1, True)
    assert run("--strict", ".")[0] == 2, "a folder that is named is meant"

    write(inner / "axe" / "agents", "own", "")
    assert run("--strict") == (0, "No problems in 1 file.\n", "")


def test_subfolder_of_project_says_whose_agents_are_checked(
    agents: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(agents, "lint", "")
    inner = agents.parents[1] / "src"
    inner.mkdir()
    monkeypatch.chdir(inner)
    monkeypatch.setenv("TERM", "xterm")
    project = agents.parents[1]
    assert run()[2] == f"No agents below this folder; these are those of {project}.\n"


@pytest.mark.parametrize("output", ["human", "json"])
def test_folder_without_agents_is_not_reported_as_clean(
    tmp_path: Path, run: Run, output: str
) -> None:
    (tmp_path / "empty").mkdir()
    code, out, err = run("--format", output, str(tmp_path / "empty"))
    assert (code, out) == (0, {"human": "", "json": "[]\n"}[output])
    assert err.startswith("axe-lsp check: no agent files below ")
    assert err.endswith(". `axe-lsp init` creates an agent.\n")


def test_key_unknown_to_axe_is_an_error_with_strict_axe(agents: Path, run: Run) -> None:
    write(agents, "a", '[isolation]\nmode = "process"\n')
    assert run() == (0, "No problems in 1 file.\n", "")
    code, out, _ = run("--strict-axe")
    assert code == 1
    assert "error[not-axe]" in out


BAD_CONFIG = "[providers.openai]\napi_key = hidden-word\nbase_url = 3\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config" / "axe" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(BAD_CONFIG)
    return path


@pytest.mark.parametrize("named", ["config.toml", ""])
def test_config_toml_is_checked_where_it_or_its_folder_is_named(
    config: Path, run: Run, named: str
) -> None:
    code, out, _ = run(str(config.parent / named))
    assert code == 1
    assert "error[syntax]" in out
    assert "providers.openai.base_url must be a string, not an integer" in out
    assert "2 errors in 1 of 1 file." in out


def test_path_with_dots_names_the_same_file(config: Path, run: Run) -> None:
    config.write_text('[providers.groq]\nwire = "openai-chat"\nbase_url = "https://example.com"\n')
    (config.parent / "agents").mkdir()
    write(config.parent / "agents", "own", "")
    for path in ("../config/axe/config.toml", "../config/axe/agents/own.toml"):
        code, out, _ = run(path)
        assert (code, out) == (0, "No problems in 1 file.\n"), path
    config.write_text("x = 1\n")
    _, out, _ = run("../config/axe/config.toml")
    assert out.startswith(f"{config}:1:1: warning[unknown-key]: ")


@pytest.mark.parametrize("format_", FORMATS)
def test_keys_in_config_toml_are_never_printed(config: Path, run: Run, format_: str) -> None:
    code, out, error = run(str(config), "--format", format_)
    assert code == 1
    assert "hidden" not in out + error


@pytest.mark.parametrize("format_", FORMATS)
def test_value_of_a_key_that_is_written_with_escapes_is_never_printed(
    config: Path, run: Run, format_: str
) -> None:
    config.write_text('[providers.openai]\n"api\\u005fkey" = "hidden-word"; base_url = 3\n')
    code, out, error = run(str(config), "--format", format_)
    assert code == 1
    assert "hidden" not in out + error


def test_what_a_project_is_checked_for_does_not_depend_on_the_users_config_toml(
    agents: Path, config: Path, run: Run
) -> None:
    write(agents, "a", "")
    assert config.exists()
    assert run() == (0, "No problems in 1 file.\n", "")


def test_api_keys_in_agent_files_are_not_printed(agents: Path, run: Run) -> None:
    write(agents, "a", f'description = "{OPENAI_KEY}"\n')
    _, out, _ = run()
    assert "plain-secret" in out
    assert OPENAI_KEY not in out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipe_is_skipped_without_waiting(home: Home) -> None:
    os.mkfifo(home.work / "a.toml")
    code, out, _ = home.shell("check a.toml")
    assert code == 1
    assert "the file can't be read: it is not a regular file" in out


@pytest.mark.process
def test_a_check_imports_only_what_the_files_need(agents: Path) -> None:
    write(agents, "a", 'files = ["*.md"]\nsub_agents = ["b"]\n')
    write(agents, "b", "")
    program = "import sys; from axe_lsp.cli.main import main; main(['check']); print(*sys.modules)"
    command = [sys.executable, "-c", program]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for late in (
        *("anyio", "asyncio", "random", "shutil", "tomli_w", "multiprocessing", "pygls"),
        *(f"axe_lsp.{each}" for each in ("daemon.skill_file", "features.syntax_guesses")),
        *(f"axe_lsp.runtime.{each}" for each in ("prompt", "mcp.seen_tools", "safety.trust")),
    ):
        assert late not in out.split(), late


MOST_CALLS = 350
"""About 50 µs of processor time for each finding."""

CRAFTED = {
    "unknown keys": "{name} = 1\n",
    "bad globs": 'files = [\n{items}]\n|  "[{name}",\n',
    "globs without a match": 'files = [\n{items}]\n|  "{name}/*.md",\n',
    "unknown agents": 'sub_agents = [\n{items}]\n|  "{name}",\n',
    "unknown tools": 'tools = [\n{items}]\n|  "{name}",\n',
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_each_finding_of_a_crafted_file_takes_few_calls(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _, line = CRAFTED[kind].rpartition("|")
    agents = tmp_path / "axe" / "agents"
    agents.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def calls(count: int) -> int:
        lines = "".join(line.format(name=f"zk{count}x{each}") for each in range(count))
        body = whole.format(items=lines) if whole else lines
        text = f'name = "a"\nmodel = "ollama/m"\nsystem_prompt = "x"\n{body}'
        (agents / "a.toml").write_text(text, encoding="utf-8")
        findings: list[int] = []
        made = calls_of(
            lambda: findings.append(sum(len(each.findings) for each in check([tmp_path])))
        )
        assert findings == [count]
        return made

    calls(10)  # What the first check of a process imports is not counted.
    assert (calls(300) - calls(100)) / 200 < MOST_CALLS
