"""`axe-lsp gc`: has a model look through an agent's memory, then trims it, as `axe gc` (axe M7)."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, MemoryConfig
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser, agents_folder
from axe_lsp.cli.streams import shown
from axe_lsp.runtime.agent_search import AgentSearch, agent_search
from axe_lsp.runtime.errors import AgentError, ConfigError, RunError
from axe_lsp.runtime.memory import Memory, analyze, load_memory, trim_memory
from axe_lsp.runtime.plain_text import shown_path
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.recordings.named_replays import NamedReplays
from axe_lsp.runtime.safety.trust import check_memory_is_trusted


def main(arguments: Sequence[str]) -> int:
    """Analyze and trim the memory of one agent, or of all."""
    options = _parser().parse_args(arguments)
    if options.all and options.agent:
        raise AgentError("cannot specify both --all and an agent name")
    if not options.all and not options.agent:
        raise AgentError("agent name is required (or use --all)")
    here = agent_search(agents_folder(options.agents_dir))
    if options.all:
        _collect_all(here, options)
    else:
        _collect(options.agent, here.agents.resolve(options.agent), here, options, set())
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp gc",
        description="Have a model look for patterns in an agent's memory, then trim the memory to "
        "the agent's last_n entries (or max_entries, if last_n is 0).",
    )
    add = parser.add_argument
    add("agent", nargs="?", help="agent name (file name without `.toml`)")
    add("--all", action="store_true", help="all agents with a memory, in sequence")
    add("--dry-run", action="store_true", help="analyze only, do not trim")
    add("--model", metavar="PROVIDER/NAME", default="", help="replaces the agent's model")
    add("--agents-dir", metavar="DIR", help="search this folder for agents first")
    return parser


def _collect_all(here: AgentSearch, options: argparse.Namespace) -> None:
    """Collect the memory of all agents. Report each failure and go on; raise AgentError at the end if any failed."""
    agents = {
        name: agent
        for name, _, agent in here.agents.list()
        if isinstance(agent, AgentDefinition) and agent.memory.enabled
    }
    if not agents:
        print("No agents with memory enabled.")
    failed = 0
    done: set[Path] = set()
    for name, agent in sorted(agents.items()):
        print(f"=== GC: {name} ===", flush=True)
        try:
            _collect(name, agent, here, options, done)
        except RunError as error:
            failed += 1
            print(
                f"Error: gc failed for agent {quoted(name)}: {shown(str(error), sys.stderr)}",
                file=sys.stderr,
            )
    if failed:
        raise AgentError(f"gc completed with errors: {failed} of {len(agents)} agents failed")


def _collect(
    name: str,
    agent: AgentDefinition,
    here: AgentSearch,
    options: argparse.Namespace,
    done: set[Path],
) -> None:
    """Look through one memory, unless it is among those of other agents that are `done`."""
    if not agent.memory.enabled:
        warning = f"agent {quoted(name)} does not have memory enabled. Skipping."
        print(f"Warning: {warning}", file=sys.stderr)
        return
    if agent.memory.scope == "run":
        warning = f"the memory of agent {quoted(name)} ends with each run. Skipping."
        print(f"Warning: {warning}", file=sys.stderr)
        return
    workspace = here.workspace_of(Path(agent.source.path)) if agent.source else here.folder
    memory = _load(name, agent, workspace)
    if memory.path is None or not memory.entries:
        print(f"No memory entries for agent {quoted(name)}. Nothing to do.")
        return
    if memory.path in done:
        print(f"Agent {quoted(name)} shares its memory with one above. Nothing to do.")
        return
    done.add(memory.path)
    print(f"Agent: {name}\nEntries: {memory.count}", flush=True)
    analysis = asyncio.run(_analyze(name, options.model or agent.model, memory.entries, workspace))
    print(f"--- Analysis ---\n{shown(analysis, sys.stdout)}")
    if options.dry_run:
        print("Dry run: no entries trimmed.")
    else:
        _trim(memory.path, memory.count, agent.memory)


def _load(name: str, agent: AgentDefinition, workspace: Path) -> Memory:
    memory = load_memory(name, replace(agent.memory, last_n=0), workspace, os.environ)
    if memory.path is not None:
        check_memory_is_trusted(name, agent, workspace, os.environ)
    if memory.error:
        raise (ConfigError if memory.path is None else AgentError)(memory.error)
    return memory


async def _analyze(name: str, model: str, entries: str, workspace: Path) -> str:
    http = HttpProvider(os.environ)
    try:
        provider = NamedReplays(workspace, os.environ, http)
        return await analyze(name, model, entries, provider, workspace)
    finally:
        await http.close()


def _trim(path: Path, count: int, config: MemoryConfig) -> None:
    keep = config.last_n or config.max_entries
    if not keep:
        print("No trim target configured (last_n and max_entries are both 0). Skipping trim.")
        return
    try:
        removed = trim_memory(path, keep)
    except OSError as error:
        # The system names the file that it could not write, which is a new one beside it, or none.
        reason = error.strerror or str(error)
        raise AgentError(f"failed to trim memory {shown_path(path)}: {reason}") from error
    if removed:
        print(f"Trimmed: {removed} entries removed, {keep} entries kept.")
    else:
        print(f"No trimming needed: {count} entries within limit ({keep}).")
