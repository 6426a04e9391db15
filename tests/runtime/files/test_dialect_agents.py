"""Which files the names of Codex's roles and Vibe's agents mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import AgentPlaces, Caller
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import AgentFolders, Lookup, caller_of

AXE = 'name = "a"\nmodel = "openai/m"\n'


def role(name: str = "a", instructions: str = "i", more: str = "") -> str:
    return (
        f'name = "{name}"\ndescription = "d"\ndeveloper_instructions = "{instructions}"\n{more}\n'
    )


def vibe(instructions: str = "i", more: str = "") -> str:
    return f'description = "d"\ninstructions = "{instructions}"\n{more}\n'


class Disk:
    """Files below a folder: a project `work`, and the user's folders."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        homes = (("codex", f"{folder}/home/.codex"), ("vibe", f"{folder}/home/.vibe"))
        self.lookup = Lookup(AgentPlaces(roots=(f"{folder}/work",), homes=homes))

    def seen(self, caller: Caller | None = None) -> AgentFolders:
        return self.lookup.seen_from(caller or Caller())

    def prompt(self, name: str, base: str = "") -> str:
        caller = Caller(base=f"{self.folder}/{base}" if base else "")
        return self.seen(caller).resolve(name).system_prompt

    def children(self, agent: AgentDefinition) -> Caller:
        return caller_of(agent, "", self.folder / "work", {})


def test_axes_own_agents_are_found_first(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        {
            "work/deep/axe/agents/a.toml": AXE + 'system_prompt = "axe"',
            "work/.codex/agents/a.toml": role("a", "codex"),
            "work/.codex/agents/b.toml": role("b", "codex"),
            "work/.vibe/agents/b.toml": vibe("vibe"),
            "work/.vibe/agents/c.toml": vibe("vibe"),
        },
    )
    assert [disk.prompt(name) for name in "abc"] == ["axe", "codex", "vibe"]


def test_a_layer_nearer_to_the_working_folder_wins_and_the_users_own_comes_last(
    tmp_path: Path,
) -> None:
    disk = Disk(
        tmp_path,
        {
            "home/.codex/agents/a.toml": role("a", "user"),
            "home/.codex/agents/b.toml": role("b", "user"),
            "work/.codex/agents/a.toml": role("a", "project"),
            "work/pkg/.codex/agents/a.toml": role("a", "package"),
        },
    )
    assert disk.prompt("a") == "project"
    assert disk.prompt("b") == "user"
    assert disk.prompt("a", base="work/pkg/src") == "package"


def test_the_name_in_the_file_counts_and_the_first_in_the_order_of_paths(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        {
            "work/.codex/agents/zeta.toml": role("My Reviewer", "late"),
            "work/.codex/agents/deep/one.toml": role("My Reviewer", "early"),
            "work/.codex/agents/.hidden/x.toml": role("hidden"),
            "work/.codex/agents/x.TOML": role("shouting"),
        },
    )
    assert disk.prompt("My Reviewer") == "early"
    assert sorted(name for name, _, _ in disk.seen().list()) == ["My Reviewer", "hidden"]
    with pytest.raises(ConfigError, match="agent config not found: zeta"):
        disk.prompt("zeta")


def test_config_toml_declares_roles_with_files_anywhere(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        {
            "work/.codex/config.toml": """
                [agents]
                max_depth = 2
                [agents.declared]
                description = "from the table"
                config_file = "../conf/x.toml"
                [agents.bare]
                description = "no file"
                [agents.gone]
                description = "dropped"
                config_file = "gone.toml"
                """,
            "work/conf/x.toml": 'developer_instructions = "x"\n',
        },
    )
    agent = disk.seen().resolve("declared")
    assert (agent.name, agent.description, agent.system_prompt) == (
        "declared",
        "from the table",
        "x",
    )
    assert agent.sub_agents == ("declared", "bare")
    assert agent.max_depth == 2
    assert disk.seen(disk.children(agent)).resolve("bare").description == "no file"
    assert [name for name, _, _ in disk.seen().list()] == ["declared", "bare"]


def test_a_declared_role_wins_in_its_layer_and_its_file_may_rename_it(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        {
            "work/.codex/config.toml": '[agents.table]\nconfig_file = "agents/b.toml"\n',
            "work/.codex/agents/a.toml": role("named", "alone"),
            "work/.codex/agents/b.toml": role("named", "declared"),
        },
    )
    assert disk.prompt("named") == "declared"
    assert [name for name, _, _ in disk.seen().list()] == ["named"]


def test_a_description_comes_from_a_lower_layer(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        {
            "home/.codex/agents/a.toml": role("a"),
            "work/.codex/agents/a.toml": 'name = "a"\ndeveloper_instructions = "own"\n',
        },
    )
    agent = disk.seen().resolve("a")
    assert (agent.description, agent.system_prompt) == ("d", "own")


def test_file_of_axe_means_agents_of_axe_before_those_of_other_programs(tmp_path: Path) -> None:
    files = {
        "work/axe/agents/a.toml": AXE,
        "work/.codex/agents/a.toml": role("a", "codex"),
        "work/.codex/agents/b.toml": role("b", "codex"),
        "work/sub/.codex/agents/c.toml": role("c"),
    }
    disk = Disk(tmp_path, files)
    seen = disk.seen(disk.children(disk.seen().resolve("a")))
    assert seen.resolve("a").model == "openai/m"
    source = seen.resolve("a").source
    assert source is not None
    assert source.twins == ()
    assert seen.resolve("b").system_prompt == "codex"
    assert seen.resolve("codex:a").system_prompt == "codex"
    with pytest.raises(ConfigError, match="agent config not found: c"):
        seen.resolve("c")


def test_children_of_a_codex_agent_are_roles_even_if_axe_has_the_name(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        {
            "work/axe/agents/b.toml": AXE,
            "work/.codex/agents/a.toml": role("a"),
            "work/.codex/agents/b.toml": role("b", "codex"),
            "work/.vibe/agents/c.toml": vibe(more='agent_type = "subagent"'),
        },
    )
    agent = disk.seen().resolve("a")
    assert agent.sub_agents == ("a", "b")
    seen = disk.seen(disk.children(agent))
    assert seen.resolve("b").system_prompt == "codex"
    with pytest.raises(ConfigError, match="agent config not found: c"):
        seen.resolve("c")


def test_a_vibe_agent_calls_subagents_with_a_description_only(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        {
            "work/.vibe/agents/lead.toml": vibe(),
            "work/.vibe/agents/sub.toml": vibe("project", 'agent_type = "subagent"'),
            "work/.vibe/agents/dumb.toml": 'agent_type = "subagent"',
            "work/.vibe/agents/main.toml": vibe(),
            "work/.vibe/agents/deep/x.toml": vibe(),
            "home/.vibe/agents/sub.toml": vibe("user", 'agent_type = "subagent"'),
        },
    )
    assert disk.seen().resolve("lead").sub_agents == ("sub",)
    assert disk.prompt("sub") == "project"
    listed = [name for name, _, _ in disk.seen().list()]
    assert sorted(listed) == ["dumb", "lead", "sub"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "a"\ndescription = "d"\n', "missing required field: developer_instructions"),
        ("name = ", 'failed to parse agent config "a": line 1'),
    ],
)
def test_a_file_that_codex_drops_says_why(tmp_path: Path, text: str, message: str) -> None:
    disk = Disk(tmp_path, {"work/.codex/agents/a.toml": text})
    with pytest.raises(ConfigError, match=message) as caught:
        disk.prompt("a")
    assert ".codex/agents/a.toml:1" in caught.value.hint


def test_an_open_text_wins_over_the_file(tmp_path: Path) -> None:
    disk = Disk(tmp_path, {"work/.codex/agents/a.toml": role("a", "saved")})
    path = tmp_path / "work/.codex/agents/a.toml"
    places = AgentPlaces(roots=(f"{tmp_path}/work",))
    lookup = Lookup(places, open_buffers={path: role("a", "typed")})
    assert lookup.resolver()("a", Caller()).system_prompt == "typed"
    assert lookup.resolver(path)("a", Caller()).system_prompt == "typed"
    assert disk.prompt("a") == "saved"


def test_a_link_in_a_circle_is_followed_once(tmp_path: Path) -> None:
    disk = Disk(tmp_path, {"work/.codex/agents/a.toml": role("a")})
    (tmp_path / "work/.codex/agents/again").symlink_to(tmp_path / "work/.codex/agents")
    assert [name for name, _, _ in disk.seen().list()] == ["a"]


def test_users_folders_of_opencode_win_over_the_project_but_for_the_weakest(tmp_path: Path) -> None:
    """Recorded with opencode 1.18.33."""
    names = {
        "weakest/agent": "abcd",
        "work/in/.opencode/agent": "abc",
        "work/.opencode/agent": "ab",
        "home/.opencode/agent": "a",
    }
    files = {
        f"{folder}/{name}.md": f"---\ndescription: d\n---\n{folder}\n"
        for folder, listed in names.items()
        for name in listed
    }
    disk = Disk(tmp_path, files)
    homes = (
        ("opencode", f"{tmp_path}/weakest"),
        ("opencode", f"{tmp_path}/home/.opencode"),
        ("opencode", f"{tmp_path}/variable"),
    )
    places = AgentPlaces(roots=(f"{tmp_path}/work",), homes=homes)
    disk.lookup = Lookup(places)
    assert {name: disk.prompt(name, "work/in") for name in "abcd"} == {
        "a": "home/.opencode/agent",
        "b": "work/.opencode/agent",
        "c": "work/in/.opencode/agent",
        "d": "weakest/agent",
    }
    (tmp_path / "variable/agent").mkdir(parents=True)
    (tmp_path / "variable/agent/a.md").write_text("---\ndescription: d\n---\nvariable\n")
    disk.lookup = Lookup(places)
    assert disk.prompt("a", "work/in") == "variable"
