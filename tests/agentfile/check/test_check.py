"""What is wrong with keys and values: axe's words, at the value that is wrong."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.check.check import check
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.key_spec import KeyType
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from support.carets import annotate, dedented, source

HEAD = 'name = "parent"\nmodel = "openai/gpt"\n'


HINTS = ("not-axe", "unused-config")


def check_problems(fixture: str, *, head: str = HEAD) -> None:
    """What is wrong in the fixture; mere hints have their own tests."""
    text = head + source(fixture)
    found = (each for each in check(Parse(text)) if each.code not in HINTS)
    marks = [(each.range, f"{each.code}: {each.message}") for each in found]
    assert annotate(text, marks) == head + dedented(fixture)


@pytest.mark.req("001-5.4", "001-5.2h", "001-5.2i")
def test_max_depth_outside_0_to_5() -> None:
    check_problems("""
        [sub_agents_config]
        max_depth = 6
                    ^ max-depth: sub_agents_config.max_depth cannot exceed 5
    """)
    check_problems("""
        [sub_agents_config]
        max_depth = -1
                    ^^ max-depth: sub_agents_config.max_depth must be non-negative
    """)


@pytest.mark.req("001-5.2e", "001-5.2g", "001-5.2j")
@pytest.mark.parametrize("depth", range(6))
def test_max_depth_from_0_to_5_is_fine(depth: int) -> None:
    check_problems(f"[sub_agents_config]\nmax_depth = {depth}\ntimeout = 0\n")


@pytest.mark.req("001-5.5", "001-5.2k")
@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "+inf", "-inf", "1e999"])
def test_numbers_that_no_provider_can_be_sent(value: str) -> None:
    (found,) = check(Parse(f'name = "a"\nmodel = "ollama/c"\n[params]\ntemperature = {value}\n'))
    assert (found.code, found.found, found.fatal) == ("out-of-range", value, True)
    assert found.message == "params.temperature must be a finite number"


def test_negative_timeouts() -> None:
    check_problems("""
        timeout = -30
                  ^^^ negative-timeout: timeout must be non-negative
        [sub_agents_config]
        timeout = -1
                  ^^ negative-timeout: sub_agents_config.timeout must be non-negative
    """)


def test_ranges_hold_behind_a_long_prompt_with_astral_characters() -> None:
    check_problems('''
        system_prompt = """
        You are 😀 a reviewer.
        max_depth = 9 is only prose here.
        """
        [sub_agents_config]
        max_depth = 6
                    ^ max-depth: sub_agents_config.max_depth cannot exceed 5
    ''')


def test_required_keys_are_missed_at_the_top_of_the_file() -> None:
    check_problems(
        """
        description = "x"
        ^^^^^^^^^^^ missing-key: agent config missing required field: name
        ^^^^^^^^^^^ missing-key: agent config missing required field: model
        """,
        head="",
    )


def test_a_blank_required_key_is_reported_at_its_value() -> None:
    check_problems(
        """
        name = "x"
        model = "  "
                ^^^^ missing-key: agent config missing required field: model
        """,
        head="",
    )


def test_a_half_typed_required_key_is_not_missing() -> None:
    check_problems('name = "x"\nmodel = \n', head="")


@pytest.mark.parametrize(
    "line",
    ["timeout = 3x", "stream = True", "files = [lint]", "files = [{ a = ", 'tools = ["raed_file'],
)
def test_half_typed_value_has_no_type_error(line: str) -> None:
    check_problems(f"{line}\n")


def test_an_empty_file_lacks_its_required_keys_at_its_start() -> None:
    for text in ("", "# nothing"):
        assert [problem.range for problem in check(Parse(text))] == [TextRange(0, 0)] * 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("description = 5", "description must be a string, not an integer"),
        ('stream = "yes"', "stream must be a boolean, not a string"),
        ("timeout = 1.5", "timeout must be an integer, not a float"),
        ("timeout = 2026-01-01", "timeout must be an integer, not a date or time"),
        ('files = "*.md"', "files must be an array of strings, not a string"),
        ("params = 1", "params must be a table, not an integer"),
        ("timeout = 9223372036854775808", "timeout is too large: integers have 64 bits"),
    ],
)
def test_a_value_of_the_wrong_type(line: str, message: str) -> None:
    key, value = line.split(" = ")
    check_problems(f"{line}\n{' ' * (len(key) + 3)}{'^' * len(value)} wrong-type: {message}\n")


def test_a_float_may_be_written_as_an_integer() -> None:
    check_problems("[params]\ntemperature = 1\n")


def test_a_wrong_element_is_reported_alone() -> None:
    check_problems("""
        sub_agents = ["a", 7, "b"]
                           ^ wrong-type: sub_agents must hold strings only, not an integer
    """)


def test_a_table_in_place_of_a_value_and_the_other_way_round() -> None:
    check_problems("""
        [[params]]
          ^^^^^^ wrong-type: params must be a table, not an array of tables
    """)
    check_problems("""
        [mcp_servers]
         ^^^^^^^^^^^ wrong-type: mcp_servers must be an array of tables, not a table
    """)
    check_problems("""
        files.first = "x"
              ^^^^^ wrong-type: files must be an array of strings, not a table
    """)


@pytest.mark.parametrize(
    "fixture",
    [
        "[files]\n ^^^^^ wrong-type: files must be an array of strings, not a table\nx = 1\ny = 2\n",
        "files = { x = 1, y = 2 }\n        ^^^^^^^^^^^^^^^^ "
        "wrong-type: files must be an array of strings, not an inline table\n",
    ],
)
def test_a_table_in_place_of_a_value_is_reported_once(fixture: str) -> None:
    check_problems(fixture)


@pytest.mark.parametrize("fixture", ['[name]\nfirst = "x"\n', 'name.first = "x"\n'])
def test_a_required_key_that_is_a_table_is_not_missing(fixture: str) -> None:
    found = check(Parse(fixture + 'model = "openai/gpt"\n'))
    assert "missing required field: name" not in str(found)


def test_a_table_may_be_written_in_dotted_keys() -> None:
    check_problems("""
        [params]
        response_format.type = "json_schema"
        response_format.schema.type = "object"
    """)


def test_unknown_keys_and_tables_are_reported_once() -> None:
    check_problems("""
        modle = "x"
        ^^^^^ unknown-key: unknown key "modle"
        memory = { enabeld = true }
                   ^^^^^^^ unknown-key: unknown key "memory.enabeld"
        [sub_agents_confg]
         ^^^^^^^^^^^^^^^^ unknown-key: unknown table "sub_agents_confg"
        max_depth = 3
        timeout = 9
    """)


def test_a_key_in_the_wrong_case_is_unknown() -> None:
    check_problems("""
        Description = "x"
        ^^^^^^^^^^^ unknown-key: unknown key "Description"
    """)


def test_names_inside_schemas_headers_and_types_are_free() -> None:
    check_problems("""
        [input]
        type = "object"
        [input.properties.query]
        anything = 1
        [[mcp_servers]]
        name = "m"
        url = "https://example.com/mcp"
        transport = "sse"
        headers = { Authorization = "Bearer ${TOKEN}" }
        [task.type.my-type]
        prompt = "x"
    """)


def test_tools() -> None:
    check_problems("""
        tools = ["read_file", "bash", "read_*", "*", "call_agent", "raed_file"]
                                                     ^^^^^^^^^^^^ unknown-tool: unknown tool "call_agent" in tools config
                                                                   ^^^^^^^^^^^ unknown-tool: unknown tool "raed_file" in tools config
    """)


def test_tools_of_a_policy_may_be_those_of_mcp_servers() -> None:
    check_problems("""
        [tool_policy]
        allow = ["grep", "github_*"]
                         ^^^^^^^^^^ unknown-tool: unknown tool "github_*" in tool_policy.allow
        deny = ["Write", "github_merge"]
                         ^^^^^^^^^^^^^^ unknown-tool: unknown tool "github_merge" in tool_policy.deny
    """)
    assert not any(
        problem.fatal for problem in check(Parse(HEAD + '[tool_policy]\ndeny = ["github_merge"]'))
    )


def test_beside_servers_a_policy_may_name_tools_that_nobody_knows_yet() -> None:
    policy = '[tool_policy]\nallow = ["x_*"]\ndeny = ["github_merge"]\n'
    server = '[[mcp_servers]]\nname = "s"\nurl = "http://x"\ntransport = "sse"\n'
    alone, beside = (
        [each.code for each in check(Parse(HEAD + policy + more))].count("unknown-tool")
        for more in ("", server)
    )
    assert (alone, beside) == (2, 0)


def test_tool_glob_without_a_match_is_no_fatal_problem() -> None:
    (problem,) = check(Parse(HEAD + 'tools = ["x*"]'))
    assert not problem.fatal


def test_choices() -> None:
    check_problems("""
        type = "explorer"
               ^^^^^^^^^^ out-of-range: type must be one of: explore, plan, code
        [retry]
        backoff = ""
        [params.response_format]
        type = "xml"
               ^^^^^ out-of-range: params.response_format.type must be one of: text, json_object, json_schema; got "xml"
    """)


def test_a_string_in_place_of_a_table_is_checked_as_the_key_that_it_sets() -> None:
    check_problems('params.response_format = "json_object"\n')
    check_problems("""
        params.response_format = "xml"
                                 ^^^^^ out-of-range: params.response_format.type must be one of: text, json_object, json_schema; got "xml"
    """)
    check_problems("""
        params.response_format = "json_schema"
                                 ^^^^^^^^^^^^^ missing-key: params.response_format.schema is required when type is json_schema
    """)
    check_problems("""
        params.response_format = 1
                                 ^ wrong-type: params.response_format must be a table, not an integer
    """)


def test_inconsistent_keys_are_reported() -> None:
    check_problems("""
        [retry]
        initial_delay_ms = 500
        max_delay_ms = 100
                       ^^^ out-of-range: retry.max_delay_ms must be >= retry.initial_delay_ms
        [artifacts]
        dir = "out"
              ^^^^^ out-of-range: artifacts.dir is set but artifacts.enabled is false
        [params.response_format]
        type = "json_schema"
               ^^^^^^^^^^^^^ missing-key: params.response_format.schema is required when type is json_schema
    """)


def test_a_longest_pause_of_0_is_the_default() -> None:
    check_problems("[retry]\ninitial_delay_ms = 500\nmax_delay_ms = 0\n")


def test_artifact_path_above_its_folder_is_reported() -> None:
    check_problems("""
        [artifacts]
        enabled = true
        dir = "../out"
              ^^^^^^^^ out-of-range: artifacts.dir must not contain path traversal sequences
    """)


def test_headers_are_strings() -> None:
    check_problems("""
        [[mcp_servers]]
        name = "a"
        url = "https://example.com"
        transport = "sse"
        headers = { A = "x", B = 1 }
                                 ^ wrong-type: mcp_servers.headers.B must be a string, not an integer
    """)


def test_mcp_servers_in_one_array_are_checked_once_they_are_finished() -> None:
    check_problems("""
        mcp_servers = [{ name = "a", transport = "sse" }, { name = "b"
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ missing-key: mcp_servers[0].url is required
    """)


def test_mcp_servers() -> None:
    check_problems("""
        [[mcp_servers]]
        name = "a"
        url = "ftp://x"
              ^^^^^^^^^ out-of-range: mcp_servers[0].url must use http or https scheme, got "ftp"
        transport = "sse"
        [[mcp_servers]]
        ^^^^^^^^^^^^^^^ missing-key: mcp_servers[1].transport must be one of: sse, streamable-http
        name = "a"
               ^^^ out-of-range: mcp_servers names must be unique: "a"
        url = "https://"
              ^^^^^^^^^^ out-of-range: mcp_servers[1].url must include a host
    """)


def test_the_scheme_of_a_url_may_be_in_capitals() -> None:
    check_problems("""
        [[mcp_servers]]
        name = "a"
        url = "HTTPS://example.com"
        transport = "sse"
    """)


def test_a_share_is_between_0_and_1() -> None:
    check_problems("""
        [params]
        top_p = 1.01
                ^^^^ out-of-range: params.top_p cannot exceed 1
    """)
    check_problems("""
        [params]
        top_p = -0.1
                ^^^^ out-of-range: params.top_p must be non-negative
    """)
    check_problems("[params]\ntop_p = 1.0\n")


def test_finished_statements_of_a_broken_file_are_checked() -> None:
    check_problems("""
        skill = "x
        [sub_agents_
        max_depth = 9
        [memory]
        last_n = -1
                 ^^ out-of-range: memory.last_n must be non-negative
    """)


def test_every_table_of_the_schema_has_keys_and_every_key_a_table() -> None:
    tables = {key.path for key in agent_keys.KEYS if key.is_table}
    for key in agent_keys.KEYS:
        assert key.path[:-1] in tables | {()}
        if key.type is KeyType.TABLE and key.path != ("task", "type"):
            assert agent_keys.keys_of(key.path)


@pytest.mark.parametrize("value", ["007", "0b2", "1" * 5000])
def test_invalid_number_is_a_syntax_error_only(value: str) -> None:
    check_problems(f"timeout = {value}\n[params]\ntemperature = {value}\n")


def test_unquoted_word_in_a_list_is_a_syntax_error_only() -> None:
    check_problems("sub_agents = [lint, test]\n")
