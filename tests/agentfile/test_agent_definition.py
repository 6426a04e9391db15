"""From a text to what the runtime runs, or to axe's error."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.agent_definition import (
    AgentDefinition,
    MemoryConfig,
    Params,
    SubAgentsConfig,
    load,
)
from axe_lsp.agentfile.check.problem import DefinitionError
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.tools import tools_meant

HEAD = 'name = "parent"\nmodel = "openai/gpt"\n'


def error(text: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        load(text)
    return str(caught.value)


@pytest.mark.req("001-5.1", "001-5.2b", "001-N4")
def test_defaults_when_there_is_no_sub_agents_config() -> None:
    config = load(HEAD).sub_agents_config
    assert (config.max_depth, config.parallel, config.timeout) == (0, True, 0)


@pytest.mark.req("001-9.3", "001-5.2e")
def test_the_depth_in_force_is_3_unless_set() -> None:
    assert load(HEAD).max_depth == 3
    assert load(HEAD + "[sub_agents_config]\nmax_depth = 0").max_depth == 3
    assert load(HEAD + "[sub_agents_config]\nmax_depth = 5").max_depth == 5


@pytest.mark.req("001-5.2", "001-5.3", "001-5.2c", "000-19")
def test_delegation_keys_are_read() -> None:
    definition = load(
        HEAD
        + 'sub_agents = ["a", "b", "a"]\n'
        + "[sub_agents_config]\nmax_depth = 2\nparallel = false\ntimeout = 30\n"
    )
    assert definition.sub_agents == ("a", "b", "a")
    assert definition.sub_agents_config == SubAgentsConfig(2, 30, parallel=False)


@pytest.mark.req("001-5.2a", "001-5.2d")
def test_names_of_sub_agents_are_not_checked_here_nor_is_unused_configuration() -> None:
    assert load(HEAD + 'sub_agents = ["nowhere"]').sub_agents == ("nowhere",)
    assert load(HEAD + "[sub_agents_config]\ntimeout = 3").sub_agents == ()


@pytest.mark.req("001-5.4", "001-5.5")
def test_errors_come_in_the_order_of_axe() -> None:
    both = HEAD + "[sub_agents_config]\ntimeout = -1\nmax_depth = 6"
    assert error(both) == "sub_agents_config.max_depth cannot exceed 5"
    assert error("[sub_agents_config]\nmax_depth = 6") == (
        "agent config missing required field: name"
    )
    assert error(both + '\nparallel = "x"').startswith("sub_agents_config.parallel must be")


def test_syntax_errors_say_where() -> None:
    with pytest.raises(DefinitionError) as caught:
        load('name = "x"\nmodel = \n')
    assert caught.value.is_parse_error
    assert str(caught.value) == "line 2, column 7: expected a value"


def test_unknown_keys_are_ignored_as_axe_ignores_them() -> None:
    assert load(HEAD + "zzz = 1\n[unknown]\nx = 2\n[memory]\nfoo = 1").name == "parent"


def test_an_explicit_temperature_of_zero_differs_from_none() -> None:
    assert load(HEAD).params.temperature is None
    assert load(HEAD + "[params]\ntemperature = 0.0").params.temperature == 0.0


@pytest.mark.req("004-2", "004-3", "004-4", "004-5")
@pytest.mark.parametrize(
    ("name", "description", "tools", "prompt", "read_only"),
    [
        (
            "explore",
            "Read-only for searching and analyzing",
            ("run_command", "read_file"),
            "Search and analyze. Never modify. Return concise summary.",
            True,
        ),
        (
            "plan",
            "Planning and analysis",
            ("run_command", "read_file"),
            "Analyze and output numbered plan. Don't change files.",
            True,
        ),
        (
            "code",
            "Full agent for implementation",
            tools_meant(["*"]),
            "Implement changes efficiently.",
            False,
        ),
    ],
)
def test_a_type_fills_in_what_the_file_leaves_out(
    name: str, description: str, tools: tuple[str, ...], prompt: str, read_only: bool
) -> None:
    definition = load(f'{HEAD}type = "{name}"')
    assert definition.description == description
    assert definition.ordinary_tools == tools
    assert definition.system_prompt == prompt
    assert definition.read_only is read_only


def test_value_of_the_file_overrides_its_type() -> None:
    own = 'description = ""\ntools = ["Read"]\nsystem_prompt = "Be kind."'
    definition = load(f'{HEAD}type = "plan"\n{own}')
    assert definition.description == ""
    assert definition.ordinary_tools == ("read_file",)
    assert definition.system_prompt == (
        "Analyze and output numbered plan. Don't change files.\n\nBe kind."
    )
    assert definition.read_only
    denied = load(f'{HEAD}type = "code"\ntool_policy.deny = ["*_*"]')
    assert denied.ordinary_tools == ("grep",)


def test_agent_without_a_type_gets_no_values_of_types() -> None:
    for text in (HEAD, f'{HEAD}type = ""\nread_only = true'):
        definition = load(text)
        assert (definition.tools, definition.system_prompt) == ((), "")
        assert not definition.read_only


def test_every_field_of_a_definition_is_a_key_of_the_schema() -> None:
    tables = {(): AgentDefinition, ("sub_agents_config",): SubAgentsConfig}
    tables |= {("memory",): MemoryConfig, ("params",): Params}
    for path, data in tables.items():
        keys = {key.path[-1] for key in agent_keys.keys_of(path)}
        assert {*data.__struct_fields__} - {
            "rest",
            "read_only",
            "beyond_first_axe",
            "notes",
            "source",
        } <= keys
