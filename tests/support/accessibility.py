"""What axe-core, which knows the rules for accessible pages, has against a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.editors import PROJECT, missing

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator

_RULES = PROJECT / "vscode-extension" / "node_modules" / "axe-core" / "axe.min.js"

_OBJECTIONS = """
async () => (await axe.run()).violations.flatMap(({ id, help, nodes }) =>
  nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html}: ${failureSummary}`))
"""


def check_accessible(page: FrameLocator) -> None:
    """Fails with everything on a webview's page that somebody could not read, hear or reach."""
    if not _RULES.exists():
        missing("axe-core", "`npm ci` in vscode-extension")
    handle = page.locator("html").element_handle()
    frame = handle.owner_frame()
    assert frame
    frame.evaluate(_RULES.read_text(encoding="utf-8"))
    objections: list[str] = frame.evaluate(_OBJECTIONS)
    assert objections == [], "\n".join(objections)
