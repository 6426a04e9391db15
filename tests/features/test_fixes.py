"""What is offered where something is wrong, and the file after it is taken."""

from __future__ import annotations

from itertools import pairwise

import pytest

from axe_lsp.agentfile.definition import load
from axe_lsp.features.edit import MovedFile, Secret, TextChange
from axe_lsp.features.fixes import FIXES
from axe_lsp.features.rules import RULES
from axe_lsp.workspace.facts import Matches, ProviderKey
from support.actions import HEAD, Offered
from support.edits import edited
from support.facts import found
from support.fixture import FOLDER, USER_FOLDER

CONFIGURATION = USER_FOLDER.removesuffix("/agents")

LINT = '\n--- lint.toml\nname = "lint"\nmodel = "ollama/llama3"\n'


def check(before: str, title: str, expected: str, *, others: str = "", head: str = HEAD) -> None:
    """The fix of that title turns the one text, below `head`, into the other."""
    offered = Offered(f"--- main.toml\n{head}{before}{others}")
    end = "\n" if others else ""
    assert offered.taken(title) == f"{head}{expected}{end}"


def titles(text: str, *, others: str = "", head: str = HEAD) -> list[str]:
    """What mends; what merely silences has tests of its own."""
    found = Offered(f"--- main.toml\n{head}{text}{others}", "quickfix").titles
    return [each for each in found if not each.startswith("Silence")]


def preferred(text: str, *, others: str = "", head: str = HEAD) -> list[str]:
    offered = Offered(f"--- main.toml\n{head}{text}{others}")
    return [each.title for each in offered.actions if each.preferred]


def test_every_rule_has_fixes() -> None:
    assert {rule.code for rule in RULES} == FIXES.keys()


# -- names of agents


def test_an_unknown_agent_is_replaced_created_or_removed() -> None:
    text = 'sub_agents = ["lnt<|>", "lint"]'
    assert titles(text, others=LINT) == [
        "Replace by `lint`",
        'Create the agent "lnt"',
        'Remove "lnt" from the list',
    ]
    assert preferred(text, others=LINT) == ["Replace by `lint`"]
    check(text, "Replace by `lint`", 'sub_agents = ["lint", "lint"]', others=LINT)
    check(text, 'Remove "lnt" from the list', 'sub_agents = ["lint"]', others=LINT)


def test_without_a_similar_name_the_agent_is_rather_created() -> None:
    assert preferred('sub_agents = ["zzz<|>"]') == ['Create the agent "zzz"']


def test_a_new_agent_lies_beside_the_caller_and_runs_with_its_model() -> None:
    offered = Offered(HEAD + "sub_agents = ['à la <|>carte']")
    new = offered.new_file('Create the agent "à la carte"')
    assert new.uri == f"{FOLDER}/%C3%A0%20la%20carte.toml"
    agent = load(new.text)
    assert (agent.name, agent.model) == ("à la carte", "openai/gpt")


def test_a_new_agent_of_the_users_lies_with_the_users() -> None:
    offered = Offered('--- user: main.toml\nsub_agents = ["zzz<|>"]')
    new = offered.new_file('Create the agent "zzz"')
    assert new.uri == f"{USER_FOLDER}/zzz.toml"
    assert load(new.text).model == "provider/model-name"


@pytest.mark.parametrize("name", ["../x", "a/b", " ", "a\\\\b"])
def test_what_is_no_name_can_only_be_removed(name: str) -> None:
    (title,) = titles(f'sub_agents = ["{name}<|>"]')
    assert title.startswith("Remove")


def test_a_duplicate_goes() -> None:
    check(
        'sub_agents = [\n  "lint",\n  "lint<|>", # again\n]',
        "Remove the duplicate",
        'sub_agents = [\n  "lint",\n]',
        others=LINT,
    )


def test_a_cycle_is_cut() -> None:
    check('sub_agents = ["main<|>"]', 'Remove "main" from the list', "sub_agents = []")


@pytest.mark.parametrize(
    ("root", "after"),
    [
        (
            'sub_agents = ["b"]\nsub_agents_config.max_depth = 2 # x\n',
            'sub_agents = ["b"]\nsub_agents_config.max_depth = 3 # x\n',
        ),
        (
            'sub_agents = ["b"]\n[sub_agents_config]\nmax_depth = 1\n',
            'sub_agents = ["b"]\n[sub_agents_config]\nmax_depth = 3\n',
        ),
    ],
)
def test_the_agent_at_the_top_lets_calls_go_deeper(root: str, after: str) -> None:
    others = f'--- a.toml\n{root}--- b.toml\nsub_agents = ["main"]\n--- c.toml\n'
    offered = Offered(f'--- main.toml\n{HEAD}sub_agents = ["<|>c"]\n{others}')
    action = offered.action("Raise `max_depth` of a to 3")
    assert action.preferred
    texts = {f"{FOLDER}/a.toml": root}
    assert edited(texts, action.edit) == {f"{FOLDER}/a.toml": after}


def test_the_top_gets_its_depth_in_a_table_of_its_own() -> None:
    chain = "".join(
        f'--- {one}.toml\nsub_agents = ["{two}"]\n' for one, two in ("ab", "bd", ("d", "main"))
    )
    offered = Offered(f'--- main.toml\n{HEAD}sub_agents = ["<|>c"]\n{chain}--- c.toml\n')
    (change,) = offered.action("Raise `max_depth` of a to 4").edit
    assert isinstance(change, TextChange)
    assert (change.uri, change.text) == (
        f"{FOLDER}/a.toml",
        "\n[sub_agents_config]\nmax_depth = 4\n",
    )


def test_no_agent_can_let_calls_go_deeper_than_five() -> None:
    names = ["a", "b", "d", "e", "f", "main"]
    chain = "".join(f'--- {one}.toml\nsub_agents = ["{two}"]\n' for one, two in pairwise(names))
    text = f'sub_agents = ["<|>c"]\n{chain}--- c.toml\n'
    assert titles(text) == ['Remove "c" from the list']


def test_a_name_follows_its_file() -> None:
    check('name = "other<|>"', "Replace by `main`", 'name = "main"', head='model = "a/b"\n')


def test_a_file_follows_its_name_with_all_that_name_it() -> None:
    offered = Offered(
        """
        --- main.toml
        name = "best<|>"
        --- parent.toml
        sub_agents = ["main"]
        """
    )
    action = offered.action('Rename the file to "best.toml", and whoever names it')
    change, move = action.edit
    assert isinstance(change, TextChange)
    assert (change.uri, change.text) == (f"{FOLDER}/parent.toml", '"best"')
    assert move == MovedFile(f"{FOLDER}/main.toml", f"{FOLDER}/best.toml")


@pytest.mark.parametrize("name", ["lint", "a/b", " x"])
def test_a_file_keeps_its_name_where_the_other_is_taken_or_none(name: str) -> None:
    assert titles(f'name = "{name}<|>"', others=LINT, head="") == ["Replace by `main`"]


TWINS = """
    --- main.toml
    name = "main"<|>
    model = "openai/gpt"
    --- /other/axe/agents: main.toml
    --- main-2.toml
    --- parent.toml
    sub_agents = ["main"]
    """


def test_one_of_two_agents_of_one_name_gets_another_that_is_free() -> None:
    offered = Offered(TWINS, "quickfix")
    action = offered.action('Rename this agent to "main-3", and whoever means it')
    assert not action.preferred  # Nobody but the author knows which of the two is the one.
    *changes, move = action.edit
    assert [(each.uri, each.text) for each in changes if isinstance(each, TextChange)] == [
        (f"{FOLDER}/main.toml", '"main-3"'),
        (f"{FOLDER}/parent.toml", '"main-3"'),
    ]
    assert move == MovedFile(f"{FOLDER}/main.toml", f"{FOLDER}/main-3.toml")


def test_the_other_agent_of_the_name_is_opened() -> None:
    action = Offered(TWINS).action("Open /other/axe/agents/main.toml")
    assert (action.shows, action.edit) == ("file:///other/axe/agents/main.toml", ())


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
        ("[mcp_servers]", "[[mcp_servers]]"),
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


# -- schemas and globs


def test_an_input_gets_the_only_type_that_it_can_have() -> None:
    text = '[input]\ntype = "strin<|>"'
    check(text, 'Replace by `"object"`', '[input]\ntype = "object"')


def test_a_type_of_a_schema_is_respelled() -> None:
    check('[input]\ntype = "objct<|>"', 'Replace by `"object"`', '[input]\ntype = "object"')


def test_a_glob_that_is_none_goes() -> None:
    check('files = ["a", "[<|>"]', 'Remove "[" from the list', 'files = ["a"]')


# -- comments


def test_a_comment_without_use_goes() -> None:
    check("stream = true  # axe: ignore[syntax<|>] why", "Remove the comment", "stream = true")
    check("# axe: ignore<|>\nstream = true", "Remove the comment", "stream = true")
    check(
        'sub_agents = ["x"] # axe: ignore[unknown-agent, max-depth<|>]',
        "Remove `max-depth`",
        'sub_agents = ["x"] # axe: ignore[unknown-agent]',
    )
    check(
        'sub_agents = ["x"] # axe: ignore[unknwn-agent<|>]',
        "Replace by `unknown-agent`",
        'sub_agents = ["x"] # axe: ignore[unknown-agent]',
    )


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ('sub_agents = ["x<|>"]', 'sub_agents = ["x"]  # axe: ignore[unknown-agent]'),
        (
            'sub_agents = [\n  "x<|>", # why\n]',
            'sub_agents = [\n  "x", # why  # axe: ignore[unknown-agent]\n]',
        ),
        (
            'sub_agents = ["x<|>", "x"] # axe: ignore[duplicate-agent]',
            'sub_agents = ["x", "x"] # axe: ignore[duplicate-agent, unknown-agent]',
        ),
        (
            '# axe: ignore[duplicate-agent]\r\nsub_agents = ["x<|>", "x"]',
            '# axe: ignore[duplicate-agent, unknown-agent]\r\nsub_agents = ["x", "x"]',
        ),
        (
            'sub_agents = ["""\nx<|>"""]',
            '# axe: ignore[unknown-agent]\nsub_agents = ["""\nx"""]',
        ),
    ],
)
def test_a_finding_is_silenced_by_a_comment(before: str, expected: str) -> None:
    check(before, "Silence `unknown-agent` here with a comment", expected)


@pytest.mark.parametrize("text", ["skill = <|>", "stream = true # axe: ignore<|>", "# x<|>"])
def test_what_no_comment_can_silence(text: str) -> None:
    found = Offered(text, "quickfix").titles
    assert not any(each.startswith("Silence") for each in found)


# -- what lies outside the file


@pytest.mark.parametrize(
    ("written", "place", "uri", "name"),
    [
        ("skills/x.md", "/c/skills/x.md", "file:///c/skills/x.md", "x"),
        ("skills/a/SKILL.md", "/c/skills/a/SKILL.md", "file:///c/skills/a/SKILL.md", "a"),
        ("re-view", "/c/re-view", f"{CONFIGURATION}/skills/re-view/SKILL.md", "re-view"),
    ],
)
def test_a_missing_skill_is_created_where_it_is_looked_for(
    written: str, place: str, uri: str, name: str
) -> None:
    facts = {"skill": found(place, exists=False)}
    offered = Offered(f'{HEAD}skill = "{written}<|>"', facts=facts)
    new = offered.new_file(f"Create the skill {name}")
    assert (new.uri, new.text) == (uri, f"# {name}\n")


def test_a_folder_in_place_of_a_skill_becomes_the_skill_in_it() -> None:
    fault = "it is a folder; name the SKILL.md in it"
    facts = {"skill": found("/c/skills/a", exists=False), "skill_fault": fault}
    offered = Offered(f"{HEAD}skill = 'skills/a/<|>'", facts=facts)
    expected = f"{HEAD}skill = 'skills/a/SKILL.md'"
    assert offered.taken("Replace by `skills/a/SKILL.md`") == expected
    empty = Offered(f"{HEAD}skill = 'a<|>'", "quickfix", facts={**facts, "skill_fault": "empty"})
    assert empty.titles == ["Silence `bad-skill` here with a comment"]


def test_what_is_no_skill_can_not_be_created() -> None:
    for text, facts in (
        ('skill = "a.txt<|>"', {"skill": found("/c/a.txt", exists=False)}),
        ('skill = "$X/a<|>"', {"skill": found("/c/a", exists=False)}),
        ('workdir = "a.md<|>"', {"folder": found("/p/a.md", exists=False)}),
    ):
        offered = Offered(HEAD + text, "quickfix", facts=facts)
        assert offered.titles == ["Silence `missing-file` here with a comment"]


def test_a_glob_that_matches_nothing_is_removed() -> None:
    facts = {"folder": found("/p"), "matches": {"*.x": Matches()}}
    offered = Offered(f'{HEAD}files = ["*.x<|>", "*.y"]', facts=facts)
    assert offered.taken('Remove "*.x" from the list') == f'{HEAD}files = ["*.y"]'


# -- secrets

KEY = "sk-ant-api03-aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY3zA5"


def test_a_key_moves_to_the_users_own_configuration() -> None:
    title = "Move it to config.toml, as the key of anthropic"
    offered = Offered(f'{HEAD}api_key = "<|>{KEY}"  # mine\nstream = true\n')
    action = offered.action(title)
    assert action.secret == Secret("anthropic", KEY)
    assert offered.taken(title) == f"{HEAD}stream = true\n"


def test_a_missing_key_is_entered_in_the_users_own_configuration() -> None:
    key = ProviderKey("openai", "OPENAI_API_KEY")
    offered = Offered('model = "openai/gpt<|>"\n', facts={"key": key})
    action = offered.action("Enter the key of openai in config.toml")
    assert (action.preferred, action.secret, action.edit) == (True, Secret("openai"), ())


def test_a_key_in_a_header_comes_from_the_environment() -> None:
    server = '[[mcp_servers]]\nname = "x"\nurl = "https://x.y"\ntransport = "sse"\n'
    check(
        f'{server}headers = {{ Authorization = "Bearer <|>{KEY}" }}',
        "Take it from the environment, from $ANTHROPIC_API_KEY",
        f'{server}headers = {{ Authorization = "Bearer ${{ANTHROPIC_API_KEY}}" }}',
    )
    check(
        f'{server}[mcp_servers.headers]\nX-Key = "<|>hf_aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY3zA5"',
        "Take it from the environment, from $HUGGING_FACE_API_KEY",
        f'{server}[mcp_servers.headers]\nX-Key = "${{HUGGING_FACE_API_KEY}}"',
    )


@pytest.mark.parametrize(
    "text",
    [
        f"# <|>{KEY}",
        f'system_prompt = "use <|>{KEY}"',
        'x = "<|>ghp_aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY3zA5"',
    ],
)
def test_a_key_that_has_no_place_of_its_own_is_left_to_the_author(text: str) -> None:
    assert titles(text) in ([], ["Remove `x`"])


def test_a_key_appears_in_nothing_that_is_shown() -> None:
    offered = Offered(f'{HEAD}api_key = "<|>{KEY}"')
    assert KEY not in repr([(each.title, each.secret) for each in offered.actions])
