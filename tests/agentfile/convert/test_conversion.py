"""Conversions between the formats: nothing widens, nothing is lost in silence, prompts stay as they are."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tomli
import tomli_w
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.agent_definition import load
from axe_lsp.agentfile.codex_agent import codex_objection
from axe_lsp.agentfile.convert.axe import AXE
from axe_lsp.agentfile.convert.codex import CODEX
from axe_lsp.agentfile.convert.conversion import FORMATS, Converted, convert, format_of, stem_of
from axe_lsp.agentfile.convert.intermediate import READING, ConversionError, NoteKind
from axe_lsp.agentfile.schema.tools import TOOLS
from axe_lsp.agentfile.vibe_agent import vibe_objection

OTHERS = [each for each in FORMATS.values() if each is not AXE]
TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\"'\\\n\r\t#-"))
)
AGENTS = st.fixed_dictionaries(
    {"model": st.sampled_from(["openai/gpt-6", "anthropic/claude-opus-5", "google/gemini-3"])},
    optional={
        "description": TEXT,
        "system_prompt": TEXT,
        "tools": st.lists(st.sampled_from(list(TOOLS)), unique=True),
        "timeout": st.integers(0, 3).map(lambda each: each * 60),
        "params": st.fixed_dictionaries(
            {"effort": st.sampled_from(["low", "max"])}, optional={"temperature": st.floats(0, 2)}
        ),
        "budget": st.fixed_dictionaries({"max_turns": st.integers(0, 50)}),
    },
)


def to(
    name: str, text: str, *, source: str = "axe", stem: str = "it", model: str = ""
) -> Converted:
    return convert(text, stem, FORMATS[source], FORMATS[name], model)


def lost(result: Converted) -> dict[str, str]:
    return {note.key: note.text for note in result.notes if note.kind is NoteKind.LOST}


def values_of(result: Converted) -> dict[str, Any]:
    """Return what a real parser reads."""
    if result.file_name.endswith(".toml"):
        return tomli.loads(result.text)
    match = re.fullmatch(r"(?s)---(\r?\n.*?)\n---\r?\n\r?\n(.*)", result.text)
    assert match is not None
    return {**yaml.safe_load(match[1]), "": match[2]}


@pytest.mark.parametrize("other", [each.name for each in OTHERS])
@given(values=AGENTS)
@example(values={"model": "openai/gpt-6", "system_prompt": "\n---\n\n"})
@example(values={"model": "openai/gpt-6", "system_prompt": "\r\n'''\"\"\"\\"})
@example(values={"model": "openai/gpt-6", "tools": ["run_command"]})
def test_a_round_trip_keeps_what_the_other_format_has(other: str, values: dict[str, Any]) -> None:
    values = {"name": "it", **values}
    there = to(other, tomli_w.dumps(values))
    exported = values_of(there)
    if other == "codex":
        assert codex_objection(exported, {}, is_declared=False) == ""
    if other == "vibe":
        assert vibe_objection(exported) == ""
    back = to("axe", there.text, source=other)
    now = tomli.loads(back.text)
    assert back.file_name == "it.toml"
    keys = FORMATS[other].keys
    prompt = values.get("system_prompt", "")
    if prompt.strip() or other != "codex":
        assert now.get("system_prompt", "") == prompt
    if values.get("description", "").strip():
        assert now["description"] == values["description"]
    for part, field, name in (("params", "effort", "effort"), ("budget", "max_turns", "max_turns")):
        if name in keys:
            assert now.get(part, {}).get(field) == (values.get(part, {}).get(field) or None)
    if "timeout" in keys:
        assert now.get("timeout", 0) == values.get("timeout", 0)
    before, after = set(values.get("tools", [])), set(now.get("tools", []))
    assert after - before <= (
        READING if other != "codex" else READING | {"write_file", "edit_file"}
    )
    assert "run_command" not in after - before


@pytest.mark.parametrize("other", [each.name for each in OTHERS])
def test_agent_without_tools_has_none_in_any_format(other: str) -> None:
    result = to(other, 'name = "it"\nmodel = "openai/x"\nsystem_prompt = "Go."')
    values = values_of(result)
    if other == "codex":
        assert values["features"] == {"shell_tool": False}
        assert values["sandbox_mode"] == "read-only"
        assert "# axe: ignore[no-effect]" in result.text
        assert any("can't be kept from patching" in note.text for note in result.notes)
    elif other == "vibe":  # Where an empty list would mean all tools.
        assert values["disabled_tools"] == ["*"]
    elif other == "opencode":
        assert values["permission"] == {"*": "deny"}
    else:
        assert values["tools"] == []


@pytest.mark.parametrize("other", [each.name for each in OTHERS])
def test_every_key_of_a_file_is_kept_or_reported(other: str) -> None:
    text = (
        'name = "it"\nmodel = "ollama/x"\nfiles = ["a"]\nworkdir = "."\nskill = "s"\ntype = "explore"\n'
        'allowed_hosts = ["a.b"]\nsub_agents = ["x"]\ntools = ["url_fetch", "list_directory", "nonsense"]\n'
        '[memory]\nenabled = true\n[params]\ntop_p = 0.5\neffort = "none"\n[retry]\nmax_retries = 1\n'
        '[[mcp_servers]]\nname = "s"\nurl = "https://x"\ntransport = "sse"\n[budget]\nmax_tokens = 5\n'
    )
    result = to(other, text)
    said = {note.key for note in result.notes} | set(result.kept)
    for key in (
        "files",
        "workdir",
        "skill",
        "allowed_hosts",
        "memory",
        "retry",
        "budget.max_tokens",
    ):
        assert key in said
    assert {"params.top_p", "tools: nonsense", "model", "sub_agents"} <= said
    assert "url_fetch" not in result.text
    assert "WebFetch" not in result.text


CLAUDE = """\
---
name: Code Reviewer
description: Use it when: code was written.\\n<example>Context: x</example>
# What it may do
tools: Read, Grep, Bash(git:*), mcp__docs__search, Agent(first one, second)
model: sonnet
maxTurns: 80
color: red
hooks:
  PreToolUse:
    - matcher: Bash
---

Review with `\\d`.
"""


def test_an_agent_of_claude_code_becomes_one_of_axe() -> None:
    result = to("axe", CLAUDE, source="claude")
    assert result.file_name == "code-reviewer.toml"
    assert result.text == (
        'name = "code-reviewer"\n'
        'description = """\nUse it when: code was written.\n<example>Context: x</example>"""\n'
        'model = "anthropic/claude-sonnet-5-5"\n'
        "# What it may do\n"
        'tools = ["read_file", "grep"]\n'
        'sub_agents = ["first-one", "second"]\n'
        "system_prompt = '''\nReview with `\\d`.\n'''\n"
        "\n[budget]\nmax_turns = 50\n"
    )
    assert {"tools: Bash(git:*)", "tools: mcp__docs__search", "color", "hooks"} <= set(lost(result))
    mapped = {note.key for note in result.notes if note.kind is NoteKind.MAPPED}
    assert {"name", "model", "maxTurns", "tools"} <= mapped
    assert load(result.text).tools == ("read_file", "grep")


@pytest.mark.parametrize(
    ("keys", "tools"),
    [
        (
            "",
            {
                "read_file",
                "write_file",
                "edit_file",
                "run_command",
                "grep",
                "find_files",
                "url_fetch",
                "web_search",
            },
        ),
        ("tools: []", set()),
        ("tools:", set()),
        (
            "disallowedTools: Bash, Write, Edit, WebFetch, WebSearch",
            {"read_file", "grep", "find_files"},
        ),
        ("tools: Read, Bash\ndisallowedTools: Bash(rm:*)", {"read_file"}),
        ("tools: Read, Bash, Edit\npermissionMode: plan", {"read_file"}),
        ("tools:\n  - Read\n  - Task", {"read_file"}),
        ("tools:\n  - Bash(*)", {"run_command"}),
    ],
)
def test_conversion_from_claude_code_never_adds_tools(keys: str, tools: set[str]) -> None:
    text = f"---\nname: a\ndescription: d\n{keys}\n---\nGo."
    assert set(tomli.loads(to("axe", text, source="claude").text).get("tools", [])) == tools


@pytest.mark.parametrize(
    ("listed", "tools"),
    [
        ("[read, EDIT, Bash]", {"read_file", "write_file", "edit_file", "run_command"}),
        ("read, search/textSearch, runTests", {"read_file", "grep"}),
        ("['edit/editFiles', 'execute/runInTerminal']", {"edit_file", "run_command"}),
        ("[]", set()),
        ("['*']", {name for name, row in TOOLS.items() if row.in_globs} - {"list_directory"}),
    ],
)
def test_tools_of_copilot_are_read_by_alias_and_without_case(listed: str, tools: set[str]) -> None:
    text = f"---\ndescription: d\ntools: {listed}\n---\nGo."
    assert set(tomli.loads(to("axe", text, source="copilot").text).get("tools", [])) == tools


@pytest.mark.parametrize(
    ("keys", "tools"),
    [
        ("permission: deny", ""),
        ("permission: {edit: deny, bash: ask, webfetch: deny, websearch: deny}", "r run_command"),
        ("permission: {'*': deny, read: allow}", "read_file"),
        ("permission: {read: allow, '*': deny}", ""),  # The last rule that matches counts.
        ("permission: {'*': deny, write: allow}", ""),  # No tool asks for `write`.
        ("tools: {'*': false, write: true}", "write_file edit_file"),
        ("tools: {bash: true}\npermission: {'*': deny, bash: deny}", ""),
        ("permission: {'*': deny, bash: {'*': ask, 'rm *': deny}}", ""),
        ("permission: {'*': deny, bash: {'*': ask, 'git *': allow}}", "run_command"),
    ],
)
def test_tools_of_opencode_are_those_that_no_rule_denies(keys: str, tools: str) -> None:
    result = to("axe", f"---\ndescription: d\n{keys}\n---\nGo.", source="opencode")
    reading = "read_file list_directory grep find_files"
    meant = set(tools.replace("r ", f"{reading} ").split())
    assert set(values_of(result).get("tools", [])) == meant


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ('sandbox_mode = "read-only"', READING),
        ("[features]\nshell_tool = false", READING | {"write_file", "edit_file"}),
        ("", READING | {"write_file", "edit_file", "run_command"}),
    ],
)
def test_tools_of_a_codex_agent_follow_from_what_it_switches_off(
    text: str, tools: set[str]
) -> None:
    file = f'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n{text}'
    assert set(tomli.loads(to("axe", file, source="codex").text)["tools"]) == tools


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        (
            "",
            {
                "read_file",
                "list_directory",
                "grep",
                "find_files",
                "write_file",
                "edit_file",
                "run_command",
            },
        ),
        (
            'enabled_tools = ["gr*", "re:.*file"]',
            {"read_file", "list_directory", "grep", "find_files", "write_file"},
        ),
        ('disabled_tools = ["*"]', set()),
        ('enabled_tools = ["bash", "edit"]\n[tools.bash]\npermission = "never"', {"edit_file"}),
    ],
)
def test_tools_of_a_vibe_agent_are_those_of_a_run(text: str, tools: set[str]) -> None:
    result = to("axe", f'instructions = "Go."\n{text}', source="vibe")
    assert set(tomli.loads(result.text).get("tools", [])) == tools


def test_the_model_of_a_vibe_agent_comes_with_its_parameters() -> None:
    text = (
        'active_model = "m"\nsafety = "safe"\nbypass_tool_permissions = true\n'
        '[[models]]\nname = "big"\nprovider = "mistral"\nalias = "m"\ntemperature = 0.2\nthinking = "high"\n'
    )
    result = to("axe", text, source="vibe")
    values = tomli.loads(result.text)
    assert values["model"] == "mistral/big"
    assert values["params"] == {"effort": "high", "temperature": 0.2}
    assert {"safety", "bypass_tool_permissions"} <= set(lost(result))


@pytest.mark.parametrize("listed", [False, True])
def test_a_server_of_vibe_is_kept_if_no_list_of_tools_may_limit_it(listed: bool) -> None:
    head = 'enabled_tools = ["docs_search"]\n' if listed else ""
    server = '[[mcp_servers]]\nname = "docs"\ntransport = "http"\nurl = "https://x"\n'
    result = to("axe", head + server, source="vibe")
    assert ("mcp_servers" in tomli.loads(result.text)) is not listed
    assert ("mcp_servers.docs" in lost(result)) is listed


def test_a_vibe_agent_that_vibe_refuses_is_not_converted() -> None:
    with pytest.raises(ConversionError, match="safety"):
        to("axe", 'safety = "reckless"', source="vibe")


def test_a_codex_agent_gets_what_codex_requires() -> None:
    result = to("codex", 'name = "it"\nmodel = "openai/gpt-6"\nsystem_prompt = "Go."')
    values = values_of(result)
    assert (values["name"], values["description"], values["model"]) == (
        "it",
        "The agent it",
        "gpt-6",
    )
    assert ("description", NoteKind.ADDED) in [(note.key, note.kind) for note in result.notes]


def test_a_model_that_a_file_does_not_name_can_be_given() -> None:
    codex = 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"'
    assert 'model = "provider/model-name"' in to("axe", codex, source="codex").text
    given = to("axe", codex, source="codex", model="openai/x")
    assert 'model = "openai/x"' in given.text
    assert ("model", NoteKind.ADDED) in [(note.key, note.kind) for note in given.notes]


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("Claude Sonnet 4.5 (copilot)", "anthropic/claude-sonnet-4-5"),
        ("GPT-5.2", "openai/gpt-5.2"),
        ("['GPT-5 mini', 'x']", "openai/gpt-5-mini"),
        ("Auto", "provider/model-name"),
    ],
)
def test_models_of_copilot_are_recognised_by_their_family(model: str, meant: str) -> None:
    text = f"---\ndescription: d\nmodel: {model}\n---\nGo."
    assert tomli.loads(to("axe", text, source="copilot").text)["model"] == meant


def test_a_server_is_converted_whole_or_not_at_all() -> None:
    text = (
        "---\nname: a\ndescription: d\nmcpServers:\n  - github\n  - docs:\n      type: http\n      url: https://x\n"
        "      headers: {Authorization: 'Bearer ${T}'}\n  - local:\n      command: npx\n---\nGo."
    )
    result = to("axe", text, source="claude")
    assert "mcpServers" in result.kept
    assert tomli.loads(result.text)["mcp_servers"] == [
        {
            "name": "docs",
            "url": "https://x",
            "transport": "streamable-http",
            "headers": {"Authorization": "Bearer ${T}"},
        },
        {"name": "local", "command": "npx"},
    ]
    assert "mcpServers: github" in lost(result)
    assert not any("Bearer" in note.text for note in result.notes)
    limited = (
        'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n'
        '[mcp_servers.s]\nurl = "https://x"\nenabled_tools = ["a"]'
    )
    assert "mcp_servers.s" in lost(to("axe", limited, source="codex"))


@pytest.mark.parametrize(
    ("lines", "table"),
    [
        (
            'command = "uvx"\nargs = ["s"]\nenv = {A = "1"}\ncwd = "sub"\nenv_vars = ["B"]',
            {
                "command": "uvx",
                "args": ["s"],
                "env": {"A": "1"},
                "cwd": "sub",
                "pass_env": ["B"],
            },
        ),
        (
            'command = "uvx"\nenv_vars = [{name = "B", source = "local"}, {name = "C"}]',
            {"command": "uvx", "pass_env": ["B", "C"]},
        ),
        (
            'url = "https://x"\nenv_http_headers = {X-Key = "K"}\nhttp_headers = {A = "1"}',
            {
                "url": "https://x",
                "transport": "streamable-http",
                "headers": {"A": "1", "X-Key": "${K}"},
            },
        ),
        ('command = "./tool"', None),
        ('command = "uvx"\ncwd = "../x"', None),
        ('command = "uvx"\nargs = [1]', None),
        ('command = "uvx"\nenv_vars = [{name = "B", source = "remote"}]', None),
        ('command = "uvx"\nenabled_tools = ["a"]', None),
    ],
)
def test_a_server_that_is_a_command_is_converted(lines: str, table: dict[str, Any] | None) -> None:
    text = f'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n[mcp_servers.s]\n{lines}'
    result = to("axe", text, source="codex")
    servers = tomli.loads(result.text).get("mcp_servers", [])
    assert servers == ([{"name": "s", **table}] if table else [])
    assert ("mcp_servers.s" in lost(result)) is (table is None)


def test_a_key_that_limits_nothing_is_reported_and_does_not_keep_a_server_back() -> None:
    text = (
        'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n[mcp_servers.s]\n'
        'command = "npx"\ntool_timeout_sec = 60'
    )
    result = to("axe", text, source="codex")
    assert tomli.loads(result.text)["mcp_servers"] == [{"name": "s", "command": "npx"}]
    assert "mcp_servers.s.tool_timeout_sec" in lost(result)


@pytest.mark.parametrize(
    ("lines", "table"),
    [
        (
            "startup_timeout_sec = 60.0\nrequired = false",
            {"required": False, "startup_timeout": 60},
        ),
        ("startup_timeout_ms = 5_000\nrequired = true", {"startup_timeout": 5}),
    ],
)
def test_the_start_of_a_server_is_converted_from_codex(lines: str, table: dict[str, Any]) -> None:
    text = (
        'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n[mcp_servers.s]\n'
        f'command = "npx"\n{lines}'
    )
    result = to("axe", text, source="codex")
    assert tomli.loads(result.text)["mcp_servers"] == [{"name": "s", "command": "npx", **table}]
    assert not [each for each in lost(result) if "mcp_servers" in each]


@pytest.mark.parametrize(("target", "kind"), [("claude", "stdio"), ("copilot", "local")])
def test_a_server_that_is_a_command_goes_to_other_tools(target: str, kind: str) -> None:
    text = (
        'name = "a"\nmodel = "anthropic/claude-opus-5"\ndescription = "d"\n'
        '[[mcp_servers]]\nname = "s"\ncommand = "uvx"\nargs = ["x"]\npass_env = ["B"]'
    )
    result = to(target, text)
    assert f"type: {kind}" in result.text
    assert "command: uvx" in result.text
    assert any("`pass_env` of s has no counterpart" in note.text for note in result.notes)


@pytest.mark.parametrize(
    ("tools", "is_kept"),
    [
        ("tools: Read, mcp__docs", True),
        ("tools: Read, mcp__docs__*", True),
        ("tools: Read", False),
        ("tools: Read, mcp__docs__search", False),
        ("", True),
        ("disallowedTools: mcp__docs__delete", False),
        ("disallowedTools: mcp__*", False),
        ("disallowedTools: mcp__other", True),
    ],
)
def test_a_server_is_kept_only_if_the_agent_may_use_all_of_it(tools: str, is_kept: bool) -> None:
    text = f"---\nname: a\ndescription: d\n{tools}\nmcpServers:\n  docs: {{type: http, url: https://x}}\n---\nGo."
    result = to("axe", text, source="claude")
    assert ("mcp_servers" in tomli.loads(result.text)) is is_kept
    assert ("mcpServers.docs" in lost(result)) is not is_kept
    assert "tools: mcp__docs" not in lost(result)


def test_tool_that_starts_any_agent_is_reported_as_lost() -> None:
    text = "---\ndescription: d\ntools: [read, agent]\n{}---\nGo."
    assert "tools: agent" in lost(to("axe", text.format(""), source="copilot"))
    listed = to("axe", text.format("agents: [A b]\n"), source="copilot")
    assert tomli.loads(listed.text)["sub_agents"] == ["a-b"]
    assert "tools: agent" not in lost(listed)


def test_servers_of_axe_stay_usable_in_claude_code() -> None:
    text = (
        'name = "a"\nmodel = "anthropic/claude-opus-5"\n'
        '[[mcp_servers]]\nname = "docs"\nurl = "https://x"\ntransport = "sse"\nheaders = { K = "v" }'
    )
    values = values_of(to("claude", text))
    assert values["tools"] == "mcp__docs"
    assert values["mcpServers"] == [
        {"docs": {"type": "sse", "url": "https://x", "headers": {"K": "v"}}}
    ]


def test_comments_stay_with_their_keys() -> None:
    text = '# Who\nname = "it"\nmodel = "openai/gpt-6" # fast\n# Gone\nworkdir = "."\nsystem_prompt = "Go."\n# End\n'
    assert to("codex", text).text.splitlines()[:5] == [
        "# Who",
        'name = "it"',
        'description = "The agent it"',
        "# fast",
        'model = "gpt-6"',
    ]
    assert to("codex", text).text.endswith("# Gone\n# End\n")
    assert "# fast" in to("gemini", text).text


@pytest.mark.parametrize(
    ("source", "text", "line"),
    [
        ("axe", 'name = "a"\nmodel = ', 2),
        ("claude", "Just text", 1),
        ("claude", "---\nname: a\n", 1),
        ("claude", "---\nname: a\nwords\n---\n", 3),
        ("gemini", "---\nname: a\nkind: remote\n---\n", 0),
    ],
)
def test_unreadable_file_is_reported_with_its_line(source: str, text: str, line: int) -> None:
    with pytest.raises(ConversionError) as caught:
        to("axe" if source != "axe" else "codex", text, source=source)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("path", "name", "stem"),
    [
        ("p/.claude/agents/deep/a.md", "claude", "a"),
        ("p/.github/agents/a.agent.md", "copilot", "a"),
        ("p/.github/agents/a.md", "copilot", "a"),
        ("p/.gemini/agents/a.md", "gemini", "a"),
        ("p/.codex/agents/a.toml", "codex", "a"),
        (".vibe/agents/a.toml", "vibe", "a"),
        ("axe/agents/a.toml", "axe", "a"),
        ("x/b.md", "claude", "b"),
    ],
)
def test_the_format_of_a_file_follows_from_its_place(path: str, name: str, stem: str) -> None:
    assert (format_of(path).name, stem_of(path)) == (name, stem)


def test_toml_elsewhere_is_codex_by_its_own_key() -> None:
    assert format_of("x/a.toml", 'developer_instructions = "x"') is CODEX


@given(
    description=TEXT.filter(str.strip),
    body=TEXT,
    other=st.sampled_from(["claude", "gemini", "copilot"]),
)
def test_conversion_to_axe_and_back_keeps_the_file(description: str, body: str, other: str) -> None:
    front = yaml.safe_dump(
        {"name": "it", "description": description, "tools": []}, allow_unicode=False
    )
    axe = to("axe", f"---\n{front}---\n\n{body}", source=other)
    values = values_of(to(other, axe.text))
    assert values["description"] == description
    assert values[""].endswith(body)
    assert values["tools"] == []


def test_a_worktree_of_claude_code_is_a_copy_whose_changes_are_kept() -> None:
    source = "---\nname: it\ndescription: d\nisolation: worktree\n---\n\nDo it.\n"
    result = to("axe", source, source="claude", model="anthropic/m")
    assert values_of(result)["isolation"] == {"mode": "copy", "changes": "keep"}
    assert "isolation" in {note.key for note in result.notes if note.kind is NoteKind.MAPPED}

    other = to("axe", source.replace("worktree", "remote"), source="claude", model="anthropic/m")
    assert "isolation" not in values_of(other)
    assert lost(other) == {"isolation": "only `worktree` has a counterpart"}


def test_a_copy_is_a_worktree_of_claude_code_and_nothing_elsewhere() -> None:
    head = 'name = "it"\nmodel = "anthropic/m"\ndescription = "d"\nsystem_prompt = "p"\n'
    copy = f'{head}[isolation]\nmode = "copy"\nchanges = "apply"\n'
    result = to("claude", copy)
    assert values_of(result)["isolation"] == "worktree"
    assert not lost(result)
    assert "isolation" in lost(to("gemini", copy))

    process = to("claude", f'{head}[isolation]\nmode = "process"\n')
    assert "isolation" not in values_of(process)
    assert "isolation" in lost(process)


def test_the_default_of_a_copy_is_not_written() -> None:
    head = 'name = "it"\nmodel = "anthropic/m"\n'
    result = to("axe", f'{head}[isolation]\nmode = "copy"\nchanges = "ask"\n')
    assert values_of(result)["isolation"] == {"mode": "copy"}


def test_comment_that_suppresses_diagnostic_is_not_converted() -> None:
    text = """name = "a"
# Answers.
description = "b" # axe: ignore[name-mismatch]
model = "openai/x"
system_prompt = "c"
"""
    result = to("claude", text)
    assert "# Answers." in result.text
    assert "axe: ignore" not in result.text


def test_background_agent_of_claude_code_is_said_to_be_waited_for() -> None:
    source = "---\nname: it\ndescription: d\nbackground: true\n---\n\nDo it.\n"
    reason = "a caller waits for the agent, unless its own file has `sub_agents_config.background`"
    assert lost(to("axe", source, source="claude", model="anthropic/m")) == {"background": reason}
    waited_for = source.replace("true", "false")
    assert lost(to("axe", waited_for, source="claude", model="anthropic/m")) == {}
