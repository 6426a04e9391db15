"""`axe-lsp trust`: what agents of a workspace may reach outside it, shown, allowed and taken back."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.rights import SERVER, Reach
from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import agrees
from axe_lsp.runtime.agent_search import agent_search
from axe_lsp.runtime.errors import ConfigError, ExitCode
from axe_lsp.runtime.files.agent_files import AgentFolders, Lookup, agent_places
from axe_lsp.runtime.files.workspace_folders import project_of_tests
from axe_lsp.runtime.mcp.seen_tools import recall
from axe_lsp.runtime.plain_text import escaped, shown_path
from axe_lsp.runtime.runs import Resolve
from axe_lsp.runtime.safety.trust import (
    TrustRequest,
    TrustStore,
    later_requests_of,
    trust_request_of,
)


def main(arguments: Sequence[str]) -> int:
    """Show what reaches out, and remember what the user trusts; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.list:
        return _list()
    if options.revoke:
        return _revoke(options.path)
    return _trust(options)


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp trust",
        description="Show what the agents of a workspace reach outside it, and allow it. The permission is "
        "stored for this folder until the agent's file changes; for tools for the web, until what the agent can read changes.",
    )
    add = parser.add_argument
    add(
        "path",
        nargs="?",
        type=Path,
        default=None,
        metavar="PATH",
        help="a workspace folder, or an agent file that runs in the current folder, or a file of tests (default: the current folder)",
    )
    what = parser.add_mutually_exclusive_group().add_argument
    what("--yes", action="store_true", help="allow it without asking")
    what("--list", action="store_true", help="list the permissions of all folders")
    what("--revoke", action="store_true", help="revoke all permissions of the folder")
    return parser


def _trust(options: argparse.Namespace) -> int:
    workspace, found = trust_requests_at(options.path)
    if not found:
        print(f"No agent of {_shown(workspace)} reaches outside it. There is nothing to allow.")
        return 0
    store = TrustStore(os.environ)
    wanted: list[TrustRequest] = []
    for request in found:
        is_trusted = not request.refused and store.holds(request)
        note = " (is allowed)" if is_trusted else ""
        print(f"{escaped(request.agent)} ({escaped(request.file)}){note}")
        for reach in request.reaches:
            never = f"; never allowed: {escaped(reach.refused)}" if reach.refused else ""
            print(f"  {escaped(str(reach))}{never}")
            _print_instructions(reach, workspace)
        if not is_trusted and not request.refused:
            wanted.append(request)
    question, way_out = f"Allow this in {_shown(workspace)}", "--yes allows it without a question"
    if wanted and not options.yes and not agrees(question, way_out):
        return int(ExitCode.AGENT)
    if wanted:
        store.add(wanted)
        print(f"Allowed in {_shown(workspace)} until {_changing(wanted)} changes.")
    return int(ExitCode.CONFIG) if any(each.refused for each in found) else 0


def _print_instructions(reach: Reach, workspace: Path) -> None:
    """Show what an MCP server told the model in the last run, which only a run can hear of it."""
    seen = recall(os.environ, workspace, reach.place) if reach.key == SERVER else None
    if seen is not None and seen.instructions:
        print(f"    its instructions for the model, in the last run: {quoted(seen.instructions)}")


def trust_requests_at(path: Path | None) -> tuple[Path, list[TrustRequest]]:
    """Return the workspace, and what its agents or a file of tests reach in it. Raises ConfigError."""
    project = project_of_tests(path.absolute().parent) if path is not None else None
    if path is not None and project is not None and path.is_file():
        return project, _trust_requests_of_tests(path, project)
    workspace, agents, resolve = _agents_at(path)
    found: list[TrustRequest] = []
    for name, agent in agents:
        request = trust_request_of(name, agent, workspace, os.environ)
        found += [request] if request is not None else []
        found += later_requests_of(name, agent, resolve, workspace, os.environ)
    return workspace, found


def _trust_requests_of_tests(path: Path, project: Path) -> list[TrustRequest]:
    # Imported late, as only this needs it.
    from axe_lsp.testing.suite import load_suite, trust_request_of_tests

    suite = load_suite(Path(os.path.normpath(path.absolute())), shown_path(path), project)
    request = trust_request_of_tests(suite, os.environ)
    return [] if request is None else [request]


def _agents_at(path: Path | None) -> tuple[Path, Iterator[tuple[str, AgentDefinition]], Resolve]:
    """Return the workspace, the agents that are looked at, and how they find others. Raises ConfigError."""
    if path is not None and not path.exists():
        raise ConfigError(f"no such file or folder: {shown_path(path)}")
    if path is not None and not path.is_dir():
        here, file = agent_search(), path.absolute()
        resolve = here.lookup.resolver(file)
        return here.folder, iter([(path.stem, resolve(path.stem, Caller()))]), resolve
    workspace = path.absolute() if path is not None else agent_search().workspace
    places = agent_places([workspace], os.environ)
    lookup = Lookup(places)
    seen = lookup.seen_from(Caller())
    # Each file, not each name: of two with one name, either may be called.
    alone = [*(AgentFolders((folder,)) for folder in seen.all_folders)]
    alone += [AgentFolders((), others=partial(list, [each])) for each in seen.others()]
    listed = (each for folders in alone for each in folders.list())
    agents = ((name, each) for name, _, each in listed if isinstance(each, AgentDefinition))
    return workspace, agents, lookup.resolver()


def _changing(wanted: Sequence[TrustRequest]) -> str:
    """Return what ends the permissions when it changes."""
    web = {each.is_web for each in wanted}
    files = ["one of these files"] if False in web else []
    return ", or for the web ".join(files + ["what the agents can read"] * (True in web))


def _list() -> int:
    for each in TrustStore(os.environ).all():
        print(f"{escaped(each.folder)}: {escaped(each.file)}, since {escaped(each.since)}")
        for reach in each.reaches:
            print(f"  {escaped(reach)}")
    return 0


def _revoke(path: Path | None) -> int:
    folder = shown_path((path or agent_search().workspace).resolve())
    count = TrustStore(os.environ).revoke(folder)
    print(f"Revoked in {escaped(folder)}: {counted(count, 'file')}.")
    return 0


def _shown(path: Path) -> str:
    return escaped(shown_path(path.resolve()))
