"""What is added is in its table, and what is in a table is documented. Each failure names what is missing."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import grimp
import pytest

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.providers import PARAMS, PROVIDERS, WIRES, ParamSpec
from axe_lsp.agentfile.schema.tools import TOOLS
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.features.rules import RULES
from axe_lsp.lsp.server import AxeServer
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "server" / "axe_lsp"
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text("utf-8")


def modules_in(folder: str) -> list[str]:
    return sorted(each.stem for each in (PACKAGE / folder).glob("*.py") if each.stem != "__init__")


def words_of_strings(source: Path) -> set[str]:
    """Return the words in the strings of a module, its docstrings aside; `openai-chat` is also `openai_chat`."""
    tree = ast.parse(source.read_text("utf-8"))
    documentation = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    return {
        word
        for each in ast.walk(tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
        if id(each) not in documentation
        for word in re.findall(r"\w+", f"{each.value} {each.value.replace('-', '_')}")
    }


def test_every_module_is_imported_or_named_in_a_table_of_late_imports() -> None:
    graph = grimp.build_graph("axe_lsp", cache_dir=None)
    files = {
        name: path
        for name in graph.modules
        if (path := PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")).exists()
    }
    words = {path: words_of_strings(path) for path in PACKAGE.rglob("*.py")}
    unused = [
        name
        for name, path in sorted(files.items())
        if not graph.find_modules_that_directly_import(name)
        and not any(
            name.rpartition(".")[2] in found for other, found in words.items() if other != path
        )
    ]
    assert not unused, f"nothing imports or registers {unused}"


@pytest.mark.parametrize("name", modules_in("features/rules"))
def test_every_rule_is_in_the_list_of_rules(name: str) -> None:
    rule = getattr(import_module(f"axe_lsp.features.rules.{name}"), "RULE", None)
    assert rule is None or rule in RULES, f"add {name} to the list in features/rules/__init__.py"


@pytest.mark.parametrize("name", modules_in("runtime/tools"))
def test_every_tool_is_in_the_tables_of_tools(name: str) -> None:
    if "\nTOOL = " not in (PACKAGE / f"runtime/tools/{name}.py").read_text("utf-8"):
        return
    assert name in TOOLS, f"add a row for {name} to agentfile/schema/tools.py"


@pytest.mark.parametrize("name", TOOLS)
def test_row_of_a_tool_agrees_with_its_module(name: str) -> None:
    row, tool = TOOLS[name], BUILTIN_TOOLS[name]
    assert tool.definition.name == name
    assert tuple(tool.definition.parameters) == row.arguments, "`arguments` of the row"
    assert (tool.rehearse is not None) == (row.effect == "changes"), "`effect` of the row"


@pytest.mark.parametrize("name", Params.__struct_fields__)
def test_each_parameter_of_agent_files_is_sent_by_some_wire(name: str) -> None:
    """`tests/runtime/providers/test_claimed_params.py` shows that what is claimed here is sent."""
    assert AGENT.find(("params", name)) is not None, "add a row to agent_keys.py"
    assert any(name in traits.params for traits in WIRES.values()), (
        f"add a row for {name} to PARAMS in agentfile/schema/providers.py"
    )


@pytest.mark.parametrize("spec", PARAMS, ids=lambda spec: spec.name)
def test_row_of_a_parameter_names_a_field_of_agents_and_wires(spec: ParamSpec) -> None:
    assert spec.name in Params.__struct_fields__, "add a field to agentfile/agent_definition.py"
    assert spec.fields.keys() <= WIRES.keys()


def test_vs_code_stores_the_key_of_every_provider_that_needs_one() -> None:
    table = (ROOT / "vscode-extension" / "src" / "apiKeys.ts").read_text("utf-8")
    for provider in PROVIDERS.values():
        if provider.needs_key:
            assert f"'{provider.key_variable}'" in table, (
                f"add {provider.key_variable} to KEY_VARIABLES in vscode-extension/src/apiKeys.ts"
            )


def test_the_page_about_providers_names_each() -> None:
    page = (ROOT / "docs" / "providers.md").read_text("utf-8")
    for name in PROVIDERS:
        assert f"`{name}`" in page or f"{name}/" in page, (
            f"add a row for {name} to docs/providers.md"
        )


KEYS_OF_AXE = """
    allowed_hosts artifacts artifacts.default_write artifacts.dir artifacts.enabled budget
    budget.max_tokens description files mcp_servers mcp_servers.headers mcp_servers.name
    mcp_servers.transport mcp_servers.url memory memory.enabled memory.last_n memory.max_entries
    memory.path model name params params.max_tokens params.response_format
    params.response_format.schema params.response_format.type params.temperature retry retry.backoff
    retry.initial_delay_ms retry.max_delay_ms retry.max_retries skill stream sub_agents
    sub_agents_config sub_agents_config.max_depth sub_agents_config.parallel
    sub_agents_config.timeout system_prompt timeout tools workdir
"""
TOOLS_OF_AXE = "read_file list_directory write_file edit_file run_command url_fetch web_search"
PROVIDERS_OF_AXE = """
    anthropic openai ollama google openrouter minimax opencode bedrock requesty atlascloud edenai
"""


def test_what_axe_lacks_is_marked_as_an_extension() -> None:
    """Else `not-axe` is silent about it. What a new version of axe knows is added here."""
    known = [
        spec.dotted
        for spec in AGENT.keys
        if not any(AGENT.key(spec.path[:end]).is_extension for end in range(1, len(spec.path) + 1))
    ]
    keys = set(known) - set(KEYS_OF_AXE.split())
    assert not keys, f"add `since=EXTENSION` to these keys, unless axe has them: {keys}"
    own_tools = {name for name, tool in TOOLS.items() if not tool.is_extension}
    tools = own_tools - set(TOOLS_OF_AXE.split())
    assert not tools, f"add `is_extension=True` to their rows, unless axe has them: {tools}"
    providers = set(PROVIDERS) - set(PROVIDERS_OF_AXE.split())
    assert not providers, f"`_refusal` in check/axe.py takes axe to know {providers}"


SERVER = AxeServer(Daemon()).protocol.fm


@pytest.mark.parametrize("method", sorted(SERVER.features))
def test_the_protocol_page_names_every_method(method: str) -> None:
    """Those of ours have a section, those of LSP a row."""
    if method.startswith("axe/"):
        assert f"\n### `{method}`\n" in PROTOCOL, f"docs/protocol.md has no section `{method}`"
    elif method != "initialized":
        assert f"`{method}`" in PROTOCOL, f"docs/protocol.md does not name {method}"


@pytest.mark.parametrize("command", sorted(SERVER.commands))
def test_the_protocol_page_names_every_command(command: str) -> None:
    row = next(line for line in PROTOCOL.splitlines() if line.startswith("| commands |"))
    assert f"`{command}`" in row, f"docs/protocol.md does not name {command} under commands"
