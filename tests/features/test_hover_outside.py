"""What an explanation tells of things that lie outside the file."""

from __future__ import annotations

from typing import Any

import pytest

from axe_lsp.features.hover import hover
from axe_lsp.workspace.facts import (
    KnownServer,
    Matches,
    ProviderKey,
    Recording,
    Remembered,
    SeenTool,
)
from support.facts import found, matched, with_facts
from support.fixture import open_fixture

HERE = found("/project")


def markdown(text: str, **facts: Any) -> str:
    opened = with_facts(open_fixture(text), **facts)
    hovered = hover(opened.snapshot, opened.file, opened.offset)
    return hovered.markdown if hovered is not None else ""


def test_a_glob_shows_its_files_their_sizes_and_tokens() -> None:
    matches = matched(("src/a.py", 1), ("src/b.py", 4400))
    assert markdown('files = ["src/<|>*.py"]', folder=HERE, matches={"src/*.py": matches}) == (
        "**`src/*.py`** · 2 files, 4.4 KB, about 1,100 tokens\n\nIn `/project`:\n\n"
        "- `src/a.py` · 1 byte\n- `src/b.py` · 4.4 KB"
    )


def test_of_many_files_a_few_are_named() -> None:
    names = [(f"{number:03}", 10) for number in range(50)]
    matches = Matches(matched(*names).files, 12_000, 25_000_000, is_complete=False)
    text = markdown('files = ["<|>*"]', folder=HERE, matches={"*": matches})
    assert text.startswith("**`*`** · at least 12,000 files, 25 MB, about 6,200,000 tokens")
    assert text.endswith("- `009` · 10 bytes\n- … 11,990 more")


def test_a_glob_that_matches_nothing() -> None:
    assert markdown('files = ["<|>*"]', folder=HERE, matches={"*": Matches()}) == (
        "**`*`** matches no text file in `/project`"
    )


def test_nothing_is_said_of_globs_before_somebody_has_looked() -> None:
    assert markdown('files = ["<|>*"]') == ""


def test_the_key_of_globs_sums_them_up() -> None:
    matches = {"a": matched(("a", 4)), "b": Matches()}
    assert markdown('fi<|>les = ["a", "b", "a", "c"]', folder=HERE, matches=matches).endswith(
        "- `a`: 1 file, 4 bytes, about 1 token\n- `b`: 0 files, 0 bytes, about 0 tokens"
    )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (ProviderKey("openai", "K", origin="$K"), "Key: found in `$K`."),
        (ProviderKey("openai", "K"), "⚠ Key: neither in `$K` nor in `config.toml`."),
        (
            ProviderKey("ollama", "K", address_origin="config.toml", is_needed=False),
            "No key needed. Address: from `config.toml`.",
        ),
    ],
)
def test_a_model_says_whether_its_key_is_found(key: ProviderKey, expected: str) -> None:
    for text in ('model = "open<|>ai/gpt"', 'mo<|>del = "openai/gpt"'):
        assert markdown(text, key=key).endswith(expected)


def test_a_recording() -> None:
    text = 'model = "replay/<|>x"'
    gone = Recording(("/a", "/b"))
    assert markdown(text, recording=gone).endswith("⚠ There is no such recording in `/a`, `/b`.")
    assert markdown(text, recording=Recording((), "file:///a")).endswith("The recording is there.")


@pytest.mark.parametrize(
    "text", ["[mem<|>ory]\nenabled = true", '[memory]\nscope = "wor<|>kspace"']
)
def test_where_a_memory_lies(text: str) -> None:
    assert markdown(text, memory=Remembered("/d/bot.md", 1)).endswith("It is `/d/bot.md`, 1 entry.")
    assert markdown(text, memory=Remembered("/b.md", 1234)).endswith("`/b.md`, 1,234 entries.")
    assert "It is" not in markdown(text)


def test_where_a_skill_leads() -> None:
    assert markdown('skill = "<|>s"', skill=found("/s.md")).endswith("Leads to `/s.md`.")
    gone = found("/s.md", exists=False)
    assert markdown('sk<|>ill = "s"', skill=gone).endswith("⚠ There is no `/s.md`.")


def test_where_globs_start() -> None:
    assert markdown('workdir = "<|>."', folder=HERE).endswith("Leads to `/project`.")
    assert markdown('workdir = "<|>."', folder=HERE, is_certain=False).endswith(
        "In a run that is started elsewhere it is another folder."
    )


def test_the_size_of_the_whole_prompt() -> None:
    assert markdown('system_<|>prompt = "12345678"', added=1000).endswith(
        "The whole prompt: 1,008 characters, about 250 tokens. "
        "Of these 8 characters stand here; skill, files and memory make the rest."
    )
    assert "whole prompt" not in markdown('system_<|>prompt = "12345678"')


def test_what_is_known_is_not_said_of_what_is_typed_since() -> None:
    opened = with_facts(open_fixture('skill = "s"'), skill=found("/s.md"))
    typed = with_facts(open_fixture('skill = "<|>t"'))
    before = next(iter(opened.snapshot.facts.values()))
    typed.snapshot.facts[typed.file.uri] = before  # type: ignore[index]  # the dict of the fixture
    hovered = hover(typed.snapshot, typed.file, typed.offset)
    assert hovered is not None
    assert "/s.md" not in hovered.markdown


SERVER = """
[[mcp_servers]]
name = "web"
url = "http://x/mcp"
transport = "sse"

[[mcp_serv%sers]]
name = "gi%st"
command = "uv%sx"
args = ["mcp-server-git"]

[tool_policy]
deny = ["git_%sstatus"]
"""

SEEN = KnownServer(
    program="/bin/uvx",
    is_allowed=True,
    is_trusted=True,
    tools=(
        SeenTool("git_status", "Says `what` ![x](http://evil/) is new"),
        SeenTool("git_log", ""),
    ),
    seen="2026-11-23T21:10:00Z",
)


def at(place: int) -> str:
    return SERVER % tuple("<|>" if number == place else "" for number in range(4))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_server_shows_its_line_its_program_and_the_tools_that_a_run_has_seen(place: int) -> None:
    text = markdown(at(place), servers=(KnownServer(), SEEN))
    assert text.startswith(
        "**MCP server, started as a program**\n\n`uvx mcp-server-git`\n\n"
        "- program: `/bin/uvx`\n- start: allowed by `axe.tools.allow`\n- agent file: trusted\n"
        "- tools: 2, as a run saw them at `2026-11-23T21:10:00Z`\n"
        "  - `git_status` `Says 'what' ![x](http://evil/) is new`\n  - `git_log`\n\n**`mcp_servers"
    )


def test_of_a_server_that_no_run_has_used_no_tools_are_known() -> None:
    text = markdown(at(2), servers=(SEEN, KnownServer()))
    assert "- ⚠ program: `uvx` is not on the PATH\n- start: asked about in each run" in text
    assert "- agent file: not trusted: a run asks first\n- tools: no run has seen them" in text


def test_a_server_at_an_address() -> None:
    text = markdown(at(4).replace("http://x", "http://<|>x"), servers=(SEEN, KnownServer()))
    assert text.startswith("**MCP server at an address**\n\n`http://x/mcp`\n\n- agent file")


def test_of_many_tools_of_a_server_thirty_are_shown() -> None:
    tools = tuple(SeenTool(f"t{number}", "") for number in range(35))
    text = markdown(at(2), servers=(KnownServer(), KnownServer(tools=tools)))
    assert "  - `t29`\n  - … 5 more" in text


def test_a_tool_of_a_server_shows_what_its_server_says() -> None:
    assert markdown(at(3), servers=(KnownServer(), SEEN)) == (
        "**`git_status`** · tool of the MCP server `uvx mcp-server-git`\n\n"
        "The server says: `Says 'what' ![x](http://evil/) is new`"
    )
    assert markdown(at(3), servers=(KnownServer(), KnownServer())) == ""
