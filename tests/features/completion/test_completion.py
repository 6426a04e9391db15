"""What is offered, and what the text looks like when the offer is taken (`<|>` is the cursor)."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.schema.models import LocalModel
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.completion.item import Completion
from axe_lsp.features.completion.model_offers import is_about_ollama
from axe_lsp.workspace.facts import KnownServer, SeenTool
from support.facts import with_facts
from support.fixture import Fixture, open_fixture

AGENTS = """
--- lint.toml
name = "lint"
model = "openai/gpt-5"
description = "Checks style"
--- test-runner.toml
name = "test-runner"
model = "ollama/llama3"
"""


def offers(fixture: str) -> tuple[Fixture, dict[str, Completion]]:
    opened = open_fixture(fixture)
    found = completion(opened.snapshot, opened.file, opened.offset)
    labels = [each.label for each in found]
    assert len(labels) == len(set(labels)), "an offer is made twice"
    return opened, {each.label: each for each in found}


def labels(fixture: str) -> list[str]:
    return list(offers(fixture)[1])


def taken(fixture: str, label: str) -> str:
    """Return the text of the file after taking the offer."""
    opened, found = offers(fixture)
    offer = found[label]
    start, end = offer.replace
    assert start <= opened.offset <= end, "editors refuse an edit away from the cursor"
    return opened.text[:start] + offer.text + opened.text[end:]


def parent(text: str) -> str:
    return f"--- parent.toml\n{text}\n{AGENTS}"


# -- names of agents


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('sub_agents = ["<|>"]', 'sub_agents = ["lint"]'),
        ('sub_agents = ["li<|>"]', 'sub_agents = ["lint"]'),
        ('sub_agents = ["l<|>ni"]', 'sub_agents = ["lint"]'),
        ('sub_agents = ["a", "<|>"]', 'sub_agents = ["a", "lint"]'),
        ("sub_agents = [<|>]", 'sub_agents = ["lint"]'),
        ('sub_agents = ["a", <|>]', 'sub_agents = ["a", "lint"]'),
        ("sub_agents = <|>", 'sub_agents = ["lint"]'),
        ("sub_agents = [li<|>]", 'sub_agents = ["lint"]'),
        ('sub_agents = ["<|>', 'sub_agents = ["lint"'),
        ('sub_agents = ["a", "li<|>', 'sub_agents = ["a", "lint"'),
        ('sub_agents = ["li<|>]', 'sub_agents = ["lint"]'),
        ('sub_agents = ["""li<|>', 'sub_agents = ["""lint"""'),
        ("sub_agents = ['<|>']", "sub_agents = ['lint']"),
        ('sub_agents = [\n  "a",\n  "<|>",\n]', 'sub_agents = [\n  "a",\n  "lint",\n]'),
        ('sub_agents = [\n  "a",\n  <|>\n]', 'sub_agents = [\n  "a",\n  "lint"\n]'),
    ],
)
def test_agent_names_complete_in_whole_and_half_typed_lists(before: str, after: str) -> None:
    later = "\n[sub_agents_config]\nmax_depth = 3"
    assert taken(parent(before), "lint").startswith(after)
    assert taken(parent(before + later), "lint").startswith(after + later)


def test_agents_come_with_their_description_or_model() -> None:
    _, found = offers(parent('sub_agents = ["<|>"]'))
    assert found["lint"].detail == "Checks style"
    assert found["test-runner"].detail == "ollama/llama3"


def test_listed_agents_and_the_agent_itself_are_not_offered() -> None:
    assert labels(parent('sub_agents = ["lint", "<|>"]')) == ["test-runner"]


def test_the_name_under_the_cursor_is_still_offered() -> None:
    assert "lint" in labels(parent('sub_agents = ["lint<|>"]'))


def test_task_types_are_types_and_agents() -> None:
    text = '[task]\ntypes = ["<|>"]\n[task.type.audit]\nprompt = "x"'
    assert labels(parent(text))[:4] == ["explore", "plan", "code", "audit"]
    assert "lint" in labels(parent(text))


def test_types_are_offered_with_what_they_are_for() -> None:
    _, found = offers(parent('type = "<|>"'))
    assert list(found) == ["explore", "plan", "code"]
    assert found["explore"].detail == "Read-only for searching and analyzing"


def test_a_type_of_the_file_that_is_called_like_a_built_in_one_is_offered_once() -> None:
    text = '[task]\ntypes = ["<|>"]\n[task.type.plan]\nprompt = "x"'
    assert labels(parent(text))[:3] == ["explore", "code", "plan"]


# -- keys


def test_unset_keys_of_the_table_are_offered() -> None:
    found = labels('name = "x"\n[sub_agents_config]\nmax_depth = 3\n<|>\n')
    assert found[:4] == ["timeout", "parallel", "max_concurrent", "background"]
    assert "max_depth" not in found
    assert "name" not in found


def test_keys_are_offered_behind_a_byte_order_mark_too() -> None:
    assert labels("\ufeff<|>")[:2] == ["name", "model"]


def test_in_front_of_a_header_the_keys_of_the_table_above_are_offered() -> None:
    assert "model" in labels('name = "x"\n<|>[params]')


def test_a_key_under_the_cursor_is_replaced_as_a_whole() -> None:
    assert taken("max<|>_de\n", "model") == "model = \n"
    assert taken("[memory]\nena<|>bled = true\n", "enabled") == "[memory]\nenabled = true\n"


def test_a_key_before_an_equals_sign_gets_no_second_one() -> None:
    assert taken('<|>mod = "x"', "model") == 'model = "x"'


def test_keys_behind_a_dot_and_in_an_inline_table() -> None:
    assert taken("sub_agents_config.<|>", "max_depth") == "sub_agents_config.max_depth = "
    assert labels("memory = { enabled = true, <|> }") == ["path", "last_n", "max_entries", "scope"]
    assert "path" in labels("memory = { <|>")


def test_snippets_place_the_cursor_in_the_value() -> None:
    _, found = offers("<|>")
    assert found["model"].snippet == 'model = "$1"'
    assert found["sub_agents"].snippet == 'sub_agents = ["$1"]'
    assert found["stream"].snippet == "stream = ${1|true,false|}"
    assert found["timeout"].snippet == "timeout = ${1:0}"


def test_documentation_names_default_and_rule() -> None:
    _, found = offers("[sub_agents_config]\n<|>")
    assert "Default: `3`. From 0 to 5." in found["max_depth"].documentation


# -- tables


def test_missing_tables_are_offered() -> None:
    found = labels('name = "x"\n[memory]\nenabled = true\n<|>')
    assert "[memory]" not in found
    assert "[params]" in found
    assert "[[mcp_servers]]" in found


def test_no_table_is_offered_above_keys_that_would_fall_into_it() -> None:
    assert not any(label.startswith("[") for label in labels('<|>\nmodel = "x"'))


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        ('"na<|>', "name", "name = "),
        ("'na<|>\nmodel = 'a/b'", "name", "name = \nmodel = 'a/b'"),
        ('"<|> = 5', "name", "name = 5"),
        ('[params]\n"te<|>\n', "temperature", "[params]\ntemperature = \n"),
        ('sub_agents_config."ma<|>', "max_depth", "sub_agents_config.max_depth = "),
        ('memory = { "en<|>', "enabled", "memory = { enabled = "),
        ('memory = { "en<|> }', "enabled", "memory = { enabled =  }"),
        ('memory = { path = "x", "en<|>" }', "enabled", 'memory = { path = "x", enabled =  }'),
        ('["par<|>', "params", "[params]"),
    ],
)
def test_half_typed_key_in_quotes_is_completed(text: str, label: str, after: str) -> None:
    assert taken(text, label) == after
    _, found = offers(text)
    assert found[label].typed_as[1:] == label


@pytest.mark.parametrize("typed", ["[<|>", "[sub_agents_<|>", "[sub_agents_<|>]", "[<|>]"])
def test_half_typed_header_is_completed(typed: str) -> None:
    assert taken(f"{typed}\nmax_depth = 1", "sub_agents_config") == (
        "[sub_agents_config]\nmax_depth = 1"
    )


def test_arrays_of_tables_have_their_own_headers() -> None:
    assert labels("[[<|>") == ["mcp_servers"]


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        ("[<|>", "params", "[params]"),
        ("[[<|>", "mcp_servers", "[[mcp_servers]]"),
        ("[task.<|>", "task.type.name", "[task.type.name]"),
        (
            "[[mcp_servers]]\n[mcp_<|>",
            "mcp_servers.headers",
            "[[mcp_servers]]\n[mcp_servers.headers]",
        ),
        ("par<|>", "[params]", "[params]\n"),
        ("par<|>\r\n", "[params]", "[params]\r\n\r\n"),
    ],
)
def test_the_brackets_of_a_header_are_completed(text: str, label: str, after: str) -> None:
    assert taken(text, label) == after


def test_a_table_of_an_array_is_offered_only_where_it_has_an_element() -> None:
    assert "mcp_servers.headers" not in labels("[<|>")
    assert "mcp_servers.headers" not in labels("[<|>\n[[mcp_servers]]")
    assert "mcp_servers.headers" in labels("[[mcp_servers]]\n[<|>")
    assert "mcp_servers.headers" not in labels("[[mcp_servers]]\nheaders = {}\n[<|>")
    again = '[[mcp_servers]]\n[mcp_servers.headers]\n[[mcp_servers]]\nname = "x"\n[<|>'
    assert "mcp_servers.headers" in labels(again)


@pytest.mark.parametrize("text", ["memory.enabled = true\n", "memory = {}\n", "[memory]\n"])
def test_a_table_that_is_made_otherwise_is_not_offered(text: str) -> None:
    assert "memory" not in labels(f"{text}[<|>")
    assert "params" in labels(f"{text}[<|>")


def test_a_table_is_offered_above_one_of_its_own() -> None:
    assert "task" in labels('[task.type.audit]\nprompt = "x"\n[<|>')


def test_snippets_of_tables_ask_for_what_is_required() -> None:
    _, found = offers("<|>")
    assert found["[params]"].snippet == "[params]\n$0"
    assert found["[task.type.name]"].snippet == "[task.type.${1:name}]\n$0"
    assert found["[[mcp_servers]]"].snippet == '[[mcp_servers]]\nname = "$1"\n$0'


def test_a_table_on_a_line_of_its_own_is_found_by_its_name() -> None:
    _, found = offers("par<|>")
    assert found["[params]"].typed_as == "params"


def test_table_is_found_by_its_name_with_the_quote_that_was_typed() -> None:
    _, found = offers('"par<|>')
    assert found["[params]"].typed_as == '"params'


# -- inside lists and inline tables


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        ('sub_agents = ["a",\n<|>', "lint", 'sub_agents = ["a",\n"lint"'),
        ('sub_agents = ["a", # b, c\n  <|>\n', "lint", 'sub_agents = ["a", # b, c\n  "lint"\n'),
        ("sub_agents = [\n  <|>\n\n[params]", "lint", 'sub_agents = [\n  "lint"\n\n[params]'),
        ('sub_agents = ["a" <|>', "lint", 'sub_agents = ["a" , "lint"'),
        ('sub_agents = ["a" <|>]', "lint", 'sub_agents = ["a" , "lint"]'),
        ('sub_agents = [<|> "a"]', "lint", 'sub_agents = ["lint", "a"]'),
        ('sub_agents = [\n  <|>\n  "a",\n]', "lint", 'sub_agents = [\n  "lint",\n  "a",\n]'),
        ("memory = { <|>", "path", "memory = { path = "),
        ("memory = { enabled = true <|>", "path", "memory = { enabled = true , path = "),
        ("memory = { <|> enabled = true }", "path", "memory = { path = , enabled = true }"),
        ("memory = { enabled = tr<|>", "true", "memory = { enabled = true"),
        ("memory.<|>", "path", "memory.path = "),
        ("params.<|>", "response_format", "params.response_format."),
        ("params.resp<|>.type = 1", "response_format", "params.response_format.type = 1"),
        ("mcp_servers = [{ tr<|> }]", "transport", "mcp_servers = [{ transport =  }]"),
    ],
)
def test_offer_adds_missing_commas_and_quotes(text: str, label: str, after: str) -> None:
    assert taken(parent(text), label) == after + "\n\n"


def test_behind_an_unclosed_list_without_a_comma_keys_go_on() -> None:
    assert "model" in labels('sub_agents = ["a"\n<|>')
    assert "model" in labels('sub_agents = ["a",\n<|>[params]')


@pytest.mark.parametrize(
    "text",
    [
        "memory.enabled = true\nmemory.<|>",
        "memory.<|>\nmemory.enabled = true",
        "memory = { enabled = true, <|> }",
        "[memory]\nenabled = true\n<|>",
    ],
)
def test_a_key_that_is_set_in_the_same_way_is_not_offered(text: str) -> None:
    assert "enabled" not in labels(text)
    assert "path" in labels(text)


def test_a_map_of_strings_is_offered_as_a_key() -> None:
    _, found = offers("[[mcp_servers]]\n<|>")
    assert found["headers"].snippet == "headers = { $1 }"
    assert "headers" not in labels("[[mcp_servers]]\n<|>\n[mcp_servers.headers]")


# -- other values


def test_name_is_offered_from_the_file_name() -> None:
    assert taken('--- lint.toml\nname = "<|>"', "lint") == 'name = "lint"'
    assert labels("--- /anywhere: Untitled-1\nname = <|>") == []


def test_numbers_of_a_short_range_and_defaults() -> None:
    _, found = offers("[sub_agents_config]\nmax_depth = <|>")
    assert list(found) == ["0", "1", "2", "3", "4", "5"]
    assert [each.label for each in found.values() if each.detail == "default"] == ["3"]
    assert labels("timeout = <|>") == ["0"]
    assert labels("timeout = [<|>") == []


def test_non_default_value_is_offered_first() -> None:
    assert labels("[sub_agents_config]\nparallel = <|>") == ["false", "true"]


def test_a_space_follows_the_equals_sign() -> None:
    assert taken("stream =<|>", "true") == "stream = true"


def test_names_that_hold_quotes_are_written_so_that_they_mean_themselves() -> None:
    more = "--- quo\"te.toml\n--- apo's.toml\n"
    assert taken(parent('sub_agents = ["<|>"]') + more, 'quo"te').startswith(
        'sub_agents = ["quo\\"te"]'
    )
    assert "apo's" not in labels(parent("sub_agents = ['<|>']") + more)
    assert 'quo"te' in labels(parent("sub_agents = ['<|>']") + more)


def test_choices_booleans_tools_and_models() -> None:
    assert labels('[retry]\nbackoff = "<|>"') == ["exponential", "linear", "fixed"]
    assert taken("[retry]\nbackoff = <|>", "fixed") == '[retry]\nbackoff = "fixed"'
    assert labels("stream = <|>") == ["true", "false"]
    assert taken("stream = tr<|>", "true") == "stream = true"
    assert "run_command" in labels('tools = ["read_file", "<|>"]')


# -- models


def test_models_in_use_come_first_then_what_providers_list_then_the_providers() -> None:
    more = '--- a.toml\nmodel = "openai/gpt-5"\n--- new.toml\nmodel = "provider/model-name"\n'
    found = labels(parent('model = "<|>"') + more)
    assert found[:2] == ["openai/gpt-5", "ollama/llama3"]
    assert found[2].startswith("anthropic/claude-")
    assert found[-len(PROVIDERS) - 1 :] == [*(f"{each}/" for each in PROVIDERS), "replay/"]
    assert "provider/model-name" not in found


def test_providers_that_config_toml_adds_are_offered() -> None:
    opened = with_facts(open_fixture('model = "<|>"'), named_providers=("mine",))
    found = {each.label: each for each in completion(opened.snapshot, opened.file, opened.offset)}
    assert found["mine/"].detail == "provider of config.toml"


def test_models_come_with_their_figures() -> None:
    _, found = offers('model = "openai/<|>"')
    offer = found["openai/gpt-6-luna"]
    assert offer.detail == "1.05M context, 128K out, $0.10 / $0.50"
    assert "context window: 1,050,000 tokens" in offer.documentation
    assert "for prompts above 272,000 tokens 2 times the input price" in offer.documentation


def test_models_that_end_come_last_and_say_so() -> None:
    _, found = offers('model = "<|>"')
    models = [each for each in found.values() if each.detail != "provider"]
    assert models[-1].detail.endswith("ends 2027-01-14")
    assert "ends" not in models[0].detail


def test_models_that_are_installed_are_offered() -> None:
    opened = open_fixture('model = "ollama/<|>"')
    installed = [LocalModel("gemma3:4b", "4.3B", 3_338_801_804), LocalModel("bare")]
    found = completion(opened.snapshot, opened.file, opened.offset, installed)
    details = {each.label: each.detail for each in found}
    assert details["ollama/gemma3:4b"] == "installed, 4.3B, 3.3 GB"
    assert details["ollama/bare"] == "installed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('model = "ollama/<|>"', True),
        ('model = "ollama/gem<|>ma"', True),
        ('model = "ol<|>', True),
        ('model = "o<|>"', False),
        ('model = "openai/<|>"', False),
        ("model = <|>", False),
        ('description = "ollama/<|>"', False),
    ],
)
def test_typed_ollama_model_is_recognised(text: str, expected: bool) -> None:
    opened = open_fixture(text)
    assert is_about_ollama(opened.file, opened.offset) is expected


@pytest.mark.parametrize(
    "text",
    [
        "[params]\nresponse_format = <|>",
        'params.response_format = "<|>"',
        "params = { response_format = 'te<|>",
    ],
)
def test_a_word_that_stands_for_a_table_is_offered(text: str) -> None:
    assert labels(text) == ["text", "json_object", "json_schema"]


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = [{ name = "a",<|>',
        'mcp_servers = [{ name = "a", <|>',
        'mcp_servers = [\n  { name = "a",\n    <|>\n\n[memory]',
        'mcp_servers = [{ name = "b" }, { name = "a", <|>',
    ],
)
def test_keys_are_offered_in_a_table_of_a_list_while_both_are_open(text: str) -> None:
    more = ["command", "args", "env", "pass_env", "cwd", "required", "startup_timeout"]
    assert labels(text) == ["url", "transport", "headers", *more]


# -- the list as a whole


@pytest.mark.parametrize(
    "text",
    [
        "[task.<|>]\n",
        "[ params <|> ]",
        'sub_agents = ["li nt<|>\n',
        'tools = ["read_fi]<|>',
        'model = """\nopen<|>\nai/\n"""',
        'model = """op\n<|>\nname = "x"',
        'retry = { backoff = """fix<|>\n""" }',
    ],
)
def test_replaced_range_is_on_the_line_of_the_cursor(text: str) -> None:
    """Editors refuse anything else (LSP 3.17, "Completion Item")."""
    opened, found = offers(parent(text))
    for offer in found.values():
        assert offer.replace.touches(opened.offset)
        assert "\n" not in offer.replace.of(opened.text)


@pytest.mark.parametrize(
    "text",
    [
        "stream <|>= true",
        "stream =<|> true",
        "# sub_agents = [<|>",
        "sub_agents = [ # <|>\n]",
        'name = "x" <|>',
        'system_prompt = """\nUse <|> them\n"""',
        "[params]<|>",
        "max_depth <|>",
        'description = "<|>"',
        "unknown = <|>",
    ],
)
def test_position_without_candidates_has_no_offers(text: str) -> None:
    assert labels(text) == []


# -- JSON Schemas


@pytest.mark.parametrize(
    "text",
    [
        "[input]\n<|>",
        "[input.properties.path]\n<|>",
        "input = { <|> }",
        "output.items.<|>",
        "[output]\nproperties = { path = { <|> } }",
        "[params.response_format.schema]\n<|>",
    ],
)
def test_keywords_of_a_schema(text: str) -> None:
    found = labels(text)
    assert found[:2] == ["type", "description"]


@pytest.mark.parametrize("text", ["[input.properties]\n<|>", "[input.zzz]\n<|>", "[zzz]\n<|>"])
def test_no_keywords_where_no_schema_is(text: str) -> None:
    assert not {"type", "required"} & set(labels(text))


def test_types_of_a_schema() -> None:
    assert taken('[input]\ntype = "<|>"', "object") == '[input]\ntype = "object"'
    assert labels("[input]\ntype = <|>") == ["object"]
    assert taken("input.properties.a.type = <|>", "string").endswith('= "string"')
    _, found = offers("[output]\n<|>")
    assert found["properties"].snippet == "properties = { $1 }"


# -- comments that silence diagnostics


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        ("timeout = -1  # axe: ignore[<|>]", "negative-timeout", "# axe: ignore[negative-timeout]"),
        (
            "timeout = -1  # axe: ignore[neg<|>",
            "negative-timeout",
            "# axe: ignore[negative-timeout]",
        ),
        ("# axe: ignore[ne<|>ga]", "negative-timeout", "# axe: ignore[negative-timeout]"),
        ("# axe: ignore[max-depth, <|>]", "syntax", "# axe: ignore[max-depth, syntax]"),
        ("# axe: ignore[<|>, max-depth", "syntax", "# axe: ignore[syntax, max-depth"),
        ("x = 1 # ax<|>", "axe: ignore", "# axe: ignore[]"),
        ("# axe: ig<|>", "axe: ignore", "# axe: ignore[]"),
    ],
)
def test_comments_that_silence_diagnostics(text: str, label: str, after: str) -> None:
    assert taken(text, label).endswith(after)


def test_codes_that_the_file_has_come_first_and_none_is_listed_twice() -> None:
    found = labels("timeout = -1  # axe: ignore[zzz, max-depth, <|>]")
    assert "negative-timeout" in found[:3]
    assert "max-depth" not in found
    assert "plain-secret" not in found, "no comment of a workspace silences it"


@pytest.mark.parametrize("text", ["# a note: <|>", "# ignore[<|>]", "# axe: ignore[x]<|>", "#<|>"])
def test_other_comments_are_left_alone(text: str) -> None:
    assert labels(text) == []


@pytest.mark.parametrize(("key", "is_offered"), [("deny", True), ("allow", False)])
def test_tools_that_runs_have_seen_of_servers_can_be_denied(key: str, is_offered: bool) -> None:
    """Their names in `tools` or `allow` have no effect: the model gets all of them."""
    text = f"""
        [tool_policy]
        {key} = ["git_<|>"]
        [[mcp_servers]]
        name = "git"
        command = "uvx"
        """
    known = KnownServer(tools=(SeenTool("git_status", "Shows what is new"),))
    opened = with_facts(open_fixture(text), servers=(known,))
    found = {
        each.label: each.detail for each in completion(opened.snapshot, opened.file, opened.offset)
    }
    assert found.get("git_status") == ("uvx: Shows what is new" if is_offered else None)
