"""What is offered where keys are missing, unknown or out of place, and the file after it is taken."""

from __future__ import annotations

from support.actions import Offered
from support.fixing import LINT, check, titles

# -- missing keys


def test_a_missing_name_is_the_files() -> None:
    check(
        "# Agent\n<|>model = 'a/b'",
        'Set `name` to "main"',
        "# Agent\nname = \"main\"\nmodel = 'a/b'",
        head="",
    )
    check(
        "name = '<|> '\nmodel = 'a/b'",
        'Set `name` to "main"',
        "name = \"main\"\nmodel = 'a/b'",
        head="",
    )


def test_a_missing_model_is_the_one_that_most_agents_use() -> None:
    others = f'{LINT}--- b.toml\nmodel = "openai/x"\n--- c.toml\nmodel = "openai/x"\n'
    check(
        "<|>name = 'main'",
        'Set `model` to "openai/x"',
        "name = 'main'\nmodel = \"openai/x\"",
        others=others,
        head="",
    )
    usual = 'Set `model` to "anthropic/claude-sonnet-5-5"'
    assert titles("<|>name = 'main'", head="") == [usual]


def test_an_empty_file_becomes_an_agent() -> None:
    assert Offered("<|>").taken('Set `name` to "main"') == 'name = "main"\n'


def test_a_transport_is_one_of_those_that_there_are() -> None:
    server = '[[mcp_servers]<|>]\nname = "x"\nurl = "https://x.y"'
    assert titles(server) == ['Set `transport` to "sse"', 'Set `transport` to "streamable-http"']
    check(server, 'Set `transport` to "sse"', f'{server.replace("<|>", "")}\ntransport = "sse"')
    check(
        '[[mcp_servers]]\nname = "x"\nurl = "https://x.y"\ntransport = "<|>"',
        'Set `transport` to "sse"',
        '[[mcp_servers]]\nname = "x"\nurl = "https://x.y"\ntransport = "sse"',
    )


def test_a_form_of_answers_that_needs_a_schema_gets_one() -> None:
    text = '[params.response_format]\ntype = "json_schema<|>"'
    expected = text.replace("<|>", "") + '\nschema = { type = "object" }'
    check(text, "Add a `schema`", expected)


# -- keys


def test_an_unknown_key_is_renamed_moved_or_removed() -> None:
    check("sub_agent<|> = []", "Replace by `sub_agents`", "sub_agents = []")
    check("zzz<|> = 1 # note\nstream = true", "Remove `zzz`", "stream = true")
    check("memory = { zzz<|> = 1 }", "Remove `zzz`", "memory = {}")
    check("memory.zzz<|> = 1\nstream = true", "Remove `zzz`", "stream = true")
    check("[zzz<|>]\na = 1\n\n[zzz.y]\nb = 2\n", "Remove `zzz`", "")
    check("[memry<|>]\nenabled = true", "Replace by `memory`", "[memory]\nenabled = true")


def test_a_key_that_is_set_already_is_not_offered_again() -> None:
    assert titles("sub_agents = []\nsub_agent<|> = []") == ["Remove `sub_agent`"]


def test_a_key_moves_to_the_table_where_it_belongs() -> None:
    check(
        "max_depth<|> = 3 # deep\nstream = true\n\n[sub_agents_config]\nparallel = false\n",
        "Move `max_depth` to where it belongs: in `[sub_agents_config]`",
        "stream = true\n\n[sub_agents_config]\nparallel = false\nmax_depth = 3 # deep\n",
    )
    check(
        "max_depth<|> = 3\n",
        "Move `max_depth` to where it belongs: in `[sub_agents_config]`",
        "\n[sub_agents_config]\nmax_depth = 3\n",
    )
    check(
        "[params]\ntemperature = 1\nskill<|> = 'x'\n",
        "Move `skill` to where it belongs: at the top of the file, above the first table",
        "skill = 'x'\n[params]\ntemperature = 1\n",
    )
    check(
        "params = { skill<|> = 'x', temperature = 1 }",
        "Move `skill` to where it belongs: at the top of the file, above the first table",
        "params = { temperature = 1 }\nskill = 'x'",
    )


def test_a_table_without_effect_goes() -> None:
    check("[sub_agents_config<|>]\nmax_depth = 3\n", "Remove `sub_agents_config`", "")
    check(
        "sub_agents_config<|>.max_depth = 3\nstream = true",
        "Remove `sub_agents_config`",
        "stream = true",
    )


def test_the_fate_of_changes_in_no_copy_is_removed() -> None:
    check(
        '[isolation]\nmode = "process"\nchanges<|> = "apply"\n',
        "Remove `changes`",
        '[isolation]\nmode = "process"\n',
    )
