"""Globs of the files of all dialects, for editors: which files are served, and watched.

`**/` stands for any number of folders, none included.
"""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.dialects import LAYERED, SETTINGS_FILE
from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, SUFFIX, TEST_FOLDERS


def agent_globs() -> Iterator[str]:
    """The globs of agent files: `**/.codex/agents/**/*.toml`."""
    yield from (f"**/{folder}/*{SUFFIX}" for folder in AGENT_FOLDERS)
    for program in LAYERED:
        yield f"**/{program.agents}/{'**/' if program.is_recursive else ''}*{SUFFIX}"


def settings_globs() -> Iterator[str]:
    """The globs of other files about agents: tests, and the settings of projects (`**/.codex/config.toml`)."""
    yield from (f"**/{folder}/*{SUFFIX}" for folder in TEST_FOLDERS)
    yield from (f"**/{program.layer}/{SETTINGS_FILE}" for program in LAYERED)


def usual_folders() -> Iterator[str]:
    """The folders of agents, of tests and of settings, below a project: `.codex/agents` and `.codex`."""
    yield from AGENT_FOLDERS
    yield from TEST_FOLDERS
    for program in LAYERED:
        yield from (program.agents, program.layer)
