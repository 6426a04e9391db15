"""What `axe-lsp run` does before its first request: few modules are imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_MOST_MODULES = 147
"""Of ours, packages included. Each takes a tenth of a millisecond. Before it grows: does the first request need it?"""

_LATE = (
    *(
        "http",
        "httpx2",
        "h2",
        "difflib",
        "shlex",
        "concurrent.futures.thread",
        "sqlite3",
        "uvicorn",
    ),
    *("pygls", "lsprotocol", "jsonschema", "mcp"),
    "axe_lsp.agentfile.codex_agent",
    *(f"axe_lsp.cli.{name}" for name in ("display", "markdown", "terminal_questions")),
    *(f"axe_lsp.hosting.{name}" for name in ("history", "protocol", "supervisor")),
    *(
        f"axe_lsp.runtime.{name}"
        for name in ("memory", "copies", "structured", "preview", "compaction")
    ),
    *(
        "axe_lsp.runtime.mcp.server_tools",
        "axe_lsp.runtime.recordings.file",
        "axe_lsp.runtime.children.task",
    ),
    *(
        "axe_lsp.runtime.tools.read_file",
        "axe_lsp.runtime.tools.diff",
        "axe_lsp.runtime.resuming.saved_files",
    ),
    *("axe_lsp.settings",),
)
"""Modules and packages that are there once they are needed."""

_PROGRAM = """
import json, os, socket, sys, threading

def answer(server):
    connection, _ = server.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 500 No\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")

with socket.create_server(("127.0.0.1", 0)) as server:
    threading.Thread(target=answer, args=[server]).start()
    for name in ("OPENAI", "ANTHROPIC", "OLLAMA"):
        os.environ[f"AXE_{name}_BASE_URL"] = "http://127.0.0.1:%d" % server.getsockname()[1]

    seen = []

    def hear(event, _):
        if event == "socket.connect" and not seen:
            seen.append(sorted(sys.modules))

    sys.addaudithook(hear)
    from axe_lsp.cli.main import main
    main(["run", "agent", "--prompt", "Go on."])
    print(json.dumps(seen[0]))
"""


@pytest.mark.process
@pytest.mark.skipif(
    sys.platform in ("darwin", "win32"),
    reason="the system is asked for proxies, which imports more",
)
@pytest.mark.parametrize(
    ("model", "wire"),
    [
        ("openai/gpt-5.6", "openai-responses"),
        ("openai/m", "openai-chat"),
        ("anthropic/claude-sonnet-5", ""),
        ("ollama/llama3", ""),
    ],
)
def test_a_run_imports_little_before_its_first_request(
    tmp_path: Path, model: str, wire: str
) -> None:
    agents = tmp_path / "axe" / "agents"
    agents.mkdir(parents=True)
    (agents / "agent.toml").write_text(
        f'name = "agent"\nmodel = "{model}"\nsystem_prompt = "Hi."\n'
    )
    config = tmp_path / "home" / ".config" / "axe" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[providers.openai]\nwire = "{wire}"\n' if wire else "")
    own = {"HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "key", "ANTHROPIC_API_KEY": "key"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if not (name.startswith(("AXE_", "XDG_")) or name.lower().endswith("_proxy"))
    }
    command = [sys.executable, "-c", _PROGRAM]
    out = subprocess.run(
        command, cwd=tmp_path, env={**kept, **own}, capture_output=True, text=True, check=True
    )
    modules = json.loads(out.stdout)

    assert [
        each
        for each in modules
        if each in _LATE or each.startswith(tuple(f"{late}." for late in _LATE))
    ] == []
    ours = [each for each in modules if each.partition(".")[0] == "axe_lsp"]
    assert "axe_lsp.runtime.providers.http_client" in ours
    assert len(ours) <= _MOST_MODULES, ours
