"""Previews as clients and programs see them: the answer of `axe/preview`, in JSON."""

from __future__ import annotations

from axe_lsp.hosting.jsonable import Json, to_json
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.preview.preview import preview_of


def preview_json(prepared: Prepared) -> dict[str, Json]:
    """What a prepared run would send first. Of context files only the sizes are told."""
    shown = preview_of(prepared)
    files = [{"path": file.path, "bytes": file.size} for file in shown.files]
    return {**to_json(shown), "files": files}
