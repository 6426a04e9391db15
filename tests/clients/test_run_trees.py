"""Neovim and Emacs say the same of a run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from support.editors import PROJECT, emacsen, missing, neovims

_RUN = {"runId": "1", "rootRunId": "1", "agent": "helper", "depth": 0, "seq": 1, "time": ""}
_FIGURES = {"turns": 1, "toolCalls": 2, "inputTokens": 10, "outputTokens": 5, "durationMs": 1234}
_CONTEXT = {**_RUN, "turn": 1, "tokensBefore": 9000, "tokensAfter": 900}

BEGIN = {
    "method": "axe/agent",
    **_RUN,
    "kind": "begin",
    "task": "Look at\nthe style",
    "model": "ollama/small",
}
_OTHER = {**_RUN, "runId": "2", "rootRunId": "2", "agent": "lead"}
_RESUME = {"method": "axe/agent", **_OTHER, "kind": "resume", "task": "Go", "model": "ollama/small"}
_SAVED = {"turns": 1, "toolCalls": 0, "durationMs": 4000}

RESUMED = [
    {**BEGIN, **_OTHER, "task": "Go"},
    {"method": "axe/text", **_OTHER, "turn": 1, "delta": "Lost"},
    {
        "method": "axe/agent",
        **_OTHER,
        "kind": "end",
        "status": "killed",
        **_FIGURES,
        "error": "it died",
    },
    {**_RESUME, "turn": 2, "saved": _SAVED},
    {"method": "axe/turn", **_OTHER, "kind": "begin", "turn": 2, "messages": 3},
    {"method": "axe/text", **_OTHER, "turn": 2, "delta": "Found"},
    {
        "method": "axe/agent",
        **_OTHER,
        "kind": "end",
        "status": "completed",
        **_FIGURES,
        "changes": "Its changes were applied.",
    },
    {**_RESUME, "runId": "3", "parentRunId": "2", "depth": 1, "turn": 4, "saved": _SAVED},
]
"""A run that is resumed, and one of which nobody has heard before."""

_CALLER = {**_RUN, "runId": "4", "rootRunId": "4", "agent": "head"}
_SIDE = {**_RUN, "runId": "5", "rootRunId": "4", "parentRunId": "4", "agent": "lint", "depth": 1}
_QUEUED = {"method": "axe/message", **_CALLER, "kind": "queued", "from": "person"}
_GIVEN = {"method": "axe/message", **_CALLER, "kind": "given", "turn": 2, "text": ""}

SIDE_RUN = [
    {**BEGIN, **_CALLER, "task": "Go"},
    {**BEGIN, **_SIDE, "task": "Lint", "side": "lint-1"},
    {"method": "axe/agent", **_CALLER, "kind": "idle", "turn": 2, "sideRuns": ["lint-1", "b-2"]},
    {**_QUEUED, "messageId": "a", "mode": "next", "text": "Only\na.py"},
    {**_QUEUED, "messageId": "b", "mode": "after", "text": "And b.py"},
    {"method": "axe/message", **_CALLER, "kind": "changed", "messageId": "b", "mode": "now"},
    {"method": "axe/message", **_CALLER, "kind": "removed", "messageId": "b"},
    {**_GIVEN, "sideRuns": ["lint-1"], "messageIds": ["a"]},
    {**_GIVEN, "sideRuns": ["lint-1", "b-2"], "messageIds": []},
    {
        "method": "axe/turn",
        **_CALLER,
        "kind": "end",
        "turn": 2,
        "text": "Half",
        "toolCalls": [],
        **_FIGURES,
        "incomplete": "interrupted",
    },
]
"""A run that waits for its side runs and gets messages."""

EVENTS = [
    BEGIN,
    {"method": "axe/thought", **_RUN, "turn": 1, "delta": "Forget this."},
    {
        "method": "axe/turn",
        **_RUN,
        "kind": "retry",
        "turn": 1,
        "attempt": 1,
        "maxAttempts": 3,
        "category": "rate_limit",
        "message": "slow\ndown",
        "waitMs": 1500,
    },
    {"method": "axe/turn", **_RUN, "kind": "begin", "turn": 1, "messages": 1},
    {"method": "axe/place", **_RUN, "place": "", "waiting": "a machine"},
    {
        "method": "axe/place",
        **_RUN,
        "place": "ssh://build1",
        "folder": "/copy",
        "ref": "refs/axe/1",
    },
    {"method": "axe/place", **_RUN, "place": "ssh://build1", "waiting": "a slot"},
    {"method": "axe/place", **_RUN, "place": "ssh://build2", "reason": "build1 was lost"},
    {"method": "axe/place", **_RUN, "place": "here", "folder": "/copy"},
    {"method": "axe/wait", **_RUN, "turn": 1, "provider": "ollama"},
    {"method": "axe/wait", **_RUN, "turn": 1, "provider": "ollama", "waitMs": 2500},
    {"method": "axe/context", **_CONTEXT, "kind": "begin"},
    {"method": "axe/context", **_CONTEXT, "kind": "end", "messages": 5, "summary": "So far."},
    {"method": "axe/context", **_CONTEXT, "kind": "shortened", "results": 2},
    {"method": "axe/context", **_CONTEXT, "kind": "end", "messages": 0, "error": "server:\nboom"},
    {"method": "axe/thought", **_RUN, "turn": 1, "delta": "Let me\n"},
    {"method": "axe/thought", **_RUN, "turn": 1, "delta": "see."},
    {"method": "axe/text", **_RUN, "turn": 1, "delta": "Half a"},
    {
        "method": "axe/turn",
        **_RUN,
        "kind": "end",
        "turn": 1,
        "text": "Half a",
        "toolCalls": [],
        **_FIGURES,
        "incomplete": "length",
    },
    {
        "method": "axe/agent",
        **_RUN,
        "kind": "end",
        "status": "completed",
        **_FIGURES,
        "incomplete": "length",
        "cost": 0.00123,
        "tree": {"inputTokens": 300, "outputTokens": 20, "cost": 0.0125},
        "changes": "Its changes were not applied.",
        "unapplied": "all",
    },
    *RESUMED,
    *SIDE_RUN,
]

TREE = [
    "✓ helper: Look at the style  cut off at the output limit · 1.2 s · 1 turn · "
    "2 tool calls · 10 tokens in, 5 out, $0.0012 · 300 tokens in, 20 out, $0.0125 with all agents",
    "  ⟳ rate_limit: slow down; sent again in 1.5 s (1 of 3)",
    "  · turn 1  1.2 s · 10 tokens in, 5 out",
    "  ⟳ waits for a machine",
    "  ⟳ works at ssh://build1",
    "  ⟳ waits for a slot at ssh://build1",
    "  ⟳ works at ssh://build2, since build1 was lost",
    "  ⟳ ollama takes no more requests at once: waiting for others",
    "  ⟳ ollama asked for a pause: waiting for 2.5 s",
    "  ⟳ asks for a summary, since about 9000 tokens are too many",
    "  ⟳ 5 messages replaced by a summary, about 9000 to 900 tokens",
    "  ⟳ 2 old tool results shortened, about 9000 to 900 tokens",
    "  ⟳ no summary: server: boom",
    "  ~ Let me see.",
    "  │ Half a",
    "  ! cut off at the output limit",
    "  ! Its changes were not applied.",
    "✓ lead: Go  1.2 s · 1 turn · 2 tool calls · 10 tokens in, 5 out",
    "  │ Lost",
    "  ! killed: it died",
    "  ⟳ resumed at turn 2",
    "  · turn 2",
    "  │ Found",
    "  ⟳ Its changes were applied.",
    "  ▶ lead: Go  ollama/small",
    "    ⟳ resumed at turn 4",
    "▶ head: Go  ollama/small",
    "  ▶ lint-1 (side run): Lint  ollama/small",
    "  ⟳ waits for lint-1, b-2",
    "  ⟳ message: Only a.py",
    "  ⟳ message for the end of the run: And b.py",
    "  ⟳ message changed, given at once",
    "  ⟳ message removed",
    "  ⟳ given: answer of lint-1 and 1 message",
    "  ⟳ given: answers of lint-1, b-2",
    "  │ Half",
    "  ! broken off by a message",
]

_LUA = """
vim.opt.runtimepath:prepend([[{clients}/neovim]])
package.path = [[{support}]] .. package.path
local buffer = vim.api.nvim_create_buf(false, true)
local tree = require('axe_lsp.tree').new(buffer)
for line in io.lines([[{events}]]) do
  local event = vim.fn.json_decode(line)
  tree.tell(event.method, event)
end
local out = io.open([[{out}]], 'w')
out:write(require('support').shown(buffer))
out:close()
"""

_LISP = """
(setenv "AXE_EMACS" "{clients}/emacs")
(load "{support}")
(let ((coding-system-for-read 'utf-8) (coding-system-for-write 'utf-8))
  (with-temp-buffer
    (insert-file-contents "{events}")
    (goto-char (point-min))
    (while (not (eobp))
      (let ((event (json-parse-buffer :object-type 'plist)))
        (axe-lsp-tree-tell (axe-lsp-runs-buffer) (intern (plist-get event :method)) event))
      (skip-chars-forward "\\n")))
  (write-region (runs-text) nil "{out}"))
"""


@pytest.mark.editor
@pytest.mark.parametrize("nvim", neovims()[-1:] or [None], ids=lambda _: "")
def test_neovim_draws_the_recorded_run_trees(nvim: Path | None, tmp_path: Path) -> None:
    if nvim is None:
        missing("Neovim", ".ci/install-neovim")
    support = Path(__file__).parent / "neovim" / "?.lua;"
    script = _script(tmp_path, "log.lua", _LUA, support)
    command = [str(nvim), "--headless", "-u", "NONE", "-c", f"luafile {script}", "-c", "qa!"]
    assert _logged(command, tmp_path) == TREE


@pytest.mark.editor
@pytest.mark.parametrize("emacs", emacsen()[-1:] or [None], ids=lambda _: "")
def test_emacs_draws_the_recorded_run_trees(emacs: Path | None, tmp_path: Path) -> None:
    if emacs is None:
        missing("Emacs", ".ci/install-emacs")
    script = _script(tmp_path, "log.el", _LISP, Path(__file__).parent / "emacs" / "support.el")
    assert _logged([str(emacs), "-Q", "--batch", "-l", str(script)], tmp_path) == TREE


def _script(folder: Path, name: str, text: str, support: Path) -> Path:
    events = folder / "events"
    events.write_text("".join(json.dumps(event) + "\n" for event in EVENTS), encoding="utf-8")
    script = folder / name
    clients = PROJECT / "clients"
    text = text.format(clients=clients, events=events, out=folder / "out", support=support)
    script.write_text(text, encoding="utf-8")
    return script


def _logged(command: list[str], folder: Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (folder / "out").exists(), done.stdout + done.stderr
    return (folder / "out").read_text(encoding="utf-8").splitlines()
