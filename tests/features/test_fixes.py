"""What is offered where a value, a word or a table is wrong, and the file after it is taken."""

from __future__ import annotations

import pytest

from support.actions import HEAD, Offered
from support.fixing import LINT, check, titles

# -- numbers and words


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("[sub_agents_config]\nmax_depth = 9<|>", "[sub_agents_config]\nmax_depth = 5"),
        ("[sub_agents_config]\nmax_depth = -1<|>", "[sub_agents_config]\nmax_depth = 0"),
        ("sub_agents_config.max_depth = 0x10<|>", "sub_agents_config.max_depth = 5"),
        ("sub_agents_config = { max_depth = 9<|> }", "sub_agents_config = { max_depth = 5 }"),
        ("timeout = -30<|> # s", "timeout = 0 # s"),
        ("[budget]\nmax_turns = 51<|>", "[budget]\nmax_turns = 50"),
        (
            "[retry]\ninitial_delay_ms = 900\nmax_delay_ms = 1<|>",
            "[retry]\ninitial_delay_ms = 900\nmax_delay_ms = 900",
        ),
    ],
)
def test_a_number_becomes_the_nearest_that_is_allowed(before: str, expected: str) -> None:
    number = expected.replace(" # s", "").rstrip(" }").rpartition("= ")[2]
    check(before, f"Replace by `{number}`", expected)


def test_a_word_becomes_one_of_those_that_are_allowed() -> None:
    text = "[retry]\nbackoff = 'Linaer<|>'"
    assert titles(text) == [
        "Replace by `linear`",
        "Replace by `exponential`",
        "Replace by `fixed`",
    ]
    check(text, "Replace by `linear`", "[retry]\nbackoff = 'linear'")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ('[artifacts]\ndir = "x<|>"', '[artifacts]\ndir = "x"\nenabled = true'),
        (
            '[artifacts]\nenabled = false\ndir = "x<|>"',
            '[artifacts]\nenabled = true\ndir = "x"',
        ),
    ],
)
def test_artifacts_with_a_folder_are_enabled(before: str, expected: str) -> None:
    check(before, "Set `artifacts.enabled` to `true`", expected)


def test_an_address_without_scheme_gets_the_safe_one() -> None:
    server = '[[mcp_servers]]\nname = "x"\ntransport = "sse"\nurl = "{}"'
    check(
        server.format("mcp.example.com<|>"),
        "Replace by `https://mcp.example.com`",
        server.format("https://mcp.example.com"),
    )


# -- models


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("opnai/gpt-5", "openai/gpt-5"),
        ("Anthropic/claude", "anthropic/claude"),
        ("openai:gpt-5", "openai/gpt-5"),
        ("OpenAI gpt-5", "openai/gpt-5"),
        ("claude-sonnet-5-5", "anthropic/claude-sonnet-5-5"),
        ("/gpt-5", "openai/gpt-5"),
        ("llama3", "ollama/llama3"),
        ("ollama/", "ollama/llama3"),
    ],
)
def test_a_model_gets_the_provider_that_was_meant(written: str, meant: str) -> None:
    check(
        f'name = "main"\nmodel = "{written}<|>"',
        f"Replace by `{meant}`",
        f'name = "main"\nmodel = "{meant}"',
        others=LINT,
        head="",
    )


# -- tools


def test_an_unknown_tool_is_replaced_or_removed() -> None:
    text = 'tools = ["raed_file<|>", "grep"]'
    assert titles(text) == ["Replace by `read_file`", 'Remove "raed_file" from the list']
    check(text, "Replace by `read_file`", 'tools = ["read_file", "grep"]')
    check('tools = ["call_agent<|>"]', 'Remove "call_agent" from the list', "tools = []")


# -- types


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ('timeout = "30"', "timeout = 30"),
        ('timeout = " 30 "', "timeout = 30"),
        ("timeout = 30.0", "timeout = 30"),
        ('stream = "True"', "stream = true"),
        ('params.temperature = "0.7"', "params.temperature = 0.7"),
        ("description = 2026-01-01", 'description = "2026-01-01"'),
        ("description = 5", 'description = "5"'),
        ("skill = ['a']", "skill = 'a'"),
        ("files = '*.md' # all", "files = ['*.md'] # all"),
        ("files = 5", 'files = ["5"]'),
        ('files = ["a", 5]', 'files = ["a", "5"]'),
        ("mcp_servers = { name = 'x' }", "mcp_servers = [{ name = 'x' }]"),
        ("mcp_servers = [{ headers = { a = 5 } }]", 'mcp_servers = [{ headers = { a = "5" } }]'),
        ('[mcp_servers]\nname = "m"\ncommand = "m"', '[[mcp_servers]]\nname = "m"\ncommand = "m"'),
        ("[[ memory ]]", "[memory]"),
    ],
)
def test_a_value_gets_the_type_that_is_due_where_there_is_no_doubt(
    before: str, expected: str
) -> None:
    offered = Offered(f"{HEAD}{before}", "source.fixAll")
    assert offered.taken("Fix everything that has a certain fix").startswith(HEAD + expected)


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = [{ headers = 3 }]",
        "mcp_servers = [{ headers = ['a'] }]",
        'timeout = "soon"',
        'timeout = "-1"',
        "timeout = 1.5",
        "timeout = true",
        "stream = 1",
        'stream = "maybe"',
        "description = ['a', 'b']",
        "description = { a = 1 }",
        "files = { a = 1 }",
        "[[memory]]\n[[memory]]",
        "[name]",
        "name.first = 'x'",
        "timeout = 99999999999999999999",
    ],
)
def test_no_value_is_made_up(text: str) -> None:
    offered = Offered(f"{HEAD}{text}", "source.fixAll")
    assert offered.titles == []


# -- schemas and globs


def test_an_input_gets_the_only_type_that_it_can_have() -> None:
    text = '[input]\ntype = "strin<|>"'
    check(text, 'Replace by `"object"`', '[input]\ntype = "object"')


def test_a_type_of_a_schema_is_respelled() -> None:
    check('[input]\ntype = "objct<|>"', 'Replace by `"object"`', '[input]\ntype = "object"')


def test_a_glob_that_is_none_goes() -> None:
    check('files = ["a", "[<|>"]', 'Remove "[" from the list', 'files = ["a"]')


def test_the_calls_of_an_agent_get_the_time_that_the_called_agent_states() -> None:
    check(
        'sub_agents = ["sl<|>ow"]\n[sub_agents_config]\ntimeout = 60',
        "Set `sub_agents_config.timeout` to 90",
        'sub_agents = ["slow"]\n[sub_agents_config]\ntimeout = 90',
        others='\n--- slow.toml\nname = "slow"\nmodel = "ollama/llama3"\ntimeout = 90\n',
    )
