"""What is said about things that lie outside the file, once somebody has looked."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.rights import Reach
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.workspace.facts import KnownServer, Matches, ProviderKey, Recording, SeenTool, Unready
from support.facts import found, matched, with_facts
from support.findings import check_findings
from support.fixture import open_fixture
from support.growth import calls_of

GONE = found("/home/user/.config/axe/skills/x.md", exists=False)
HERE = found("/project")


def codes(text: str, **facts: Any) -> list[str]:
    opened = with_facts(open_fixture(text), **facts)
    found_ = diagnostics(opened.snapshot, opened.file)
    return [each.code for each in found_ if each.code != "missing-key"]


def test_a_skill_that_does_not_exist() -> None:
    check_findings(
        """
        skill = "skills/x.md"
                ^^^^^^^^^^^^^ warning missing-file: skill not found: /home/user/.config/axe/skills/x.md; a relative path starts at the folder of axe's configuration
        """,
        facts={"skill": GONE},
    )
    check_findings(
        """
        skill = "$HOME/x.md"
                ^^^^^^^^^^^^ warning missing-file: skill not found: /home/user/.config/axe/skills/x.md
        """,
        facts={"skill": GONE},
    )
    assert codes('skill = "x.md"', skill=found("/x.md")) == []


def test_a_skill_that_is_not_as_it_should_be() -> None:
    check_findings(
        """
        skill = "review"
                ^^^^^^^^ warning bad-skill: skill /home/user/.config/axe/skills/x.md: it is a folder
        """,
        facts={"skill": GONE, "skill_fault": "it is a folder"},
    )
    opened = with_facts(open_fixture('skill = "x"'), skill=HERE, skill_fault="it is empty, …")
    edited = opened.file.question
    assert opened.snapshot.facts_about(opened.file).skill_fault
    other = replace(edited, skill="y")
    assert not opened.snapshot.facts[opened.file.uri].as_far_as_true(other).skill_fault


def test_a_working_directory_that_does_not_exist_and_nothing_about_its_globs() -> None:
    check_findings(
        """
        workdir = "sub"
                  ^^^^^ warning missing-file: there is no folder /project/sub, so a run finds no files
        files = ["*"]
        """,
        facts={"folder": found("/project/sub", exists=False), "matches": {"*": Matches()}},
    )


def test_nothing_is_said_about_folders_that_depend_on_where_an_agent_is_run() -> None:
    text = 'workdir = "sub"\nfiles = ["*"]'
    gone, here = found("/sub", exists=False), found("/sub")
    nothing = {"*": Matches()}
    assert codes(text, folder=gone, is_certain=False) == []
    assert codes(text, folder=here, matches=nothing, is_certain=False) == []
    assert codes(text, folder=here, matches=nothing) == ["empty-glob"]


def test_a_recording_that_was_never_made() -> None:
    check_findings(
        """
        model = "replay/tour"
                ^^^^^^^^^^^^^ warning missing-file: recording "tour" not found (looked for tour.toml in /a, /b)
        """,
        head='name = "main"\n',
        facts={"recording": Recording(("/a", "/b"))},
    )
    assert codes('model = "replay/tour"', recording=Recording(("/a",), "file:///a/t.toml")) == []


def test_globs_that_match_nothing() -> None:
    check_findings(
        """
        files = ["src/*.py", "doc/*.md"]
                             ^^^^^^^^^^ information empty-glob: "doc/*.md" matches no text file in /project
        """,
        facts={
            "folder": HERE,
            "matches": {"src/*.py": matched(("src/a.py", 3)), "doc/*.md": Matches()},
        },
    )


@pytest.mark.parametrize(
    ("model", "is_told"),
    [
        ("ollama/gpt-oss:20b", True),
        ("ollama/llama3.1:8b", True),
        ("openrouter/meta-llama/llama-3.1-8b-instruct", True),
        ("openrouter/openai/o3-mini-high", True),
        ("openai/gpt-4-0613", True),
        ("openai/gpt-4o", False),
        ("openai/gpt-4.1", False),
        ("ollama/llama3.2-vision", False),
        ("ollama/qwen3-vl:8b", False),
        ("ollama/gemma3", False),
        ("anthropic/claude-opus-5", False),
    ],
)
def test_pictures_for_a_model_that_reads_text_only(model: str, is_told: bool) -> None:
    matches = {"docs/*": replace(matched(("docs/a.md", 1)), picture="docs/b.png")}
    text = f'model = "{model}"\nfiles = ["docs/*"]'
    expected = ["unread-picture"] if is_told else []
    found_ = codes(text, folder=HERE, matches=matches)
    assert [each for each in found_ if each not in ("name-mismatch", "ending-model")] == expected


def test_a_picture_for_a_model_that_reads_text_only_is_named() -> None:
    picture = {"*": replace(matched(), count=1, picture="b.png")}
    check_findings(
        """
        files = ["*"]
                 ^^^ warning unread-picture: "*" matches b.png, and the model reads text only
        """,
        head='name = "main"\nmodel = "ollama/gpt-oss"\n',
        facts={"folder": HERE, "matches": picture},
    )
    picture = {"b.png": replace(matched(), count=1, picture="b.png")}
    check_findings(
        """
        files = ["b.png"]
                 ^^^^^^^ warning unread-picture: "b.png" is a picture, and the model reads text only
        """,
        head='name = "main"\nmodel = "ollama/gpt-oss"\n',
        facts={"folder": HERE, "matches": picture},
    )


def test_incomplete_search_reports_no_empty_glob() -> None:
    given_up = {"**/*.md": matched(is_complete=False)}
    assert codes('files = ["**/*.md"]', folder=HERE, matches=given_up) == []


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (ProviderKey("openai", "OPENAI_API_KEY"), ["missing-api-key"]),
        (ProviderKey("openai", "OPENAI_API_KEY", origin="config.toml"), []),
        (ProviderKey("ollama", "OLLAMA_API_KEY", is_needed=False), []),
    ],
)
def test_missing_api_key_depends_on_the_key_fact(key: ProviderKey, expected: list[str]) -> None:
    assert codes('model = "openai/gpt"', key=key) == expected


def test_a_missing_key_says_where_it_belongs() -> None:
    check_findings(
        """
        model = "openai/gpt"
                ^^^^^^^^^^^^ information missing-api-key: no API key for provider "openai": set OPENAI_API_KEY in the environment, or api_key in config.toml
        """,
        head='name = "main"\n',
        facts={"key": ProviderKey("openai", "OPENAI_API_KEY")},
    )


def test_no_finding_about_files_before_they_are_looked_up() -> None:
    check_findings('skill = "x"\nfiles = ["*"]\nworkdir = "y"\n')


def test_a_comment_that_silences_is_not_called_unused_before_somebody_has_looked() -> None:
    text = 'skill = "x"  # axe: ignore[missing-file]\n'
    check_findings(text)
    check_findings(text, facts={"skill": GONE})
    assert codes(text, skill=found("/x")) == ["unused-ignore"]


def test_a_provider_that_config_toml_adds_is_known() -> None:
    known = ProviderKey("mine", "MINE_API_KEY", "openai-chat", "$MINE_API_KEY")
    head = 'name = "main"\nmodel = "mine/m"\n'
    check_findings("", head=head, facts={"key": known, "named_providers": ("mine",)})
    (finding,) = check_findings(
        """
        model = "mien/m"
                ^^^^^^^^ error unknown-provider: unsupported provider "mien". Did you mean `mine`?
        """,
        head='name = "main"\n',
        facts={"named_providers": ("mine",)},
    )
    assert finding.suggestion == "mine"


def test_parameters_that_the_provider_does_not_have() -> None:
    check_findings(
        """
        [params]
        temperature = 0.5
        num_ctx = 5
        ^^^^^^^ warning unused-param: params.num_ctx is not sent: mine has no such parameter
        top_k = 3
        """,
        facts={"key": ProviderKey("mine", "MINE_API_KEY", "anthropic", "$MINE_API_KEY")},
    )


def test_a_server_that_a_run_could_not_connect() -> None:
    check_findings(
        """
        [[mcp_servers]]
        name = "git"
        command = "uvx"
                  ^^^^^ warning unready-server: program "uvx" is not on the PATH
                  ^^^^^ information unready-server: a run needs environment variables that are not set here: $A, $B

        [[mcp_servers]]
        name = "web"
        url = "http://x"
        transport = "sse"
        """,
        facts={"unready": (Unready(0, "uvx", ("A", "B")),)},
    )


def test_a_denied_tool_that_no_server_had() -> None:
    check_findings(
        """
        [tool_policy]
        deny = ["write_file", "git_*", "git_stauts", "x_*", "Write"]
                                       ^^^^^^^^^^^^ information unseen-tool: "git_stauts": no MCP server of this file had such a tool when a run last saw its tools. Did you mean `git_status`?
                                                     ^^^^^ information unseen-tool: "x_*": no MCP server of this file had such a tool when a run last saw its tools
        [[mcp_servers]]
        name = "git"
        command = "uvx"
        """,
        facts={"servers": (KnownServer(tools=(SeenTool("git_status", ""),)),)},
    )


def test_of_a_thousand_denied_tools_some_are_compared_with_those_that_were_seen() -> None:
    """To compare all takes many seconds."""
    denied = [f"git_stauts_{number:04d}" for number in range(1000)]
    tools = tuple(SeenTool(f"git_status_{number:04d}", "") for number in range(500))
    text = f'[tool_policy]\ndeny = {denied}\n[[mcp_servers]]\nname = "git"\ncommand = "uvx"\n'
    opened = with_facts(open_fixture(text), servers=(KnownServer(tools=tools),))
    found_ = [
        each for each in diagnostics(opened.snapshot, opened.file) if each.code == "unseen-tool"
    ]
    assert len(found_) == len(denied)
    suggested = [each.suggestion is not None for each in found_]
    assert suggested == [True] * 4 + [False] * 996


def test_nothing_is_said_of_denied_tools_while_a_server_was_not_seen() -> None:
    check_findings(
        """
        [tool_policy]
        deny = ["git_stauts"]
        [[mcp_servers]]
        name = "git"
        command = "uvx"
        [[mcp_servers]]
        name = "web"
        url = "http://x"
        transport = "sse"
        """,
        facts={"servers": (KnownServer(tools=()), KnownServer())},
    )


def test_thousands_of_patterns_that_reach_outside_cost_what_their_number_does() -> None:
    def cost(count: int) -> int:
        patterns = [f"../../{number}/*" for number in range(count)]
        reaches = tuple(Reach("files", each, index) for index, each in enumerate(patterns))
        opened = with_facts(open_fixture(f"files = {patterns}\n"), reaches=reaches)
        found: list[int] = []
        calls = calls_of(lambda: found.append(len(diagnostics(opened.snapshot, opened.file))))
        assert found == [2_000]
        return calls

    assert cost(10_000) < 5 * cost(2_500)


def test_server_tool_with_the_name_of_an_offered_tool_is_reported_at_its_server() -> None:
    servers = (KnownServer(tools=(SeenTool("wait_agents", ""), SeenTool("read_file", ""))),)
    fixture = """
        [task]
        [sub_agents_config]
        background = "optional"
        [[mcp_servers]]
        name = "team"
        command = "uvx"
                  ^^^^^ warning shadowed-tool: the model does not get "wait_agents" of this server, since the agent has a tool of axe-lsp with this name
    """
    check_findings(fixture, facts={"servers": servers})


def test_server_tool_with_the_name_of_a_tool_that_is_not_offered_is_not_reported() -> None:
    check_findings(
        '[[mcp_servers]]\nname = "team"\ncommand = "uvx"\n',
        facts={"servers": (KnownServer(tools=(SeenTool("wait_agents", ""),)),)},
    )
