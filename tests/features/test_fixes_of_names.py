"""What is offered where names of agents are wrong, and the files after it is taken."""

from __future__ import annotations

from itertools import pairwise

import pytest

from axe_lsp.agentfile.agent_definition import load
from axe_lsp.features.edit import MovedFile, TextChange
from support.actions import HEAD, Offered
from support.edits import edited
from support.fixing import LINT, check, preferred, titles
from support.fixture import FOLDER, USER_FOLDER


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


def test_the_model_that_was_meant_keeps_its_quotes() -> None:
    head = 'name = "main"\n'
    before, after = "model = 'openai/gpt-5<|>-mni'", "model = 'openai/gpt-5-mini'"
    check(before, "Replace by `openai/gpt-5-mini`", after, head=head)
    assert preferred(before, head=head) == ["Replace by `openai/gpt-5-mini`"]


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
    action = offered.action('Rename the file to "best.toml", and its references')
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
    action = offered.action('Rename this agent to "main-3", and its references')
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
