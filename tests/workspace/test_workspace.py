"""Whatever happens to files and buffers, the workspace knows what a fresh one would know."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from axe_lsp.features.delegation_graph import DelegationGraph, delegation_graph
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.workspace_symbol import workspace_symbols
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.graph import calling
from axe_lsp.workspace.meaning import agent_meaning, mentions
from axe_lsp.workspace.places import Scope
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Update, Workspace
from support.fixture import FOLDER, PLACES, USER_FOLDER, open_fixture

NAMES = ["lint", "lnt", "review", "rev"]
FOLDERS = [FOLDER, USER_FOLDER, "file:///other/.axe/agents", "file:///loose"]
URIS = [f"{folder}/{name}.toml" for folder in FOLDERS for name in NAMES]


def agent(names: list[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f'name = "x"\nmodel = "openai/gpt"\nsub_agents = [{listed}]\n'


TAILS = ["", "[sub_agents_config]\nmax_depth = 1\n", "[input]\n", '[task]\ntypes = ["lint"]\n']
AGENTS = st.builds(
    lambda names, tail: agent(names) + tail,
    st.lists(st.sampled_from(NAMES), max_size=3),
    st.sampled_from(TAILS),
)
TEXTS = AGENTS | st.just("name = ")
CHANGES = st.builds(Change, st.sampled_from(URIS), TEXTS | st.none(), st.booleans())
MOVES = st.builds(
    lambda old, new, text: [Change(old, None), Change(new, text)],
    st.sampled_from(URIS),
    st.sampled_from(URIS),
    TEXTS,
)
"""A file that gets another name, or moves, in one step."""
STEPS = st.lists(CHANGES, min_size=1, max_size=3) | MOVES


def looked_at_again(update: Update) -> set[str]:
    """Return the files about which there may be something new to say, those found step by step included."""
    return {*update.affected, *update.indirectly.uris(update.snapshot)}


def applied(changes: list[Change]) -> tuple[Workspace, list[Update]]:
    workspace = Workspace(PLACES)
    return workspace, [workspace.apply([change], complete=True) for change in changes]


def final(changes: list[Change]) -> list[Change]:
    """Return what is left of a history: the last text of each file and of each buffer."""
    last = {(change.uri, change.in_buffer): change for change in changes}
    return [change for change in last.values() if change.text is not None]


def seen(snapshot: Snapshot) -> dict[str, object]:
    """Everything that anybody can learn from a snapshot."""
    found: dict[str, object] = {
        "names": {name: sorted(uris) for name, uris in snapshot.names.items()},
        "closed callers": dict(snapshot.closed_callers),
        "buffer callers": dict(snapshot.buffer_callers),
        "callers": {name: sorted(snapshot.callers(name)) for name in NAMES},
        "near": {name: sorted(snapshot.spelling.near(name)) for name in [*NAMES, "revi"]},
        "closed": {uri: said(file) for uri, file in snapshot.closed.items()},
        "graph": described(delegation_graph(snapshot)),
        "symbols": [file.uri for file in workspace_symbols(snapshot, "")],
    }
    for file in snapshot.files():
        found[file.uri] = (said(file), diagnostics(snapshot, file))
        agents = (snapshot.agent(name, file) for name in sorted(snapshot.names))
        found[f"{file.uri} sees"] = [each.uri for each in agents if each is not None]
        named = mentions(snapshot, agent_meaning(file))
        found[f"{file.uri} is named"] = [(each.file.uri, each.reference) for each in named]
    return found


def said(file: AgentFile) -> object:
    """Return what a file says, whatever it was read from."""
    return replace(file, open=None)


def described(graph: DelegationGraph) -> object:
    """Return the graph without the files themselves, which hold on to what they were read from."""
    nodes = tuple(replace(node, file=None) for node in graph.nodes)
    return replace(graph, nodes=nodes)


@given(st.lists(STEPS, max_size=10))
def test_any_sequence_of_changes_equals_a_fresh_build(steps: list[list[Change]]) -> None:
    workspace, fresh = Workspace(PLACES), Workspace(PLACES)
    for changes in steps:
        workspace.apply(changes, complete=True)
    fresh.apply(final([change for changes in steps for change in changes]), complete=True)
    assert seen(workspace.snapshot) == seen(fresh.snapshot)


@given(st.lists(CHANGES, min_size=1, max_size=12))
def test_files_that_are_not_affected_have_the_diagnostics_that_they_had(
    changes: list[Change],
) -> None:
    workspace, _ = applied(changes[:-1])
    before = workspace.snapshot
    update = workspace.apply([changes[-1]], complete=True)
    if not before.complete:
        return
    looked_at = looked_at_again(update)
    for file in update.snapshot.files():
        if file.uri not in looked_at:
            assert diagnostics(before, file) == diagnostics(update.snapshot, file)


@given(st.lists(CHANGES, max_size=8), CHANGES)
def test_a_snapshot_never_changes(changes: list[Change], last: Change) -> None:
    workspace, _ = applied(changes)
    snapshot = workspace.snapshot
    before = seen(snapshot)
    workspace.apply([last])
    assert seen(snapshot) == before


def test_an_agent_that_appears_or_goes_affects_those_that_name_it() -> None:
    workspace = Workspace(PLACES)
    parent, child = f"{FOLDER}/a.toml", f"{FOLDER}/b.toml"
    workspace.apply([Change(parent, agent(["b"]))], complete=True)
    assert workspace.apply([Change(child, agent([]))]).affected == {parent, child}
    assert workspace.apply([Change(child, None)]).affected == {parent, child}


def test_a_limit_of_depth_concerns_others_only_where_calls_begin() -> None:
    workspace = Workspace(PLACES)
    tail = "[sub_agents_config]\nmax_depth = {}\n"
    root, called = f"{FOLDER}/root.toml", f"{FOLDER}/called.toml"
    texts = {root: 'sub_agents = ["called"]\n', called: 'sub_agents = ["last"]\n'}
    changes = [Change(uri, text + tail.format(3)) for uri, text in texts.items()]
    workspace.apply([*changes, Change(f"{FOLDER}/last.toml", "")], complete=True)
    for uri, deeper in ((root, {root}), (called, set())):
        assert (
            workspace.apply([Change(uri, texts[uri] + tail.format(1))]).indirectly.deeper == deeper
        )


def test_a_file_whose_timeout_changes_concerns_those_that_call_it() -> None:
    workspace = Workspace(PLACES)
    parent, child = f"{FOLDER}/a.toml", f"{FOLDER}/b.toml"
    changes = [Change(parent, agent(["b"])), Change(child, agent([]))]
    workspace.apply(changes, complete=True)
    assert workspace.apply([Change(child, f"timeout = 5\n{agent([])}")]).affected == {parent, child}
    assert workspace.apply([Change(child, f"timeout = 5\n{agent([])}\n")]).affected == {child}


def test_called_agent_with_other_tools_or_a_copy_concerns_callers_that_start_side_runs() -> None:
    workspace = Workspace(PLACES)
    one, other, child = (f"{FOLDER}/{name}.toml" for name in ("a", "b", "c"))
    side_runs = 'sub_agents_config.background = "always"\n'
    changes = [Change(one, side_runs + agent(["c"])), Change(other, agent(["c"]))]
    workspace.apply([*changes, Change(child, agent([]))], complete=True)
    writes = f'tools = ["write_file"]\n{agent([])}'
    assert workspace.apply([Change(child, writes)]).affected == {one, child}
    copies = f'isolation.mode = "copy"\n{writes}'
    assert workspace.apply([Change(child, copies)]).affected == {one, child}
    assert workspace.apply([Change(child, f"{copies}\n")]).affected == {child}


def test_when_all_folders_have_been_read_files_that_name_others_are_looked_at_again() -> None:
    workspace = Workspace(PLACES)
    parent, child = f"{FOLDER}/a.toml", f"{FOLDER}/b.toml"
    workspace.apply([Change(parent, agent(["nobody"])), Change(child, agent([]))])
    assert workspace.apply([], complete=True).affected == {parent}


def test_files_of_one_name_affect_each_other_before_all_folders_have_been_read() -> None:
    workspace = Workspace(PLACES)
    one, other = f"{FOLDER}/a.toml", "file:///other/.axe/agents/a.toml"
    workspace.apply([Change(one, agent([]))])
    assert workspace.apply([Change(other, agent([]))]).affected == {one, other}
    assert codes(workspace.snapshot, one) == ["duplicate-name"]
    assert workspace.apply([Change(other, None)]).affected == {one, other}
    assert codes(workspace.snapshot, one) == []


def test_a_file_that_becomes_a_link_affects_the_one_that_it_leads_to() -> None:
    workspace = Workspace(PLACES)
    one, other = f"{FOLDER}/a.toml", "file:///other/.axe/agents/a.toml"
    files = [Change(one, agent([])), Change(other, agent([]))]
    workspace.apply(files, complete=True, real_uris={one: one, other: other})
    assert codes(workspace.snapshot, one) == ["duplicate-name"]
    assert workspace.apply([], real_uris={other: one}).affected == {one, other}
    assert codes(workspace.snapshot, one) == []


def test_an_agent_that_appears_or_goes_affects_those_that_may_have_meant_it() -> None:
    workspace = Workspace(PLACES)
    parent, other = f"{FOLDER}/parent.toml", f"{FOLDER}/other.toml"
    workspace.apply([Change(parent, agent(["lnt"])), Change(other, agent([]))], complete=True)
    child = f"{FOLDER}/lint.toml"
    assert workspace.apply([Change(child, agent([]))]).affected == {parent, child}
    assert workspace.apply([Change(child, None)]).affected == {parent, child}


def test_a_list_that_closes_or_breaks_a_circle_affects_the_agents_on_it() -> None:
    workspace = Workspace(PLACES)
    first, second, third = (f"{FOLDER}/{name}.toml" for name in ("first", "second", "third"))
    texts = {first: agent(["second"]), second: agent(["third"]), third: agent([])}
    workspace.apply([Change(uri, text) for uri, text in texts.items()], complete=True)
    closed = workspace.apply([Change(third, agent(["first"]))])
    assert looked_at_again(closed) == {first, second, third}
    broken = workspace.apply([Change(third, agent([]))])
    assert {file.uri for file in broken.indirectly.entangled(broken.snapshot)} == {
        first,
        second,
        third,
    }


def test_an_agent_that_takes_the_place_of_another_affects_the_circle_of_the_other() -> None:
    workspace = Workspace(PLACES)
    caller, users = f"{FOLDER}/caller.toml", f"{USER_FOLDER}/lint.toml"
    between = f"{USER_FOLDER}/between.toml"
    texts = {caller: agent(["lint"]), users: agent(["between"]), between: agent(["caller"])}
    workspace.apply([Change(uri, text) for uri, text in texts.items()], complete=True)
    nearer = f"{FOLDER}/lint.toml"
    assert looked_at_again(workspace.apply([Change(nearer, agent([]))])) == {*texts, nearer}
    assert looked_at_again(workspace.apply([Change(nearer, None)])) == {*texts, nearer}


def test_only_those_call_an_agent_that_mean_it_by_its_name() -> None:
    workspace = Workspace(PLACES)
    ours, users = f"{FOLDER}/lint.toml", f"{USER_FOLDER}/lint.toml"
    caller, users_caller = f"{FOLDER}/caller.toml", f"{USER_FOLDER}/caller.toml"
    texts = {caller: agent(["lint"]), users_caller: agent(["lint"])}
    texts = {ours: agent([]), users: agent([]), **texts}
    workspace.apply([Change(uri, text) for uri, text in texts.items()])
    snapshot = workspace.snapshot
    found = {
        uri: sorted(each.uri for each in calling(snapshot, file))
        for uri in (ours, users)
        if (file := snapshot.file(uri)) is not None
    }
    assert found == {
        ours: [users_caller, caller],
        users: [],
    }  # As in axe, the workspace comes first.


def test_the_snapshot_sorts_the_files_of_a_name_by_the_lookup_order() -> None:
    other, nested = "file:///project/.axe/agents", "file:///project/sub/axe/agents"
    folders = (FOLDER, other, USER_FOLDER, nested, "file:///loose")
    uris = [f"{folder}/lint.toml" for folder in folders]
    workspace = Workspace(PLACES)
    workspace.apply([Change(uri, agent([])) for uri in reversed(uris)])

    def found(folder: str, text: str = "") -> list[int]:
        caller = read_agent_file(PLACES.locate(f"{folder}/caller.toml"), text)
        return [uris.index(each.uri) for each in workspace.snapshot.agents("lint", caller)]

    assert found(FOLDER) == [0, 1, 2, 3]
    assert found(other) == [1, 0, 2, 3]
    assert found(USER_FOLDER) == [0, 1, 2, 3]
    assert found(nested) == [3, 0, 1, 2]
    assert found("file:///loose") == [0, 1, 2, 3]
    assert found(FOLDER, 'workdir = "x/../sub"') == [3, 0, 1, 2]
    assert found(FOLDER, 'workdir = "/project/sub"') == [3, 0, 1, 2]
    assert found(FOLDER, 'workdir = "$HOME/sub"') == [0, 1, 2, 3]


def test_another_workdir_or_workspace_folder_changes_who_is_called() -> None:
    near, far = f"{FOLDER}/lint.toml", "file:///project/sub/axe/agents/lint.toml"
    caller = "file:///project/.axe/agents/caller.toml"
    workspace = Workspace(PLACES)
    workspace.apply(
        [Change(near, agent([])), Change(far, agent([])), Change(caller, agent(["lint"]))],
        complete=True,
    )
    assert workspace.snapshot.calls.below.of(caller) == (near,)
    workspace.apply([Change(caller, 'workdir = "sub"\n' + agent(["lint"]))])
    assert workspace.snapshot.calls.below.of(caller) == (far,)
    workspace.apply([Change(caller, agent(["lint"]))])
    update = workspace.apply([], roots=("file:///project/sub",))
    assert update.snapshot.calls.below.of(caller) == (far,)
    assert caller in update.affected


def test_typing_in_a_prompt_affects_nobody_else() -> None:
    workspace = Workspace(PLACES)
    uris = [f"{FOLDER}/{name}.toml" for name in NAMES]
    workspace.apply([Change(uri, agent(NAMES)) for uri in uris], complete=True)
    before = workspace.snapshot
    text = agent(NAMES) + 'system_prompt = "more"\n'
    update = workspace.apply([Change(uris[0], text, in_buffer=True)])
    assert update.affected == {uris[0]}
    assert update.snapshot.names is before.names
    assert update.snapshot.spelling is before.spelling
    assert update.snapshot.closed is before.closed


def test_typing_in_a_list_leaves_alone_what_is_known_of_closed_files() -> None:
    workspace = Workspace(PLACES)
    uris = [f"{FOLDER}/{name}.toml" for name in NAMES]
    workspace.apply([Change(uri, agent(["a"])) for uri in uris], complete=True)
    before = workspace.snapshot
    after = workspace.apply([Change(uris[0], agent(["b"]), in_buffer=True)]).snapshot
    assert after.closed_callers is before.closed_callers
    assert set(after.callers("a")) == set(uris[1:])
    assert set(after.callers("b")) == {uris[0]}


def test_a_folder_that_has_just_become_known_is_unsettled_until_it_has_been_read() -> None:
    workspace = Workspace(PLACES)
    new, old = "file:///other/.axe/agents", f"{FOLDER}/a.toml"
    opened, neighbour = f"{new}/b.toml", f"{new}/c.toml"
    workspace.apply([Change(old, agent(["nobody"]))], complete=True)
    unread = workspace.apply(
        [Change(opened, agent(["c"]), in_buffer=True)], unread=frozenset({new})
    )
    assert codes(unread.snapshot, opened) == []
    assert codes(unread.snapshot, old) == ["unknown-agent"]
    caller = f"{new}/d.toml"
    workspace.apply([Change(neighbour, agent([])), Change(caller, agent(["nobody"]))])
    assert workspace.apply([], unread=frozenset()).affected == {opened, caller}
    assert codes(workspace.snapshot, caller) == ["unknown-agent"]
    gone = workspace.apply([Change(neighbour, None)])
    assert codes(gone.snapshot, opened) == ["unknown-agent"]


def codes(snapshot: Snapshot, uri: str) -> list[str]:
    file = snapshot.file(uri)
    assert file is not None
    found = diagnostics(snapshot, file)
    return [each.code for each in found if each.code != "name-mismatch"]


def test_a_file_that_is_saved_is_not_read_again() -> None:
    workspace = Workspace(PLACES)
    uri = f"{FOLDER}/a.toml"
    opened = workspace.apply([Change(uri, agent(["b"]), in_buffer=True)]).snapshot.file(uri)
    saved = workspace.apply([Change(uri, agent(["b"]))]).snapshot.closed[uri]
    assert opened is not None
    assert saved.references is opened.references
    assert saved.open is None


def test_a_buffer_wins_over_the_disk_until_it_is_closed() -> None:
    workspace = Workspace(PLACES)
    uri = f"{FOLDER}/a.toml"
    workspace.apply([Change(uri, agent([]))])
    workspace.apply([Change(uri, agent(["b"]), in_buffer=True)])
    workspace.apply([Change(uri, agent(["c"]))])
    file = workspace.snapshot.file(uri)
    assert file is not None
    assert file.sub_agents == ("b",)
    workspace.apply([Change(uri, None, in_buffer=True)])
    file = workspace.snapshot.file(uri)
    assert file is not None
    assert file.sub_agents == ("c",)


def test_only_open_files_hold_on_to_their_text() -> None:
    opened = open_fixture("--- a.toml\nname<|>\n--- b.toml\n")
    kept = {file.place.stem: file.open is not None for file in opened.snapshot.files()}
    assert kept == {"a": True, "b": False}


def test_scopes_follow_from_the_place() -> None:
    assert PLACES.locate(f"{FOLDER}/a.toml").scope is Scope.WORKSPACE
    assert PLACES.locate(f"{USER_FOLDER}/a.toml").scope is Scope.USER
    assert PLACES.locate("file:///p/a.toml").scope is Scope.LOOSE
    assert PLACES.locate(f"{FOLDER}/notes.md").scope is Scope.LOOSE
    assert PLACES.locate("untitled:Untitled-1").scope is Scope.LOOSE
    assert PLACES.locate("fugitive:///project/axe/agents/a.toml").scope is Scope.LOOSE
    assert PLACES.locate(f"{FOLDER}/my%20agent.toml").stem == "my agent"
