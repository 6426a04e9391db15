"""What is offered, and what the text looks like when the offer is taken (`<|>` is the cursor)."""

from __future__ import annotations

import pytest

from axe_lsp.features.completion import Completion, completion
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
    """The text of the file after taking the offer."""
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


# -- keys


def test_keys_of_the_table_that_are_not_set() -> None:
    found = labels('name = "x"\n[sub_agents_config]\nmax_depth = 3\n<|>\n')
    assert found[:4] == ["timeout", "parallel", "max_concurrent", "pass_context"]
    assert "max_depth" not in found
    assert "name" not in found


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
    assert found["timeout"].snippet == "timeout = ${1:120}"


def test_documentation_names_default_and_rule() -> None:
    _, found = offers("[sub_agents_config]\n<|>")
    assert "Default: `3`. From 0 to 5." in found["max_depth"].documentation


# -- tables


def test_tables_that_are_not_there_yet() -> None:
    found = labels('name = "x"\n[memory]\nenabled = true\n<|>')
    assert "[memory]" not in found
    assert "[params]" in found
    assert "[[mcp_servers]]" in found


def test_no_table_is_offered_above_keys_that_would_fall_into_it() -> None:
    assert not any(label.startswith("[") for label in labels('<|>\nmodel = "x"'))


@pytest.mark.parametrize("typed", ["[<|>", "[sub_agents_<|>", "[sub_agents_<|>]", "[<|>]"])
def test_a_half_typed_header(typed: str) -> None:
    assert taken(f"{typed}\nmax_depth = 1", "sub_agents_config") == (
        "[sub_agents_config]\nmax_depth = 1"
    )


def test_arrays_of_tables_have_their_own_headers() -> None:
    assert labels("[[<|>") == ["mcp_servers"]


# -- other values


def test_choices_booleans_tools_and_models() -> None:
    assert labels('[retry]\nbackoff = "<|>"') == ["exponential", "linear", "fixed"]
    assert taken("[retry]\nbackoff = <|>", "fixed") == '[retry]\nbackoff = "fixed"'
    assert labels("stream = <|>") == ["true", "false"]
    assert taken("stream = tr<|>", "true") == "stream = true"
    assert "run_command" in labels('tools = ["read_file", "<|>"]')
    assert labels(parent('model = "<|>"')) == [
        "ollama/llama3",
        "openai/gpt-5",
        "anthropic/",
        "openai/",
        "ollama/",
        "replay/",
    ]


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
def test_what_is_replaced_is_on_the_line_of_the_cursor_and_around_it(text: str) -> None:
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
def test_where_nothing_is_offered(text: str) -> None:
    assert labels(text) == []
