"""The runs of Claude Code's agents: `subagents/` of each session first, then the sessions themselves.

Recorded with Claude Code 2.1.332. Lines of one answer repeat its id and its usage, so an id is counted once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct, field

from axe_lsp.hosting.agent_runs.index import RunIndex
from axe_lsp.hosting.agent_runs.log_files import LogFiles, Record, moment, value_at
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog, shown_name
from axe_lsp.runtime.plain_text import digest_of

_OF_CHILD = (b"assistant", b"tool_result", b"prompt_snapshot")
_OF_SESSION = (*_OF_CHILD, b"agent-setting", b"agent_listing_delta")
_UNKNOWN = re.compile(r"Agent type '([^']*)' not found")
_MISSING = re.compile(r"No such tool available: ([\w:.-]+)")
_CALLS_OF_AGENTS = ("Agent", "Task")
_LARGEST_META = 100_000


class _Conversation(Struct):
    """The lines of one conversation, read into a run.

    `tool_calls` are names by the ids of calls, `agents_by_call` and `agents_by_id` those of called agents; `answers` are
    ids. `offered` are the agents that the model could have called.
    """

    run: LoggedRun = field(default_factory=lambda: LoggedRun("claude", "", "", 0.0))
    tool_calls: dict[str, str] = field(default_factory=dict)
    agents_by_call: dict[str, str] = field(default_factory=dict)
    agents_by_id: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    offered: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    ended: float = 0.0
    version: str = ""
    is_side: bool = False

    def add(self, record: Record) -> None:
        """Count one line."""
        if record.text("type") == "agent-setting":
            self.run.agent = shown_name(record.text("agentSetting"))
            return
        if record.at("isSidechain") is True and not self.is_side:
            return
        self.version = shown_name(record.text("version")) or self.version
        self._add_time(record)
        self._add_attachment(Record(record.at("attachment")))
        self.run.cwd = self.run.cwd or record.text("cwd")
        if record.text("type") == "assistant" or record.text("message", "role") == "assistant":
            self._add_answer(record)
        for part in record.objects("message", "content"):
            if part.text("type") == "tool_result":
                self._add_result(part, record)

    def _add_attachment(self, attachment: Record) -> None:
        prompts, added = attachment.at("systemPrompt"), attachment.at("addedTypes")
        if isinstance(prompts, list) and prompts and isinstance(prompts[0], str):
            self.run.definitions = frozenset([digest_of(prompts[0].strip())])
        if isinstance(added, list):
            self.offered.update(shown_name(each) for each in added if isinstance(each, str))

    def _add_time(self, record: Record) -> None:
        time = moment(record.text("timestamp"))
        if time is not None:
            self.run.began = self.run.began or time
            self.ended = max(self.ended, time)
            self.run.duration_ms = max(0, int((self.ended - self.run.began) * 1000))

    def _add_answer(self, record: Record) -> None:
        run, answer = self.run, shown_name(record.text("message", "id"))
        if record.at("isApiErrorMessage") is True:
            run.status = "failed"
            return
        run.status = "completed"
        run.model = shown_name(record.text("message", "model")) or run.model
        if answer not in self.answers:
            self.answers.add(answer)
            usage = Record(record.at("message", "usage"))
            run.turns += 1
            run.input_tokens += usage.number("input_tokens")
            run.output_tokens += usage.number("output_tokens")
            run.cache_read_tokens += usage.number("cache_read_input_tokens")
            run.cache_write_tokens += usage.number("cache_creation_input_tokens")
        for part in record.objects("message", "content"):
            call = shown_name(part.text("id"))
            if part.text("type") == "tool_use" and call not in self.tool_calls:
                name = self.tool_calls[call] = shown_name(part.text("name"))
                run.use(name).calls += 1
                if name in _CALLS_OF_AGENTS:
                    self.agents_by_call[call] = shown_name(part.text("input", "subagent_type"))

    def _add_result(self, part: Record, record: Record) -> None:
        call = shown_name(part.text("tool_use_id"))
        text = "\n".join(_texts(part.at("content")))
        agent = shown_name(record.text("toolUseResult", "agentId"))
        if agent and call in self.agents_by_call:
            self.agents_by_id[agent] = self.agents_by_call[call]
        if part.at("is_error") is not True or call not in self.tool_calls:
            return
        use = self.run.use(self.tool_calls[call])
        use.errors += 1
        use.is_missing |= _MISSING.search(text) is not None
        if unknown := _UNKNOWN.match(text):
            self.unknown[call] = shown_name(unknown[1])


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for each in content if isinstance(content, list) else ():
        text = value_at(each, "text")
        if isinstance(text, str):
            yield text


class Claude:
    """One pass over the folder of Claude Code."""

    def __init__(self, home: Path, since: float, log: ReadLog, index: RunIndex) -> None:
        self._log, self._home, self._since = log, home, since
        self._files = LogFiles(home, log, index)

    def read(self) -> None:
        """Read the runs that began since the time."""
        with suppress(OSError):
            projects = list((self._home / "projects").iterdir())
            sessions = (path for project in projects for path in project.glob("*.jsonl"))
            for session in self._recent(sessions):
                if not session.name.startswith("agent-"):
                    self._read_session(session)
            for project in projects:
                self._read_children_without_session(project)

    def _recent(self, paths: Iterable[Path]) -> list[Path]:
        """Return the files that were changed since the time, the last one first."""
        found = [
            (status.st_mtime, path)
            for path in paths
            if (status := self._files.status(path)) is not None and status.st_mtime >= self._since
        ]
        return [path for _, path in sorted(found, reverse=True)]

    def _read_session(self, path: Path) -> None:
        main = self._files.read(path, _OF_SESSION, _Conversation())
        if main is None:
            return
        self._log.see_version(main.version)
        cwd = main.run.cwd
        self._log.unknown.update(Counter((cwd, name) for name in main.unknown.values()))
        self._log.offered.update(Counter((cwd, name) for name in main.offered))
        if main.run.agent:
            self._add(main.run, path)
        children = self._recent(path.with_suffix("").glob("subagents/**/agent-*.jsonl"))
        self._read_children(children, main)
        for agent, name in main.agents_by_id.items():  # Until 2.1.1 they lay beside the session.
            self._read_child(path.with_name(f"agent-{agent}.jsonl"), name, main.run.agent)

    def _read_children(self, paths: list[Path], main: _Conversation) -> None:
        callers = dict.fromkeys(main.agents_by_call, main.run.agent)
        runs: list[tuple[LoggedRun, str]] = []
        for path in paths:
            meta = self._meta(path)
            name = meta.text("agentType") or main.agents_by_id.get(
                path.stem.removeprefix("agent-"), ""
            )
            child = self._read_child(path, name, "", is_built_in=meta.at("isBuiltIn") is True)
            if child is not None:
                runs.append((child.run, meta.text("toolUseId")))
                callers.update((call, name) for call in child.agents_by_call if call not in callers)
        for run, call in runs:
            run.parent = shown_name(callers.get(call, ""))

    def _read_children_without_session(self, project: Path) -> None:
        for path in self._recent(project.glob("*/subagents/**/agent-*.jsonl")):
            session = next(each for each in path.parents if each.parent == project)
            if not session.with_name(f"{session.name}.jsonl").exists():
                self._read_children([path], _Conversation())

    def _read_child(
        self, path: Path, name: str, parent: str, *, is_built_in: bool = False
    ) -> _Conversation | None:
        if not name or is_built_in:
            return None
        child = self._files.read(path, _OF_CHILD, _Conversation(is_side=True))
        if child is not None:
            self._log.see_version(child.version)
            child.run.agent, child.run.parent = shown_name(name), parent
            cwd = child.run.cwd
            self._log.unknown.update(Counter((cwd, each) for each in child.unknown.values()))
            self._add(child.run, path)
        return child

    def _add(self, run: LoggedRun, path: Path) -> None:
        run.key = str(path)
        if run.began >= self._since:
            self._log.runs.append(run)

    def _meta(self, path: Path) -> Record:
        file = path.with_name(f"{path.stem}.meta.json")
        status = self._files.status(file)
        if status is not None and status.st_size <= _LARGEST_META:
            with suppress(OSError, msgspec.MsgspecError, ValueError, RecursionError):
                return Record(msgspec.json.decode(file.read_bytes()))
        return Record(None)
