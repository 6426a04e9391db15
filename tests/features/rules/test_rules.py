"""Each rule: what it says, how loud, and where."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.finding import Severity
from axe_lsp.features.rules import RULES
from support.findings import HEAD, check_findings
from support.fixture import open_fixture


def test_a_parent_with_three_mistakes_gets_three_diagnostics() -> None:
    check_findings("""
        sub_agents = ["lnt"]
                      ^^^^^ warning unknown-agent: no agent file defines "lnt"; calling it will fail.
        [sub_agents_config]
        max_depth = 6
                    ^ error max-depth: sub_agents_config.max_depth cannot exceed 5 (it is 6)
        timeout = -30
                  ^^^ error negative-timeout: sub_agents_config.timeout must be non-negative (it is -30)
    """)


def test_an_unknown_agent_with_a_similar_name() -> None:
    (finding,) = check_findings(
        """
        sub_agents = ["lnt"]
                      ^^^^^ warning unknown-agent: no agent file defines "lnt"; calling it will fail. Did you mean `lint`?
        """,
        others="--- lint.toml\n",
    )
    assert finding.suggestion == "lint"


@pytest.mark.parametrize("name", ["lint.toml", "axe/agents/lint.toml", "./lint", "linter.toml"])
def test_the_file_of_an_agent_in_place_of_its_name(name: str) -> None:
    opened = open_fixture(f'--- main.toml\n{HEAD}sub_agents = ["{name}"]\n--- lint.toml\n')
    (finding,) = diagnostics(opened.snapshot, opened.file)
    assert finding.message.endswith("Did you mean `lint`?")
    assert finding.suggestion == "lint"


def test_unknown_agents_are_not_reported_before_the_folders_are_read() -> None:
    opened = open_fixture(HEAD + 'sub_agents = ["lint"]', complete=False)
    assert diagnostics(opened.snapshot, opened.file) == ()


def test_task_types_may_be_built_in_inline_or_agents() -> None:
    check_findings(
        """
        [task]
        types = ["explore", "plan", "code", "audit", "lint", "none"]
                                                             ^^^^^^ warning unknown-agent: no agent file defines "none"; calling it will fail.
        [task.type.audit]
        prompt = "x"
        """,
        others="--- user: lint.toml\n",
    )


def test_syntax_errors_come_with_the_other_findings() -> None:
    check_findings("""
        skill = "x
                ^^ error syntax: the string is not closed: expected `"`
        [memory]
        last_n = -1
                 ^^ error out-of-range: memory.last_n must be non-negative (it is -1)
    """)


def test_missing_keys_and_wrong_types_are_reported() -> None:
    check_findings(
        """
        name = "main"
        ^^^^ error missing-key: agent config missing required field: model
        files = "x"
                ^^^ error wrong-type: files must be an array of strings, not a string
        """,
        head="",
    )


def test_unknown_keys_with_the_nearest_one() -> None:
    check_findings("""
        sub_agent = []
        ^^^^^^^^^ warning unknown-key: unknown key "sub_agent"; it has no effect. Did you mean `sub_agents`?
        max_depth = 3
        ^^^^^^^^^ warning unknown-key: unknown key "max_depth"; it has no effect here. It belongs in `[sub_agents_config]`.
        zzzz = 1
        ^^^^ warning unknown-key: unknown key "zzzz"; it has no effect
    """)


def test_keys_of_the_agent_that_have_slipped_into_a_table_are_sent_back_to_the_top() -> None:
    check_findings("""
        [params]
        description = "x"
        ^^^^^^^^^^^ warning unknown-key: unknown key "params.description"; it has no effect here. It belongs at the top of the file, above the first table.
        timeout = 9
        ^^^^^^^ warning unknown-key: unknown key "params.timeout"; it has no effect here. It belongs at the top of the file, above the first table.
        prompt = "x"
        ^^^^^^ warning unknown-key: unknown key "params.prompt"; it has no effect
    """)


def test_keys_that_are_short_for_another_or_spelled_in_another_way() -> None:
    check_findings("""
        desc = "x"
        ^^^^ warning unknown-key: unknown key "desc"; it has no effect. Did you mean `description`?
        temp = 0.2
        ^^^^ warning unknown-key: unknown key "temp"; it has no effect. Did you mean `params.temperature`?
        maxDepth = 3
        ^^^^^^^^ warning unknown-key: unknown key "maxDepth"; it has no effect. Did you mean `sub_agents_config.max_depth`?
        max_tokens = 9
        ^^^^^^^^^^ warning unknown-key: unknown key "max_tokens"; it has no effect. Did you mean `budget.max_tokens` or `params.max_tokens`?
        [params]
        temp = 0.2
        ^^^^ warning unknown-key: unknown key "params.temp"; it has no effect. Did you mean `temperature`?
    """)


def test_unknown_tables_are_compared_with_tables() -> None:
    check_findings("""
        [agent]
         ^^^^^ warning unknown-key: unknown table "agent"; it has no effect. The agent's own keys belong at the top of the file, without a header.
        name = "main"
        [param]
         ^^^^^ warning unknown-key: unknown table "param"; it has no effect. Did you mean `params`?
    """)


def test_unknown_tools_with_the_nearest_one() -> None:
    check_findings("""
        tools = ["raed_file", "call_agent", "x*"]
                 ^^^^^^^^^^^ error unknown-tool: unknown tool "raed_file" in tools config. Did you mean `read_file`?
                              ^^^^^^^^^^^^ error unknown-tool: unknown tool "call_agent" in tools config. The model gets it if `sub_agents` names an agent.
                                            ^^^^ warning unknown-tool: unknown tool "x*" in tools config: no tool matches
    """)


def test_a_tool_is_suggested_before_its_alias() -> None:
    """`Grep` is another system's name for `grep`: an alias differs from its tool in case only."""
    check_findings("""
        tools = ["grp"]
                 ^^^^^ error unknown-tool: unknown tool "grp" in tools config. Did you mean `grep`?
    """)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("x-1", 'error model-format: invalid model format "x-1": expected provider/model-name'),
        (
            "gpt",
            'error model-format: invalid model format "gpt": expected provider/model-name. '
            "Did you mean `openai/gpt`?",
        ),
        (
            "ollama:llama3",
            'error model-format: invalid model format "ollama:llama3": '
            "expected provider/model-name. Did you mean `ollama/llama3`?",
        ),
        ("/x", 'error model-format: invalid model format "/x": empty provider'),
        ("openai/", 'error model-format: invalid model format "openai/": empty model name'),
        (
            "opnai/gpt",
            'error unknown-provider: unsupported provider "opnai". Did you mean `openai`?',
        ),
        (
            "nobody/x",
            'error unknown-provider: unsupported provider "nobody". '
            f"Supported are: {', '.join(PROVIDERS)}.",
        ),
    ],
)
def test_invalid_models_are_reported(model: str, said: str) -> None:
    fixture = f'name = "main"\nmodel = "{model}"\n{" " * 8}{"^" * (len(model) + 2)} {said}\n'
    check_findings(fixture, head="", facts={"named_providers": ()})


@pytest.mark.parametrize(
    "model", ["anthropic/claude", "ollama/a/b:c", "google/gemini", "replay/demo", "nobody/knows"]
)
def test_valid_models_have_no_findings(model: str) -> None:
    check_findings(f'name = "main"\nmodel = "{model}"\n', head="")


def test_a_name_that_is_listed_twice() -> None:
    (finding,) = check_findings(
        """
        sub_agents = ["a", "b", "a"]
                                ^^^ hint duplicate-agent: "a" is listed already
        """,
        others="--- a.toml\n--- b.toml\n",
    )
    assert finding.unnecessary
    assert finding.related[0].range.start < finding.range.start


def test_a_name_that_is_not_the_files() -> None:
    check_findings(
        """
        name = "Main Agent"
               ^^^^^^^^^^^^ warning name-mismatch: the agent is found as "main", by the name of its file, but calls itself "Main Agent"
        model = "openai/gpt"
        """,
        head="",
    )


def test_a_name_on_a_line_that_is_still_being_typed_is_not_compared() -> None:
    check_findings(
        """
        model = "openai/gpt"
        name = "Main "Agent"
                      ^^^^^^ error syntax: expected a new line after the statement (a quote inside of a string is written `\\"`)
        """,
        head="",
    )


def test_an_agent_that_calls_itself() -> None:
    check_findings("""
        sub_agents = ["main"]
                      ^^^^^^ warning delegation-cycle: delegation comes back to this agent: main → main. Only the depth limit ends it.
    """)


def test_a_longer_cycle_shows_the_way_round() -> None:
    (finding,) = check_findings(
        """
        sub_agents = ["x", "a"]
                           ^^^ warning delegation-cycle: delegation comes back to this agent: main → a → b → main. Only the depth limit ends it.
        """,
        others='--- x.toml\n--- a.toml\nsub_agents = ["b"]\n--- b.toml\nsub_agents = ["main"]\n',
    )
    assert [each.message for each in finding.related] == ["a may call b", "b may call main"]


def test_cycle_of_other_agents_is_not_reported_here() -> None:
    check_findings(
        'sub_agents = ["a"]\n',
        others='--- a.toml\nsub_agents = ["b"]\n--- b.toml\nsub_agents = ["a"]\n',
    )


def test_severities_can_be_changed_and_rules_switched_off() -> None:
    opened = open_fixture(HEAD + "zzz = 1\ntimeout = -1")
    found = diagnostics(
        opened.snapshot, opened.file, {"unknown-key": Severity.ERROR, "negative-timeout": None}
    )
    assert [(each.code, each.severity) for each in found] == [("unknown-key", Severity.ERROR)]


def test_every_rule_has_a_code_of_its_own_and_a_page() -> None:
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)
    for rule in RULES:
        assert rule.summary.endswith(".")
        assert len(rule.documentation.split()) > 10
