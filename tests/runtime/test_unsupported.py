"""What an agent runs without is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import load
from axe_lsp.runtime.prepare import unsupported_warning
from support.engines import agent, bench
from support.scripted_provider import Answer, Says, ScriptedProvider, calls_agent

HEAD = 'name = "a"\nmodel = "openai/m"\n'


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", ""),
        ('tools = ["read_file"]', ""),
        ("tools = []", ""),
        ("[artifacts]\nenabled = false", ""),
        ('[isolation]\nmode = "process"', ""),
        ("[something_else]\nx = 1", ""),
        (
            '[[mcp_servers]]\nname = "m"\nurl = "http://x"\ntransport = "sse"\n[artifacts]\nenabled = true',
            "[artifacts]",
        ),
    ],
)
def test_what_is_missing_is_named(text: str, missing: str) -> None:
    warning = unsupported_warning("bot", load(HEAD + text))
    assert warning == (
        f'agent "bot" runs without {missing}: this version of axe-lsp does not support that yet'
        if missing
        else ""
    )


async def test_each_agent_is_warned_about_once(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-p", Says(calls=[calls_agent("c", "1"), calls_agent("c", "2")]), Says("F"))
    provider.script("m-c", Answer(Says("r"), repeat=True))
    agents = agent("p", sub_agents=["c"]) | agent("c", artifacts={"enabled": True})
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    assert len(work.warnings) == 1
    assert work.warnings[0].startswith('agent "c" runs without [artifacts]: ')
