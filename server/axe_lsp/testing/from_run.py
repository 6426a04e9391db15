"""A case and its recording from a run of the history."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import tomli
import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.check.agent_tests import RECORDINGS, Cases
from axe_lsp.agentfile.lookup_order import TEST_FOLDERS
from axe_lsp.agentfile.schema.tools import DELEGATION, READING_TOOLS
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.hosting.history.database import HistoryError
from axe_lsp.hosting.history.dead_runs import opened_history
from axe_lsp.hosting.history.former_runs import known_steps, order_of
from axe_lsp.hosting.history.queries import named_or_newest, tree_events
from axe_lsp.hosting.notifications import event_of
from axe_lsp.hosting.protocol import Start
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import AgentBegin, Event, RunIds
from axe_lsp.runtime.files.opening import opened_folder
from axe_lsp.runtime.files.regular_files import real_path, write_whole_file
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.plain_text import os_fault, shown_path
from axe_lsp.runtime.recordings.file import dump_recording
from axe_lsp.runtime.recordings.recording import RecordedRun, RecordedTurn, Recording, Sent, news
from axe_lsp.runtime.run_log import Known, Log, RunLog
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.testing.answers import WORKSPACE, Renaming
from axe_lsp.testing.observed import Observed, observed
from axe_lsp.testing.suite import load_suite

_LONGEST = 80
"""Characters of an argument that a case compares; longer ones are mostly contents of files, and prose. And of a name."""

_TASK_WORDS = 8
_AGENT_TOOLS = frozenset(tool.name for tool in DELEGATION)


class Remembered(Struct, frozen=True):
    """A run of the history: its order, its steps, and its events."""

    start: Start
    known: Known
    events: Sequence[Event]

    @property
    def run(self) -> Observed:
        """The root run."""
        return observed(self.events)[0]


def remembered(beginning: str | None, folders: tuple[str, ...] = ()) -> Remembered:
    """Return the root run whose id begins so, or the newest of `folders`. Blocks. Raises RunError."""
    with opened_history() as connection:
        run, root = named_or_newest(connection, beginning, folders, "kept")
        if run != root:
            raise HistoryError(
                f"{beginning} is a run that another one called; name its root {root[:8]}"
            )
        known = known_steps(connection, root)
        events = [event_of(each) for each in tree_events(connection, root)]
    try:
        start = order_of(known, root)
    except (KeyError, ValueError) as error:
        raise HistoryError(
            f"run {beginning} can't become a test: the history has no requests of runs from recordings, nor of those "
            "of older versions"
        ) from error
    if start.former:
        raise HistoryError(f"run {beginning} continues another one; name a run that stands alone")
    return Remembered(start, known, events)


def recording_of(run: Remembered, secrets: Collection[str]) -> Recording:
    """Return the requests of the run and of its children, with the answers. Raises ConfigError."""
    log = Log(known=run.known)
    begun = [each.run for each in run.events if isinstance(each, AgentBegin)]
    return Recording(tuple(_recorded(log.of(ids), ids, run.start, secrets) for ids in begun))


def _recorded(log: RunLog, ids: RunIds, start: Start, secrets: Collection[str]) -> RecordedRun:
    first = log.first
    if first is None:
        raise ConfigError(f"of agent {quoted(ids.agent)} nothing was sent: it could not begin")
    renaming = Renaming(start.workplace.workspace, WORKSPACE)
    request = renaming.request(first.request)

    def clean(text: str) -> str:
        return redact(renaming.text(text), secrets)

    turns: list[RecordedTurn] = []
    sent: tuple[Sent, ...] | None = tuple(
        replace(each, content=clean(each.content)) for each in news(request.messages)
    )
    while (answer := log.answer(len(turns) + 1)) is not None:
        turns.append(RecordedTurn(renaming.response(answer), sent))
        results = [log.result(len(turns), call.event_id) for call in answer.tool_calls]
        sent = tuple(
            Sent("tool", clean(each.result.content), each.result.call_id, each.result.is_error)
            for each in results
            if each is not None
        )
        # What is said between two answers without calls is not kept, so any request fits.
        sent = sent or None
    if not turns:
        raise ConfigError(
            f"agent {quoted(ids.agent)} got no answer in this run, so there is nothing to replay; "
            "name a run in which every agent was answered"
        )
    return RecordedRun(
        agent=ids.agent,
        model=first.model,
        depth=ids.depth,
        system=clean(request.system),
        tools=tuple(tool.name for tool in request.tools),
        turns=tuple(turns),
    )


class NewCase(Struct, frozen=True):
    """What was written: the file of tests, the name of the case, its recording, and what a person has to do."""

    file: Path
    name: str
    recording: Path
    notes: tuple[str, ...]


def _place(path: Path, folder: Path) -> Path:
    """Return where a file of the project is written. Raises ConfigError if a link of the repository leads out."""
    place = real_path(path)
    if not place.is_relative_to(real_path(folder)):
        raise ConfigError(f"{shown_path(path)} is a link out of {shown_path(folder)}; remove it")
    return place


def write_case(run: Remembered, into: Path | None) -> NewCase:
    """Add a case to a file of tests, by default that of the agent. Overwrites nothing. Raises ConfigError."""
    request, project = run.start.request, Path(run.start.workplace.workspace)
    file = into or _file_for(run, project)
    there = load_suite(file, shown_path(file), project).cases if file.exists() else None
    if there is not None and there.agent != request.agent:
        raise ConfigError(
            f"{shown_path(file)} has tests of agent {quoted(there.agent)}, and the run is one of {quoted(request.agent)}"
        )
    name = _name(request.task or request.agent, there)
    slug = re.sub(r"[^a-zA-Z0-9_.-]+", "-", name).strip("-.")
    recording = file.parent / RECORDINGS / file.stem / f"{slug}.toml"
    place_of_file = _place(file, project) if into is None else real_path(file)
    place_of_recording = _place(recording, file.parent)
    if recording.exists():
        raise ConfigError(f"{shown_path(recording)} is there; rename it or delete it")
    # The recording first: without it the case is only missing one.
    text = dump_recording(recording_of(run, known_secrets(os.environ)))
    workspace = os.path.relpath(project, file.parent)
    head = "" if there is not None else _head(run, workspace if _uses_files(run) else "")
    before = file.read_text("utf-8").rstrip("\n") + "\n" if there is not None else ""
    whole = f"{before}{head}\n{_case(run, name)}"
    try:
        tomli.loads(whole)
    except tomli.TOMLDecodeError as error:
        reason = "its cases have to be tables `[[case]]`"
        raise ConfigError(f"no case can be added to {shown_path(file)}: {reason}") from error
    try:
        for place in (place_of_recording, place_of_file):
            with opened_folder(place.parent, make=True):
                pass
        write_whole_file(place_of_recording, text.encode(), mode=0o600, follows_links=False)
        write_whole_file(place_of_file, whole.encode(), follows_links=False)
    except OSError as error:
        raise ConfigError(f"failed to write the case: {os_fault(error)}") from error
    return NewCase(file, name, recording, tuple(_notes(run, there)))


def _file_for(run: Remembered, project: Path) -> Path:
    """Return the file of the agent's tests; one with a number if those before give their cases less than this one needs."""
    agent = run.start.request.agent
    for number in count(1):
        name = f"{agent}.toml" if number == 1 else f"{agent}-{number}.toml"
        file = project / TEST_FOLDERS[0] / name
        if not file.exists():
            return file
        there = load_suite(file, shown_path(file), project).cases
        if there.agent == agent and not list(_notes(run, there)):
            return file
    raise AssertionError  # Some number is free.


def _name(task: str, there: Cases | None) -> str:
    words = re.findall(r"[\w'-]+", task)[:_TASK_WORDS]
    base = " ".join(words)[:_LONGEST].rstrip() or "case"
    taken = {each.name for each in there.cases} if there is not None else set()
    names = (base if number == 1 else f"{base} {number}" for number in range(1, len(taken) + 2))
    return next(each for each in names if each not in taken)


def _head(run: Remembered, workspace: str) -> str:
    head = {"agent": run.start.request.agent}
    if workspace:
        head["workspace"] = workspace
    if _reaches_out(run):
        head["tools"] = "recorded"
    return tomli_w.dumps(head)


def _reaches_out(run: Remembered) -> bool:
    """Return whether it called tools whose results another run may not have, or whose calls need the user's trust."""
    names = {call.name for each in run.run.tree() for call in each.calls if not call.child}
    return bool(names.difference(READING_TOOLS, _AGENT_TOOLS))


def _uses_files(run: Remembered) -> bool:
    """Return whether tools that are executed again read files, or prompts have some."""
    log = Log(known=run.known)
    begun = (log.of(each.run).first for each in run.events if isinstance(each, AgentBegin))
    reads = any(call.name in READING_TOOLS for each in run.run.tree() for call in each.calls)
    return (reads and not _reaches_out(run)) or any(
        first.definition.files for first in begun if first is not None
    )


def _case(run: Remembered, name: str) -> str:
    """Return the case with what held in the run, and the answer as a comment: a person chooses what matters in it."""
    request, seen = run.start.request, run.run
    given: dict[str, Any] = {"name": name}
    if request.input is not None:
        given["input"] = _without_nulls(request.input)
    elif request.task:
        given["task"] = request.task
    expect: dict[str, Any] = {"turns": {"max": seen.turns + 1}}
    if seen.status != "completed":
        expect = {"status": seen.status, **expect}
    if seen.calls:
        expect["tools"] = [
            {"calls": [_call(call.name, call.arguments, seen) for call in seen.calls]}
        ]
    counts = Counter(child.agent for child in seen.children)
    if counts:
        expect["children"] = [{"agent": agent, "times": times} for agent, times in counts.items()]
    # An array of one short table would become an inline one, to which no further case can be added.
    text = "[" + tomli_w.dumps({"case": {**given, "expect": expect}}).replace("]", "]]", 1)
    answer = "".join(f"# {line}".rstrip() + "\n" for line in _printable(seen.answer).splitlines())
    return f"{text}\n# The answer was:\n{answer}" if answer else text


def _call(name: str, arguments: Mapping[str, Any], run: Observed) -> dict[str, Any]:
    compared = {
        key: value
        for key, value in _without_nulls(arguments).items()
        if not isinstance(value, str) or (len(value) <= _LONGEST and "\n" not in value)
    }
    if name in _AGENT_TOOLS:  # Their tasks are the model's own words.
        compared = {key: compared[key] for key in ("agent", "subagent_type") if key in compared}
    return {"name": name, **({"args": compared} if compared else {})}


def _without_nulls(value: Any) -> Any:
    """Remove nulls, which TOML does not have."""
    if isinstance(value, Mapping):
        return {str(key): _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_without_nulls(each) for each in value if each is not None]
    return value


def _printable(text: str) -> str:
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "?", text)


def _notes(run: Remembered, there: Cases | None) -> Iterator[str]:
    if there is not None and not there.workspace and _uses_files(run):
        yield "its agents used files, and the file of tests has no `workspace`"
    if there is None and _reaches_out(run):
        yield "results of tools are replayed, since the run changed something or reached out of its folder"
    elif there is not None and not there.replays_tools and _reaches_out(run):
        yield (
            "the run changed something or reached out of its folder, and the file of tests has no "
            '`tools = "recorded"`'
        )
