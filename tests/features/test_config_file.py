"""config.toml in the editor: the same features as in agent files, with a table of its own."""

from __future__ import annotations

import pytest
from hypothesis import given

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.code_lens import code_lenses
from axe_lsp.features.completion.completion import completion
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.document_symbol import Symbol, document_symbols
from axe_lsp.features.fix import Context
from axe_lsp.features.hover import hover
from axe_lsp.features.semantic_tokens import TokenKind, semantic_tokens
from support.any_text import TEXTS
from support.carets import annotate, dedented, source
from support.fixture import Fixture, open_fixture

CONFIG = "--- /home/user/.config/axe: config.toml\n"


def open_config(text: str) -> Fixture:
    return open_fixture(CONFIG + dedented(text))


def check_config(fixture: str) -> None:
    opened = open_config(source(fixture))
    found = diagnostics(opened.snapshot, opened.file)
    marks = [
        (each.range, f"{each.severity.name.lower()} {each.code}: {each.message}") for each in found
    ]
    assert annotate(opened.text, marks) == dedented(fixture)


def labels(text: str) -> list[str]:
    opened = open_config(text)
    return [each.label for each in completion(opened.snapshot, opened.file, opened.offset)]


def test_a_file_that_says_what_axe_understands_is_fine() -> None:
    check_config("""
        [providers.anthropic]
        api_key = "anything"
        base_url = ""
        [providers]
        ollama = { base_url = " http://localhost:11434 " }
        bedrock.region = "eu-central-1"
        [providers.openrouter]
        referer = "https://example.com"
        title = "axe"
        categories = "cli"
    """)


def test_values_of_other_types() -> None:
    check_config("""
        [providers.openai]
        api_key = 1234
                  ^^^^ error wrong-type: providers.openai.api_key must be a string, not an integer
        base_url = ["http://a"]
                   ^^^^^^^^^^^^ error wrong-type: providers.openai.base_url must be a string, not an array
        [[providers.ollama]]
                    ^^^^^^ error wrong-type: providers.ollama must be a table, not an array of tables
    """)


def test_keys_that_nobody_knows() -> None:
    check_config("""
        [providers.openai]
        api_kee = ""
        ^^^^^^^ warning unknown-key: unknown key "providers.openai.api_kee"; it has no effect. Did you mean `api_key`?
        [provider.openai]
         ^^^^^^^^ warning unknown-key: unknown table "provider"; it has no effect. `providers` is similar, but is in the file already.
    """)


def test_addresses_that_lead_nowhere() -> None:
    check_config("""
        [providers.openai]
        base_url = "localhost:8080"
                   ^^^^^^^^^^^^^^^^ error out-of-range: providers.openai.base_url must use http or https scheme, got ""
        [providers.ollama]
        base_url = "http:///v1"
                   ^^^^^^^^^^^^ error out-of-range: providers.ollama.base_url must include a host
    """)


def test_providers_that_no_model_names() -> None:
    check_config("""
        [providers.antropic]
                   ^^^^^^^^ warning unknown-provider: no model is served by "antropic", which is not built in and has no `wire`. Did you mean `anthropic`?
        [providers]
        somebody.api_key = ""
        ^^^^^^^^ information unknown-provider: no model is served by "somebody", which is not built in and has no `wire`
        [providers.mine]
        wire = "openai-chat"
    """)


def test_comments_silence_diagnostics_here_too() -> None:
    check_config("""
        [providers.somebody]  # axe: ignore[unknown-provider]
    """)


@pytest.mark.parametrize(
    "line",
    [
        "api_key = hidden-word-1",
        'api_key = "hidden-word-1',
        'api_key = "hidden\\-word-1"',
        "api_key: hidden-word-1",
        "api_key = 'a' hidden-word-1",
        "api_key = [hidden-word-1]",
    ],
)
def test_no_message_and_no_outline_repeats_a_key(line: str) -> None:
    opened = open_config(f"[providers.openai]\n{line}\n")
    found = diagnostics(opened.snapshot, opened.file)
    assert any(each.code == "syntax" for each in found)
    assert "hidden" not in "".join(each.message for each in found)
    assert "hidden" not in said(document_symbols(opened.file))


def said(symbols: tuple[Symbol, ...]) -> str:
    return "".join(f"{each.name} {each.detail} {said(each.children)}\n" for each in symbols)


def test_the_outline_shows_providers_and_addresses_but_no_keys() -> None:
    opened = open_config("""
        [providers.openai]
        api_key = "a word that looks like no key"
        base_url = "http://host"
    """)
    assert said(document_symbols(opened.file)) == (
        "providers.openai  api_key • •••• •••• ••••• •••• •• ••• \nbase_url http://host \n\n"
    )


def test_completion_offers_providers_as_tables_that_are_not_there_yet() -> None:
    offered = labels("""
        [providers.openai]
        api_key = ""

        [<|>]
    """)
    assert "providers.anthropic" in offered
    assert "providers.openai" not in offered
    assert "mcp_servers" not in offered


def test_completion_offers_the_keys_of_a_provider() -> None:
    assert labels("""
        [providers.openai]
        api_key = ""
        <|>
    """)[:3] == ["base_url", "wire", "api_key_env"]


def test_hover_names_the_provider_and_never_the_key() -> None:
    opened = open_config("""
        [providers.openai]
        api<|>_key = "hidden"
    """)
    found = hover(opened.snapshot, opened.file, opened.offset)
    assert found is not None
    assert found.markdown.startswith("**`providers.openai.api_key`** · string")
    for offset in range(len(opened.text)):
        found = hover(opened.snapshot, opened.file, offset)
        assert found is None or "hidden" not in found.markdown


def test_names_of_providers_have_a_colour_of_their_own() -> None:
    opened = open_config("""
        [providers.openai]
        api_key = ""
    """)
    tokens = [(each.range.of(opened.text), each.kind) for each in semantic_tokens(opened.file)]
    assert tokens == [
        ("providers", TokenKind.TABLE),
        ("openai", TokenKind.PROVIDER),
        ("api_key", TokenKind.KEY),
    ]


def test_a_misspelled_provider_can_be_mended() -> None:
    opened = open_config("[providers.antropic]\n")
    context = Context(
        opened.snapshot, lambda file: diagnostics(opened.snapshot, file), lambda _: opened.text
    )
    titles = [each.title for each in code_actions(context, opened.file, TextRange(12, 12))]
    assert titles[0] == "Replace by `anthropic`"


def test_it_is_no_agent() -> None:
    opened = open_fixture("""
        --- main.toml
        sub_agents = ["config"]
        --- /home/user/.config/axe: config.toml
        <|>name = "config"
    """)
    assert code_lenses(opened.snapshot, opened.file) == []
    assert "config" not in opened.snapshot.names
    main = opened.snapshot.file("file:///project/axe/agents/main.toml")
    assert main is not None
    assert "unknown-agent" in {each.code for each in diagnostics(opened.snapshot, main)}


def test_only_the_users_own_file_is_meant() -> None:
    text = "[providers.openai]\napi_key = 1\n"
    elsewhere = open_fixture(f"--- /project/axe: config.toml\n{text}")
    assert {each.path for each in diagnostics(elsewhere.snapshot, elsewhere.file)} >= {
        ("name",),
        ("providers",),
    }


@given(TEXTS)
def test_whatever_somebody_types(text: str) -> None:
    opened = open_fixture(CONFIG + "[providers.openai]\napi_key = <|>" + text)
    diagnostics(opened.snapshot, opened.file)
    document_symbols(opened.file)
    semantic_tokens(opened.file)
    hover(opened.snapshot, opened.file, opened.offset)
    completion(opened.snapshot, opened.file, opened.offset)


def test_machines_that_can_not_be_reached() -> None:
    check_config("""
        [execution]
        engine = "condor"
                 ^^^^^^^^ error out-of-range: execution.engine must be one of: here, ssh, dask (it is "condor")
        slots = 0
                ^ error out-of-range: execution.slots must be at least 1 (it is 0)
        [execution.ssh]
        hosts = ["me@build1", "-oProxyCommand=touch"]
        ^^^^^ error out-of-range: execution.ssh.hosts must be the address of a machine, such as build1 or ssh://me@build1:2222, got "-oProxyCommand=touch"
        [execution.dask]
        scheduler = "tls://build1"
        ^^^^^^^^^ error out-of-range: execution.dask.scheduler must be the address of a scheduler, such as tls://build1:8786, got "tls://build1"
        """)


@pytest.mark.parametrize(
    ("table", "needed"),
    [
        ('engine = "ssh"', 'hosts = ["HOST"] below [execution.ssh]'),
        ('engine = "ssh"\nssh.hosts = []', 'hosts = ["HOST"] below [execution.ssh]'),
        ('engine = "ssh"\nssh.hosts = ["build1"]', None),
        ('engine = "dask"', 'scheduler = "tls://HOST:8786" below [execution.dask]'),
        (
            'engine = "dask"\ndask.scheduler = "tls://b:1"',
            "ca, cert and key below [execution.dask]",
        ),
        (
            'engine = "dask"\ndask = { scheduler = "tcp://b:1" }',
            "tls:// in the scheduler's address, or insecure = true below [execution.dask]",
        ),
        ('engine = "dask"\ndask = { scheduler = "tcp://b:1", insecure = true }', None),
        ('engine = "here"', None),
    ],
)
def test_engine_without_what_it_needs_is_reported(table: str, needed: str | None) -> None:
    opened = open_fixture(f"{CONFIG}[execution]\n{table}\n")
    found = [each.message for each in diagnostics(opened.snapshot, opened.file)]
    expected = [f"needs {needed}; without it all runs fail"] if needed is not None else []
    assert [each.partition(" ")[2].partition('" ')[2] for each in found] == expected


def test_no_agent_file_says_where_agents_work() -> None:
    opened = open_fixture(
        '--- axe/agents: solo.toml\nname = "solo"\nmodel = "ollama/m"\n[execution]\nengine = "ssh"\n'
    )
    found = [each.message for each in diagnostics(opened.snapshot, opened.file)]
    assert found == ['unknown table "execution"; it has no effect. It belongs in config.toml.']
