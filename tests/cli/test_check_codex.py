"""`axe-lsp check` on Codex's files. Each verdict was recorded with Codex 0.169 (`codex doctor --json`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.dialects import CODEX
from axe_lsp.agentfile.schema.codex_names import FEATURES
from axe_lsp.cli.check import check, main
from axe_lsp.workspace.agent_file import read_agent_file
from axe_lsp.workspace.places import Places
from support.command_line import COMMAND

KIT = Path(__file__).parents[3] / "shared" / "codex"

HEAD = 'name = "a"\ndescription = "Reads."\ndeveloper_instructions = "Read."\n'
"""A whole agent in three lines: what is below begins at line 4."""

Checks = Callable[[Mapping[str, str]], Mapping[str, list[tuple[int, str, str]]]]


@pytest.fixture
def found_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checks:
    """Writes files into a project, those below HOME/ into a home folder, and checks the project.

    Gives line, severity and code of each finding by file.
    """
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(project)

    def run(files: Mapping[str, str]) -> Mapping[str, list[tuple[int, str, str]]]:
        for name, text in files.items():
            path = home / name[5:] if name.startswith("HOME/") else project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return {
            file.path: [
                (
                    file.lines.line_at(each.range.start) + 1,
                    each.severity.name.lower(),
                    each.code,
                )
                for each in file.findings
            ]
            for file in check([project])
        }

    return run


HOOK = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n"

FAULTS = [
    ('modle = "x"', 4, "unknown-key"),
    ("[memory]\nenabled = true", 4, "unknown-key"),
    ("model = 5", 4, "wrong-type"),
    ("model_context_window = 1.5", 4, "wrong-type"),
    ("model_post_turn_compact_threshold_percent = 256", 4, "out-of-range"),
    ('sandbox_mode = "readonly"', 4, "out-of-range"),
    ('sandbox_mode = ""', 4, "out-of-range"),
    ("sandbox_mode = 2026-01-01", 4, "out-of-range"),
    ('model_reasoning_effort = ""', 4, "out-of-range"),
    ('nickname_candidates = ["Ada", "O\'Hara"]', 4, "out-of-range"),
    ("nickname_candidates = []", 4, "out-of-range"),
    ('nickname_candidates = ["Ada", " Ada "]', 4, "out-of-range"),
    ('tools = ["read"]', 4, "wrong-type"),
    ('[mcp_servers.docs]\nargs = ["x"]', 4, "missing-key"),
    ('[mcp_servers.docs]\ncommand = "x"\noauth = { client_id = "x" }', 6, "out-of-range"),
    ('[mcp_servers.docs]\nurl = "https://d.example.invalid"\ncwd = "/"', 6, "out-of-range"),
    (
        '[mcp_servers.docs]\nurl = "https://d.example.invalid"\nbearer_token = "x"',
        6,
        "out-of-range",
    ),
    ('[mcp_servers.docs]\ncommand = "x"\ntools.find.approval_mode = "never"', 6, "out-of-range"),
    ("approval_policy = { reject = { rules = true } }", 4, "out-of-range"),
    ("approval_policy = { granular = { rules = true } }", 4, "missing-key"),
    ('[model_providers.openai]\nname = "Mine"', 4, "out-of-range"),
    ('[model_providers.corp]\nbase_url = "x"', 4, "missing-key"),
    ('[model_providers.corp]\nname = "Corp"\nwire_api = "chat"', 6, "out-of-range"),
    ('[features]\napps = "on"', 5, "wrong-type"),
    ('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"', 5, "missing-key"),
    ('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "mcp_tool"\nserver = "s"', 5, "missing-key"),
    (f'{HOOK}type = "mcp_tool"\nserver = "s"\ntool = 3', 8, "wrong-type"),
    (f'{HOOK}type = "mcp_tool"\nserver = "s"\ntool = "t"\ninput = 3', 9, "wrong-type"),
    (f'{HOOK}type = "command"\ncommand = "x"\nstatusMessage = 3', 8, "wrong-type"),
    (f'{HOOK}type = "command"\ncommand = "x"\nadditionalContextLimit = -1', 8, "out-of-range"),
    ('[[skills.config]]\npath = "x"', 4, "missing-key"),
    ("[agents]\nmax_depth = 99999999999", 5, "out-of-range"),
    ("[goals]\nmax_goal_token_budget = 0", 5, "out-of-range"),
]


@pytest.mark.parametrize(("below", "line", "code"), FAULTS)
def test_what_makes_codex_drop_a_file_is_one_error_at_its_place(
    found_in: Checks, below: str, line: int, code: str
) -> None:
    found = found_in({".codex/agents/a.toml": HEAD + below + "\n"})
    errors = [each for each in found[".codex/agents/a.toml"] if each[1] == "error"]
    assert errors == [(line, "error", code)]


FINE = [
    "",
    'model = "gpt-6-sol"\nmodel_reasoning_effort = "ultra"',
    'nickname_candidates = ["Ada", "ada", "Ben 2"]',
    "[tools]\nweb_search = true",
    '[tools.web_search]\ncontext_size = "low"',
    '[shell_environment_policy]\ninherit = "core"\nset = { A = "b" }',
    "[features.multi_agent_v2]\nenabled = true",
    '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\nserver = 3',
    f'{HOOK}type = "command"\ncommand = "true"\nasync = true\nstatusMessage = "Stopping"\ntimeout = 2',
    f'{HOOK}type = "command"\ncommand = "true"\ncommandWindows = "x"\nadditionalContextLimit = 9',
    f'{HOOK}type = "mcp_tool"\nserver = "s"\ntool = "t"\ninput = {{ a = 1 }}\nstatusMessage = "x"',
    "[skills]\ninclude_instructions = false",
    'forced_chatgpt_workspace_id = ["a", "b"]',
    'model_verbosity = "low"\r\nmodel_reasoning_summary = "none"',
]


@pytest.mark.parametrize("below", FINE)
def test_nothing_is_said_about_what_codex_takes(found_in: Checks, below: str) -> None:
    assert found_in({".codex/agents/a.toml": f"{HEAD}{below}\n"}) == {".codex/agents/a.toml": []}


ODD = [
    ('sandbox_mode = "read-only"', 4, "no-effect"),
    ('[mcp_servers.docs]\ncommand = "x"', 4, "no-effect"),
    ('model_reasoning_effort = "hihg"', 4, "out-of-range"),
    ('model = "gpt-5.5"\nmodel_reasoning_effort = "ultra"', 5, "out-of-range"),
    ('model = "inherit"', 4, "out-of-range"),
    ('model = "openai/gpt-6-sol"', 4, "out-of-range"),
    ("model = 2026-01-01", 4, "wrong-type"),
    ("[features]\nshel_tool = false", 5, "unknown-key"),
    ("[history]\nsize = 3", 5, "unknown-key"),
    ('[[skills.config]]\nname = " "\nenabled = true', 5, "out-of-range"),
    ('[[skills.config]]\npath = "none/SKILL.md"\nenabled = true', 5, "missing-file"),
    ('experimental_compact_prompt_file = "none.md"', 4, "missing-file"),
]


@pytest.mark.parametrize(("below", "line", "code"), ODD)
def test_what_codex_takes_without_the_effect_that_it_seems_to_have_is_a_warning(
    found_in: Checks, below: str, line: int, code: str
) -> None:
    found = found_in({".codex/agents/a.toml": HEAD + below + "\n"})
    assert found[".codex/agents/a.toml"] == [(line, "warning", code)]


def test_a_file_alone_needs_three_keys(found_in: Checks) -> None:
    found = found_in({".codex/agents/a.toml": "", ".codex/agents/b.toml": 'name = " "\n'})
    assert found[".codex/agents/a.toml"] == [(1, "error", "dropped-agent")]
    assert found[".codex/agents/b.toml"] == [(1, "error", "dropped-agent")]


def test_a_declared_file_may_be_empty_and_lie_anywhere(found_in: Checks) -> None:
    found = found_in(
        {
            ".codex/config.toml": '[agents.r]\ndescription = "Reads."\nconfig_file = "../conf/r.toml"\n',
            "conf/r.toml": "",
        }
    )
    assert found == {".codex/config.toml": [], "conf/r.toml": []}


def test_of_the_keys_of_agent_files_alone_config_toml_has_the_instructions(
    found_in: Checks,
) -> None:
    text = HEAD + 'nickname_candidates = ["Ada"]\nmodel = "gpt-5.5"\n'
    found = found_in({".codex/config.toml": text})
    lines = (1, 2, 4)  # `name`, `description` and `nickname_candidates`
    assert found[".codex/config.toml"] == [(line, "warning", "unknown-key") for line in lines]


@pytest.mark.parametrize(("value", "codes"), [('"Read."', []), ('" "', []), ("5", ["wrong-type"])])
def test_the_instructions_of_config_toml_are_a_string_that_may_be_blank(
    found_in: Checks, value: str, codes: list[str]
) -> None:
    found = found_in({".codex/config.toml": f"developer_instructions = {value}\n"})
    assert [code for _, _, code in found[".codex/config.toml"]] == codes


def test_a_declared_file_that_is_not_there_drops_the_agent(found_in: Checks) -> None:
    text = '[agents.r]\ndescription = "Reads."\nconfig_file = ".codex/agents/r.toml"\n'
    found = found_in({".codex/config.toml": text, ".codex/agents/r.toml": HEAD})
    assert found[".codex/config.toml"] == [(3, "error", "dropped-agent")]
    assert found[".codex/agents/r.toml"] == []


def test_of_one_name_in_a_layer_the_declared_file_counts_then_the_first_whole_one(
    found_in: Checks,
) -> None:
    found = found_in(
        {
            ".codex/agents/a.toml": HEAD + "modle = 1\n",
            ".codex/agents/deep/b.toml": HEAD,
            ".codex/agents/z.toml": HEAD,
        }
    )
    assert found[".codex/agents/deep/b.toml"] == []
    assert found[".codex/agents/z.toml"] == [(1, "error", "dropped-agent")]
    declared = '[agents.a]\ndescription = "Reads."\nconfig_file = "agents/z.toml"\n'
    found = found_in({".codex/config.toml": declared})
    assert found[".codex/agents/deep/b.toml"] == [(1, "error", "dropped-agent")]
    assert found[".codex/agents/z.toml"] == []


def test_an_agent_that_takes_the_place_of_another_is_a_warning(found_in: Checks) -> None:
    found = found_in(
        {
            "HOME/.codex/agents/a.toml": HEAD,
            ".codex/agents/a.toml": HEAD,
            ".codex/agents/w.toml": HEAD.replace('"a"', '"worker"'),
        }
    )
    assert found[".codex/agents/a.toml"] == [(1, "warning", "replaced-agent")]
    assert found[".codex/agents/w.toml"] == [(1, "warning", "replaced-agent")]


def test_names_differ_by_case_and_not_by_spaces(found_in: Checks) -> None:
    found = found_in(
        {
            ".codex/agents/a.toml": HEAD,
            ".codex/agents/b.toml": HEAD.replace('"a"', '"A"'),
            ".codex/agents/c.toml": HEAD.replace('"a"', '" a "'),
        }
    )
    assert found[".codex/agents/b.toml"] == []
    assert found[".codex/agents/c.toml"] == [(1, "error", "dropped-agent")]


PLACES = Places()
URI = "file:///project/.codex/agents/a.toml"

_WORDS = {
    "model_reasoning_summary": ("auto", "concise", "detailed", "none"),
    "model_verbosity": ("low", "medium", "high"),
    "web_search": ("disabled", "cached", "indexed", "live"),
    "personality": ("none", "friendly", "pragmatic"),
    "file_opener": ("vscode", "vscode-insiders", "windsurf", "cursor", "none"),
}
_LINES = st.one_of(
    st.sampled_from([(key, f'"{word}"') for key, words in _WORDS.items() for word in words]),
    st.sampled_from([("hide_agent_reasoning", "true"), ("allow_login_shell", "false")]),
    st.tuples(st.just("model_context_window"), st.integers(0, 2**62).map(str)),
    st.tuples(st.just("project_doc_max_bytes"), st.integers(0, 2**62).map(str)),
    st.tuples(
        st.sampled_from([f"features.{name}" for name in FEATURES if "." not in name][:80]),
        st.sampled_from(["true", "false"]),
    ),
)
_CORRECT = st.lists(_LINES, unique_by=lambda line: line[0], max_size=6)


def _errors(text: str) -> list[str]:
    file = read_agent_file(PLACES.locate(URI), text)
    assert file.place.dialect is CODEX
    return [each.message for each in file.problems if each.fatal and not each.is_warning]


@given(_CORRECT)
def test_correct_files_have_no_error(lines: list[tuple[str, str]]) -> None:
    assert _errors(HEAD + "".join(f"{key} = {value}\n" for key, value in lines)) == []


@given(_CORRECT.filter(bool), st.data())
def test_one_mutation_of_a_correct_file_is_one_error_or_two(
    lines: list[tuple[str, str]], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    key, value = lines[number]
    wrong = data.draw(
        st.sampled_from(
            [
                (f"{key}x" if "." not in key else key, value if "." not in key else '"on"'),
                (key, "[[]]"),
                (key, '"no such word"'),
                (key, "-1.5"),
                (key, value + " ]"),
            ]
        )
    )
    lines[number] = wrong
    assert 1 <= len(_errors(HEAD + "".join(f"{each} = {said}\n" for each, said in lines))) <= 2


with_recorded_verdicts = pytest.mark.skipif(
    not KIT.is_dir(), reason=f"there are no recorded verdicts at {KIT}"
)


@pytest.mark.slow
@with_recorded_verdicts
def test_codexs_recorded_verdicts_are_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = run_path(str(KIT / "run.py"))

    def run(
        arguments: list[str], *, cwd: Path, env: Mapping[str, str], **_: object
    ) -> subprocess.CompletedProcess[bytes]:
        """What a process of the command does, in this one."""
        with monkeypatch.context() as patch:
            patch.setattr(os, "environ", env)
            patch.chdir(cwd)
            code = main(arguments[2:])
        out, err = (text.encode() for text in capsys.readouterr())
        return subprocess.CompletedProcess(arguments, code, out, err)

    here = SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setitem(kit["run"].__globals__, "subprocess", here)
    cases = kit["load"](KIT / "cases", "")
    faults = {case["name"]: kit["run"](case, ["axe-lsp"]) for case in cases}
    assert {name: found for name, found in faults.items() if found} == {}
    assert len(faults) > 300


@pytest.mark.process
@with_recorded_verdicts
def test_a_process_of_the_command_gives_recorded_verdicts() -> None:
    command = [sys.executable, KIT / "run.py", "--cmd", " ".join(COMMAND), "--cases", KIT / "cases"]
    outcome = subprocess.run(
        [*command, "-k", "declared"], capture_output=True, text=True, check=False
    )
    lines = outcome.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAIL ")] == []
    assert int(lines[-1].split()[0]) > 10
