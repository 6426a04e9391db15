"""Called agents as sessions of their own, for clients that declare `subagents`.

This part of the protocol is not stable (schema.unstable.json of @agentclientprotocol/sdk 2.4.0). It is all that is
known of it here. The session of a called agent has the id of its run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axe_lsp.acp.update_queue import Update, UpdateQueue
from axe_lsp.acp.updates import (
    STOP_REASONS,
    STOP_REASONS_OF_LIMITS,
    Call,
    Run,
    Updates,
    same_id,
)
from axe_lsp.runtime.safety.questions import Question

_RUNNING: Update = {"state": "running"}
_ASKS: Update = {"state": "requires_action"}

_INTERNAL_ERROR = -32603


class SubagentUpdates(Updates):
    """The updates of a message, with a session for each called agent. Their ids are added to `children`."""

    def __init__(
        self,
        queue: UpdateQueue,
        session: str,
        folder: str,
        *,
        children: set[str],
        has_compactions: bool = False,
    ) -> None:
        super().__init__(queue, session, folder, has_compactions=has_compactions)
        self._children_of_client = children
        self._open_questions: dict[str, int] = {}

    def session_of_child(self, run_id: str) -> str:
        """Return the session in which a called agent is shown: its own."""
        return run_id

    def child_begins(self, run_id: str, run: Run, task: str) -> None:
        """Announce the session to the one of the caller, and the task to both."""
        parent = self.runs[run.parent or ""].session
        self._children_of_client.add(run_id)
        update = {
            "title": run.name,
            "description": task,
            "capabilities": {"cancel": {}},
            "cwd": run.folder,
            "state": _RUNNING,
        }
        self._tell_parent(run_id, run, update)
        outgoing, incoming = (same_id(run_id, str(run.attempt), way) for way in ("out", "in"))
        message = {
            "sessionUpdate": "session_message",
            "senderSessionId": parent,
            "recipientSessionId": run_id,
            "content": [{"type": "text", "text": task}] if task else [],
        }
        self.queue.send(parent, {**message, "messageId": outgoing, "recipientMessageId": incoming})
        self.queue.send(run_id, {**message, "messageId": incoming, "senderMessageId": outgoing})

    def child_ends(self, run_id: str, run: Run, end: Mapping[str, Any]) -> None:
        """Say on the session of the caller why a called agent has ended."""
        self._tell_parent(run_id, run, {"state": {"state": "idle", **_stop_of(end)}})

    def show_log(self, call: Call) -> None:
        """Do nothing: the log of a called agent is in its own session."""

    def waits(self, question: Question, *, is_open: bool) -> None:
        """Say whether a called agent waits for its user."""
        run_id = question.run.run_id
        run = self.runs.get(run_id)
        if run is None or run.parent is None or run.has_ended:
            return
        before = self._open_questions.get(run_id, 0)
        now = self._open_questions[run_id] = before + (1 if is_open else -1)
        if bool(before) != bool(now):
            self._tell_parent(run_id, run, {"state": _ASKS if now else _RUNNING})

    def _tell_parent(self, run_id: str, run: Run, members: Update) -> None:
        parent = self.runs[run.parent or ""].session
        update = {"sessionUpdate": "subagent_update", "sessionId": run_id, **members}
        self.queue.send(parent, update)


def _stop_of(end: Mapping[str, Any]) -> Update:
    """Return the members of an idle state, from the end of a run."""
    if end["status"] == "completed":
        return {"stopReason": STOP_REASONS.get(end.get("incomplete") or "", "end_turn")}
    if end["status"] == "cancelled":
        return {"stopReason": "cancelled"}
    if end.get("limit"):
        return {"stopReason": STOP_REASONS_OF_LIMITS[end["limit"]]}
    message = end.get("error") or f"the run was {end['status']}"
    return {"stopReason": "error", "error": {"code": _INTERNAL_ERROR, "message": message}}
