"""Which file a name means: the same for the editor, `check`, the command line, the run host and the graph."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.cli.check import check
from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.daemon.view import View
from axe_lsp.features.delegation_graph import delegation_graph
from axe_lsp.hosting.protocol import Workplace
from axe_lsp.hosting.stored_steps import resolver
from axe_lsp.runtime.agent_search import agent_search, named_file
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import caller_of
from axe_lsp.runtime.runs import Resolve

NAMES = ("a", "b")
WORKDIRS = ("", ".", "sub", "sub/../sub/deep", "gone", "kit")
FOLDERS = (
    "project/axe/agents",
    "project/.axe/agents",
    "project/sub/axe/agents",
    "project/sub/.axe/agents",
    "project/sub/deep/axe/agents",
    "project/sub é/axe/agents",
    "project/sub-b/c/axe/agents",
    "project/node_modules/axe/agents",
    "project/.hidden/axe/agents",
    "project/kit/axe/agents",
    "project/kit/sub/axe/agents",
    "config/axe/agents",
)
OF_OTHERS = (
    "project/.codex/agents",
    "project/.vibe/agents",
    "project/sub/.codex/agents",
    "project/kit/.claude/agents",
    "project/.claude/agents",
    "project/.gemini/agents",
    "project/sub/.claude/agents",
    "project/sub/.opencode/agent",
    "project/.opencode/agent/a",
)
"""Folders of other programs, whose agents an agent of axe calls where axe has none of the name."""

IN_MARKDOWN = tuple(each for each in OF_OTHERS if not each.endswith(("x/agents", "vibe/agents")))

Meant = Mapping[str, str]
"""The folder of the agent that each name means; names that mean nothing are left out."""


class Agents(Struct, frozen=True):
    """Folders with agents on the disk, and one of them that calls all names."""

    definitions: tuple[tuple[str, str], ...]
    caller: str
    workdir: str


AGENTS = st.builds(
    Agents,
    st.lists(
        st.tuples(st.sampled_from((*FOLDERS, *OF_OTHERS)), st.sampled_from(NAMES)),
        unique=True,
        max_size=9,
    ).map(tuple),
    st.sampled_from([each for each in FOLDERS if "node" not in each and "hidden" not in each]),
    st.sampled_from(WORKDIRS),
)


@settings(max_examples=60)
@given(AGENTS)
def test_all_who_look_up_a_name_find_the_same_file(agents: Agents) -> None:
    with written(agents) as folder:
        seen, drawn, hosted = asyncio.run(in_the_editor(folder, agents))
        assert hosted == seen
        assert drawn == set(seen.values())
        assert on_the_command_line(folder, agents) == seen
        assert unknown_to_check(folder, agents) == set(NAMES) - seen.keys()


@contextmanager
def written(agents: Agents) -> Iterator[Path]:
    """Provide the agents below a folder, in whose `project` this process works."""
    before, config = Path.cwd(), os.environ.get("XDG_CONFIG_HOME")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        for place, agent in agents.definitions:
            put(folder / place / f"{agent}{'.md' if place in IN_MARKDOWN else '.toml'}")
        put(folder / agents.caller / "caller.toml", f'workdir = "{agents.workdir}"')
        (folder / "project" / "kit").mkdir(parents=True, exist_ok=True)
        (folder / "project" / "kit" / ".git").write_text("gitdir: elsewhere\n")  # A submodule.
        os.chdir(folder / "project")
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        try:
            yield folder
        finally:
            os.chdir(before)
            if config is None:
                del os.environ["XDG_CONFIG_HOME"]
            else:
                os.environ["XDG_CONFIG_HOME"] = config


def put(file: Path, more: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".md":
        file.write_text(f"---\nname: {file.stem}\ndescription: d\n---\nGo.\n")
        return
    if file.parent.parent.name == ".codex":
        text = 'name = "{0}"\ndescription = "d"\ndeveloper_instructions = "i"\n'
        file.write_text(text.format(file.stem))
        return
    if file.parent.parent.name == ".vibe":
        file.write_text('instructions = "i"\n')
        return
    file.write_text(
        f'name = "{file.stem}"\nmodel = "ollama/m"\nsub_agents = ["a", "b"]\n{more}\n'
        if file.stem == "caller"
        else f'name = "{file.stem}"\nmodel = "ollama/m"\n',
        encoding="utf-8",
    )


async def in_the_editor(folder: Path, agents: Agents) -> tuple[Meant, set[str], Meant]:
    """Return what a client has that opens the project: names, the graph, and runs in the host."""
    file = folder / agents.caller / "caller.toml"
    view = View(dict(os.environ))
    try:
        view.add_roots([folder / "project"])
        await view.settled()
        caller = view.snapshot.file(uri_of(file))
        assert caller is not None
        found = {name: view.snapshot.agent(name, caller) for name in NAMES}
        seen = {name: place(folder, each.uri) for name, each in found.items() if each is not None}
        graph = delegation_graph(view.snapshot)
        drawn = {
            place(folder, each.target)
            for each in graph.edges
            if each.source == caller.uri and path_of(each.target) is not None
        }
        workplace = Workplace(
            str(view.workspace_of(file.parent)),
            str(file),
            view.agent_places,
            tuple(map(str, view.folders)),
        )
        root = resolver(workplace, os.environ)("caller", Caller())
        return (
            seen,
            drawn,
            resolved(folder, root, resolver(workplace, os.environ), Path(workplace.workspace)),
        )
    finally:
        await view.close(10)


def on_the_command_line(folder: Path, agents: Agents) -> Meant:
    here = agent_search()
    file = named_file(str(folder / agents.caller / "caller.toml"), here.folder)
    resolve = here.lookup.resolver(file)
    workspace = here.workspace_of(folder / agents.caller / "caller.toml")
    assert workspace == folder / "project"
    return resolved(folder, resolve("caller", Caller()), resolve, workspace)


def resolved(folder: Path, root: AgentDefinition, resolve: Resolve, workspace: Path) -> Meant:
    caller, found = caller_of(root, "", workspace, os.environ), {}
    for name in NAMES:
        try:
            source = resolve(name, caller).source
        except ConfigError as error:
            if "agent config not found" not in str(error):
                raise
            continue
        assert source is not None
        found[name] = place(folder, uri_of(Path(source.path)))
    return found


def unknown_to_check(folder: Path, agents: Agents) -> set[str]:
    (checked,) = check([folder / agents.caller / "caller.toml"])
    found = [each for each in checked.findings if each.code == "unknown-agent"]
    return {each.message.partition('"')[2].partition('"')[0] for each in found}


def place(folder: Path, uri: str) -> str:
    path = path_of(uri)
    assert path is not None
    return path.relative_to(folder).as_posix()


def test_the_workspace_is_found_from_its_subfolders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project, bare = tmp_path / "home" / "project", tmp_path / "home" / "bare"
    put(project / "axe" / "agents" / "a.toml")
    put(project / "part" / ".axe" / "agents" / "a.toml")
    put(tmp_path / "home" / "axe" / "agents" / "a.toml")
    put(tmp_path / "home" / ".config" / "axe" / "agents" / "mine.toml")
    (project / "repository" / ".git").mkdir(parents=True)
    workspaces = {
        project: project,
        project / "src" / "deep": project,
        project / "part" / "src": project / "part",
        project / "repository" / "src": project / "repository" / "src",
        bare: bare,
        tmp_path / "home": tmp_path / "home",
        tmp_path / "home" / ".config" / "nvim": tmp_path / "home" / ".config" / "nvim",
    }
    for folder, workspace in workspaces.items():
        folder.mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(folder)
        assert agent_search().workspace == workspace


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owner here")
def test_agents_that_another_user_has_put_above_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "axe" / "agents" / "a.toml")
    (tmp_path / "src").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    monkeypatch.chdir(tmp_path / "src")
    assert agent_search().workspace == tmp_path / "src"


def test_the_users_own_agents_and_named_folders_work_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    src = tmp_path / "project" / "src"
    src.mkdir(parents=True)
    monkeypatch.chdir(src)
    agents = tmp_path / "project" / "axe" / "agents"
    other = tmp_path / "other" / "axe" / "agents"
    for folder in (agents, other, tmp_path / "config" / "axe" / "agents"):
        put(folder / "a.toml")
    assert agent_search().workspace_of(agents / "a.toml") == tmp_path / "project"
    assert agent_search().workspace_of(other / "a.toml") == tmp_path / "other"
    assert agent_search().workspace_of(tmp_path / "config" / "axe" / "agents" / "a.toml") == src
    assert agent_search().workspace_of(src / "a.toml") == src
    assert agent_search(other).workspace_of(other / "a.toml") == src
