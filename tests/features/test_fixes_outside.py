"""What is offered where something outside the file is wrong: skills, globs, keys of providers."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.rights import Reach
from axe_lsp.features.edit import Secret
from axe_lsp.workspace.facts import Matches, ProviderKey
from support.actions import HEAD, Offered
from support.facts import found
from support.fixing import check, titles
from support.fixture import USER_FOLDER

CONFIGURATION = USER_FOLDER.removesuffix("/agents")

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


def test_a_picture_is_removed_for_a_model_that_reads_text_only_and_a_glob_stays() -> None:
    head = HEAD.replace("openai/gpt", "ollama/gpt-oss")
    picture = Matches(count=1, picture="b.png")
    facts = {"folder": found("/p"), "matches": {"b.png": picture, "*": picture}}
    offered = Offered(f'{head}files = ["a.md", "b.png<|>"]', facts=facts)
    assert offered.taken('Remove "b.png" from the list') == f'{head}files = ["a.md"]'
    offered = Offered(f'{head}files = ["*<|>"]', facts=facts)
    assert not any(title.startswith("Remove") for title in offered.titles)


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


def test_a_parameter_that_is_not_sent_is_removed() -> None:
    facts = {"key": ProviderKey("anthropic", "K", "anthropic", "$K")}
    offered = Offered(f"{HEAD}[params]\nmax_tokens = 5\nse<|>ed = 1\n", facts=facts)
    assert offered.taken("Remove `seed`") == f"{HEAD}[params]\nmax_tokens = 5\n"


def test_what_reaches_out_of_the_workspace_is_removed() -> None:
    skill = {"reaches": (Reach("skill", "/elsewhere/SKILL.md"),)}
    offered = Offered(f'{HEAD}skill = "/else<|>where/SKILL.md"\n', facts=skill)
    assert offered.taken("Remove `skill`") == HEAD
    files = {"reaches": (Reach("files", "../b.md", 1),)}
    offered = Offered(f'{HEAD}files = ["a.md", "../<|>b.md"]\n', facts=files)
    assert offered.taken('Remove "../b.md" from the list') == f'{HEAD}files = ["a.md"]\n'
