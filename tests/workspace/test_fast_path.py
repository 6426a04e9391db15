"""The fast path finds files valid in which check.py finds nothing wrong, no others, and most of these."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.check.check import check
from axe_lsp.agentfile.check.ignores import read_ignores
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.workspace.file_values import valid_values
from axe_lsp.workspace.workspace import Change, Workspace
from benchmarks.agents import agent_text
from schemas.fixtures import VALUES, agent_files, set_to
from support.any_text import TEXTS
from support.fixture import PLACES, uri_of
from support.random_edits import EDITS, RandomEdit, after
from support.secrets import ANTHROPIC_KEY
from support.toml_texts import DOCUMENTS

HEAD = 'name = "lint"\nmodel = "anthropic/claude"\n'
TREE = f'{HEAD}sub_agents = ["fix"]\n'
SOUND = {
    "what is required": HEAD,
    "tools": f'{HEAD}tools = ["read_file", "run_command"]\n',
    "globs": f'{HEAD}files = ["src/**/*.py", "docs/?.md"]\n',
    "an agent of the benchmarks": agent_text(1_000, "lint", ("fix", "tell")),
    "tables": f"{TREE}[sub_agents_config]\nmax_depth = 5\n[memory]\nenabled = true\n[params]\n",
    "dotted keys": f"{HEAD}params.temperature = 1\nmemory.last_n = 3\n",
    "an inline table": f'{HEAD}retry = {{ max_retries = 2, backoff = "fixed" }}\n',
    "a prompt": f'{TREE}system_prompt = """\nYou see.\n"""\n[sub_agents_config]\nmax_depth = 3\n',
    "a comment": f"# what it is for\n{HEAD}",
}
DOUBTFUL = {
    "half-typed": f"{HEAD}timeout = \n",
    "no model": 'name = "lint"\n',
    "a blank name": 'name = " "\nmodel = "anthropic/claude"\n',
    "an unknown key": f"{HEAD}modell = 1\n",
    "an unknown key in a table": f"{HEAD}[memory]\nlast = 1\n",
    "a string for a number": f'{HEAD}timeout = "1"\n',
    "a boolean for a number": f"{HEAD}timeout = true\n",
    "an integer of more than 64 bits": f"{HEAD}timeout = {2**63}\n",
    "a list for a table": f"{HEAD}memory = []\n",
    "an array of tables for a table": f"{HEAD}[[memory]]\n",
    "a number in a list": f'{HEAD}sub_agents = ["fix", 1]\n',
    "a negative timeout": f"{HEAD}timeout = -1\n",
    "a depth out of range": f"{TREE}[sub_agents_config]\nmax_depth = 6\n",
    "a number that is none": f"{HEAD}params.temperature = nan\n",
    "a value that is no choice": f'{HEAD}memory.scope = "all"\n',
    "a preset": f'{HEAD}type = "plan"\n',
    "a tool that there isn't": f'{HEAD}tools = ["rd"]\n',
    "a tool of axe-lsp alone": f'{HEAD}tools = ["grep"]\n',
    "another name of a tool": f'{HEAD}tools = ["Read"]\n',
    "a bad glob": f'{HEAD}files = ["src/["]\n',
    "a provider of axe-lsp alone": 'name = "lint"\nmodel = "replay/hello"\n',
    "a key of axe-lsp alone": f'{HEAD}isolation.mode = "process"\n',
    "a schema": f"{HEAD}[output]\n",
    "a server": f'{HEAD}[[mcp_servers]]\nname = "a"\nurl = "http://host"\ntransport = "sse"\n',
    "delays that may not go together": f"{HEAD}[retry]\nmax_delay_ms = 1\n",
    "a folder that may not be used": f'{HEAD}[artifacts]\ndir = "out"\n',
    "how to delegate to nobody": f"{HEAD}[sub_agents_config]\nparallel = true\n",
    "a secret": f'{HEAD}system_prompt = "{ANTHROPIC_KEY}"\n',
    "a comment that silences": f"{HEAD}timeout = 1 # axe: ignore\n",
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND.keys())
def test_most_files_are_sound(text: str) -> None:
    assert is_as_it_says(text)


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL.keys())
def test_what_may_be_wrong_takes_a_closer_look(text: str) -> None:
    assert valid_values(text) is None


def is_as_it_says(text: str) -> bool:
    """Whether the fast path finds the text valid, as it should."""
    found = valid_values(text)
    if found is None:
        return False
    parse = Parse(text)
    assert not parse.problems
    assert not check(parse, Lookup(parse))
    assert not read_ignores(parse)
    assert parse.values is not None
    assert found.values == parse.values
    return True


def test_nothing_is_wrong_with_a_file_that_is_sound() -> None:
    texts = [
        *agent_files().values(),
        *(set_to(agent_keys.AGENT, spec, value) for spec in agent_keys.KEYS for value in VALUES),
    ]
    assert sum(map(is_as_it_says, texts)) > len(agent_keys.KEYS)


@given(st.sampled_from([*SOUND.values(), *agent_files().values()]), EDITS)
@example(SOUND["dotted keys"], [(1.0, 0, "[memory]\n")])
def test_nothing_is_wrong_after_edits_either(text: str, edits: list[RandomEdit]) -> None:
    for edit in edits:
        text = after(text, edit)
        is_as_it_says(text)


@given(DOCUMENTS | TEXTS)
def test_nothing_is_wrong_whatever_stands_below(text: str) -> None:
    is_as_it_says(f"{HEAD}{text}")


PROMPTS = st.sampled_from(
    [
        "",
        *(f"system_prompt = {each}\n" for each in ('""', '" "', '"Look."')),
        *(f'system_prompt = """{each}"""\n' for each in ("", "\n \n", "\nLook.\n", "Look\r\n")),
    ]
)


@given(st.sampled_from([*SOUND.values(), *DOUBTFUL.values()]), PROMPTS, EDITS)
def test_closed_file_has_the_values_and_findings_of_the_same_file_opened(
    text: str, prompt: str, edits: list[RandomEdit]
) -> None:
    text = text.replace(HEAD, HEAD + prompt)
    for edit in edits[:1]:
        text = after(text, edit)
    is_as_it_says(text)
    workspace, uri = Workspace(PLACES), uri_of("main.toml")
    findings = []
    for is_open in (False, True):
        change = Change(uri, text, in_buffer=is_open)
        snapshot = workspace.apply([change], complete=True).snapshot
        findings.append(diagnostics(snapshot, next(snapshot.files())))
    assert findings[0] == findings[1]


@pytest.mark.parametrize("text", [text for text in SOUND.values() if "sub_agents =" in text])
def test_a_place_is_found_when_somebody_asks(text: str) -> None:
    found = valid_values(text)
    assert found is not None
    place_of = found.shortened_text.place_of
    assert place_of(("name",)).of(text) == '"lint"'
    assert place_of(("sub_agents",), 0).of(text) == '"fix"'
    assert place_of(("sub_agents_config", "max_depth")).of(text) in ("3", "5")
    if "system_prompt" in text:
        assert place_of(("system_prompt",)).of(text).startswith('"""\nYou')
        assert place_of(("system_prompt",)).of(text).endswith('\n"""')
    with pytest.raises(KeyError):
        place_of(("skill",))


def prompt(inside: str, quotes: str = '"""', rest: str = "") -> str:
    return f"{HEAD}system_prompt = {quotes}{inside}{quotes}\n{rest}"


@pytest.mark.parametrize(
    "text",
    [
        prompt("Look."),
        prompt("Look.", "'''"),
        prompt(""),
        prompt("\r\nLook.\r\n"),
        prompt('"Look"', rest="timeout = 3"),
        prompt('Look at "it"', rest="[memory]\nenabled = true"),
        prompt('Look"'),
        prompt("Look\r\nLook\r\n"),
        prompt("\n\nLook"),
    ],
)
def test_prompts_are_left_out(text: str) -> None:
    assert is_as_it_says(text)
    found = valid_values(text)
    assert found is not None
    assert "Look" not in found.shortened_text.text


@pytest.mark.parametrize(
    "text",
    [
        prompt("Look \\u0041"),
        prompt("Look", rest="description = '''\nsystem_prompt'''"),
        f"{HEAD}description = \"\"\"\nsystem_prompt = '''Look'''\n\"\"\"\n",
        f'{HEAD}system_prompt = "Look" # system_prompt = """ and """\n',
    ],
)
def test_what_may_be_no_prompt_is_not_left_out(text: str) -> None:
    assert is_as_it_says(text)
    found = valid_values(text)
    assert found is not None
    assert found.shortened_text.text == text


@pytest.mark.parametrize(
    "text",
    [
        prompt("Look \\z"),
        prompt("Look \x00"),
        prompt("\r"),
        prompt("Look")[:-2],
        prompt("", rest="x"),
    ],
)
def test_what_is_no_prompt_takes_a_closer_look(text: str) -> None:
    assert valid_values(text) is None
