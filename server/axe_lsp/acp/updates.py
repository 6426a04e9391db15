"""Events of a run as updates of a session (`session/update`).

The agent's own text and thoughts become messages. Each tool call of the whole tree becomes a tool call, also those of
called agents; what a called agent does and says is the content of the call that has started it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from msgspec import Struct, field

from axe_lsp.acp.update_queue import Update, UpdateQueue
from axe_lsp.agentfile.schema.models import known_model
from axe_lsp.agentfile.schema.tools import CHANGING_TOOLS, TOOLS
from axe_lsp.agentfile.text.amounts import as_line
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.protocol import Warned
from axe_lsp.runtime.children.delegation import CALL_AGENT, TASK, child_run_id
from axe_lsp.runtime.json_data import from_json
from axe_lsp.runtime.messages import Image, argument_text
from axe_lsp.runtime.safety.questions import Question
from axe_lsp.runtime.sources import Source, sources_markdown

FilesBefore = Mapping[tuple[str, int, str], str | None]
"""The texts of files before the calls that have changed them, by run, turn and call; None for a later change."""

_NAMES = UUID("5f0d8a52-1d9f-4f9e-9c0e-6c2f6f5e2a11")
"""The namespace of the ids here. They are the same whenever the events are told again."""

_LONGEST_TITLE = 120
_LONGEST_CHANGE = 256 * 1024
"""Characters of a change that is told again as a diff."""

_MOST_OF_A_CHILD = 4_000
"""Characters of what a called agent does, while it does that."""

STOP_REASONS: Mapping[str, str] = {
    "length": "max_tokens",
    "context_window": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
}
"""The StopReason of an incomplete answer."""

STOP_REASONS_OF_LIMITS: Mapping[str, str] = {
    "tokens": "max_tokens",
    "cost": "max_tokens",
    "turns": "max_turn_requests",
    "toolCalls": "max_turn_requests",
    "time": "max_turn_requests",
}
"""The StopReason of a budget that is used up."""

_MARKS = {"completed": "✓", "failed": "✗"}


class Call(Struct):
    """A tool call that the client has heard of. `log` is what the agent does that it has started.

    `terminal` is the one of the client in which its command runs. One that has started a side run (`is_side`) ends
    with that.
    """

    id: str
    session: str
    title: str
    kind: str
    arguments: Mapping[str, Any]
    locations: list[Update]
    agent: str
    depth: int
    status: str = "pending"
    change: Update | None = None
    terminal: str = ""
    log: list[Call] = field(default_factory=list)
    said: str = ""
    is_side: bool = False

    @property
    def is_over(self) -> bool:
        """Whether its result is there."""
        return self.status in _MARKS


class Run(Struct):
    """A run of the tree. `call` is the one that has started it; `attempt` counts how often it has begun.

    A guest is shown in the session of the root, where its calls have to name it. What one does that works `in_copy`
    is about no file that the client has. `compaction` is the id of the one that is going on.
    """

    agent: str
    depth: int
    session: str
    folder: str
    call: Call | None
    parent: str | None = None
    calls: dict[str, Call] = field(default_factory=dict)
    attempt: int = 0
    retries: int = 0
    model: str = ""
    is_heard: bool = False
    has_ended: bool = False
    is_guest: bool = False
    in_copy: bool = False
    compaction: str = ""
    compactions: int = 0

    @property
    def name(self) -> str:
        """The agent, as its calls name it."""
        return f"{self.agent} (in a copy)" if self.in_copy else self.agent


class Updates:
    """The updates of one message of a session, which is one root run; in the order of its events.

    `folder` is the workspace in which it works. The client may know of compactions.
    """

    def __init__(
        self, queue: UpdateQueue, session: str, folder: str, *, has_compactions: bool = False
    ) -> None:
        self.queue = queue
        self.session = session
        self.cost = 0.0
        """Of the session until now, in US dollars."""
        self.folder = folder
        self._has_compactions = has_compactions
        self.runs: dict[str, Run] = {}
        self.files_before: FilesBefore = {}
        self._written: dict[str, str] = {}
        self._children: dict[str, Call] = {}
        self._plan: dict[str, Update] = {}

    def hear(self, news: Notification | Warned) -> None:
        """Tell the client of an event."""
        if isinstance(news, Warned):
            self.queue.warn(self.session, news.text)
            return
        event = news.params
        match news.method, event.get("kind"):
            case "axe/agent", "begin" | "resume":
                self._begin(event)
            case "axe/agent", "end":
                self._end(event)
            case "axe/turn", "begin" | "retry" as kind:
                self._turn(event, is_retry=kind == "retry")
            case "axe/turn", "end":
                self._turn_end(event)
            case ("axe/text" | "axe/thought") as method, _:
                self._say(event, event["delta"], is_thought=method == "axe/thought")
            case "axe/context", "begin" | "end" as kind:
                self._compact(event, is_over=kind == "end")
            case "axe/tool", "begin":
                self._tool(event)
            case "axe/tool", "end":
                self._tool_end(event)

    def call_of(self, question: Question) -> Call:
        """Return the tool call that a question is about. One about trust gets a call of its own."""
        run = self.runs.get(question.run.run_id)
        call = run.calls.get(question.call_id or "") if run is not None else None
        if call is None:
            call = self._call_of_no_event(question)
        if question.change is not None and self._has_file(question, run):
            path = _absolute(run.folder if run else self.folder, question.change.path)
            # An empty file and one that is not there look alike.
            before = question.change.before or None
            call.change = {
                "type": "diff",
                "path": path,
                "oldText": before,
                "newText": question.change.after,
            }
            call.locations = [{"path": path}]
        return call

    def _has_file(self, question: Question, run: Run | None) -> bool:
        """Return whether a question is about a file of the client. A copy is handed over to the folder of the caller."""
        where = run if question.call_id or run is None else self.runs.get(run.parent or "")
        return where is None or not where.in_copy

    def waits(self, question: Question, *, is_open: bool) -> None:
        """Take note that a question of a run is open from now on, or not any more."""

    def session_of(self, run_id: str) -> str:
        """Return the session in which a run is shown."""
        run = self.runs.get(run_id)
        return run.session if run is not None else self.session

    def show_terminal(self, run_id: str, call_id: str, terminal: str) -> None:
        """Take note that a call has its command run in a terminal of the client."""
        run = self.runs.get(run_id)
        call = run.calls.get(call_id) if run is not None else None
        if call is not None and not call.is_over:
            call.terminal, call.status = terminal, "in_progress"
            self._update(call, {"status": call.status, "content": [_terminal(terminal)]})

    def begin_work(self, call: Call) -> None:
        """Take note that the call is allowed."""
        if not call.is_over:
            call.status = "in_progress"
            update: Update = {"status": call.status}
            if call.change is not None:
                update["content"] = [call.change]
            self._update(call, update)

    def close(self) -> None:
        """End what is open: nothing more will come of it."""
        for run_id, run in reversed(self.runs.items()):
            if not run.has_ended:
                self._end({"runId": run_id, "status": "cancelled"})
        for call in self._children.values():
            if not call.is_over:
                self.end_call(call, is_error=True)
        self.queue.flush()

    # What a client that knows sub-agents gets in another way (`subagents.py`).

    def session_of_child(self, run_id: str) -> str:
        """Return the session in which a called agent is shown: that of its root."""
        return self.session

    def child_begins(self, run_id: str, run: Run, task: str) -> None:
        """Take note that a called agent begins, before anything else of it."""

    def child_ends(self, run_id: str, run: Run, end: Mapping[str, Any]) -> None:
        """Take note that a called agent has ended, as the event `end` says; all that it has started has ended before."""

    def show_log(self, call: Call) -> None:
        """Tell soon of all that a called agent has done so far."""

        def update() -> Update | None:
            if call.is_over:
                return None
            return {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call.id,
                "content": [_content(_log_of(call))],
            }

        self.queue.send_soon(call.session, call.id, update)

    # Runs and turns.

    def _begin(self, event: Mapping[str, Any]) -> None:
        run_id, parent = event["runId"], event.get("parentRunId")
        run = self.runs.get(run_id)
        if run is None:
            call = self._children.get(run_id)
            folder = event.get("workdir") or self.folder
            session = self.session_of_child(run_id) if parent else self.session
            run = Run(event["agent"], event["depth"], session, folder, call, parent)
            run.is_guest = bool(parent) and session == self.session
            run.in_copy = event.get("isolation") == "copy"
            self.runs[run_id] = run
        else:  # It goes on after its process has died, and what was open in it is over.
            self._fail_open(run, goes_on=True)
            run.attempt += 1
            run.has_ended = False
        if parent:
            self.child_begins(run_id, run, event["task"])
        run.model = event["model"]
        if run.call is not None and not run.call.title.startswith(f"{run.name}: "):
            run.call.title = _title(run.name, event.get("description") or event["task"])
            self._update(run.call, {"title": run.call.title, "status": "in_progress"})

    def _end(self, event: Mapping[str, Any]) -> None:
        run = self.runs.get(event["runId"])
        if run is not None:
            self._fail_open(run)
            run.has_ended = True
            if run.call is not None and run.call.is_side and not run.call.is_over:
                self.end_call(run.call, is_error=event["status"] != "completed")
            if run.parent:
                self.child_ends(event["runId"], run, event)

    def _turn(self, event: Mapping[str, Any], *, is_retry: bool) -> None:
        run = self.runs[event["runId"]]
        run.is_heard = False
        if is_retry:
            run.retries += 1

    def _turn_end(self, event: Mapping[str, Any]) -> None:
        run = self.runs[event["runId"]]
        if event["text"] and not run.is_heard:  # It came whole, or its pieces are not kept.
            self._say(event, event["text"], is_thought=False)
        if sources := sources_markdown(from_json(tuple[Source, ...], event.get("sources", ()))):
            self._say(event, f"\n\n{sources}\n", is_thought=False)
        self.cost += event.get("cost") or 0.0
        if run.depth == 0:
            self._show_use(run, event)
            self._show_plan(event)

    def _show_use(self, run: Run, event: Mapping[str, Any]) -> None:
        model = known_model(run.model)
        if model is None:
            return
        update: Update = {
            "sessionUpdate": "usage_update",
            "used": event["inputTokens"] + event["outputTokens"],
            "size": model.context,
        }
        if self.cost:
            update["cost"] = {"amount": round(self.cost, 6), "currency": "USD"}
        self.queue.send(run.session, update)

    def _say(self, event: Mapping[str, Any], text: str, *, is_thought: bool) -> None:
        run = self.runs[event["runId"]]
        run.is_heard = run.is_heard or not is_thought
        if run.depth == 0 or run.session != self.session:
            kind = "agent_thought_chunk" if is_thought else "agent_message_chunk"
            turn = f"{event['turn']}/{run.attempt}/{run.retries}"
            self.queue.say(run.session, kind, same_id(event["runId"], turn, kind), text)
        elif not is_thought and run.call is not None:
            run.call.said = (run.call.said + text)[-_MOST_OF_A_CHILD:]
            self.show_log(run.call)

    # Tool calls.

    def _tool(self, event: Mapping[str, Any]) -> None:
        run_id, name, arguments = event["runId"], event["name"], event["arguments"]
        run = self.runs[run_id]
        key = (run_id, str(event["turn"]), event["callId"], str(run.attempt))
        asks = name in CHANGING_TOOLS or "/" in name
        call = Call(
            id=same_id(*key),
            session=run.session,
            title=_title_of(run, name, arguments),
            kind=TOOLS[name].kind if name in TOOLS else "other",
            arguments=arguments,
            locations=[] if run.in_copy else _locations(run.folder, name, arguments),
            agent=run.agent,
            depth=run.depth,
            status="pending" if asks else "in_progress",
        )
        if name == "run_command":  # It may change any file.
            self._written.clear()
        if name == "edit_file" and call.locations:
            self._written.pop(call.locations[0]["path"], None)
            call.change = {
                "type": "diff",
                "path": call.locations[0]["path"],
                "oldText": argument_text(arguments.get("old_string")),
                "newText": argument_text(arguments.get("new_string")),
            }
        if name == "write_file" and call.locations:
            call.change = self._former_change(event, call.locations[0]["path"])
        run.calls[event["callId"]] = call
        self._children[child_run_id(run_id, event["turn"], event["callId"])] = call
        self._announce(call, run.call)
        if run.call is not None:
            run.call.log.append(call)
            self.show_log(run.call)
        self._show_progress(event["callId"], "in_progress", run)

    def _former_change(self, event: Mapping[str, Any], path: str) -> Update | None:
        """Return the changes of a call that is reported again, if the former content is known."""
        key = (event["runId"], event["turn"], event["callId"])
        if key not in self.files_before:
            return None
        before = self.files_before[key]
        if before is None:
            before = self._written.get(path)
        after = argument_text(event["arguments"].get("content"))
        self._written[path] = after
        if before is None or len(before) + len(after) > _LONGEST_CHANGE:
            return None
        return {"type": "diff", "path": path, "oldText": before or None, "newText": after}

    def _announce(self, call: Call, parent: Call | None) -> None:
        about: Update = {"agent": call.agent, "depth": call.depth}
        if parent is not None:
            about["parentToolCallId"] = parent.id
        update = {"sessionUpdate": "tool_call", **self.described(call), "_meta": {"axe": about}}
        self.queue.send(call.session, update)

    def described(self, call: Call) -> Update:
        """Return the complete call, as requests about it contain it, too."""
        members: Update = {
            "toolCallId": call.id,
            "title": call.title,
            "kind": call.kind,
            "status": call.status,
            "rawInput": dict(call.arguments),
        }
        if call.locations:
            members["locations"] = call.locations
        if call.change is not None:
            members["content"] = [call.change]
        return members

    def _tool_end(self, event: Mapping[str, Any]) -> None:
        run = self.runs[event["runId"]]
        call = run.calls.get(event["callId"])
        if call is not None and not call.is_over:
            child = self.runs.get(event.get("childRunId") or "")
            if event.get("childRunId") and not (child is not None and child.has_ended):
                call.is_side = True  # It has started a side run, and ends with that.
                return
            if event["isError"]:  # What it has left in its file is not known.
                for each in call.locations:
                    self._written.pop(each["path"], None)
            self.end_call(call, event["content"], is_error=event["isError"])
            self._show_progress(event["callId"], "completed", run)
            if run.call is not None:
                self.show_log(run.call)

    def end_call(self, call: Call, text: str = "", *, is_error: bool) -> None:
        """End a call, whose result is a text, or shown elsewhere."""
        call.status = "failed" if is_error else "completed"
        update: Update = {"status": call.status}
        content = [call.change] if call.change is not None and not is_error else []
        if call.terminal:  # It shows the output itself.
            content.append(_terminal(call.terminal))
            text = text.partition("\n")[0] if is_error else ""
        if text and (is_error or call.change is None):
            content.append(_content(text))
        if content:
            update["content"] = content
        self._update(call, update)

    def _compact(self, event: Mapping[str, Any], *, is_over: bool) -> None:
        """Take note that the conversation of an agent is summed up, which its client may show where the agent has a session."""
        run = self.runs[event["runId"]]
        if not self._has_compactions or run.is_guest:
            return
        if not is_over:
            run.compactions += 1
            id_ = same_id(event["runId"], "compaction", str(run.attempt), str(run.compactions))
            run.compaction = id_
            self._tell_compaction(run, {"status": "in_progress"})
        elif error := event.get("error"):
            status = "cancelled" if error == "cancelled" else "failed"
            self._tell_compaction(run, {"status": status, "error": error})
        else:
            summary = [{"type": "text", "text": event["summary"]}]
            self._tell_compaction(run, {"status": "completed", "summary": summary})

    def _tell_compaction(self, run: Run, members: Update) -> None:
        if run.compaction:
            update = {"sessionUpdate": "compaction_update", "compactionId": run.compaction}
            self.queue.send(run.session, {**update, **members})
        if members["status"] != "in_progress":
            run.compaction = ""

    def _fail_open(self, run: Run, *, goes_on: bool = False) -> None:
        """End what is open in a run. Side runs of one that goes on do so as well."""
        self._tell_compaction(run, {"status": "failed"})
        for call in run.calls.values():
            if not call.is_over and not (goes_on and call.is_side):
                self.end_call(call, is_error=True)

    def _call_of_no_event(self, question: Question) -> Call:
        """Return a call for a question that comes before the first event, as about trust."""
        run = self.runs.get(question.run.run_id)
        key = f"{question.run.run_id}/{question.tool}/{len(self._children)}"
        call = Call(
            id=same_id(key),
            session=run.session if run is not None else self.session,
            title=as_line(question.reason, _LONGEST_TITLE),
            kind="other",
            arguments=question.arguments,
            locations=[],
            agent=question.run.agent,
            depth=question.run.depth,
        )
        self._children[key] = call
        self._announce(call, None)
        return call

    def _update(self, call: Call, members: Update) -> None:
        update = {"sessionUpdate": "tool_call_update", "toolCallId": call.id, **members}
        self.queue.send(call.session, update)

    # The plan: several agents called at once.

    def _show_plan(self, event: Mapping[str, Any]) -> None:
        wanted = [
            (call["id"], _task_of(call["arguments"]))
            for call in event["toolCalls"]
            if call["name"] in (CALL_AGENT, TASK)
        ]
        if len(wanted) > 1:
            self._plan = {
                id_: {"content": task, "priority": "medium", "status": "pending"}
                for id_, task in wanted
            }
            self._send_plan()

    def _show_progress(self, call_id: str, status: str, run: Run) -> None:
        entry = self._plan.get(call_id) if run.depth == 0 else None
        if entry is not None:
            entry["status"] = status
            self._send_plan()

    def _send_plan(self) -> None:
        entries = [dict(entry) for entry in self._plan.values()]
        self.queue.send(self.session, {"sessionUpdate": "plan", "entries": entries})


def same_id(*parts: str) -> str:
    """Return an id that is the same whenever the same is told again."""
    return str(uuid5(_NAMES, "/".join(parts)))


def replayed(
    updates: Updates, task: str, images: Iterable[Image], events: Iterable[Notification]
) -> None:
    """Send a former message with its pictures, and all that has come of it."""
    blocks: list[dict[str, str]] = [{"type": "text", "text": task}] if task else []
    blocks += ({"type": "image", "data": each.data, "mimeType": each.media_type} for each in images)
    for block in blocks:
        updates.queue.send(
            updates.session, {"sessionUpdate": "user_message_chunk", "content": block}
        )
    for event in events:
        updates.hear(event)
    updates.close()


def _content(text: str) -> Update:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _terminal(terminal: str) -> Update:
    return {"type": "terminal", "terminalId": terminal}


def _log_of(call: Call) -> str:
    """Return the calls of an agent and of those below it, and what it says."""
    lines = "\n".join(_lines(call, ""))
    text = f"{lines}\n\n{call.said}" if lines and call.said else lines or call.said
    return text if len(text) <= _MOST_OF_A_CHILD else f"…{text[1 - _MOST_OF_A_CHILD :]}"


def _lines(call: Call, indent: str) -> Iterable[str]:
    for each in call.log:
        yield f"{indent}{_MARKS.get(each.status, '…')} {each.title}"
        yield from _lines(each, indent + "  ")


def _title_of(run: Run, name: str, arguments: Mapping[str, Any]) -> str:
    """Return the tool and its first argument, or the agent that is called and its task."""
    if name in (CALL_AGENT, TASK):
        return _task_of(arguments)
    first = argument_text(next(iter(arguments.values()), None))
    title = f"{name} {first}".strip()
    return _title(run.name, title) if run.is_guest else as_line(title, _LONGEST_TITLE)


def _task_of(arguments: Mapping[str, Any]) -> str:
    agent = arguments.get("agent") or arguments.get("subagent_type") or arguments.get("agent_type")
    task = arguments.get("description") or arguments.get("task") or arguments.get("prompt")
    return _title(argument_text(agent), argument_text(task))


def _title(agent: str, text: str) -> str:
    return as_line(f"{agent}: {text}", _LONGEST_TITLE)


def _locations(folder: str, name: str, arguments: Mapping[str, Any]) -> list[Update]:
    """Return the file or folder that a call is about, as an absolute path."""
    path, row = arguments.get("path"), TOOLS.get(name)
    if row is None or "path" not in row.arguments:
        return []
    if not isinstance(path, str) or not path or "\0" in path:
        return []
    location: Update = {"path": _absolute(folder, path)}
    line = arguments.get("offset")
    if name == "read_file" and type(line) is int and line > 0:
        location["line"] = line
    return [location]


def _absolute(folder: str, path: str) -> str:
    return os.path.normpath(Path(folder, path))
