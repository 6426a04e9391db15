"""Rules about single values: globs, schemas, secrets, what axe does not know."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.secrets import find_secrets
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import Severity
from support.findings import HEAD, check_findings
from support.fixture import open_fixture
from support.secrets import OPENAI_KEY

CALLER = '--- caller.toml\nsub_agents = ["main"]\n'
NOT_AXE = {"not-axe": Severity.HINT}


def test_malformed_globs() -> None:
    check_findings("""
        files = ["*.md", "src/[a-z.py", "a\\\\"]
                         ^^^^^^^^^^^^^ error bad-glob: invalid glob pattern "src/[a-z.py": syntax error in pattern
                                        ^^^^^ error bad-glob: invalid glob pattern "a\\\\": syntax error in pattern
    """)


def test_a_message_about_an_endless_key_is_short() -> None:
    fixture = open_fixture(f"{HEAD}\n{'k' * 100_000} = 1\n")
    (finding,) = diagnostics(fixture.snapshot, fixture.file)
    assert finding.message == f'unknown key "{"k" * 1987}…'


def test_schemas_are_checked_wherever_their_parts_are_written() -> None:
    (first, *_) = check_findings(
        """
        output = { type = "object", properties = { path = { type = "strng" } } }
                                                                   ^^^^^^^ error bad-schema: output.properties.path.type must be one of: array, boolean, integer, null, number, object, string; got "strng". Did you mean `string`?
        [input]
        required = "path"
                   ^^^^^^ error bad-schema: input.required must be an array of strings
        properties.a.minLength = -1
                                 ^^ error bad-schema: input.properties.a.minLength must be a whole number from 0
        [input.properties.b]
        prefixItems = [1]
                       ^ error bad-schema: input.properties.b.prefixItems[0] must be a schema: a table, true or false
    """,
        others=CALLER,
    )
    assert first.suggestion == '"string"'


def test_an_input_is_an_object_and_an_output_need_not_be() -> None:
    check_findings(
        """
        [output]
        type = "array"
        [input]
        type = "array"
               ^^^^^^^ error bad-schema: input.type must be "object": agents are called with one
    """,
        others='--- caller.toml\nsub_agents = ["main"]\n',
    )


@pytest.mark.parametrize(
    ("model", "told", "successor"),
    [
        (
            "openai/gpt-5-nano",
            "openai switches it off on 2026-12-11, and names `openai/gpt-6-luna` in its place",
            "openai/gpt-6-luna",
        ),
        (
            "anthropic/claude-opus-4-1-20250805",
            "anthropic has switched it off on 2026-08-05, and names `anthropic/claude-opus-4-8` in its place",
            "anthropic/claude-opus-4-8",
        ),
        ("openai/gpt-5.1", "openai switches it off on 2027-04-01", None),
    ],
)
def test_a_model_that_ends_is_a_hint_with_the_day_and_its_successor(
    model: str, told: str, successor: str | None
) -> None:
    (found,) = check_findings(
        f"""
        model = "{model}"
                {"^" * (len(model) + 2)} hint ending-model: The model '{model}' ends: {told}.
        """,
        head='name = "main"\n',
    )
    assert found.suggestion == successor


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("anthropic/claude-sonet-5-5", "anthropic/claude-sonnet-5-5"),
        ("anthropic/claude-5-5-sonnet", "anthropic/claude-sonnet-5-5"),
        ("anthropic/Claude-Haiku-5.5", "anthropic/claude-haiku-5-5"),
        ("openai/gpt5.4-mini", "openai/gpt-5.4-mini"),
        ("openai/gpt-6-lunna", "openai/gpt-6-luna"),
    ],
)
def test_a_slip_in_the_name_of_a_known_model_is_a_hint(written: str, meant: str) -> None:
    (found,) = check_findings(
        f"""
        model = "{written}"
                {"^" * (len(written) + 2)} hint similar-model: {meant.partition("/")[0]} has no known model of this name. Did you mean `{meant}`?
        """,
        head='name = "main"\n',
    )
    assert found.suggestion == meant


@pytest.mark.parametrize(
    "model",
    [
        "anthropic/claude-sonnet-5-5",
        "anthropic/claude-sonnet-5-6",
        "anthropic/claude-opus-4-5-20251101",
        "openai/gpt-4.2",
        "openai/gpt-6-terra",
        "openai/gpt-6-pro",
        "openai/gpt-5.4-micro",
        "openai/gpt",
        "ollama/claude-sonet-5-5",
    ],
)
def test_other_models_are_not_reported(model: str) -> None:
    check_findings(
        f"""
        model = "{model}"
        """,
        head='name = "main"\n',
    )


@pytest.mark.parametrize("type_", ['"strin"', '"string"', "5", "[]", '["strin", "null"]'])
def test_input_of_another_type_is_reported(type_: str) -> None:
    (found,) = check_findings(
        f"""
        [input]
        type = {type_}
               {"^" * len(type_)} error bad-schema: input.type must be "object": agents are called with one
    """,
        others=CALLER,
    )
    assert found.suggestion == '"object"'


def test_the_schema_of_an_answer_is_a_warning_as_axe_takes_it() -> None:
    check_findings("""
        [params.response_format]
        type = "json_schema"
        schema = { type = "zzzz" }
                          ^^^^^^ warning bad-schema: params.response_format.schema.type must be one of: array, boolean, integer, null, number, object, string; got "zzzz"
    """)


def test_half_typed_schemas_are_left_alone() -> None:
    check_findings("""
        [output.properties.path]
        type =
             ^ error syntax: expected a value
    """)


def test_secrets_in_values_and_comments() -> None:
    text = HEAD + f'description = "{OPENAI_KEY}"\n# was {OPENAI_KEY}\n'
    opened = open_fixture(text)
    found = diagnostics(opened.snapshot, opened.file)
    assert [each.code for each in found] == ["plain-secret", "plain-secret"]
    assert [each.range.of(opened.text) for each in found] == [OPENAI_KEY, OPENAI_KEY]
    assert found[0].message == (
        "this looks like a key of OpenAI, readable by everyone who gets the file; it belongs in $OPENAI_API_KEY or config.toml"
    )


def test_no_message_of_any_rule_repeats_a_secret() -> None:
    opened = open_fixture(
        f'name = "{OPENAI_KEY}"\nmodel = "{OPENAI_KEY}"\nsub_agents = ["{OPENAI_KEY}"]\n'
        f'tools = ["{OPENAI_KEY}"]\n[retry]\nbackoff = "{OPENAI_KEY}"\n'
    )
    found = diagnostics(opened.snapshot, opened.file)
    assert {"model-format", "unknown-agent", "unknown-tool", "out-of-range"} <= {
        each.code for each in found
    }
    for each in found:
        assert not list(find_secrets(each.message)), each.code
        assert OPENAI_KEY[-20:] not in each.message


def test_what_axe_does_not_know_is_reported_to_those_who_ask() -> None:
    fixture = """
        tools = ["grep", "read_file", "Read", "x"]
                 ^^^^^^ hint not-axe: axe rejects the file: it has no tool "grep"
                                      ^^^^^^ hint not-axe: axe rejects the file: it has no tool "Read"
                                              ^^^ error unknown-tool: unknown tool "x" in tools config. There are: read_file, list_directory, grep, find_files, write_file, edit_file, run_command, url_fetch, web_search, ask_user, diagnostics, definition, references, symbols, hover, call_hierarchy.
        budget.scope = "tree"
               ^^^^^ hint not-axe: axe ignores "budget.scope", an extension of axe-lsp
        [task]
         ^^^^ hint not-axe: axe ignores "task", an extension of axe-lsp
        recursive = true
        [task.type.audit]
        prompt = "x"
        [memory]
        last_n = 3
        scope = "run"
        ^^^^^ hint not-axe: axe ignores "memory.scope", an extension of axe-lsp
    """
    check_findings(fixture, severities=NOT_AXE)


def test_a_provider_that_axe_does_not_have() -> None:
    check_findings(
        """
        name = "main"
        model = "replay/demo"
                ^^^^^^^^^^^^^ hint not-axe: axe does not know the provider "replay"
        """,
        head="",
        severities=NOT_AXE,
    )


def test_not_axe_is_off_by_default() -> None:
    check_findings('tools = ["grep"]\nbudget.scope = "tree"\n')


def test_delegation_settings_without_sub_agents_are_unused() -> None:
    (finding,) = check_findings("""
        [sub_agents_config]
         ^^^^^^^^^^^^^^^^^ hint unused-config: sub_agents_config has no effect without sub_agents
        max_depth = 2
    """)
    assert finding.unnecessary


@pytest.mark.parametrize(
    "fixture",
    [
        'sub_agents = ["a"]\nsub_agents_config.max_depth = 2\n',
        "[sub_agents_config]\nmax_depth = 2\n[task]\n",
    ],
)
def test_how_to_delegate_where_there_is_somebody(fixture: str) -> None:
    check_findings(fixture, others="--- a.toml\n")


def test_empty_sub_agents_make_dotted_delegation_keys_unused() -> None:
    check_findings("""
        sub_agents = []
        sub_agents_config.max_depth = 2
        ^^^^^^^^^^^^^^^^^ hint unused-config: sub_agents_config has no effect without sub_agents
    """)


def test_the_fate_of_changes_where_there_is_no_copy() -> None:
    (finding,) = check_findings("""
        [isolation]
        mode = "process"
        changes = "apply"
        ^^^^^^^ hint unused-config: isolation.changes has no effect without isolation.mode = "copy"
    """)
    assert finding.unnecessary


def test_the_fate_of_changes_in_a_copy() -> None:
    check_findings('[isolation]\nmode = "copy"\nchanges = "keep"\n')


def test_a_message_says_a_value_once() -> None:
    check_findings("""
        [params]
        effort = "hihg"
                 ^^^^^^ error out-of-range: params.effort must be one of: none, minimal, low, medium, high, xhigh, max; got "hihg"
    """)


def test_keys_for_side_runs_without_side_runs_have_no_effect() -> None:
    (finding,) = check_findings("""
        sub_agents = []
        [task]
        [sub_agents_config]
        at_end = "cancel"
        ^^^^^^ warning no-effect: at_end has no effect without background = "optional" or "always"
    """)
    assert finding.path == ("sub_agents_config", "at_end")
    check_findings("""
        [sub_agents_config]
         ^^^^^^^^^^^^^^^^^ hint unused-config: sub_agents_config has no effect without sub_agents
        background = "always"
        ^^^^^^^^^^ warning no-effect: background has no effect without sub_agents or [task]
    """)


def test_keys_for_side_runs_of_an_agent_that_starts_some_have_an_effect() -> None:
    check_findings('[task]\n[sub_agents_config]\nbackground = "optional"\nat_end = "cancel"\n')
    check_findings("""
        [task]
        [sub_agents_config]
        background = "sometimes"
                     ^^^^^^^^^^^ error out-of-range: sub_agents_config.background must be one of: never, optional, always (it is "sometimes")
        at_end = "cancel"
    """)


@pytest.mark.parametrize("place", ["matter", "body"])
@pytest.mark.parametrize(
    "header",
    [
        "/project/.claude/agents: a.md",
        "/project/.github/agents: a.agent.md",
        "/project/.opencode/agent: a.md",
        "/project/.gemini/agents: a.md",
    ],
)
def test_api_key_in_an_agent_in_markdown_is_reported_and_masked(header: str, place: str) -> None:
    key = "sk-ant-" + "a1B2c3D4e5" * 4
    head = key if place == "matter" else "d"
    text = f"---\nname: a\ndescription: {head}\n---\nGo. {key if place == 'body' else ''}\n"
    opened = open_fixture(f"--- {header}\n{text}")
    found = [
        each for each in diagnostics(opened.snapshot, opened.file) if each.code == "plain-secret"
    ]
    assert [each.range.of(text) for each in found] == [key]
    assert key not in found[0].message


def test_api_key_in_an_agent_of_codex_is_reported() -> None:
    key = "sk-ant-" + "a1B2c3D4e5" * 4
    text = f'name = "a"\ndescription = "d"\ndeveloper_instructions = "{key}"\n'
    opened = open_fixture(f"--- /project/.codex/agents: a.toml\n{text}")
    (found,) = diagnostics(opened.snapshot, opened.file)
    assert (found.code, found.range.of(text)) == ("plain-secret", key)
