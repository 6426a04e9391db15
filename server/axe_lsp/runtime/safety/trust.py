"""Whether an agent file of a workspace may reach out of it: decided before it runs, and remembered.

The answer is remembered per folder and for the file as it is: with another text, or with links that lead elsewhere,
it is asked about again. That it may use tools for the web is remembered until it can read something else, whatever
its prompt says. A call of such a tool counts for each file that may have put something into it: that of the agent, and
those of the agents above. `trust.json` in the folder for state holds the answers; only the user may read it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, Source, TaskConfig
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.rights import (
    MEMORY,
    SERVER,
    Asked,
    Reach,
    asked_by,
    asked_by_server,
    reach_of_web_tool,
)
from axe_lsp.agentfile.schema.tools import WEB_TOOLS, tools_meant
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.agent_files import caller_of
from axe_lsp.runtime.files.folders import Environment, state_folder
from axe_lsp.runtime.files.regular_files import read_file, write_whole_file
from axe_lsp.runtime.files.workspace_folders import is_agents_folder
from axe_lsp.runtime.json_data import from_json, to_json
from axe_lsp.runtime.plain_text import digest_of, escaped, os_fault, shown_path
from axe_lsp.runtime.runs import Order, Resolve, RunRequest, Sender
from axe_lsp.runtime.safety.questions import TRUST, Answer, Ask, Question, nobody
from axe_lsp.runtime.safety.reach import is_users, reaches
from axe_lsp.runtime.shared_lookups import once_a_step

_VERSION = 1
_ONLY_THE_USER = 0o600
_NEXT_STEP = "remove it, and trust what you need again"
_RECORDED = frozenset({SERVER, *WEB_TOOLS})
"""The reaches of tools whose results a recording has."""


class TrustRequest(Struct, frozen=True):
    """An agent file that wants to reach out of its workspace, and where to.

    `has` is a digest of what the agent can read, for tools that send it to the web.
    """

    agent: str
    file: str
    workspace: str
    reaches: tuple[Reach, ...]
    digest: str
    has: str = ""

    @property
    def is_web(self) -> bool:
        """Whether it is about tools for the web only."""
        return all(each.key in WEB_TOOLS for each in self.reaches)

    @property
    def refused(self) -> tuple[Reach, ...]:
        """The values that no workspace may have."""
        return tuple(each for each in self.reaches if each.refused)

    @property
    def lines(self) -> str:
        """The values that lead outside, a line each, as a terminal can show them."""
        return "\n".join(f"  {escaped(each.question)}" for each in self.reaches)


def trust_request_of(
    agent: str,
    definition: AgentDefinition,
    workspace: Path,
    environment: Environment,
    *,
    skill: str = "",
    workdir: str = "",
) -> TrustRequest | None:
    """Return the request of an agent's file; None if it reaches nothing outside, or the file is the user's own.

    `skill` and `workdir` come from the caller and replace the values of the file.
    """
    reaching = _reaching(agent, definition, workspace, skill, workdir)
    return _trust_request(environment, reaching) if reaching is not None else None


def trust_request_of_source(
    agent: str, source: Source, asked: Asked, workspace: Path, environment: Environment
) -> TrustRequest | None:
    """Return the same for a file of which only the text is known, and what it asks for."""
    return _trust_request(environment, _Reaching(agent, source, asked, workspace))


class _Reaching(Struct, frozen=True):
    """All that a request depends on, except for links on the disk and the environment."""

    agent: str
    source: Source
    asked: Asked
    workspace: Path
    skill: str = ""
    workdir: str = ""
    has: str = ""


def _reaching(
    agent: str, definition: AgentDefinition, workspace: Path, skill: str, workdir: str
) -> _Reaching | None:
    """Return what an agent reaches, None for an agent without a file."""
    source, asked = definition.source, asked_by(definition)
    if source is None:
        return None
    has = _has(definition) if asked.web else ""
    return _Reaching(agent, source, asked, workspace, skill, workdir, has)


def _trust_request(environment: Environment, reaching: _Reaching) -> TrustRequest | None:
    source, asked, workspace = reaching.source, reaching.asked, reaching.workspace
    # Hardly any agent reaches out, and whose file it is takes many looks at the disk.
    found = reaches(asked, workspace, environment, skill=reaching.skill, workdir=reaching.workdir)
    if not found or is_users(source.path, environment):
        return None
    # The skill and the folder of the command line make no other file of it.
    whole = reaches(asked, workspace, environment)
    file = shown_path(source.path)
    # The tools for the web, and what there is to send, are the user's to judge, not the words of the prompt.
    is_web = all(each.key in WEB_TOOLS for each in whole)
    return TrustRequest(
        agent=reaching.agent,
        file=file,
        workspace=shown_path(workspace.resolve()),
        reaches=found,
        digest=_web_digest(file, reaching.has, whole) if is_web else _digest(source.text, whole),
        has=reaching.has,
    )


def _has(definition: AgentDefinition) -> str:
    """Return a digest of all that an agent can read, and so send: by its tools, its agents, and what its prompt is made of."""
    task, memory = definition.task, definition.memory
    content = [
        sorted(definition.ordinary_tools),
        sorted(definition.sub_agents),
        [[name, sorted(_tools_of_type(task, name))] for name in sorted(task.offered)]
        if task
        else [],
        [definition.skill, definition.workdir, *definition.files],
        [memory.enabled, memory.path, memory.scope],
        [each.place for each in map(asked_by_server, definition.mcp_servers)],
    ]
    return digest_of(json.dumps(content))


def _tools_of_type(task: TaskConfig, name: str) -> tuple[str, ...]:
    found = task.find(name)
    return tools_meant(found.tools) if found is not None else ()


def may_call(definition: AgentDefinition) -> bool:
    """Return whether an agent may call others."""
    return bool(definition.sub_agents) or definition.task is not None


def senders_of(agent: str, definition: AgentDefinition) -> tuple[Sender, ...]:
    """Return the file of an agent, as one that sends; none for what no file has written."""
    source = definition.source
    return (Sender(agent, source.path, _has(definition)),) if source is not None else ()


def later_requests_of(
    agent: str,
    definition: AgentDefinition,
    resolve: Resolve,
    workspace: Path,
    environment: Environment,
) -> Iterator[TrustRequest]:
    """Yield the requests about tools for the web that an agent has without its file naming them.

    That are tools which it has by a glob or a type, and those of the agents below.
    """
    named = {*map(str, reaches(asked_by(definition), workspace, environment))}
    below = (child for child, _ in _children(definition, "", resolve, workspace, environment))
    wanted: dict[str, Reach] = {}
    for each in (definition, *below):
        hosts = each.allowed_hosts or definition.allowed_hosts
        found = (reach_of_web_tool(tool, hosts) for tool in WEB_TOOLS if tool in _all_tools(each))
        wanted |= {str(reach): reach for reach in found if str(reach) not in named}
    for sender in senders_of(agent, definition) if wanted else ():
        if not is_users(sender.file, environment):
            for reach in wanted.values():
                yield _web_request(sender, reach, workspace)


def _all_tools(definition: AgentDefinition) -> set[str]:
    """Return the tools of an agent, and of the types that it starts."""
    task = definition.task
    offered = task.offered if task is not None else ()
    types = (_tools_of_type(task, name) for name in offered) if task is not None else ()
    return {*definition.ordinary_tools}.union(*types)


def _web_request(sender: Sender, reach: Reach, workspace: Path) -> TrustRequest:
    file = shown_path(sender.file)
    return TrustRequest(
        agent=sender.agent,
        file=file,
        workspace=shown_path(workspace.resolve()),
        reaches=(reach,),
        digest=_web_digest(file, sender.has, [reach]),
        has=sender.has,
    )


def _web_digest(file: str, has: str, reaches: Iterable[Reach]) -> str:
    return _digest(f"{file}\n{has}", reaches)


def _digest(subject: str, whole: Iterable[Reach]) -> str:
    return digest_of(json.dumps([subject, [str(each) for each in whole]]))


def _requests_of_tree(
    order: Order,
    definition: AgentDefinition,
    resolve: Resolve,
    workspace: Path,
    environment: Environment,
) -> list[TrustRequest]:
    """Return those of an agent and of all that it can call by name, each file once."""
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
    """Yield all agents below a root that may be called, each file once, with the name by which it is called."""
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
    """Yield the names of agents with files that an agent may call."""
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
    """Raise ConfigError if the agent's memory lies where it may not, or not without trust. Nobody is asked."""
    request = trust_request_of(agent, definition, workspace, environment)
    if request is None or not any(each.key == MEMORY for each in request.reaches):
        return
    if request.refused:
        raise ConfigError(_refusal(request))
    if not TrustStore(environment).holds(request):
        raise ConfigError(_denial(request))


class Trusted(Struct, frozen=True):
    """A file that the user trusts: what it asked for, and when that was granted. `has` is as in the request."""

    folder: str
    file: str
    digest: str
    reaches: tuple[str, ...]
    since: str
    has: str = ""

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
        """Return whether the user trusts the file as it is, in this folder; for the web, with what the agent can read."""
        here = [each for each in self.all() if each.folder == request.workspace]
        if any(each.digest == request.digest for each in here):
            return True
        same = (each for each in here if (each.file, each.has) == (request.file, request.has))
        known = {reach for each in same for reach in each.reaches}
        return all(
            each.key in WEB_TOOLS and not known.isdisjoint(map(str, (each, _anywhere(each))))
            for each in request.reaches
        )

    def all(self) -> list[Trusted]:
        """Return everything that is trusted, oldest first. Raises ConfigError."""
        try:
            document = json.loads(read_file(self.path))
            return from_json(list[Trusted], document["trusted"])
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError(
                f"failed to read what is trusted: {os_fault(error)}; {_NEXT_STEP}"
            ) from error
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise ConfigError(
                f"failed to read what is trusted: {shown_path(self.path)} is damaged; {_NEXT_STEP}"
            ) from error

    def add(self, granted: Iterable[TrustRequest]) -> None:
        """Remember that the user trusts these files, instead of what they were before."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        new = [
            Trusted(
                each.workspace, each.file, each.digest, tuple(map(str, each.reaches)), now, each.has
            )
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
        return len({each.file for each in before if each.folder == folder})

    def _write(self, trusted: Collection[Trusted]) -> None:
        document = {"version": _VERSION, "trusted": [to_json(each) for each in trusted]}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            content = json.dumps(document, indent=1).encode()
            write_whole_file(self.path, content, mode=_ONLY_THE_USER)
        except OSError as error:
            raise ConfigError(f"failed to remember what is trusted: {os_fault(error)}") from error


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
        """Return the decisions that an agent needs before it may begin.

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
        self,
        tool: str,
        hosts: Sequence[str],
        senders: Iterable[Sender],
        workspace: Path,
        run: RunIds,
    ) -> None:
        """Return if a tool for the web may send what these files have. Raises ConfigError if it may not.

        For agents that have the tool by a glob or by a type, and for those above one with the tool: most of them never
        use it, so nobody is asked before.
        """
        if self.trusts_all:
            return
        reach = reach_of_web_tool(tool, hosts)
        for sender in senders:
            if is_users(sender.file, self._environment):
                continue
            file = shown_path(sender.file)
            known = (_web_digest(file, sender.has, [each]) for each in (reach, _anywhere(reach)))
            if self.granted.isdisjoint(known):
                await self._decide(_web_request(sender, reach, workspace), run)

    async def answer(self, question: Question) -> Answer:
        """Answer a policy in another process of the same tree. What was answered before is not asked again."""
        digest = question.subject or ""
        async with self._one_at_a_time:
            if digest in self.granted:
                return Answer("allowForRun")
            if digest in self._denied:
                return Answer("deny")
            answer = await self._ask(question)
            (self._denied if answer.decision == "deny" else self.granted).add(digest)
            return answer

    def _requests_of_child(
        self, order: Order, definition: AgentDefinition, workspace: Path
    ) -> Sequence[TrustRequest]:
        """Look for requests once in a step: a thousand children of one agent ask for the same."""
        reaching = _reaching(order.ids.agent, definition, workspace, order.skill, order.workdir)
        found = self._trust_request(reaching) if reaching is not None else None
        return () if found is None else (found,)

    async def _decide(self, request: TrustRequest, run: RunIds) -> None:
        if not self._connects and all(each.key in _RECORDED for each in request.reaches):
            return
        if request.refused:
            raise ConfigError(_refusal(request))
        async with self._one_at_a_time:
            is_granted = self.trusts_all or request.digest in self.granted
            if is_granted or TrustStore(self._environment).holds(request):
                return
            if request.digest in self._denied:
                raise ConfigError(_denial(request, self._advice))
            answer = await self._ask(_question(request, run))
            if answer.decision == "deny":
                self._denied.add(request.digest)
                raise ConfigError(_denial(request, self._advice))
            web = (each for each in request.reaches if each.key in WEB_TOOLS)
            of_web = (_web_digest(request.file, request.has, [each]) for each in web)
            self.granted |= {request.digest, *of_web}
            if answer.decision == "allow":
                TrustStore(self._environment).add([request])


def _question(request: TrustRequest, run: RunIds) -> Question:
    where = escaped(request.workspace)
    until = "what the agent can read" if request.is_web else "that"
    return Question(
        run=replace(run, agent=request.agent),
        tool=TRUST,
        arguments={"file": request.file, "reaches": [each.question for each in request.reaches]},
        reason=f"agent {quoted(escaped(request.agent))} of {where} wants to reach out of this workspace",
        details=f"{request.lines}\nIts file is {escaped(request.file)}. A plain yes is remembered until {until} changes.",
        subject=request.digest,
    )


def _refusal(request: TrustRequest) -> str:
    told = "\n".join(f"  {escaped(str(each))}: {escaped(each.refused)}" for each in request.refused)
    return (
        f"agent {quoted(request.agent)} asks for what no agent of a workspace gets:\n{told}\n"
        f"Remove it from {escaped(request.file)}, or move the agent to your own agents if you have written it."
    )


def _denial(request: TrustRequest, advice: str = "") -> str:
    until = "what the agent can read" if request.is_web else escaped(request.file)
    usual = (
        f"`{trust_command(request)}` allows it until {until} changes; "
        "`axe-lsp run --trust` allows it for one run."
    )
    return (
        f"agent {quoted(request.agent)} reaches out of the workspace {escaped(request.workspace)}, "
        f"and you have not trusted that:\n{request.lines}\n{advice or usual}"
    )


def reach_warning(
    request: RunRequest, definition: AgentDefinition, workspace: Path, environment: Environment
) -> str:
    """Return a text for the user who is shown what a run would send that needs their trust, or ""."""
    skill, workdir = request.skill, request.workdir
    asked = trust_request_of(
        request.agent, definition, workspace, environment, skill=skill, workdir=workdir
    )
    if asked is None:
        return ""
    return f"agent {quoted(asked.agent)} needs your trust to run (`axe-lsp trust`):\n{asked.lines}"


def shadow_warning(agent: str, definition: AgentDefinition) -> str:
    """Return a sentence for the user about a workspace's agent that runs instead of their own, or ""."""
    source = definition.source
    if source is None or not source.shadows:
        return ""
    return (
        f"agent {quoted(agent)} is the one of this workspace ({escaped(shown_path(source.path))}), "
        f"not your own of that name ({escaped(shown_path(source.shadows))})"
    )


def trust_command(request: TrustRequest) -> str:
    """Return the command that trusts a file whose run was refused."""
    import shlex

    folder = Path(request.file).parent
    if is_agents_folder(folder) and Path(request.workspace) in folder.parents:
        return f"axe-lsp trust {shlex.quote(escaped(request.workspace))}"
    file = shlex.quote(escaped(request.file))
    return f"cd {shlex.quote(escaped(request.workspace))} && axe-lsp trust {file}"
