"""`axe-lsp gc`, as a process: what it says, what it asks a model, and what is left of a memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from axe_lsp.runtime.memory import INSTRUCTIONS
from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import Refuses, Says, ScriptedProvider


def entry(number: int) -> str:
    return f"## 2026-01-0{number}T00:00:00Z\n**Task:** t{number}\n**Result:** r{number}\n\n"


def remember(home: Home, name: str, entries: int) -> Path:
    path = home.data / "memory" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(entry(number) for number in range(1, entries + 1)))
    return path


def test_the_memory_is_analyzed_and_then_trimmed(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("bot", memory={"enabled": True, "last_n": 1}))
    path = remember(home, "bot", 3)
    provider.script("m-bot", Says("## Patterns Found\nx"))
    assert home.call("gc", "bot") == (
        0,
        "Agent: bot\nEntries: 3\n--- Analysis ---\n## Patterns Found\nx\n"
        "Trimmed: 2 entries removed, 1 entries kept.\n",
        "",
    )
    assert path.read_text() == entry(3)
    assert [each.name for each in path.parent.iterdir()] == ["bot.md"]
    body = provider.requests[0].body
    assert body["messages"] == [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": entry(1) + entry(2) + entry(3)},
    ]
    assert (body["temperature"], body["max_tokens"]) == (0.3, 4096)
    assert "tools" not in body


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit for the size of files")
def test_a_memory_that_cannot_be_trimmed_is_named(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("bot", memory={"enabled": True, "last_n": 1}))
    path = remember(home, "bot", 2)
    provider.script("m-bot", Says("a"))
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *COMMAND, "gc", "bot"]
    done = subprocess.run(
        limited, cwd=home.work, env=home.environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        1,
        f"failed to trim memory {path}: File too large\n",
    )
    assert path.read_text() == entry(1) + entry(2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_memory_that_is_a_pipe_is_named(home: Home) -> None:
    home.add(agent("bot", memory={"enabled": True}))
    path = remember(home, "bot", 0)
    path.unlink()
    os.mkfifo(path)
    assert home.call("gc", "bot") == (1, "", f"{path}: it is not a regular file\n")


def test_a_dry_run_trims_nothing(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("bot", memory={"enabled": True, "last_n": 1}))
    path = remember(home, "bot", 2)
    provider.script("m-other", Says("a"))
    code, out, _ = home.call("gc", "bot", "--dry-run", "--model", "openai/m-other")
    assert (code, out.splitlines()[-1]) == (0, "Dry run: no entries trimmed.")
    assert path.read_text() == entry(1) + entry(2)


@pytest.mark.parametrize(
    ("limits", "said", "left"),
    [
        ({"max_entries": 1}, "Trimmed: 2 entries removed, 1 entries kept.", 1),
        ({"last_n": 2, "max_entries": 1}, "Trimmed: 1 entries removed, 2 entries kept.", 2),
        ({"last_n": 3}, "No trimming needed: 3 entries within limit (3).", 3),
        (
            {},
            "No trim target configured (last_n and max_entries are both 0). Skipping trim.",
            3,
        ),
    ],
)
def test_limits_decide_how_many_entries_are_trimmed(
    home: Home, provider: ScriptedProvider, limits: dict[str, int], said: str, left: int
) -> None:
    home.add(agent("bot", memory={"enabled": True, **limits}))
    path = remember(home, "bot", 3)
    provider.script("m-bot", Says("a"))
    code, out, _ = home.call("gc", "bot")
    assert (code, out.splitlines()[-1]) == (0, said)
    assert path.read_text().count("## ") == left


def test_a_failed_analysis_leaves_the_memory_alone(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("bot", memory={"enabled": True, "last_n": 1}))
    path = remember(home, "bot", 2)
    provider.script("m-bot", Refuses(500, "down"))
    code, out, err = home.call("gc", "bot")
    assert (code, out) == (3, "Agent: bot\nEntries: 2\n")
    assert err == "server: down\n"
    assert path.read_text() == entry(1) + entry(2)


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["nope"], 2, "", "agent config not found: nope\n"),
        ([], 1, "", "agent name is required (or use --all)\n"),
        (["bot", "--all"], 1, "", "cannot specify both --all and an agent name\n"),
        (["bot"], 0, 'No memory entries for agent "bot". Nothing to do.\n', ""),
        (
            ["off"],
            0,
            "",
            'Warning: agent "off" does not have memory enabled. Skipping.\n',
        ),
    ],
)
def test_empty_memory_is_reported_as_nothing_to_do(
    home: Home, arguments: list[str], code: int, out: str, err: str
) -> None:
    home.add(agent("bot", memory={"enabled": True}) | agent("off"))
    assert home.call("gc", *arguments) == (code, out, err)


def test_failure_of_one_agent_does_not_stop_the_others(
    home: Home, provider: ScriptedProvider
) -> None:
    on = {"enabled": True, "last_n": 1}
    home.add(agent("a", memory=on) | agent("b", memory=on) | agent("off") | agent("c", memory=on))
    for name in ("a", "b"):
        remember(home, name, 2)
    (home.data / "memory" / "c.md").mkdir()
    provider.script("m-a", Refuses(500, "down"))
    provider.script("m-b", Says("analysis"))
    code, out, err = home.call("gc", "--all")
    assert code == 1
    assert out == (
        "=== GC: a ===\nAgent: a\nEntries: 2\n"
        "=== GC: b ===\nAgent: b\nEntries: 2\n--- Analysis ---\nanalysis\n"
        "Trimmed: 1 entries removed, 1 entries kept.\n"
        "=== GC: c ===\n"
    )
    first, second, last = err.splitlines()
    assert first == 'Error: gc failed for agent "a": server: down'
    assert second.startswith('Error: gc failed for agent "c": ')
    assert last == "gc completed with errors: 2 of 3 agents failed"


def test_without_any_memory_there_is_nothing_to_go_through(home: Home) -> None:
    home.add(agent("off"))
    assert home.call("gc", "--all") == (0, "No agents with memory enabled.\n", "")


def test_a_memory_that_agents_share_is_looked_through_once(
    home: Home, provider: ScriptedProvider
) -> None:
    shared = {"enabled": True, "path": "shared.md", "scope": "workspace", "last_n": 1}
    home.add(agent("a", memory=shared) | agent("b", memory=shared))
    (home.work / "shared.md").write_text(entry(1) + entry(2))
    provider.script("m-a", Says("report"))
    code, out, _ = home.call("gc", "--all")
    assert code == 0
    assert out.endswith(
        'entries kept.\n=== GC: b ===\nAgent "b" shares its memory with one above. Nothing to do.\n'
    )
    assert len(provider.requests) == 1


def test_a_memory_of_the_run_is_nothing_to_collect(home: Home) -> None:
    home.add(agent("bot", memory={"enabled": True, "scope": "run"}))
    warning = 'Warning: the memory of agent "bot" ends with each run. Skipping.\n'
    assert home.call("gc", "bot") == (0, "", warning)


def test_agents_of_a_folder_that_is_named(home: Home, provider: ScriptedProvider) -> None:
    (home.work / "mine").mkdir()
    memory = {"enabled": True, "last_n": 1}
    (home.work / "mine" / "bot.toml").write_text(agent("bot", memory=memory)["bot"])
    path = remember(home, "bot", 2)
    provider.script("m-bot", Says("a"))
    assert home.call("gc", "bot")[0] == 2
    assert home.call("gc", "bot", "--agents-dir", "mine")[0] == 0
    assert path.read_text() == entry(2)
