"""The lines that the terminal shows of a run in progress, from its events (004-19 to 004-22).

Pure: it knows no terminal and no clock. Texts of models become one line each and nothing else, so
no model can move the cursor.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from msgspec import Struct

from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.cli.text_width import cells, cut, dollars, one_line
from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    AgentIdle,
    AgentPlace,
    AgentResume,
    CompactionBegin,
    CompactionEnd,
    ContextShortened,
    Event,
    MessageChanged,
    MessageQueued,
    MessageRemoved,
    MessagesGiven,
    TextDelta,
    ThoughtDelta,
    ToolBegin,
    TurnBegin,
    TurnEnd,
    TurnRetry,
    TurnWait,
)
from axe_lsp.runtime.incomplete import in_words

_MESSAGES = (MessageQueued, MessageChanged, MessageRemoved, MessagesGiven)

SHORT = 60
"""The most cells of a task that are shown: it is there to be recognised, not to be read."""


class Style(Enum):
    """The kind of a piece of a line, with its look on a terminal: the parameter of SGR."""

    PLAIN = ""
    TITLE = "1"
    AGENT = "36"
    FAINT = "2"
    GOOD = "32"
    BAD = "31"


class Span(NamedTuple):
    """A piece of a line."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[Span, ...]


class Frame(Struct, frozen=True):
    """The new lines that stay, and the lines that the next frame may change."""

    settled: tuple[Line, ...]
    live: tuple[Line, ...]


class _Agent(Struct, dict=True):
    """An agent at work. `end` is set when it has ended.

    `asks` is whether it waits for its model, and `thinks` whether that is thinking.

    `state` says what is special about its present request: it waits, is sent again, or was made shorter.
    `place` is where its tools work, unless that is here, or what it waits for to work anywhere.
    `mark` says why its last answer is not whole, if it is not. `queued` are the ids of messages that wait.
    """

    name: str
    task: str
    model: str
    depth: int
    started: float
    turn: int = 0
    asks: bool = False
    thinks: bool = False
    state: str = ""
    place: str = ""
    mark: str = ""
    queued: frozenset[str] = frozenset()
    tools: int = 0
    end: AgentEnd | None = None


class Progress:
    """A root run and everything below it, as far as the events tell.

    Children stand in the order of the tree, each below the agent that called it. A child that has
    ended, and those above it as well, is settled: it is handed out once and forgotten.
    """

    def __init__(self) -> None:
        self._root: _Agent | None = None
        self._children: list[_Agent] = []
        self._agents: dict[str, _Agent] = {}
        self._is_summed_up = False

    def event(self, event: Event, now: float) -> Line | None:
        """Take note of an event; returns the line that stands for it in a log, if one does."""
        if isinstance(event, (AgentBegin, AgentResume)):
            return self._begin(event, now)
        agent = self._agents.get(event.run.run_id)
        if agent is None:  # A side run that waits for its turn gets messages.
            return None
        if isinstance(event, TurnBegin):
            agent.turn, agent.asks = event.turn, True
        elif isinstance(event, (ThoughtDelta, TextDelta)):
            agent.thinks = isinstance(event, ThoughtDelta)
        elif isinstance(event, TurnEnd):
            agent.asks, agent.thinks, agent.state = False, False, ""
            agent.mark = in_words(event.incomplete)
        elif isinstance(event, ToolBegin):
            agent.tools += 1
        elif isinstance(event, AgentPlace):
            agent.place = _place(event)
        elif isinstance(event, _MESSAGES):
            agent.queued = _queued(agent.queued, event)
        elif isinstance(event, AgentEnd):
            agent.end = event
            return _ended(agent, event) if agent.depth else self._summary()
        else:
            agent.thinks = False
            agent.state = _state(event)
        return None

    @property
    def has_children(self) -> bool:
        """Whether there is, or was, more than the root."""
        return len(self._agents) > 1

    def frame(self, now: float, width: int, height: int) -> Frame:
        """Return the current frame. Live lines are at most `height`, each of at most `width` cells."""
        root = self.root_line(now, width)
        rows = height - len(root)
        settled = [*self._settled(width, rows // 2), *self._sum_up(width)]
        shown = self._children
        if len(shown) > rows // 2:
            shown = shown[: max(0, rows - 1) // 2]
        live = [line for child in shown for line in _lines(child, now, width)]
        hidden = len(self._children) - len(shown)
        if hidden:
            live.append((Span(f"  ... and {hidden} more", Style.FAINT),))
        lines = [*live, *root][-height:]
        return Frame(tuple(settled), tuple(_clipped(line, width) for line in lines))

    def _begin(self, event: AgentBegin | AgentResume, now: float) -> Line | None:
        agent = _Agent(
            name=one_line(event.run.agent),
            task=_first_line(event.description or event.task),
            model=one_line(event.model),
            depth=event.run.depth,
            started=now,
        )
        self._agents[event.run.run_id] = agent
        if agent.depth == 0:
            self._root = agent
            return None
        self._children.insert(self._place_below(event.run.parent_run_id), agent)
        return _begun(agent)

    def _place_below(self, parent_id: str | None) -> int:
        """Return the index behind the last descendant of the parent. A child of the root comes last."""
        parent = self._agents.get(parent_id or "")
        if parent is None or parent is self._root:
            return len(self._children)
        place = self._children.index(parent) + 1
        while place < len(self._children) and self._children[place].depth > parent.depth:
            place += 1
        return place

    def _settled(self, width: int, room: int) -> Iterator[Line]:
        """Remove children that have ended, the first ones or all if there is no room, and yield their lines."""
        running = [index for index, child in enumerate(self._children) if not child.end]
        first = running[0] if running else len(self._children)
        settled, self._children = self._children[:first], self._children[first:]
        if len(self._children) > room:
            settled += [child for child in self._children if child.end]
            self._children = [child for child in self._children if not child.end]
        for child in settled:
            yield from _lines(child, 0, width)

    def _sum_up(self, width: int) -> Iterator[Line]:
        """Yield the last line of all, once."""
        summary = self._summary()
        if summary and not self._is_summed_up:
            self._is_summed_up = True
            yield _clipped(summary, width)

    def _summary(self) -> Line | None:
        """Return the use of a tree that has ended. The answer of a single agent needs no such line."""
        root = self._root
        if root is None or root.end is None or not self.has_children:
            return None
        word, style = _WORDS[root.end.status]
        totals = Span(f" ({_totals(root, root.end)})", Style.FAINT)
        return *_head(root), Span(word, style), totals, *_incomplete(root.end)

    def root_line(self, now: float, width: int) -> list[Line]:
        """Return the line of the root while it runs; none before and after."""
        root = self._root
        if root is None or root.end:
            return []
        doing = f"turn {root.turn}, {self._awaited(root)}" if root.turn else "reading files"
        return [_working(root, doing, now, width)]

    def _awaited(self, root: _Agent) -> str:
        if root.asks:
            return f"{root.model} is thinking" if root.thinks else f"waiting for {root.model}"
        running = sum(child.depth == 1 and not child.end for child in self._children)
        return f"waiting for {counted(running, 'sub-agent')}" if running else "running tools"


def _place(event: AgentPlace) -> str:
    if event.waiting:
        return f"waits for {event.waiting}{f' at {event.place}' if event.place else ''}, "
    return "" if event.place == "here" else f"at {event.place}, "


def _queued(queued: frozenset[str], event: Event) -> frozenset[str]:
    match event:
        case MessageQueued():
            return queued | {event.message_id}
        case MessageRemoved():
            return queued - {event.message_id}
        case MessagesGiven():
            return queued.difference(event.message_ids)
    return queued


def _state(event: Event) -> str:
    """Return the state of a request from now on."""
    match event:
        case TurnRetry():
            return f"retry {event.attempt} of {event.max_attempts} after {event.category}, "
        case TurnWait():
            return f"waits for {event.provider}, "
        case AgentIdle():
            return f"waits for {', '.join(event.side_runs)}, "
    return _state_of_context(event)


def _state_of_context(event: Event) -> str:
    match event:
        case CompactionBegin():
            return "sums up its context, "
        case CompactionEnd(error=None):
            return "context summed up, "
        case ContextShortened():
            return "old results shortened, "
    return ""


def _lines(child: _Agent, now: float, width: int) -> tuple[Line, Line]:
    """Return the two lines of a child: what it is there for, and how it is getting on."""
    if child.end:
        return _begun(child, width), _ended(child, child.end, width)
    return _begun(child, width), _working(child, child.task, now, width)


def _begun(child: _Agent, width: int | None = None) -> Line:
    head = Span(_margin(child) + "> Task: ", Style.TITLE)
    return head, Span(_fitting(child.task, width, head), Style.TITLE)


def _working(agent: _Agent, doing: str, now: float, width: int) -> Line:
    head = _head(agent)
    tail = (
        *((Span(f"; {agent.mark}", Style.BAD),) if agent.mark else ()),
        Span(f" ... {agent.place}{agent.state}{_figures(agent, now - agent.started)}", Style.FAINT),
    )
    return *head, Span(_fitting(doing, width, *head, *tail)), *tail


def _ended(child: _Agent, end: AgentEnd, width: int | None = None) -> Line:
    """Return the last line about a child. Only a reason may make it longer than the terminal is wide."""
    head = _head(child)
    word, style = _WORDS[end.status]
    tail = (
        Span(" - "),
        Span(word, style),
        Span(f" ({_figures(child, end.duration_ms / 1000)})", Style.FAINT),
    )
    reason = f": {one_line(end.error)}" if end.status == "failed" and end.error else ""
    return (
        *head,
        Span(_fitting(child.task, width, *head, *tail)),
        *tail,
        Span(reason),
        *_incomplete(end),
        *_changes(end),
    )


def _incomplete(end: AgentEnd) -> tuple[Span, ...]:
    """Return the fault of an answer."""
    mark = in_words(end.incomplete) if end.status == "completed" else ""
    return (Span(f"; {mark}", Style.BAD),) if mark else ()


def _changes(end: AgentEnd) -> tuple[Span, ...]:
    """Return what has become of the changes in a copy."""
    if end.changes is None:
        return ()
    if end.unapplied is None:
        return (Span("; its changes were applied", Style.FAINT),)
    which = "its changes" if end.unapplied == "all" else "some of its changes"
    return (Span(f"; {which} were not applied", Style.BAD),)


_WORDS = {
    "completed": ("done", Style.GOOD),
    "failed": ("failed", Style.BAD),
    "timeout": ("timed out", Style.BAD),
    "cancelled": ("cancelled", Style.FAINT),
    "killed": ("killed", Style.BAD),
}


def _head(agent: _Agent) -> tuple[Span, Span, Span]:
    margin = _margin(agent) + "  " if agent.depth else ""
    return Span(margin), Span(f"[{agent.name}]", Style.AGENT), Span(" ")


def _margin(child: _Agent) -> str:
    return "  " * (child.depth - 1)


def _figures(agent: _Agent, seconds: float) -> str:
    """Return how many tools, if any, and how long. Most children have none, and that is no news."""
    tools = f"{counted(agent.tools, 'tool')}, " if agent.tools else ""
    waiting = f"{counted(len(agent.queued), 'message')} queued, " if agent.queued else ""
    return f"{waiting}{tools}{seconds:.1f}s"


def _totals(root: _Agent, end: AgentEnd) -> str:
    """Return the root's tools and time, and what everybody used."""
    used = end.tree or end
    cost = f", {dollars(used.cost)}" if used.cost else ""
    tokens = f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out{cost}"
    return f"{_figures(root, end.duration_ms / 1000)}; all agents: {tokens}"


def _first_line(task: str) -> str:
    return next((one_line(line) for line in task.splitlines() if line.strip()), "")


def _fitting(text: str, width: int | None, *others: Span) -> str:
    """Return the part of a line that may be cut, when the others are to fit as well."""
    if width is None:
        return cut(text, SHORT)
    return cut(text, min(SHORT, width - sum(cells(other.text) for other in others)))


def _clipped(line: Line, width: int) -> Line:
    """Return as much of a line as fits into `width` cells."""
    if sum(cells(span.text) for span in line) <= width:
        return line
    clipped: list[Span] = []
    room = width
    for text, style in line:
        clipped.append(Span(cut(text, room), style))
        room -= cells(clipped[-1].text)
        if clipped[-1].text != text:
            break
    return tuple(clipped)
