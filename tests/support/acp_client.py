"""A client of the Agent Client Protocol: `RawClient` with a message a line, and what such a client keeps.

with AcpClient.start(project) as client:
    session = client.new_session("lead")
    assert client.prompt(session, "Go") == "end_turn"
    assert client.said(session) == "done"

At its end it holds all that the agent has sent to the schema of the protocol.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from support.acp_wire import Wire
from support.raw_client import TIMEOUT, RawClient
from support.session import Project

SERVER = [sys.executable, "-c", "from axe_lsp.cli.main import main; main()", "acp"]

Json = Any


class AcpClient(RawClient):
    """One connection. `answer_with["session/request_permission"]` allows once unless a test says otherwise."""

    project: Project
    wire: Wire | None = None

    @classmethod
    def start(
        cls,
        project: Project,
        arguments: Sequence[str] = (),
        capabilities: Json = None,
        env: Mapping[str, str] | None = None,
    ) -> AcpClient:
        """Start the agent, and initialize the connection."""
        environment = {**project.environment, **(env or {})}
        client = cls.spawn([*SERVER, *arguments], env=environment, cwd=project.root)
        assert isinstance(client, AcpClient)
        client.project = project
        client.wire = Wire(knows_subagents="subagents" in (capabilities or {}))
        client.answer_with = {"session/request_permission": chooses("allow_once")}
        params = {"protocolVersion": 1, "clientCapabilities": capabilities or {}}
        client.request("initialize", params)
        return client

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if kind is None and self.wire is not None:
            faults = self.wire.faults(self.received)
            assert not faults, "\n".join(faults)

    def send(self, *messages: Json) -> None:
        for message in messages:
            if self.wire is not None:
                self.wire.sends(message, after=len(self.received))
        self.send_raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def new_session(self, agent: str = "") -> str:
        """Return a session in the project, with an agent."""
        made = self.request("session/new", {"cwd": str(self.project.root), "mcpServers": []})
        session: str = made["sessionId"]
        if agent:
            self.choose(session, "agent", agent)
        return session

    def load(self, session: str, method: str = "session/load") -> Json:
        """Open a session again."""
        place = {"cwd": str(self.project.root), "mcpServers": []}
        return self.request(method, {"sessionId": session, **place})

    def choose(self, session: str, option: str, value: str) -> Json:
        """Set an option of a session."""
        params = {"sessionId": session, "configId": option, "value": value}
        return self.request("session/set_config_option", params)["configOptions"]

    def start_prompt(self, session: str, text: str) -> int:
        """Send a message without waiting for the answer."""
        blocks = [{"type": "text", "text": text}]
        return self.start_request("session/prompt", {"sessionId": session, "prompt": blocks})

    def prompt(self, session: str, text: str, timeout: float = TIMEOUT) -> str:
        """Send a message; the reason why its answer ends."""
        reason: str = self.result(self.start_prompt(session, text), timeout)["stopReason"]
        return reason

    def updates(self, session: str, *kinds: str) -> list[Json]:
        """Return the updates of a session so far, those of some kinds."""
        return [
            params["update"]
            for params in self.notifications("session/update")
            if params["sessionId"] == session
            and (not kinds or params["update"]["sessionUpdate"] in kinds)
        ]

    def wait_for_update(self, session: str, kind: str) -> Json:
        """Return the next update of that kind."""
        return self.wait_for(
            "session/update",
            lambda params: (
                params["sessionId"] == session and params["update"]["sessionUpdate"] == kind
            ),
        )["update"]

    def said(self, session: str, kind: str = "agent_message_chunk") -> str:
        """Return the text of all messages so far."""
        return "".join(update["content"]["text"] for update in self.updates(session, kind))

    def calls(self, session: str) -> list[Json]:
        """Return the tool calls of a session as a client keeps them: what is newer replaces what is older."""
        calls: dict[str, Json] = {}
        for update in self.updates(session, "tool_call", "tool_call_update"):
            own = {key: value for key, value in update.items() if key != "sessionUpdate"}
            call = calls.setdefault(update["toolCallId"], {"statuses": []})
            call.update(own)
            if "status" in own:
                call["statuses"].append(own["status"])
        return list(calls.values())

    def questions(self) -> list[Json]:
        """Return the params of all requests for a permission so far."""
        return self.notifications("session/request_permission")

    def _next_message(self) -> bytes:
        return self._incoming.readline()


def chooses(option: str) -> Any:
    """Answers requests for a permission with an option."""
    return lambda _: {"outcome": {"outcome": "selected", "optionId": option}}
