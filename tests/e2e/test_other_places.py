"""A Codex project in an editor without any settings: it is served, and followed on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.dialects import agent_globs, settings_globs
from support.codex_project import REVIEWER, write_codex_project
from support.session import PUBLISH, Project

Json = Any

WATCHES = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_client_is_asked_to_watch_the_files_of_all_dialects(project: Project) -> None:
    with project.editor(capabilities=WATCHES) as editor:
        (registration,) = editor.client.wait_for("client/registerCapability")["registrations"]
        watched = [each["globPattern"] for each in registration["registerOptions"]["watchers"]]
    assert {*agent_globs(), *settings_globs(), "**/.codex/agents", "**/.codex"} <= set(watched)


@pytest.mark.parametrize("capabilities", [WATCHES, {}], ids=["told", "looks itself"])
def test_an_agent_of_codex_is_checked_and_followed_on_the_disk(
    project: Project, capabilities: dict[str, object]
) -> None:
    reviewer = write_codex_project(project.root)

    def has(*codes: str) -> Callable[[Json], bool]:
        return lambda params: (
            params["uri"] == reviewer.as_uri()
            and [each["code"] for each in params["diagnostics"]] == list(codes)
        )

    with project.editor(capabilities=capabilities) as editor:
        editor.client.wait_for(PUBLISH, has("unknown-key"))
        reviewer.write_text(REVIEWER.replace("efort", "effort"), encoding="utf-8")
        if capabilities:
            changes = [{"uri": reviewer.as_uri(), "type": 2}]
            editor.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        editor.client.wait_for(PUBLISH, has())
