"""Files of one name, and whether they are one file."""

from __future__ import annotations

from pathlib import Path

from axe_lsp.daemon.links import real_uris
from axe_lsp.daemon.uris import uri_of
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Workspace


def test_link_that_became_a_file_is_no_link_any_more(
    tmp_path: Path,
) -> None:
    file, link = (tmp_path / name / "axe" / "agents" / "lint.toml" for name in ("one", "other"))
    for path in (file, link):
        path.parent.mkdir(parents=True)
    file.write_text("")
    link.symlink_to(file)
    workspace = Workspace()
    assert is_one(looked_at(workspace, file, link), file, link)
    workspace.apply([Change(uri_of(file), None)])
    link.unlink()
    link.write_text("")
    looked_at(workspace, link)
    assert not is_one(looked_at(workspace, file), file, link)


def looked_at(workspace: Workspace, *paths: Path) -> Snapshot:
    """With what is at these paths."""
    uris = [uri_of(path) for path in paths]
    workspace.apply([Change(uri, "# Read.\n") for uri in uris], complete=True)
    return workspace.apply([], real_uris=real_uris(workspace.snapshot, uris)).snapshot


def is_one(snapshot: Snapshot, *paths: Path) -> bool:
    one, other = (snapshot.file(uri_of(path)) for path in paths)
    assert one is not None
    assert other is not None
    return snapshot.is_one_file(one, other)
