"""Other ways to write an agent, which mean the same."""

from __future__ import annotations

import pytest
import tomli

from axe_lsp.agentfile.convert import conversion
from axe_lsp.agentfile.convert.conversion import FORMATS, convert
from axe_lsp.features.edit import NewFile
from support.actions import HEAD, Offered
from support.fixture import FOLDER, USER_FOLDER

# -- an inline type becomes an agent

MOVE_TYPE = 'Move the type to an agent "audit" of its own'


def test_an_inline_type_becomes_an_agent_of_that_name() -> None:
    offered = Offered(
        HEAD
        + """\
[task]
types = ["audit"]

# Looks for trouble
[task.type.audit]
# in every file
description = "Audits"  # or so
prompt = '''
Look<|> closely.
'''
tools = ["read_file"]

[params]
temperature = 0
"""
    )
    new = offered.new_file(MOVE_TYPE)
    assert new.uri == f"{FOLDER}/audit.toml"
    assert new.text == (
        '# Looks for trouble\nname = "audit"\nmodel = "openai/gpt"\n'
        '# in every file\ndescription = "Audits"  # or so\n'
        "system_prompt = '''\nLook closely.\n'''\ntools = [\"read_file\"]\n"
    )
    assert offered.taken(MOVE_TYPE) == (
        HEAD + '[task]\ntypes = ["audit"]\n\n[params]\ntemperature = 0\n'
    )


def test_the_tool_stays_when_its_only_type_becomes_an_agent() -> None:
    offered = Offered('name = "main"\r\n[task.type.audit<|>]\r\nprompt = "x"\r\n')
    types = 'types = ["explore", "plan", "code", "audit"]'
    assert offered.taken(MOVE_TYPE) == f'name = "main"\r\n[task]\r\n{types}\r\n'
    new = tomli.loads(offered.new_file(MOVE_TYPE).text)
    assert (new["name"], new["system_prompt"]) == ("audit", "x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[task]\n", '[task]\ntypes = ["explore", "plan", "code", "audit"]\n'),
        ("[task]\ntypes = []\n", '[task]\ntypes = ["audit"]\n'),
        (
            '[task]\ntypes = [\n  "plan",  # x\n]\n',
            '[task]\ntypes = [\n  "plan", "audit",  # x\n]\n',
        ),
        (
            "[task.type.b]\n",
            '[task.type.b]\n[task]\ntypes = ["explore", "plan", "code", "audit"]\n',
        ),
    ],
)
def test_the_agent_is_listed_where_the_type_need_not_be(before: str, after: str) -> None:
    offered = Offered(f'{before}[task.type.audit<|>]\nprompt = "x"\n')
    text = offered.taken(MOVE_TYPE)
    assert tomli.loads(text) == tomli.loads(after)
    assert '"plan", "audit"' in text or "# x" not in before


def test_a_type_of_nothing_but_a_name() -> None:
    offered = Offered("[task.type.audit<|>]")
    assert tomli.loads(offered.new_file(MOVE_TYPE).text) == {
        "name": "audit",
        "model": "provider/model-name",
    }


@pytest.mark.parametrize(
    ("name", "others", "said"),
    [
        ("explore", "", '"explore" would mean the built-in type of that name'),
        ("lint", '--- lint.toml\nname = "lint"\n', 'there is an agent "lint" already'),
        ('"../x"', "", 'agent name "../x" must not contain path separators'),
    ],
)
def test_why_a_type_can_not_become_an_agent(name: str, others: str, said: str) -> None:
    offered = Offered(f'--- main.toml\n[task.type.{name}]\nprompt<|> = "x"\n{others}')
    title = f'Move the type to an agent "{name.strip(chr(34))}" of its own'
    assert offered.action(title).disabled.startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        "[task<|>]\n[task.type.audit]",
        "[task.type.audit]\n\n<|>[params]",
        '[task.type.audit]\nprompt = "x<|>',
        "[[task.type.audit<|>]]",
    ],
)
def test_where_no_type_is(text: str) -> None:
    assert Offered(text, "refactor.extract").titles == []


# -- a prompt becomes a skill

MOVE_PROMPT = "Move the prompt to skills/main/SKILL.md of the configuration folder"


def test_a_prompt_becomes_a_skill_where_axe_looks_for_skills() -> None:
    offered = Offered(
        HEAD + 'system_prompt = """\nBe <|>brief.\nBe kind.\n"""  # rules\nstream = true\n'
    )
    new = offered.new_file(MOVE_PROMPT)
    assert new.uri == f"{USER_FOLDER.removesuffix('/agents')}/skills/main/SKILL.md"
    assert new.text == "Be brief.\nBe kind.\n"
    assert offered.taken(MOVE_PROMPT) == (
        HEAD + 'skill = "skills/main/SKILL.md"  # rules\nstream = true\n'
    )


def test_an_agent_with_a_skill_keeps_its_prompt() -> None:
    offered = Offered(HEAD + 'skill = "x"\nsystem_prompt = "Be<|> brief."')
    assert offered.action(MOVE_PROMPT).disabled == "the agent has a `skill` already"


@pytest.mark.parametrize(
    "text", ['system_prompt = "<|>"', 'system_prompt = "x<|>', "skill = '<|>'"]
)
def test_where_no_prompt_is(text: str) -> None:
    assert Offered(text, "refactor.extract").titles == []


# -- arrays

MANY, ONE = "Put each item on a line of its own", "Put the array on one line"


@pytest.mark.parametrize(
    ("title", "before", "after"),
    [
        (MANY, 'files = ["a<|>", "b"] # c', 'files = [\n  "a",\n  "b",\n] # c'),
        (ONE, 'files = [\n  "a",<|>\n  "b",\n] # c', 'files = ["a", "b"] # c'),
        (ONE, 'files = [<|>\r\n\t"a"\r\n]\r\n', 'files = ["a"]\r\n'),
    ],
)
def test_an_array_on_one_line_or_on_many(title: str, before: str, after: str) -> None:
    offered = Offered(before, "refactor")
    assert offered.titles == [title]
    assert offered.taken(title) == after


@pytest.mark.parametrize(
    "text",
    [
        'files = ["a<|>"]',
        "files = [<|>]",
        'files = [\n  "a", # first<|>\n  "b",\n]',
        'files = ["a", "b<|>"',
        'fil<|>es = ["a", "b"]',
    ],
)
def test_an_array_that_has_only_one_layout(text: str) -> None:
    assert Offered(text, "refactor.rewrite").titles == []


def test_kinds_are_asked_for_by_themselves_or_by_a_wider_one() -> None:
    text = 'sub_agents = ["main<|>", "x"]'
    assert Offered(text, "refactor").titles == [MANY]
    assert Offered(text, "refactor.extract").titles == []
    assert MANY not in Offered(text, "quickfix").titles
    assert Offered(text, "").titles[-1] == MANY


# -- an agent becomes one of another program


def test_an_agent_is_converted_to_every_other_format_from_its_name() -> None:
    offered = Offered('name = "ma<|>in"\nmodel = "openai/gpt"\nsystem_prompt = "Go."\n')
    titles = [each for each in offered.titles if each.startswith("Convert to")]
    assert titles == [
        "Convert to an agent of Codex (without tools)",
        "Convert to an agent of Claude Code (without model)",
        "Convert to an agent of GitHub Copilot (without model)",
        "Convert to an agent of Gemini CLI (without model)",
        "Convert to an agent of opencode",
        "Convert to an agent of Mistral Vibe (without model)",
    ]
    new = offered.new_file(titles[1])
    assert new.uri == "file:///project/.claude/agents/main.md"
    assert new.text == "---\nname: main\ndescription: The agent main\ntools: []\n---\n\nGo."


AGENT_OF_AXE = """\
# Finds faults
name = "ma<|>in"
model = "openai/gpt"
tools = ["read_file", "run_command"]  # no more
allowed_hosts = ["docs.example"]
sub_agents = ["helper"]
isolation = { mode = "copy", changes = "keep" }

[[mcp_servers]]
name = "s"
url = "https://s.example/mcp"
transport = "streamable-http"
headers = { Authorization = "Bearer ${TOKEN}" }

[[mcp_servers]]
name = "t"
command = "uvx"
args = ["t"]
transport = "stdio"
"""
AGENT_OF_CODEX = """\
--- /project/.codex/agents: fix.toml
name = "fi<|>x"
description = "d"
developer_instructions = "Go."

[mcp_servers.s]
url = "https://s.example/mcp"
env_http_headers = { X = "TOKEN" }
enabled = true

[mcp_servers.s.tools]
"""


@pytest.mark.parametrize(
    ("fixture", "stem", "source"),
    [(AGENT_OF_AXE, "main", "axe"), (AGENT_OF_CODEX, "fix", "codex")],
)
def test_a_file_is_read_once_for_all_conversions_and_each_is_as_if_it_was_alone(
    monkeypatch: pytest.MonkeyPatch, fixture: str, stem: str, source: str
) -> None:
    text = fixture.replace("<|>", "").partition("toml\n")[2] or fixture.replace("<|>", "")
    alone = {
        f"{each.folder}/{made.file_name}": made.text
        for name, each in FORMATS.items()
        if name != source and (made := convert(text, stem, FORMATS[source], each))
    }
    monkeypatch.setattr(conversion, "Parse", None)
    opened = Offered(fixture)
    new = [step for each in opened.actions for step in each.edit if isinstance(step, NewFile)]
    found = {each.uri.removeprefix("file:///project/"): each.text for each in new}
    assert found == alone
    assert len(found) == len(FORMATS) - 1


def test_a_title_says_what_a_conversion_would_lose() -> None:
    offered = Offered(
        'name<|> = "main"\nmodel = "openai/gpt"\nfiles = ["a"]\nworkdir = "."\nskill = "s"\ntimeout = 5\n'
        "[memory]\nenabled = true\n"
    )
    (title,) = [each for each in offered.titles if "Vibe" in each]
    assert title == (
        "Convert to an agent of Mistral Vibe (without files, workdir, skill, memory and 2 more)"
    )


def test_a_codex_agent_becomes_one_of_axe() -> None:
    offered = Offered(
        "--- /project/pkg/.codex/agents: fix.toml\n"
        'name = "fix<|>"\ndescription = "d"\ndeveloper_instructions = "Go."\n'
    )
    new = offered.new_file("Convert to an agent of axe")
    assert new.uri == "file:///project/pkg/axe/agents/fix.toml"
    assert tomli.loads(new.text)["system_prompt"] == "Go."


@pytest.mark.parametrize(
    "fixture",
    [
        'name = "main"\nmodel = "x<|>/y"\n',
        '--- user: main.toml\nname = "ma<|>in"\nmodel = "x/y"\n',
        'name = "ma<|>in"\nmodel = \n',
    ],
)
def test_elsewhere_nothing_is_converted(fixture: str) -> None:
    assert not [each for each in Offered(fixture).titles if each.startswith("Convert to")]
