"""After any rename everybody means whom they meant."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import assume, event, given
from hypothesis import strategies as st

from axe_lsp.features.edit import RenameError
from axe_lsp.features.rename import follow_move, rename_agent
from axe_lsp.workspace.meaning import Kind, Meaning, agent_meaning, meaning
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace
from support.edits import edited
from support.fixture import FOLDER, PLACES, USER_FOLDER

NAMES = ["a", "b", "c", "it's", 'x"y', "plan"]
FOLDERS = [FOLDER, USER_FOLDER, "file:///other/.axe/agents", "file:///loose"]
URIS = [
    PLACES.locate(f"{folder}/{name}.toml").uri
    for folder in FOLDERS
    for name in ("a", "b", "c", "it%27s")
]
STRINGS = {
    "a": ['"a"', "'a'", '"""a"""', '"\\u0061"'],
    "b": ['"b"', "'''b'''"],
    "c": ['"c"', "'c'"],
    "it's": ['"it\'s"'],
    'x"y': ["'x\"y'"],
    "plan": ['"plan"'],
}
STRING = st.sampled_from(NAMES).flatmap(lambda name: st.sampled_from(STRINGS[name]))
LIST = st.lists(STRING, max_size=4).map(", ".join)


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = [f"name = {draw(STRING)} # 😀 a" if draw(st.booleans()) else "# b"]
    lines += [f"sub_agents = [ {draw(LIST)} ]"] if draw(st.booleans()) else []
    lines += [f"task.types = [\n{draw(LIST)}\n]"] if draw(st.booleans()) else []
    lines += ["task.type.b.tools = []"] if draw(st.booleans()) else []
    lines += ['description = "a" oops'] if draw(st.booleans()) else []
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


FILES = st.dictionaries(st.sampled_from(URIS), texts(), min_size=1, max_size=6)


def snapshot_of(files: Mapping[str, str], opened: set[str]) -> Snapshot:
    workspace = Workspace(PLACES)
    # What lies on the disk below a buffer says something else.
    on_disk = {uri: 'sub_agents = ["a", "b"]' if uri in opened else files[uri] for uri in files}
    workspace.apply([Change(uri, text) for uri, text in on_disk.items()])
    buffers = [Change(uri, files[uri], in_buffer=True) for uri in opened]
    return workspace.apply(buffers, complete=True).snapshot


def meanings(snapshot: Snapshot) -> dict[str, list[Meaning]]:
    """Return what each name in each file means, in the order of the file."""
    return {
        file.uri: [meaning(snapshot, file, reference) for reference in file.references]
        for file in snapshot.files()
    }


@given(st.data(), FILES, st.sampled_from([*NAMES, "new"]))
def test_after_a_rename_everybody_means_whom_they_meant(
    data: st.DataObject, files: dict[str, str], new_name: str
) -> None:
    uri = data.draw(st.sampled_from(sorted(files)))
    opened = set(data.draw(st.lists(st.sampled_from(sorted(files)))))
    before = snapshot_of(files, opened)
    agent = before.file(uri)
    assert agent is not None
    try:
        edit = rename_agent(before, agent, new_name, files.__getitem__)
    except RenameError as refusal:
        event("refused: " + str(refusal)[-40:])
        return
    event("renamed")
    after_files = edited(files, edit)
    (new_uri,) = set(after_files) - set(files) or {uri}
    renamed = {new_uri if each == uri else each for each in opened}
    after = snapshot_of(after_files, renamed)
    _check_meanings(before, after, agent_meaning(agent), new_uri)
    new = after.file(new_uri)
    assert new is not None
    assert new.name is None or new.name.value == new_name


@given(st.data(), FILES, st.sampled_from(URIS))
def test_after_a_move_everybody_means_whom_they_meant(
    data: st.DataObject, files: dict[str, str], new_uri: str
) -> None:
    uri = data.draw(st.sampled_from(sorted(files)))
    assume(new_uri not in files)
    before = snapshot_of(files, set())
    agent, new = before.file(uri), PLACES.locate(new_uri)
    assert agent is not None
    assume(agent.place.stem != new.stem)
    try:
        edit = follow_move(before, uri, new_uri, files.__getitem__)
    except RenameError:
        return
    if not edit:
        return
    after_files = edited(files, edit)
    after_files[new_uri] = after_files.pop(uri)
    after = snapshot_of(after_files, set())
    # The file itself may look for names in another folder first.
    own = {uri, new_uri} if agent.place.folder != new.folder else set()
    _check_meanings(before, after, agent_meaning(agent), new_uri, besides=own)


def _check_meanings(
    before: Snapshot,
    after: Snapshot,
    agent: Meaning,
    new_uri: str,
    besides: frozenset[str] | set[str] = frozenset(),
) -> None:
    renamed = Meaning(Kind.AGENT, PLACES.locate(new_uri).stem, new_uri)
    found = meanings(after)
    for uri, old in meanings(before).items():
        where = new_uri if uri == agent.uri else uri
        assert len(found[where]) == len(old)
        for was, now in zip(old, found[where], strict=True):
            if uri in besides:
                continue
            if was == agent:
                assert now == renamed
            elif was == Meaning(Kind.MISSING, renamed.name):
                assert now in (was, renamed)  # Who missed an agent of that name has it now.
            elif was.uri == agent.uri and was.kind is Kind.INLINE_TYPE:
                assert now == was._replace(uri=new_uri)
            else:
                assert now == was
