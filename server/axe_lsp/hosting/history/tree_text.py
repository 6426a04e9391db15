"""A run and everything below it as a tree of text: from events to lines. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone

from msgspec import Struct, field

from axe_lsp.agentfile.text.amounts import as_line, counted, duration
from axe_lsp.hosting.event_text import describe
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.incomplete import in_words
from axe_lsp.runtime.json_data import Json, from_json
from axe_lsp.runtime.sources import Source, sources_text

LONGEST = 100
"""Characters of a text of a run that are shown in its tree."""

_LONGEST_ARGUMENTS = 60

_LONGEST_CHANGES = 600
"""They name a commit, which must not be cut off."""

_NO_RESULT = ": no result"


class Drawing(Struct):
    """A run and all below it.

    `lines` begin with the seconds since its begin; `turns` are the numbers of the lines at which its turns begin.
    `total` is what it took in all.
    """

    title: str
    lines: list[str]
    turns: Mapping[int, int]
    total: str
    answer: str

    @property
    def text(self) -> str:
        """All of it."""
        tree = "".join(f"{line}\n" for line in self.lines)
        answer = f"\n{self.answer}\n" if self.answer else ""
        return f"{self.title}\n\n{tree}\n{self.total}\n{answer}"


def draw(events: Iterable[Notification]) -> str:
    """Return the tree of a run as text."""
    drawing = drawing_of(events)
    return drawing.text if drawing is not None else "There are no events of this run.\n"


def drawing_of(events: Iterable[Notification]) -> Drawing | None:
    """Return the tree of a run; None without events."""
    tree = _Tree()
    for event in events:
        tree.follow(event)
    if not tree.runs:
        return None
    root = tree.root
    drawn = list(_lines(root))
    turns = {id(node): turn for turn, node in tree.turns}
    return Drawing(
        title=f"Run {tree.run_id} of {local_time(root.began)}",
        lines=[f"{_seconds(root.began, node.began):8.1f} s  {line}" for node, line in drawn],
        turns={
            turns[id(node)]: number for number, (node, _) in enumerate(drawn) if id(node) in turns
        },
        total=f"{counted(len(tree.runs), 'run')}, {_used(tree.tokens, tree.cost)} in all",
        answer=tree.answer,
    )


def local_time(time: str) -> str:
    """Return the time of an event, where the user is."""
    return _moment(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def in_utc(text: str) -> str:
    """Return a local time, such as 2026-11-21 or 2026-11-21 09:30, as the history has it; any other text as it is."""
    if text.endswith("Z") or not re.match(r"\d{4}-", text):
        return text
    try:
        moment = datetime.fromisoformat(text.replace(" ", "T"))
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError):
        return text


class _Node(Struct):
    """A run, or a step of it: a turn, a tool call."""

    began: str
    text: str
    below: list[_Node] = field(default_factory=list)


class _Tree:
    """The runs of a tree, or of a part of it. The one that begins first is the root."""

    def __init__(self) -> None:
        self.runs: dict[str, _Node] = {}
        self.tokens = [0, 0]
        self.cost: float | None = 0
        self.answer = ""
        self._side_runs: set[str] = set()
        self._steps: dict[tuple[str, object], _Node] = {}

    @property
    def run_id(self) -> str:
        """The root's."""
        return next(iter(self.runs))

    @property
    def root(self) -> _Node:
        """The run on top."""
        return self.runs[self.run_id]

    @property
    def turns(self) -> Iterator[tuple[int, _Node]]:
        """The turns of the root."""
        for (run_id, key), node in self._steps.items():
            if run_id == self.run_id and isinstance(key, tuple) and key[0] == "turn":
                yield key[1], node

    def follow(self, event: Notification) -> None:
        """Take note of an event."""
        params = event.params
        if event.method == "axe/agent" and params["kind"] == "begin":
            self._begin_run(params)
        elif params["runId"] in self.runs:  # Its begin may be lost.
            self._follow(event.method, params)

    def _follow(self, method: str, params: Mapping[str, Json]) -> None:
        turn = ("turn", params.get("turn"))
        match method, params.get("kind"):
            case "axe/agent", "resume":
                run = self.runs[params["runId"]]
                run.text = f"{self._mark(params)}{_who(params)}: running"
                run.below.append(_Node(params["time"], f"resumed at turn {params['turn']}"))
            case "axe/agent", "end":
                run = self.runs[params["runId"]]
                run.text = f"{self._mark(params)}{_run(params)}"
                if params.get("changes"):
                    run.below.append(
                        _Node(params["time"], as_line(params["changes"], _LONGEST_CHANGES))
                    )
            case "axe/turn", "begin":
                self._step(params, turn).text = f"turn {params['turn']}, not answered"
            case "axe/turn", "end":
                self._step(params, turn).text = _turn(params)
                self._pay(params)
                if params["runId"] == self.run_id:
                    sources = sources_text(from_json(tuple[Source, ...], params.get("sources", ())))
                    self.answer = f"{params['text']}\n\n{sources}" if sources else params["text"]
            case (
                ("axe/turn", "retry")
                | ("axe/agent", "idle")
                | ("axe/wait" | "axe/context" | "axe/place" | "axe/message", _)
            ):
                self._pause(method, params)
            case "axe/tool", "begin":
                text = f"{params['name']}{_arguments(params['arguments'])}{_NO_RESULT}"
                self._step(params, params["callId"]).text = text
            case "axe/tool", "end":
                self._end_call(params)

    def _mark(self, params: Mapping[str, Json]) -> str:
        """Return the mark of a side run, "" for any other run."""
        return "~ " if params["runId"] in self._side_runs else ""

    def _pause(self, method: str, params: Mapping[str, Json]) -> None:
        """Add a line about a request, such as a retry, or about the place of an agent."""
        text = (describe(Notification(method, params)) or "").strip()
        if text:
            told = text.removeprefix(f"{params['agent']}: ")
            self._step(params, ("pause", params["seq"])).text = told
        if method == "axe/context" and params.get("kind") == "end":
            self._pay(params)

    def _begin_run(self, params: Mapping[str, Json]) -> None:
        if params.get("side"):
            self._side_runs.add(params["runId"])
        node = _Node(params["time"], f"{self._mark(params)}{_who(params)}: running")
        former = params.get("forkedFrom")
        if former:
            text = f"forked from {former['runId'][:8]} at turn {former['turn']}"
            node.below.append(_Node(params["time"], text))
        if params.get("continues"):
            node.below.append(_Node(params["time"], f"continues {params['continues'][:8]}"))
        if params["task"].strip():
            node.below.append(_Node(params["time"], f"task: {as_line(params['task'], LONGEST)}"))
        parent = self.runs.get(params.get("parentRunId", ""))
        if parent is not None:
            parent.below.append(node)
        self.runs[params["runId"]] = node

    def _step(self, params: Mapping[str, Json], key: object) -> _Node:
        """Return a step of a run, new if it has not been met. Its begin may be lost."""
        node = self._steps.get((params["runId"], key))
        if node is None:
            node = self._steps[params["runId"], key] = _Node(
                params["time"], str(params.get("name"))
            )
            self.runs[params["runId"]].below.append(node)
        return node

    def _pay(self, params: Mapping[str, Json]) -> None:
        """Count what an answer has used."""
        self.tokens[0] += params["inputTokens"]
        self.tokens[1] += params["outputTokens"]
        cost = params.get("cost")
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def _end_call(self, params: Mapping[str, Json]) -> None:
        """Show a call that has started a run as that run."""
        step = self._step(params, params["callId"])
        step.text = f"{step.text.removesuffix(_NO_RESULT)}: {_result(params)}"
        del self._steps[params["runId"], params["callId"]]  # Ids come more than once.
        if params.get("childRunId") in self.runs:
            self.runs[params["runId"]].below.remove(step)


def _lines(node: _Node, first: str = "", rest: str = "") -> Iterator[tuple[_Node, str]]:
    yield node, first + node.text
    for below in node.below:
        is_last = below is node.below[-1]
        yield from _lines(
            below, rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  ")
        )


def _who(params: Mapping[str, Json]) -> str:
    model = params.get("model")
    return f"{params['agent']} ({model})" if model else str(params["agent"])


def _run(params: Mapping[str, Json]) -> str:
    why = as_line(params.get("error") or "", LONGEST) or in_words(params.get("incomplete"))
    reason = f": {why}" if why else ""
    figures = [
        f"{params['status']} after {duration(params['durationMs'])}",
        _used((params["inputTokens"], params["outputTokens"]), params.get("cost")),
        counted(params["turns"], "turn"),
        counted(params["toolCalls"], "tool call"),
    ]
    if "notStored" in params:
        figures.append(f"{counted(params['notStored'], 'event')} not stored")
    return f"{params['agent']}: {', '.join(figures)}{reason}"


def _turn(params: Mapping[str, Json]) -> str:
    tokens = _tokens((params["inputTokens"], params["outputTokens"]))
    text = f": {as_line(params['text'], LONGEST)}" if params["text"].strip() else ""
    mark = in_words(params.get("incomplete"))
    figures = f"{duration(params['durationMs'])}, {tokens}{mark and f', {mark}'}"
    return f"turn {params['turn']}, {figures}{text}"


def _result(params: Mapping[str, Json]) -> str:
    time = duration(params["durationMs"])
    if params["isError"]:
        return f"failed after {time}: {as_line(params['content'], LONGEST)}"
    return f"{time}, {counted(len(params['content']), 'character')}"


def _arguments(arguments: Mapping[str, Json]) -> str:
    if not arguments:
        return ""
    text = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()
    )
    return f" {as_line(text, _LONGEST_ARGUMENTS)}"


def _tokens(tokens: Iterable[int]) -> str:
    return " + ".join(f"{count:,}" for count in tokens) + " tokens"


def _used(tokens: Iterable[int], cost: float | None) -> str:
    """Return the tokens, and what they cost if that is known."""
    return f"{_tokens(tokens)}, ${cost:.4f}" if cost else _tokens(tokens)


def _seconds(begin: str, end: str) -> float:
    return (_moment(end) - _moment(begin)).total_seconds()


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00"))
