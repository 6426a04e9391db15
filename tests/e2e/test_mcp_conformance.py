"""`axe-lsp mcp` under the official conformance suite of MCP (npm), as released and as the later one for 2026-07-28.

The suite calls tools of fixed names with `{}`: agents of these names. What does not apply is in `mcp_conformance/`, with
the reasons. The suite fails if something else fails, and if something in there passes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.doors import conformance
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider
from support.session import Project, agent_file
from support.waiting import wait_until

EXPECTED = Path(__file__).parent / "mcp_conformance"

_OFTEN = 50
"""More than the suite calls a tool."""


@pytest.fixture
def address(tmp_path: Path, provider: ScriptedProvider) -> Iterator[str]:
    """Provide a server with the agents that the suite calls."""
    project = Project(tmp_path, {**provider.environment, "ANTHROPIC_API_KEY": "sk-test"})
    text = "This is a simple text response for testing."
    fault = Refuses(400, "This tool intentionally returns an error for testing")
    looks = Says(calls=[Call("list_directory", {"path": "."})])
    asks = Says(calls=[Call("run_command", {"command": "true"})])
    agents = {
        "test_simple_text": [Says(text)] * _OFTEN,
        "test_error_handling": [fault] * _OFTEN,
        "test_tool_with_progress": [looks, Says("ok")] * _OFTEN,
        "test_input_required_result_elicitation": [asks] * _OFTEN,
        "test_input_required_result_request_state": [asks, Says("Done")],
        "test_input_required_result_tampered_state": [asks],
    }
    for name, answers in agents.items():
        tools = agent_file(name, tools=["list_directory", "run_command"])
        project.write(name, f"{tools}[input]\nadditionalProperties = true\n")
        provider.script(f"m-{name}", *answers)
    log = tmp_path / "server.log"
    with (
        log.open("wb") as told,
        subprocess.Popen(
            [sys.executable, "-m", "axe_lsp", "mcp", "--http", "0", "--no-token"],
            cwd=project.root,
            env={**os.environ, **project.environment},
            stdin=subprocess.DEVNULL,
            stderr=told,
        ) as server,
    ):
        try:
            found = wait_until(
                lambda: re.search(r"http://\S+(?=\s)", log.read_text()), log.read_text
            )
            assert found is not None
            yield found[0]
        finally:
            server.terminate()


@pytest.mark.parametrize(
    ("suite", "options", "expected", "passing"),
    [
        ("conformance", ["--suite", "all"], "released.yml", 8),
        ("conformance-next", ["--requirements", "2026-07-28"], "later.yml", 13),
    ],
)
def test_all_scenarios_that_apply_pass(
    address: str, tmp_path: Path, suite: str, options: list[str], expected: str, passing: int
) -> None:
    baseline = ["--expected-failures", str(EXPECTED / expected)]
    ended = subprocess.run(
        [*conformance(suite), "server", "--url", address, *options, *baseline],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    _, _, summary = ended.stdout.partition("=== SUMMARY ===")
    assert ended.returncode == 0, summary or ended.stderr
    assert summary.count("✓") >= passing
