"""`axe-lsp check` on Codex's files. Each verdict was recorded with Codex 0.171 (`tests/recorded/codex`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.check.check import check as check_file
from axe_lsp.agentfile.dialects import CODEX, FileKind, kinds
from axe_lsp.agentfile.schema.codex_names import (
    FEATURES,
    FORMER_FEATURES,
    IGNORED_IN_PROJECTS,
    MODELS,
    SINCE,
    TABLE_FEATURES,
    VERSION,
)
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeySpec
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.cli.check import check
from axe_lsp.workspace.agent_file import read_agent_file
from axe_lsp.workspace.places import Places
from support.recorded_checks import RECORDED, deviations, load_cases

HEAD = 'name = "a"\ndescription = "Reads."\ndeveloper_instructions = "Read."\n'
"""A whole agent in three lines: what is below begins at line 4."""

Diagnostics = Mapping[str, list[tuple[int, str, str]]]


class Checks(Protocol):
    def __call__(self, files: Mapping[str, str], further: Sequence[Path] = ()) -> Diagnostics: ...


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

    def run(files: Mapping[str, str], further: Sequence[Path] = ()) -> Diagnostics:
        for name, text in files.items():
            path = home / name[5:] if name.startswith("HOME/") else project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return {
            file.path.replace(str(home), "HOME"): [
                (
                    file.lines.line_at(each.range.start) + 1,
                    each.severity.name.lower(),
                    each.code,
                )
                for each in file.findings
            ]
            for file in check([project, *filter(Path.is_file, further)])
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
def test_accepted_file_has_no_findings(found_in: Checks, below: str) -> None:
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


CASES = {
    f"{file.stem.partition('.json')[0]}-{case['name']}": case
    for file in sorted((RECORDED / "codex").glob("cases-*"))
    for case in load_cases(file)
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_check_gives_the_recorded_verdicts_of_codex(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deviations(CASES[name], tmp_path, monkeypatch) == []


def test_names_are_those_of_the_newest_recorded_codex() -> None:
    *older, newest = [
        json.loads(file.read_text()) for file in sorted((RECORDED / "codex").glob("names-*.json"))
    ]
    assert newest["codex"].startswith(f"{VERSION}.")
    assert newest["features"] == FEATURES
    assert {model: list(efforts) for model, efforts in MODELS.items()} == newest["models"]
    assert newest["former_features"] == FORMER_FEATURES
    assert sorted(newest["project_ignored"]) == sorted(IGNORED_IN_PROJECTS)
    assert sorted(newest["feature_tables"]) == sorted(TABLE_FEATURES)
    assert {key.path[0] for key in CODEX.agent.schema.keys} == {*newest["keys"]}
    added = {*newest["keys"]} - {*older[0]["keys"]}
    added |= {f"features.{name}" for name in {*newest["features"]} - {*older[0]["features"]}}
    assert set(SINCE) == added


OPEN_KEYS = [
    (kind, key)
    for kind in kinds()
    for key in kind.schema.keys
    if key.takes_anything and ANY_NAME not in key.path and len(key.path) == 1
]


@pytest.mark.parametrize(
    ("kind", "key"), OPEN_KEYS, ids=[f"{kind.schema.name}-{key.dotted}" for kind, key in OPEN_KEYS]
)
def test_key_of_any_value_may_be_a_table_or_an_array_of_tables(
    kind: FileKind, key: KeySpec
) -> None:
    for header in (f"[{key.dotted}]", f"[[{key.dotted}]]", f"[{key.dotted}.inner]"):
        parse = Parse(f"{header}\nany = 1\n")
        found = check_file(parse, Lookup(parse, kind.schema), lambda _: iter(()))
        assert [each.message for each in found if each.path == key.path] == []


LAYERS: list[tuple[Mapping[str, str], str, list[tuple[int, str, str]]]] = [
    (
        {
            "HOME/.codex/config.toml": 'default_permissions = "ci"\n[permissions.ci]\nextends = ":workspace"\n',
            ".codex/config.toml": '[permissions.ci]\nextends = "none"\n',
        },
        ".codex/config.toml",
        [(2, "error", "out-of-range")],
    ),
    (
        {
            "HOME/.codex/config.toml": "[features]\nartifact = true\n",
            ".codex/config.toml": "suppress_unstable_features_warning = true\n",
        },
        "HOME/.codex/config.toml",
        [(2, "warning", "startup-warning")],
    ),
    (
        {
            "HOME/.codex/config.toml": 'project_root_markers = ["WORK"]\n',
            "WORK": "",
            ".codex/config.toml": '[mcp_servers.a]\ncommand = "a"\n',
            "pkg/.git": "gitdir: elsewhere\n",
            "pkg/.codex/config.toml": "[mcp_servers.a]\nenabled = false\n",
        },
        "pkg/.codex/config.toml",
        [],
    ),
    (
        {
            "HOME/.codex/config.toml": "project_root_markers = []\n",
            ".git/HEAD": "ref: refs/heads/main\n",
            ".codex/config.toml": '[mcp_servers.a]\ncommand = "a"\n',
            "pkg/.codex/config.toml": "[mcp_servers.a]\nenabled = false\n",
        },
        "pkg/.codex/config.toml",
        [(1, "error", "missing-key")],
    ),
    (
        {".codex/config.toml": 'model_instructions_file = "i.md"\n', ".codex/i.md": " \n"},
        ".codex/config.toml",
        [(1, "error", "missing-file")],
    ),
    (
        {
            ".codex/config.toml": 'model_catalog_json = "m.json"\n',
            ".codex/m.json": '{"models": []}',
        },
        ".codex/config.toml",
        [(1, "error", "missing-file")],
    ),
    (
        {".codex/config.toml": "[hooks]\n", ".codex/hooks.json": '{"hooks": {}}'},
        ".codex/config.toml",
        [],
    ),
    (
        {
            ".codex/config.toml": "[agents]\nmax_threads = 2\nmax_concurrent_threads_per_session = 2\n"
        },
        ".codex/config.toml",
        [(3, "error", "out-of-range")],
    ),
    (
        {".codex/config.toml": '[tui.keymap.global]\ncopy = ["ctrl-c", "ctrl+c"]\n'},
        ".codex/config.toml",
        [(2, "error", "out-of-range")],
    ),
    (
        {".codex/config.toml": 'model = "x/gpt-5.5"\nreview_model = "any"\n'},
        ".codex/config.toml",
        [],
    ),
    (
        {".codex/config.toml": 'model = "gpt-4"\n'},
        ".codex/config.toml",
        [(1, "warning", "startup-warning")],
    ),
]


def _lines(size: int) -> str:
    """Return a text of so many bytes."""
    return ("x" * 79 + "\n") * (size // 80) + "x" * (size % 80)


GIT = {".git/HEAD": "ref: refs/heads/main\n"}
FALLBACK = 'project_doc_fallback_filenames = ["CLAUDE.md", "docs/NOTES.md"]\n'
LIMIT = "project_doc_max_bytes = {}\n"
AGENT = ".codex/agents/a.toml"
FIRST_LINE, SECOND_LINE = ([(line, "warning", "startup-warning")] for line in (1, 2))

INSTRUCTIONS: list[tuple[Mapping[str, str], str, list[tuple[int, str, str]]]] = [
    ({"AGENTS.md": _lines(40_000), ".codex/config.toml": ""}, ".codex/config.toml", FIRST_LINE),
    ({"AGENTS.md": _lines(32_768), ".codex/config.toml": ""}, ".codex/config.toml", []),
    (
        {"AGENTS.md": _lines(32_769), ".codex/agents/a.toml": HEAD},
        ".codex/agents/a.toml",
        FIRST_LINE,
    ),
    ({"AGENTS.md": _lines(9), ".codex/agents/a.toml": HEAD}, ".codex/agents/a.toml", []),
    (
        {"AGENTS.md": _lines(40_000), ".codex/config.toml": "", ".codex/agents/a.toml": HEAD},
        ".codex/agents/a.toml",
        [],
    ),
    (
        {"AGENTS.override.md": "", "AGENTS.md": _lines(40_000), ".codex/config.toml": ""},
        ".codex/config.toml",
        [],
    ),
    (
        {"AGENTS.override.md/x": "", "AGENTS.md": _lines(40_000), ".codex/config.toml": ""},
        ".codex/config.toml",
        FIRST_LINE,
    ),
    (
        {"AGENTS.md": _lines(800), ".codex/config.toml": f"# all\n{LIMIT.format(100)}"},
        ".codex/config.toml",
        SECOND_LINE,
    ),
    (
        {
            "AGENTS.md": _lines(800),
            "HOME/.codex/config.toml": LIMIT.format(100),
            ".codex/config.toml": "",
        },
        ".codex/config.toml",
        FIRST_LINE,
    ),
    (
        {"AGENTS.md": _lines(40_000), ".codex/config.toml": LIMIT.format(0)},
        ".codex/config.toml",
        [],
    ),
    (
        {"CLAUDE.md": _lines(40_000), ".codex/config.toml": FALLBACK},
        ".codex/config.toml",
        FIRST_LINE,
    ),
    ({"docs/NOTES.md": _lines(40_000), ".codex/config.toml": FALLBACK}, ".codex/config.toml", []),
    (
        {
            **GIT,
            "AGENTS.md": _lines(20_000),
            "pkg/AGENTS.md": _lines(12_800),
            "pkg/inner/.codex/config.toml": "",
            "pkg/inner/AGENTS.md": "",
        },
        "pkg/inner/.codex/config.toml",
        FIRST_LINE,
    ),
    (
        {
            **GIT,
            "AGENTS.md": _lines(20_000),
            ".codex/config.toml": "",
            "pkg/AGENTS.md": _lines(20_000),
            "pkg/.codex/agents/team/a.toml": HEAD,
        },
        "pkg/.codex/agents/team/a.toml",
        FIRST_LINE,
    ),
    (
        {
            **GIT,
            "AGENTS.md": _lines(40_000),
            ".codex/config.toml": "",
            "pkg/.codex/config.toml": "",
        },
        "pkg/.codex/config.toml",
        [],
    ),
    *(
        (
            {
                **GIT,
                "AGENTS.md": _lines(20_000),
                ".codex/config.toml": "",
                f"{below}/AGENTS.md": _lines(size),
                **further,
            },
            ".codex/config.toml",
            expected,
        )
        for below, size, further, expected in (
            ("pkg/inner", 20_000, {}, FIRST_LINE),
            ("pkg/inner", 12_768, {}, []),
            ("pkg/inner", 12_768, {"pkg/AGENTS.md": "x"}, FIRST_LINE),
            ("pkg/inner", 12_768, {"other/AGENTS.md": "x"}, []),
            ("pkg/inner", 20_000, {"pkg/inner/AGENTS.override.md": "x"}, []),
            ("pkg/inner", 20_000, {"pkg/.codex/config.toml": ""}, []),
            ("pkg/inner", 20_000, {"pkg/.codex/agents/a.toml": HEAD}, []),
            ("pkg/inner", 20_000, {"pkg/.git": "gitdir: x\n"}, []),
            ("node_modules/x", 20_000, {}, []),
        )
    ),
    (
        {
            **GIT,
            "AGENTS.md": _lines(20_000),
            "pkg/.git": "gitdir: elsewhere\n",
            "pkg/AGENTS.md": _lines(20_000),
            "pkg/.codex/config.toml": "",
        },
        "pkg/.codex/config.toml",
        [],
    ),
    (
        {"HOME/.codex/AGENTS.md": _lines(40_000), "HOME/.codex/config.toml": ""},
        "HOME/.codex/config.toml",
        FIRST_LINE,
    ),
    (
        {
            "HOME/.codex/AGENTS.override.md": "",
            "HOME/.codex/AGENTS.md": _lines(40_000),
            "HOME/.codex/config.toml": "",
        },
        "HOME/.codex/config.toml",
        FIRST_LINE,
    ),
    (
        {"HOME/.codex/CLAUDE.md": _lines(40_000), "HOME/.codex/config.toml": FALLBACK},
        "HOME/.codex/config.toml",
        [],
    ),
    (
        {
            "HOME/.codex/AGENTS.md": _lines(20_000),
            "AGENTS.md": _lines(20_000),
            ".codex/config.toml": "",
        },
        ".codex/config.toml",
        FIRST_LINE,
    ),
    (
        {"HOME/.codex/AGENTS.md": _lines(40_000), ".codex/config.toml": ""},
        ".codex/config.toml",
        [],
    ),
    *(
        (
            {
                "CLAUDE.md": _lines(40_000),
                "HOME/.codex/config.toml": FALLBACK,
                ".codex/config.toml": own,
            },
            ".codex/config.toml",
            expected,
        )
        for own, expected in (
            ("", FIRST_LINE),
            ("project_doc_fallback_filenames = []\n", []),
            ('project_doc_fallback_filenames = ["NOTES.md"]\n', []),
        )
    ),
    (
        {"CLAUDE.md": _lines(40_000), "HOME/.codex/config.toml": FALLBACK, AGENT: HEAD},
        AGENT,
        FIRST_LINE,
    ),
    *(
        (
            {
                **repository,
                ".codex/config.toml": FALLBACK,
                "pkg/CLAUDE.md": _lines(40_000),
                "pkg/.codex/config.toml": "",
            },
            "pkg/.codex/config.toml",
            expected,
        )
        for repository, expected in ((GIT, FIRST_LINE), ({"pkg/.git": "gitdir: x\n"}, []))
    ),
    *(
        (
            {
                "AGENTS.md": _lines(40_000),
                ".codex/agents/a.toml": HEAD.replace('"a"', '"z"'),
                ".codex/agents/b.toml": HEAD,
                ".codex/agents/team/c.toml": HEAD.replace('"a"', '"c"'),
                ".codex/agents/0.toml": HEAD.partition("\n")[2],
            },
            path,
            expected,
        )
        for path, expected in (
            (".codex/agents/a.toml", FIRST_LINE),
            (".codex/agents/b.toml", []),
            (".codex/agents/team/c.toml", []),
        )
    ),
]


@pytest.mark.parametrize(("files", "path", "expected"), [*LAYERS, *INSTRUCTIONS])
def test_settings_are_judged_as_codex_merges_and_reads_them(
    found_in: Checks,
    files: Mapping[str, str],
    path: str,
    expected: list[tuple[int, str, str]],
    tmp_path: Path,
) -> None:
    found = found_in(files, [tmp_path / "home" / ".codex" / "config.toml"])
    assert found[path] == expected


PROVIDER = '[model_providers.corp]\nname = "C"\nbase_url = "https://x.invalid"\n'
LOGIN = (
    'authorization_url = "https://a.invalid/x", token_url = "https://t.invalid/x", client_id = "c"'
)
PROFILE = 'default_permissions = "x"\n[permissions.x.filesystem]\n":root" = "read"\n[permissions.x.network]\n'
REQUEST = 'host = "a.b", methods = ["GET"], path_prefixes = ["/"]'
KEY = 'placeholder_access_key_id = "x", region = "r", service = "s", access_key_id = { env_var = "A" }, secret_access_key = { file = "x" }'

NETWORKS = [
    (f"{PROVIDER}gateway_oauth = {{ {LOGIN} }}", ""),
    (f"{PROVIDER}gateway_oauth = {{}}", "missing-key"),
    (f"{PROVIDER}gateway_oauth = 3", "wrong-type"),
    (f'{PROVIDER}gateway_oauth = {{ token_url = "https://t.invalid" }}', "missing-key"),
    (f"{PROVIDER}gateway_oauth = {{ {LOGIN}, audience = 1 }}", "unknown-key"),
    (f'{PROVIDER}gateway_oauth = {{ {LOGIN}, credentials_store = "auto" }}', "out-of-range"),
    (f"{PROVIDER}gateway_oauth = {{ {LOGIN}, redirect_port = 0 }}", "out-of-range"),
    (f"{PROVIDER}gateway_oauth = {{ {LOGIN.replace('https', 'http', 1)} }}", "out-of-range"),
    (
        f"{PROVIDER}gateway_oauth = {{ {LOGIN.replace('https://a.invalid', 'http://localhost:1')} }}",
        "",
    ),
    (f'{PROVIDER}env_key = "X"\ngateway_oauth = {{ {LOGIN} }}', "out-of-range"),
    (
        f'{PROVIDER}env_key = "X"\ngateway_oauth = {{ {LOGIN}, delivery = {{ kind = "header", name = "X-A" }} }}',
        "",
    ),
    (
        f'{PROVIDER}gateway_oauth = {{ {LOGIN}, delivery = {{ kind = "cookie", name = "a b" }} }}',
        "out-of-range",
    ),
    (
        f'{PROVIDER}gateway_oauth = {{ {LOGIN}, delivery = {{ kind = "header", name = "Host" }} }}',
        "out-of-range",
    ),
    (f'{PROVIDER}gateway_oauth = {{ credential_export = {{ command = "x", any = 1 }} }}', ""),
    (f'{PROVIDER}gateway_oauth = {{ credential_export = {{ command = "" }} }}', "out-of-range"),
    (
        f'{PROVIDER}gateway_oauth = {{ {LOGIN}, credential_export = {{ command = "x" }} }}',
        "out-of-range",
    ),
    (f'{PROVIDER}capabilities = {{ remote_compaction = "v2" }}', ""),
    (f'{PROVIDER}capabilities = {{ remote_compaction = "v1" }}', "out-of-range"),
    (f"{PROVIDER}capabilities = {{ external_web_access = 1 }}", "wrong-type"),
    (f"{PROFILE}mitm = {{ version = 2, hooks = {{ a = {{ {REQUEST} }} }} }}", ""),
    (f"{PROFILE}mitm = {{ version = 1 }}", "out-of-range"),
    (f"{PROFILE}mitm = {{ hooks = {{ a = {{ {REQUEST}, action = [] }} }} }}", "out-of-range"),
    (f"{PROFILE}mitm = {{ hooks = {{ a = {{ {REQUEST}, zzz = 1 }} }} }}", "unknown-key"),
    (f"{PROFILE}mitm = {{ hooks = {{ a = {{ {REQUEST}, body = 1 }} }} }}", "out-of-range"),
    (
        f"{PROFILE}mitm = {{ hooks = {{ a = {{ {REQUEST}, query = {{ q = 1 }} }} }} }}",
        "out-of-range",
    ),
    (f'{PROFILE}mitm = {{ hooks = {{ a = {{ host = "a.b" }} }} }}', "missing-key"),
    (
        f"{PROFILE}mitm = {{ hooks = {{ a = {{ {REQUEST.replace('a.b', '*')} }} }} }}",
        "out-of-range",
    ),
    (f"{PROFILE}mitm = {{ actions = {{ k = {{}} }} }}", "out-of-range"),
    (f"{PROFILE}mitm = {{ actions = {{ k = {{ inject_request_headers = [{{}}] }} }} }}", ""),
    (f"{PROFILE}mitm = {{ version = 2, actions = {{ k = {{ aws_sigv4 = {{ {KEY} }} }} }} }}", ""),
    (f"{PROFILE}mitm = {{ actions = {{ k = {{ aws_sigv4 = {{ {KEY} }} }} }} }}", "out-of-range"),
]


@pytest.mark.parametrize(("text", "code"), NETWORKS)
def test_tables_about_the_network_have_the_errors_that_codex_has(
    found_in: Checks, text: str, code: str, tmp_path: Path
) -> None:
    path = "HOME/.codex/config.toml"
    found = found_in({path: f"{text}\n"}, [tmp_path / "home" / ".codex" / "config.toml"])
    errors = [each for _, severity, each in found.get(path, []) if severity == "error"]
    assert errors == ([code] if code else [])


def test_unread_instructions_of_several_folders_below_are_one_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    for folder in ("a", "b", "c", ".codex/agents"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("a", "b"):
        (tmp_path / folder / "AGENTS.md").write_text(_lines(40_000))
    (tmp_path / "c" / "AGENTS.md").write_text("x")
    (tmp_path / ".codex" / "agents" / "a.toml").write_text(HEAD)
    (finding,) = (each for file in check([tmp_path]) for each in file.findings)
    assert finding.message.startswith(
        "a/AGENTS.md has 40,000 bytes, of which Codex reads the first"
    )
    assert finding.message.endswith("(and 1 more files below)")


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        (
            (40_000,),
            "AGENTS.md has 40,000 bytes, of which Codex reads the first 32,768; shorten it",
        ),
        (
            (20_000, 20_000),
            "pkg/AGENTS.md has 20,000 bytes, of which Codex reads the first 12,768 after 20,000 of outer files",
        ),
        (
            (32_768, 1),
            "Codex does not read pkg/AGENTS.md: outer files have the 32,768 bytes that it",
        ),
    ],
)
def test_unread_instructions_are_reported_with_their_file_and_size(
    sizes: Sequence[int],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = [tmp_path, tmp_path / "pkg"][: len(sizes)]
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for folder, size in zip(folders, sizes, strict=True):
        folder.mkdir(exist_ok=True)
        (folder / "AGENTS.md").write_text(_lines(size))
    agents = folders[-1] / ".codex" / "agents"
    agents.mkdir(parents=True)
    (agents / "a.toml").write_text(HEAD)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    (finding,) = (each for file in check([tmp_path]) for each in file.findings)
    assert finding.message.startswith(sentence)
