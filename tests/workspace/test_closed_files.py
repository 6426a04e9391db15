"""A closed file has the values, the places and the findings of the same file opened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.workspace.workspace import Change, Workspace
from benchmarks.agents import agent_text
from schemas.fixtures import VALUES, agent_files, set_to
from support.fixture import PLACES, uri_of
from support.random_edits import EDITS, RandomEdit, after
from support.secrets import ANTHROPIC_KEY

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


PROMPTS = st.sampled_from(
    [
        "",
        *(f"system_prompt = {each}\n" for each in ('""', '" "', '"Look."')),
        *(f'system_prompt = """{each}"""\n' for each in ("", "\n \n", "\nLook.\n", "Look\r\n")),
    ]
)


def check_closed_and_open(text: str) -> None:
    workspace, uri = Workspace(PLACES), uri_of("main.toml")
    files, findings = [], []
    for is_open in (False, True):
        change = Change(uri, text, in_buffer=is_open)
        snapshot = workspace.apply([change], complete=True).snapshot
        file = next(snapshot.files())
        files.append(replace(file, open=None))
        findings.append(diagnostics(snapshot, file))
        assert file.is_placed_in(text) == is_open
    assert files[0] == files[1]
    assert findings[0] == findings[1]


@given(
    st.sampled_from([*SOUND.values(), *DOUBTFUL.values(), *agent_files().values()]), PROMPTS, EDITS
)
def test_closed_file_has_the_values_and_findings_of_the_same_file_opened(
    text: str, prompt: str, edits: list[RandomEdit]
) -> None:
    text = text.replace(HEAD, HEAD + prompt)
    for edit in edits[:1]:
        text = after(text, edit)
    check_closed_and_open(text)


def test_closed_file_with_any_value_of_a_key_is_read_like_an_open_one() -> None:
    for spec in agent_keys.KEYS:
        for value in VALUES:
            check_closed_and_open(set_to(agent_keys.AGENT, spec, value))
