"""Whether an agent file of a workspace may reach out of it: decided before it runs, and remembered.

The answer is remembered per folder and for the file as it is: with another text, or with links that lead elsewhere,
it is asked about again. That it may use tools for the web is remembered whatever else the file says. `trust.json` in the folder for state holds the answers; only the user may read it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, Source
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.rights import (
    MEMORY,
    SERVER,
    WEB_TOOLS,
    Asked,
    Reach,
    asked_by,
    reach_of_web_tool,
)
from axe_lsp.agentfile.schema.tool_names import tools_meant
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.agent_files import caller_of
from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.files.whole_file import write_whole_file
from axe_lsp.runtime.files.workspace_folders import is_agents_folder
from axe_lsp.runtime.plain_text import escaped, os_fault, shown_path
from axe_lsp.runtime.runs import Order, Resolve, RunRequest
from axe_lsp.runtime.safety.questions import TRUST, Ask, Question, nobody
from axe_lsp.runtime.safety.reach import is_users, reaches
from axe_lsp.runtime.shared_lookups import once_a_step

_VERSION = 1
_ONLY_THE_USER = 0o600
_RECORDED = frozenset({SERVER, *WEB_TOOLS})
"""The reaches of tools whose results a recording has."""


class TrustRequest(Struct, frozen=True):
    """An agent file that wants to reach out of its workspace, and where to."""

    agent: str
    file: str
    workspace: str
    reaches: tuple[Reach, ...]
    digest: str

    @property
    def refused(self) -> tuple[Reach, ...]:
        """The values that no workspace may have."""
        return tuple(each for each in self.reaches if each.refused)

    @property
    def lines(self) -> str:
        """The values that lead outside, a line each, as a terminal can show them."""
        return "\n".join(f"  {escaped(str(each))}" for each in self.reaches)


def trust_request_of(
    agent: str,
    definition: AgentDefinition,
    workspace: Path,
    environment: Environment,
    *,
    skill: str = "",
    workdir: str = "",
) -> TrustRequest | None:
    """The request of an agent's file; None if it reaches nothing outside, or the file is the user's own.

    `skill` and `workdir` come from the caller and replace the values of the file.
    """
    if definition.source is None:
        return None
    asked = asked_by(definition)
    reaching = _Reaching(agent, definition.source, asked, workspace, skill, workdir)
    return _trust_request(environment, reaching)


def trust_request_of_source(
    agent: str, source: Source, asked: Asked, workspace: Path, environment: Environment
) -> TrustRequest | None:
    """The same for a file of which only the text is known, and what it asks for."""
    return _trust_request(environment, _Reaching(agent, source, asked, workspace, "", ""))


class _Reaching(Struct, frozen=True):
    """All that an request depends on, except for links on the disk and the environment."""

    agent: str
    source: Source
    asked: Asked
    workspace: Path
    skill: str
    workdir: str


def _trust_request(environment: Environment, reaching: _Reaching) -> TrustRequest | None:
    source, asked, workspace = reaching.source, reaching.asked, reaching.workspace
    # Hardly any agent reaches out, and whose file it is takes many looks at the disk.
    found = reaches(asked, workspace, environment, skill=reaching.skill, workdir=reaching.workdir)
    if not found or is_users(source.path, environment):
        return None
    # The skill and the folder of the command line make no other file of it.
    whole = reaches(asked, workspace, environment)
    # The tools for the web are the user's to judge, not the words of the prompt.
    subject = shown_path(source.path) if _only_web(whole) else source.text
    return TrustRequest(
        agent=reaching.agent,
        file=shown_path(source.path),
        workspace=shown_path(workspace.resolve()),
        reaches=found,
        digest=_digest(subject, whole),
    )


def later_requests_of(
    agent: str, definition: AgentDefinition, workspace: Path, environment: Environment
) -> Iterator[TrustRequest]:
    """The requests about tools for the web that an agent, or a type that it starts, has without its file naming them."""
    has = {*definition.ordinary_tools}
    task = definition.task
    for each in map(task.find, task.offered) if task is not None else ():
        has |= {*(tools_meant(each.tools) if each is not None else ())}
    unnamed = [each for each in WEB_TOOLS if each in has - {*asked_by(definition).web}]
    if unnamed and definition.file and not is_users(definition.file, environment):
        for tool in unnamed:
            reach = reach_of_web_tool(tool, definition.allowed_hosts)
            yield _web_request(agent, shown_path(definition.file), reach, workspace)


def _web_request(agent: str, file: str, reach: Reach, workspace: Path) -> TrustRequest:
    return TrustRequest(
        agent=agent,
        file=file,
        workspace=shown_path(workspace.resolve()),
        reaches=(reach,),
        digest=_digest(file, [reach]),
    )


def _digest(subject: str, whole: Iterable[Reach]) -> str:
    import hashlib

    content = json.dumps([subject, [str(each) for each in whole]])
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _only_web(reaches: Iterable[Reach]) -> bool:
    return all(each.key in WEB_TOOLS for each in reaches)


def _requests_of_tree(
    order: Order,
    definition: AgentDefinition,
    resolve: Resolve,
    workspace: Path,
    environment: Environment,
) -> list[TrustRequest]:
    """Those of an agent and of all that it can call by name, each file once."""
    own = trust_request_of(
        order.ids.agent,
        definition,
        workspace,
        environment,
        skill=order.skill,
        workdir=order.workdir,
    )
    found = [own] if own is not None else []
    for child, agent in _children(definition, order.workdir, resolve, workspace, environment):
        request = trust_request_of(agent, child, workspace, environment)
        found += [request] if request is not None else []
    return found


def _children(
    root: AgentDefinition,
    workdir: str,
    resolve: Resolve,
    workspace: Path,
    environment: Environment,
) -> Iterator[tuple[AgentDefinition, str]]:
    """All agents below a root that may be called, each file once, with the name by which it is called."""
    seen: set[str] = set()
    waiting = deque([(root, workdir, root.max_depth)])
    while waiting:
        caller, workdir, depth = waiting.popleft()
        seen_from = caller_of(caller, workdir, workspace, environment)
        for name in callable_by(caller) if depth else ():
            child = _resolved(resolve, name, seen_from)
            if child is not None and child.source is not None and child.source.path not in seen:
                seen.add(child.source.path)
                yield child, name
                waiting.append((child, "", depth - 1))


def callable_by(caller: AgentDefinition) -> Iterator[str]:
    """The names of agents with files that an agent may call."""
    yield from caller.sub_agents
    if caller.task is not None:
        yield from (name for name in caller.task.types if caller.task.find(name) is None)


def _resolved(resolve: Resolve, name: str, seen_from: Caller) -> AgentDefinition | None:
    try:
        return resolve(name, seen_from)
    except ConfigError:  # Its caller gets this error.
        return None


def check_memory_is_trusted(
    agent: str, definition: AgentDefinition, workspace: Path, environment: Environment
) -> None:
    """Raises ConfigError if the agent's memory lies where it may not, or not without trust. Nobody is asked."""
    request = trust_request_of(agent, definition, workspace, environment)
    if request is None or not any(each.key == MEMORY for each in request.reaches):
        return
    if request.refused:
        raise ConfigError(_refusal(request))
    if not TrustStore(environment).holds(request):
        raise ConfigError(_denial(request))


class Trusted(Struct, frozen=True):
    """A file that the user trusts: what it asked for, and when that was granted."""

    folder: str
    file: str
    digest: str
    reaches: tuple[str, ...]
    since: str

    @property
    def subject(self) -> tuple[str, ...]:
        """What there is one decision about: a file in a folder, and apart from it each set of tools for the web."""
        keys = [each.partition(":")[0] for each in self.reaches]
        web = keys if all(each in WEB_TOOLS for each in keys) else []
        return self.folder, self.file, *web


def _anywhere(reach: Reach) -> Reach:
    return reach_of_web_tool(reach.key, ())


class TrustStore:
    """The files that the user has trusted. Each call reads or writes the disk; raises ConfigError."""

    def __init__(self, environment: Environment) -> None:
        self.path = state_folder(environment) / "trust.json"

    def holds(self, request: TrustRequest) -> bool:
        """Whether the user trusts the file as it is, in this folder; for the web, whatever else the file says."""
        here = [each for each in self.all() if each.folder == request.workspace]
        if any(each.digest == request.digest for each in here):
            return True
        known = {reach for each in here if each.file == request.file for reach in each.reaches}
        return all(
            each.key in WEB_TOOLS and not known.isdisjoint(map(str, (each, _anywhere(each))))
            for each in request.reaches
        )

    def all(self) -> list[Trusted]:
        """Everything that is trusted, the oldest first."""
        try:
            document = json.loads(read_file(self.path))
            return [_trusted(each) for each in document["trusted"]]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError(f"failed to read what is trusted: {os_fault(error)}") from error
        except (ValueError, LookupError, TypeError) as error:
            raise ConfigError(
                f"failed to read what is trusted: {shown_path(self.path)} is damaged; "
                "remove it, and trust what you need again"
            ) from error

    def add(self, granted: Iterable[TrustRequest]) -> None:
        """Remember that the user trusts these files, instead of what they were before."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        new = [
            Trusted(each.workspace, each.file, each.digest, tuple(map(str, each.reaches)), now)
            for each in granted
        ]
        subjects = {each.subject for each in new}
        kept = [each for each in self.all() if each.subject not in subjects]
        self._write([*kept, *new])

    def revoke(self, folder: str) -> int:
        """Forget all that is trusted in a folder; returns how many files that were."""
        before = self.all()
        kept = [each for each in before if each.folder != folder]
        if len(kept) < len(before):
            self._write(kept)
        return len(before) - len(kept)

    def _write(self, trusted: Collection[Trusted]) -> None:
        rows = [{name: getattr(each, name) for name in each.__struct_fields__} for each in trusted]
        document = {"version": _VERSION, "trusted": rows}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            content = json.dumps(document, indent=1).encode()
            write_whole_file(self.path, content, mode=_ONLY_THE_USER)
        except OSError as error:
            raise ConfigError(f"failed to remember what is trusted: {os_fault(error)}") from error


def _trusted(row: Mapping[str, Any]) -> Trusted:
    texts = {name: str(row[name]) for name in ("folder", "file", "digest", "since")}
    return Trusted(**texts, reaches=tuple(map(str, row["reaches"])))


class TrustPolicy:
    """Lets agents begin that do not reach out of their workspace, or that the user trusts.

    `ask` asks the user. `trusts_all` is whether the user has trusted the workspace as a whole, and `granted` are
    digests of files that may begin in this run. What no workspace may have is refused in any case. MCP servers and
    tools for the web that nobody `connects` need no trust. `advice` says how to trust, where the usual commands don't help.
    """

    def __init__(
        self,
        environment: Environment,
        ask: Ask = nobody,
        *,
        trusts_all: bool = False,
        granted: Collection[str] = (),
        connects: bool = True,
        advice: str = "",
    ) -> None:
        self._environment = environment
        self._advice = advice
        self._ask = ask
        self.trusts_all = trusts_all
        self.granted = set(granted)
        self._denied: set[str] = set()
        self._connects = connects
        self._trust_request = once_a_step(partial(_trust_request, environment))
        self._one_at_a_time = anyio.Lock()

    async def requests(
        self, order: Order, definition: AgentDefinition, resolve: Resolve, workspace: Path
    ) -> Sequence[TrustRequest]:
        """The decisions that an agent needs before it may begin.

        For a root everything that it may call is looked at as well, so that nobody is asked in the middle of a run.
        """
        if order.ids.depth:
            return self._requests_of_child(order, definition, workspace)
        whole = partial(_requests_of_tree, order, definition, resolve, workspace, self._environment)
        if not definition.sub_agents and definition.task is None:
            return whole()
        # Many files may be read; other runs must not wait for that.
        return await anyio.to_thread.run_sync(whole, abandon_on_cancel=True)

    async def decide(self, requests: Iterable[TrustRequest], run: RunIds) -> None:
        """Return if the agents may begin. Raises ConfigError if one of them may not."""
        for request in requests:
            await self._decide(request, run)

    async def decide_web(
        self, tool: str, hosts: Sequence[str], file: str, workspace: Path, run: RunIds
    ) -> None:
        """Return if an agent of a file may use a tool for the web. Raises ConfigError if it may not.

        For agents that have the tool by a glob or by a type: most of them never use it, so nobody is asked before.
        """
        if self.trusts_all or is_users(file, self._environment):
            return
        reach, file = reach_of_web_tool(tool, hosts), shown_path(file)
        if self.granted.isdisjoint(_digest(file, [each]) for each in (reach, _anywhere(reach))):
            await self._decide(_web_request(run.agent, file, reach, workspace), run)

    def _requests_of_child(
        self, order: Order, definition: AgentDefinition, workspace: Path
    ) -> Sequence[TrustRequest]:
        """Looked for once in a step: a thousand children of one agent ask for the same."""
        source, asked = definition.source, asked_by(definition)
        if source is None:
            return ()
        found = self._trust_request(
            _Reaching(order.ids.agent, source, asked, workspace, order.skill, order.workdir)
        )
        return () if found is None else (found,)

    async def _decide(self, request: TrustRequest, run: RunIds) -> None:
        if not self._connects and all(each.key in _RECORDED for each in request.reaches):
            return
        if request.refused:
            raise ConfigError(_refusal(request))
        async with self._one_at_a_time:
            if self._is_granted(request):
                return
            if request.digest in self._denied:
                raise ConfigError(_denial(request, self._advice))
            answer = await self._ask(_question(request, run))
            if answer.decision == "deny":
                self._denied.add(request.digest)
                raise ConfigError(_denial(request, self._advice))
            web = (each for each in request.reaches if each.key in WEB_TOOLS)
            self.granted |= {request.digest, *(_digest(request.file, [each]) for each in web)}
            if answer.decision == "allow":
                TrustStore(self._environment).add([request])

    def _is_granted(self, request: TrustRequest) -> bool:
        if self.trusts_all or request.digest in self.granted:
            return True
        return TrustStore(self._environment).holds(request)


def _question(request: TrustRequest, run: RunIds) -> Question:
    where = escaped(request.workspace)
    return Question(
        run=replace(run, agent=request.agent),
        tool=TRUST,
        arguments={"file": request.file, "reaches": [str(each) for each in request.reaches]},
        reason=f"agent {quoted(escaped(request.agent))} of {where} wants to reach out of this workspace",
        details=f"{request.lines}\nIts file is {escaped(request.file)}. A plain yes is remembered until that changes.",
    )


def _refusal(request: TrustRequest) -> str:
    told = "\n".join(f"  {escaped(str(each))}: {escaped(each.refused)}" for each in request.refused)
    return (
        f"agent {quoted(request.agent)} asks for what no agent of a workspace gets:\n{told}\n"
        f"Remove it from {escaped(request.file)}, or move the agent to your own agents if you have written it."
    )


def _denial(request: TrustRequest, advice: str = "") -> str:
    usual = (
        f"`{trust_command(request)}` allows it until {escaped(request.file)} changes; "
        "`axe-lsp run --trust` allows it for one run."
    )
    return (
        f"agent {quoted(request.agent)} reaches out of the workspace {escaped(request.workspace)}, "
        f"and you have not trusted that:\n{request.lines}\n{advice or usual}"
    )


def reach_warning(
    request: RunRequest, definition: AgentDefinition, workspace: Path, environment: Environment
) -> str:
    """A text for the user who is shown what a run would send that needs their trust, or ""."""
    skill, workdir = request.skill, request.workdir
    asked = trust_request_of(
        request.agent, definition, workspace, environment, skill=skill, workdir=workdir
    )
    if asked is None:
        return ""
    return f"agent {quoted(asked.agent)} needs your trust to run (`axe-lsp trust`):\n{asked.lines}"


def shadow_warning(agent: str, definition: AgentDefinition) -> str:
    """A sentence for the user about a workspace's agent that runs instead of their own, or ""."""
    source = definition.source
    if source is None or not source.shadows:
        return ""
    return (
        f"agent {quoted(agent)} is the one of this workspace ({escaped(shown_path(source.path))}), "
        f"not your own of that name ({escaped(shown_path(source.shadows))})"
    )


def trust_command(request: TrustRequest) -> str:
    """The command that trusts a file whose run was refused."""
    import shlex

    folder = Path(request.file).parent
    if is_agents_folder(folder) and Path(request.workspace) in folder.parents:
        return f"axe-lsp trust {shlex.quote(escaped(request.workspace))}"
    file = shlex.quote(escaped(request.file))
    return f"cd {shlex.quote(escaped(request.workspace))} && axe-lsp trust {file}"
